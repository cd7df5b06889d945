"""The command line: the composition root, where packages that know nothing of each other are put together.

Every command is a module that is imported only when it is used. Nothing here decides what may be done or
writes a file of a workspace, and nothing that an agent, a tool or a file says reaches a terminal raw.
"""
