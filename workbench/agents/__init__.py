"""Anything that takes a prompt and yields events; so far the built-in turn machine.

Pure by rule: no input or output, no clock, no randomness. Crash recovery is no second program here:
fold a session's events, then ask what is due.
"""
