"""Panes: each is shown one view and answers with messages; no pane knows another."""
