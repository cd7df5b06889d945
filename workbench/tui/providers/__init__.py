"""Providers on the screen: what was found, the list of those that are set up, and the form that adds one."""
