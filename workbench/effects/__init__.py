"""The only doors to the outside: files, processes, locks, the clock, fault points.

Nothing above this floor opens a file for writing, starts a process or reads a clock by itself.
Nothing in here decides whether something may be done: callers ask the gate first.
"""
