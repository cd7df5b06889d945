"""The library of sessions, what is done with them, and statistics."""
