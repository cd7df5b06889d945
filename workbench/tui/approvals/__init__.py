"""Approvals: the queue of what waits, the action in full, and its decision."""
