"""The journal: one append-only stream of events in one SQLite database, and what is read back from it.

Events are stored in one transaction with the index tables, and shown or acted upon after they are read back.
Knows no agents, tools or screens.
"""
