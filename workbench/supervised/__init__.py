"""Agents that execute their own calls: what they say, what is due for their calls, and their tools."""
