"""Steps on this machine: the embedded executor, and the runs that a host or a command drives with it."""
