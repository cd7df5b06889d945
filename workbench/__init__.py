"""A terminal workbench in which a developer supervises agents that edit files and run commands."""

__version__ = "0.2.0"
SET_ASIDE_PREFIX = "WORKBENCH_ASIDE_"
"""In front of a variable of the interpreter while a process of ours starts; `__main__` takes it away."""
