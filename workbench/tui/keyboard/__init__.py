"""The queue of presses, the table of keys, and the guard by which no key decides by accident."""
