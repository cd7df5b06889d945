"""The process that acts for a workspace: what it is doing, ending it, being it."""
