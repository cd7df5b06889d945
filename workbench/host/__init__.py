"""The floor with side effects: drives sessions and runs, executes approved calls."""
