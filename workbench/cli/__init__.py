"""The command line: the place where all packages are put together.

Each command is a module that is imported only when the command is used. Nothing here decides what may be
done or writes a file of a workspace, and all text passes `Console`, which makes it safe for a terminal.
"""
