"""What things are: values, events, rows, their state machines, the fold and the codec.

Pure by rule: no input or output, no clock, no randomness. Everything that happens in the program is
one of the events defined here, and everything it shows is a fold of them.
"""
