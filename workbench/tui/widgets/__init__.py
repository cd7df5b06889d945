"""Widgets that several panes are made of; they know neither views nor the journal."""
