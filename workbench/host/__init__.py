"""The only floor with side effects: it drives sessions, proposes and executes calls, and keeps the clock.

A host reacts to nothing but events that it has read back from the journal, and names its lease epoch in
every append. No module here knows two of: sessions up and down, one session's turn, one call, the clock.
"""
