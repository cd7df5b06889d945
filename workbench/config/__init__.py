"""Settings: files, environment and options folded into one frozen Config with the origin of each value.

Never writes a file, loads pydantic, runs a configured command, or lets an untrusted workspace allow anything.
"""
