"""Proposed file changes: what is shown as hunks is what is written, byte for byte."""
