"""Clients of models. They know nothing of sessions, gates or journals."""
