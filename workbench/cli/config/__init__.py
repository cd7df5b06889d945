"""The configuration in effect and what is wrong with it; nothing here writes a file."""
