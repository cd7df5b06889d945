"""The first page: the name, one row of the queue as an example, keys that lead on, facts of the folder."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.domain.values import Hunk
from workbench.render.approvals import queue_strip
from workbench.render.cells import (
    key_hint,
    key_hint_row,
    line_strip,
    safe_content,
    shorten_line,
    styled,
    wrap_plain_text,
)
from workbench.render.diff import Diff, DiffDisplay
from workbench.render.glyphs import Glyphs
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import Ink
from workbench.views.approvals import QueueRow
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkSelection
from workbench.views.welcome import WelcomeFacts, WelcomeKey

_NAME: Final = (
    "▄   ▄ ▄▄▄ ▄▄▄ ▄ ▄ ▄▄  ", "▄▄▄ ▄▄▄ ▄▄▄ ▄ ▄",
    "█ █ █ █ █ █▄▀ █▄▀ █▄▀ ", "█▄  █ █ █   █▄█",
    "▀▄▀▄▀ █▄█ █ █ █ █ █▄█ ", "█▄▄ █ █ █▄▄ █ █",
)  # fmt: skip
_ASCII_NAME: Final = (
    "#   # ### ##  # # ##  ", "### # # ### # #",
    "# # # # # # # ##  ### ", "##  ### #   ###",
    " # #  ### ##  # # ### ", "### # # ### # #",
)  # fmt: skip
"""Two parts of each row: `work` and `bench` have colours of their own."""
_TAGLINE: Final = ("Agents ask.", "You decide.", "Nothing else happens.")
_MAX_WIDTH: Final = 86
"""Cells of the page; the rest of a wide screen is margin."""
_MAX_EXAMPLE_WIDTH: Final = 72
_EXAMPLE_FROM: Final = 56
"""Cells from which the example is shown."""
_KEY_WORDS: Final = 18
_EXAMPLE_ROW: Final = QueueRow(
    id="example", sign="waiting", verb="edit", target="src/shop/router.py", added=2, removed=1,
    session_title="rename handler", left_seconds=880.0,
)  # fmt: skip
_EXAMPLE_HUNK: Final = Hunk(
    index=1, path="router.py", old_start=17, old_count=2, new_start=17, new_count=3,
    lines=(
        (" ", "class Router:"),
        ("-", "    def handle(self, request):"), ("+", "    def dispatch(self, request):"),
        ("+", '        log.debug("dispatch %s", request.path)'),
    ),
)  # fmt: skip
_CONTEXT_ROW: Final = 1
"""Of the hunk: its head says the same."""
_EXAMPLE_TITLE: Final = "one row of the queue, and what it would change"
_EXAMPLE_KEYS: Final = (("a", "approve"), ("r", "reject"), ("space", "leave this part"), ("A", "always…"))


def welcome_rows(
    facts: WelcomeFacts,
    width: int,
    height: int,
    ink: Ink,
    glyphs: Glyphs,
    painter: SyntaxHighlighter | None = None,
) -> list[Strip]:
    """Return the page in a size: the fullest of its forms that has room, or else the head of the smallest."""
    page = min(_MAX_WIDTH, max(1, width - 6 if width > _EXAMPLE_FROM else width - 2))
    writer = _WelcomePage(facts, page, ink, glyphs, painter)
    forms = (form for form in writer.forms() if len(form) <= height)
    rows = next(forms, writer.smallest()[:height])
    left, above = (width - page + 1) // 2, max(0, (height - len(rows)) * 2 // 5)
    base = ink.on("background")
    margin = line_strip(Content(""), left, base)
    blank = [line_strip(Content(""), width, base)] * above
    return blank + [Strip.join([margin, row]).adjust_cell_length(width, base.rich_style) for row in rows]


def name_lines(version: str, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the name of the program in large letters, or on one line where there is no room for them."""
    parts = _ASCII_NAME if glyphs.is_ascii else _NAME
    first, second = ink.of("info", bold=True), ink.of("foreground", bold=True)
    behind = styled(f"   {version}", ink.of("muted"))
    if width < sum(map(len, parts[:2])) + behind.cell_length:
        return [short_name(version, ink)]
    rows = [styled(parts[n], first) + styled(parts[n + 1], second) for n in range(0, len(parts), 2)]
    return [*rows[:-1], rows[-1] + behind]


def short_name(version: str, ink: Ink) -> Content:
    """Return the name of the program on one line."""
    return styled("workbench", ink.of("info", bold=True)) + styled(f"  {version}", ink.of("muted"))


