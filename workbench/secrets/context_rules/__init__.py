"""Rules for secrets that are known by their context: the option, statement or call around them."""
