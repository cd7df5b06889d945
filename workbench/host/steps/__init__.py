"""Pipeline steps and runs on this machine: the embedded executor, and the driver of a run."""
