"""The words and files of others: what our sessions are called elsewhere, and what theirs are here.

Pure: events and rows in, JSON values out, and back. Nothing here has a side effect or decides anything.
"""
