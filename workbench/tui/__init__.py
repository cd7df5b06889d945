"""The full-screen terminal program: an app that composes, a room for each capability, one table of keys.

It reads the journal, appends decisions to it, and asks for everything else through `backend.Backend`.
"""
