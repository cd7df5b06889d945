"""Screens: the main one with its panes, and the dialogs over it."""
