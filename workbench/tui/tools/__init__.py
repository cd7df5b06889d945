"""Tool calls of a session: the list, and one call in full."""
