"""Agents that other programs run: one table of them, and what their hooks say and are answered; all pure."""
