"""The house colours for a terminal of 256: chosen from those that it has, so that no tint is lost on the way.

Owns that rows and changed lines stay apart there; rounded one by one, every dark tint would come to black.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from textual.theme import Theme

from workbench.draw.tokens import HOUSE, Tokens, theme_tokens, variables

Depth = Literal["full", "256", "16"]
"""How many colours a terminal shows; `full` is 24 bits."""

_DARK: Final = Tokens(
    background="#121212", surface="#121212", panel="#262626", cursor_row="#00005f", cursor_blur="#303030",
    rule="#444444", foreground="#dadada", muted="#a8a8a8", faint="#8a8a8a", info="#5fafff", added="#87d787",
    removed="#ff8787", waiting="#ffaf5f", failed="#ff5f5f", added_bg="#005f00", added_word="#005f00",
    removed_bg="#5f0000", removed_word="#5f0000", keyword="#d7d7ff", string="#d7d787", function="#afd7ff",
    number="#ffd7af", comment="#d0d0d0",
)  # fmt: skip
"""The 256 have one dark green: a changed word has the tint of its line and is underlined."""
_LIGHT: Final = Tokens(
    background="#ffffff", surface="#ffffff", panel="#eeeeee", cursor_row="#d7ffff", cursor_blur="#e4e4e4",
    rule="#bcbcbc", foreground="#1c1c1c", muted="#4e4e4e", faint="#626262", info="#005faf", added="#005f00",
    removed="#af0000", waiting="#5f5f00", failed="#af0000", added_bg="#d7ffd7", added_word="#afd7af",
    removed_bg="#ffd7d7", removed_word="#ffafaf", keyword="#5f00af", string="#5f5f00", function="#005faf",
    number="#870000", comment="#585858", is_dark=False,
)  # fmt: skip
IN_256: Final[Mapping[str, Tokens]] = dict(zip(HOUSE, (_DARK, _LIGHT), strict=True))
"""Theme name to tokens."""
_SIXTEEN: Final = {True: "ansi-dark", False: "ansi-light"}
"""The theme that takes the terminal's own colours, by whether a dark one is wanted."""


def tokens_at(theme: Theme, depth: Depth) -> Tokens:
    """Return the tokens of a theme on a terminal of so many colours.

    A theme that is none of ours keeps its own texts there and takes our tints.
    """
    found = theme_tokens(theme)
    if depth != "256" or found.is_ansi:
        return found
    if theme.name in IN_256:
        return IN_256[theme.name]
    ours = _DARK if found.is_dark else _LIGHT
    return replace(
        found, panel=ours.panel, cursor_row=ours.cursor_row, cursor_blur=ours.cursor_blur,
        added_bg=ours.added_bg, added_word=ours.added_word, removed_bg=ours.removed_bg,
        removed_word=ours.removed_word,
    )  # fmt: skip


def variables_at(theme: Theme, depth: Depth) -> dict[str, str]:
    """Return the tokens of a theme as a stylesheet takes them."""
    return variables(tokens_at(theme, depth))


def theme_for(theme: Theme, depth: Depth) -> str:
    """Return the name of the theme to take for one that is wanted: with 16 colours the terminal's own."""
    return _SIXTEEN[theme.dark] if depth == "16" and not theme.ansi else theme.name
