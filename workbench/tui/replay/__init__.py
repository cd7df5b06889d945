"""Replay of recorded sessions: one on the main screen, or two side by side."""
