"""Rows and diffs as lines of text; pure, from what the journal holds to what a person reads."""
