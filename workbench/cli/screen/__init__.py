"""The screen as the command line starts it: on a folder, and on the demo."""
