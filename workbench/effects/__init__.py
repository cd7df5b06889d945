"""The only doors to the outside: files, processes, the network, locks, the clock."""
