"""Views: pure projections of events and rows into values that a pane or a command shows."""
