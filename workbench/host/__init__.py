"""The floor with side effects: it drives sessions and runs, executes approved calls, and keeps the clock.

It acts only on events that it has read back from the journal, and names its lease epoch in every append.
"""
