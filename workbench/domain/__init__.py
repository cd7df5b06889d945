"""Values, events, rows, state machines, the fold and the codec.

Pure: no input or output, no clock, no randomness. Everything that happens is an event of this package, and
everything shown is a fold of events.
"""
