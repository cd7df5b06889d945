"""Rendering: from views to cells, as Textual Content and Strips. Nothing here reacts to anything."""
