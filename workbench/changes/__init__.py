"""Proposed file changes: what is shown as hunks is what is written, byte for byte.

Owns hunks, partial selections, digests, atomic apply, settling after a crash, staleness and undo.
Never decides whether a change may be made, and never touches a file but through `effects.files.Root`.
"""
