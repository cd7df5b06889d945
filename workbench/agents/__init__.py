"""Agents: what takes a prompt and yields events; so far the built-in turn machine.

Pure: no input or output, no clock, no randomness. Crash recovery needs no second program: fold a session's
events with `reducer`, then ask `planner` what is due.
"""
