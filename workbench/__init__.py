"""A terminal workbench in which a developer supervises agents that edit files and run commands."""

__version__ = "0.1.0"
