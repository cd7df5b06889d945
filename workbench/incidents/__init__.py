"""Incidents worked off by agents (S2): what is asked, what the checker says of it, and what came of it."""
