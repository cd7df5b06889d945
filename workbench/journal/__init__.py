"""The journal: one append-only stream of events in one SQLite database, and what is read back from it.

Everything that happens in the program enters here, in one transaction with the index tables, and is
shown or acted upon only after it was read back. Nothing here knows agents, tools or screens.
"""
