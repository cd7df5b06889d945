"""Pure projections: what a pane is shown, made from events and rows of the journal.

Views know no widget, no colour and no clock (`now` is a parameter). They import `domain` and `text` only.
Every text that stands in one row of a list is one safe line already; longer texts are raw and are made
safe by `draw`.
"""
