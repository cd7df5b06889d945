"""Sizes of the terminal at which the screen changes its layout, in cells."""

from typing import Final

NARROW: Final = 60
MEDIUM: Final = 100
WIDE: Final = 140
"""Columns from which a screen is narrow, medium or wide; below the first it is tiny."""
LEAST_ROWS: Final = 10
SHORT: Final = 18
TALL: Final = 30
"""Rows from which one pane has room at all, dialogs have it too, and panes stand over one another."""
