"""A text of a few words; the same words again cost nothing.

Owns that: the framework lays out the whole screen for every text that is set. What is said is its owner's.
"""

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static


class Words(Static):
    """Content that changes seldom and is set often."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another content.

        Args:
            content: What to show.
            layout: Whether the screen is laid out anew if it is another one.
        """
        before = self.content
        if isinstance(content, Content) and isinstance(before, Content) and content.is_same(before):
            return
        super().update(content, layout=layout)
