"""The configuration in effect, what is wrong with it, its form; only `migrate` writes a file."""