def tagline(width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return in one line what the program is for."""
    asks, decide, rest = _TAGLINE
    sign = styled(glyphs.of("waiting"), ink.sign("waiting"))
    bold = ink.of("foreground", bold=True)
    head = Content(" ").join([styled(asks, bold), sign, styled(decide, bold)])
    whole = head + styled(f" {rest}", ink.of("muted"))
    return whole if whole.cell_length <= width else head


class _WelcomePage:
    """The parts of the page in one width."""

    def __init__(
        self, facts: WelcomeFacts, width: int, ink: Ink, glyphs: Glyphs, painter: SyntaxHighlighter | None
    ) -> None:
        self._facts, self._width, self._ink, self._glyphs = facts, width, ink, glyphs
        self._painter = painter

    def forms(self) -> list[list[Strip]]:
        """Return the forms of the page, the fullest first."""
        blank = [self._strip(Content(""))]
        name, said, keys = self._name(), [self._tagline()], self._keys()
        example = self._example() if self._width >= _EXAMPLE_FROM else []
        end = [*blank, *self._here()] if self._facts.here else []
        above = len(self._before())
        spaced = [*keys[:above], *(row for key in keys[above:] for row in (*blank, key))]
        spaced = spaced if above else spaced[1:]
        forms = [
            [*name, *blank, *said, *blank, *example, *blank, *blank, *spaced, *blank, *end],
            [*name, *blank, *said, *blank, *example, *blank, *keys, *end],
            [*name, *said, *example, *keys, *end[1:]],
            [*name, *blank, *said, *blank, *keys, *end],
            [self._short_name(), *said, *blank, *keys, *end],
            [self._short_name(), *said, *keys, *end[1:]],
            self.smallest(),
        ]
        return forms if example else forms[3:]

    def smallest(self) -> list[Strip]:
        """Return name and keys alone."""
        return [self._short_name(), self._tagline(), *self._keys()]

    def _strip(self, line: Content) -> Strip:
        return line_strip(
            shorten_line(line, self._width, self._glyphs), self._width, self._ink.on("background")
        )

    def _name(self) -> list[Strip]:
        lines = name_lines(self._facts.version, self._width, self._ink, self._glyphs)
        return [self._strip(line) for line in lines]

    def _short_name(self) -> Strip:
        return self._strip(short_name(self._facts.version, self._ink))

    def _tagline(self) -> Strip:
        return self._strip(tagline(self._width, self._ink, self._glyphs))

    def _before(self) -> list[Content]:
        """Return what stands over the keys, as many rows as it takes."""
        words = self._glyphs.line(self._facts.before)
        return wrap_plain_text(words, self._width) if words else []

    def _keys(self) -> list[Strip]:
        facts, ink, line = self._facts, self._ink, self._glyphs.line
        rows = [row.stylize(ink.of("muted")) for row in self._before()]
        rows += [self._key(key) for key in facts.keys]
        rows += [styled(line(words), ink.of("muted")) for words in facts.lines]
        return [self._strip(row) for row in rows]

    def _key(self, key: WelcomeKey) -> Content:
        ink, line = self._ink, self._glyphs.line
        head = styled(f"{key.key}   ", ink.of("info", bold=True))
        words = styled(line(key.words).ljust(_KEY_WORDS), ink.of("foreground", bold=True))
        more = styled(f"  {line(key.more)}", ink.of("muted"))
        has_room = head.cell_length + words.cell_length + more.cell_length <= self._width
        return head + words + more if has_room else head + words

    def _here(self) -> list[Strip]:
        """Return what is known of the folder, on as many rows as it takes."""
        ink = self._ink
        rows, head = [styled("here", ink.of("faint"))], Content(" " * 4)
        for sign, text in self._facts.here:
            part = styled(f"  {self._glyphs.of(sign)} ", ink.sign(sign)) + safe_content(text, None, ink)
            if len(rows[-1]) > len(head) and rows[-1].cell_length + part.cell_length > self._width:
                rows.append(head)
            rows[-1] += part
        return [self._strip(row) for row in rows]

    def _example(self) -> list[Strip]:
        """Return a row of the queue and its diff in a frame, drawn as they are drawn where they are real."""
        ink, glyphs, width = self._ink, self._glyphs, min(_MAX_EXAMPLE_WIDTH, self._width)
        base, inside = ink.on("background"), width - 4
        file = FileDetail(path="router.py", change="modify", hunks=(_EXAMPLE_HUNK,), added=2, removed=1)
        diff = Diff((file,), inside)
        look = DiffDisplay(taken=HunkSelection.of(file.hunks), hunk=1, has_focus=True, painter=self._painter)
        hints = [key_hint(key, glyphs.line(words), ink) for key, words in _EXAMPLE_KEYS]
        rows = [
            queue_strip(_EXAMPLE_ROW, inside, ink, glyphs, 0),
            *(diff.strip(y, ink, glyphs, look) for y in range(len(diff)) if y != _CONTEXT_ROW),
            line_strip(key_hint_row(hints, inside), inside, base),
        ]
        return [
            self._edge("╭", "╮", _EXAMPLE_TITLE, width),
            *self._framed(rows, width),
            self._edge("╰", "╯", "", width),
        ]

    def _framed(self, rows: Sequence[Strip], width: int) -> list[Strip]:
        base, rule = self._ink.on("background"), self._ink.of("rule")
        side = styled(self._glyphs.line("│"), rule)
        left, right = line_strip(side + Content(" "), 2, base), line_strip(Content(" ") + side, 2, base)
        filled = self._width - width
        return [
            Strip.join([left, row, right]).adjust_cell_length(width + filled, base.rich_style) for row in rows
        ]

    def _edge(self, left: str, right: str, title: str, width: int) -> Strip:
        line, rule = self._glyphs.line, self._ink.of("rule")
        head = (
            styled(line(f"{left}─ "), rule) + styled(f"{title} ", self._ink.of("faint"))
            if title
            else styled(line(left), rule)
        )
        end = styled(line("─") * max(0, width - head.cell_length - 1) + line(right), rule)
        return self._strip(head + end)
