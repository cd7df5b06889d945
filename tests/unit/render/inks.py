"""What drawing tests share: inks, glyphs, hostile text, and what a strip looks like where."""

from workbench.changes.diff import FileChange, make_hunks
from workbench.render.glyphs import ASCII_GLYPHS as ASCII
from workbench.render.glyphs import UNICODE_GLYPHS as UNICODE
from workbench.render.theme import Ink, own_theme_ink, theme_colors
from workbench.views.file_changes import FileDetail

DARK = own_theme_ink("workbench-dark")
HOSTILE = [
    "\x1b[2J\x1b]0;title\x07gone", "a\u202eb\u200bc", "[bold]x[/]", "[@click=app.bell()]x[/]", "tab\there\r\nand\x85there",
    "wide 漢字かな", "e\u0301 \U0001f468\u200d\U0001f469", "\ud800", "⟨U+202E⟩", "\u2028\u2029", "",
]  # fmt: skip

__all__ = ["ASCII", "DARK", "HOSTILE", "UNICODE", "ansi_ink", "changed", "is_safe", "styles_at"]


def ansi_ink():
    from textual.theme import BUILTIN_THEMES

    return Ink(tokens=theme_colors(BUILTIN_THEMES["ansi-dark"]))


def is_safe(text):
    from workbench.text.safe import safe_text

    return safe_text(text, keep_newlines=False) == text


def changed(before, after, path="src/shop/router.py"):
    """Return the file detail of a change, hunks made by the real thing."""
    raw = [side.encode() if isinstance(side, str) else side for side in (before, after)]
    found = make_hunks([FileChange(path=path, before=raw[0], after=raw[1], mode=0o644)])
    signs = [sign for hunk in found for sign, _ in hunk.lines]
    return FileDetail(
        path=path, change="modify", hunks=found, added=signs.count("+"), removed=signs.count("-")
    )


def styles_at(strip, text):
    """Return the rich style of the segment in which a text begins."""
    at = strip.text.index(text)
    seen = 0
    for segment in strip:
        if seen <= at < seen + len(segment.text):
            return segment.style
        seen += len(segment.text)
    raise AssertionError(text)
