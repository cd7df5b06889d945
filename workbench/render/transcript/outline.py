"""The margin of a page: links to the prompts of a session and to the approvals below them."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.render.transcript.call_block import STATUS_CLASSES
from workbench.render.transcript.markup import line_html
from workbench.text.safe import one_line
from workbench.views.status_icons import ICONS, StatusName

MOST_ENTRIES: Final = 1_000
"""Entries that are kept; of more their number is shown."""
_MOST_CELLS: Final = 60


class OutlineEntry(Struct, frozen=True):
    """A prompt or an approval."""

    anchor: str
    words: str
    status: StatusName | None = None
    """How an approval was answered; None for a prompt."""


class Outline:
    """The entries of a page in its order, collected while the page is written."""

    def __init__(self) -> None:
        self._entries: list[OutlineEntry] = []
        self._left_out = 0

    def add(self, entry: OutlineEntry) -> None:
        """Add an entry at the end."""
        if len(self._entries) < MOST_ENTRIES:
            self._entries.append(replace(entry, words=one_line(entry.words, _MOST_CELLS)))
        else:
            self._left_out += 1

    def parts(self) -> Iterator[str]:
        """Yield the list, or nothing if there are no entries."""
        if not self._entries:
            return
        yield '<nav id="outline" aria-label="Prompts and approvals">\n<ol>\n'
        yield from map(_entry_html, self._entries)
        if self._left_out:
            yield f"<li>{self._left_out:,} more</li>\n"
        yield "</ol>\n</nav>\n"


def _entry_html(entry: OutlineEntry) -> str:
    is_prompt = entry.status is None
    icon = ICONS[entry.status or "prompt"]
    tone = STATUS_CLASSES.get(entry.status, "note") if entry.status else "note"
    sign = f'<span class="{tone}" title="{icon.word}">{icon.unicode}</span>'
    link = f'<a href="#{entry.anchor}">{line_html(entry.words, _MOST_CELLS)}</a>'
    return f'<li class="{"said" if is_prompt else "asked"}">{sign} {link}</li>\n'
