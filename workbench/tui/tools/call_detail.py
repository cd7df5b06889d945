"""One tool call, or one step of a run, in full: its parts, times, and what the agent was told.

Lines are untrusted: made safe and wrapped, never cut. It never has the focus.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, cast

from msgspec.structs import replace
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.cells import key_hint
from workbench.render.theme import Ink
from workbench.text.human import clock_time_millis, countdown_text
from workbench.text.safe import safe_text
from workbench.tui import render_context
from workbench.tui.conversation.streaming_text import wrap_line
from workbench.tui.widgets.line_view import LineView, ListExtent
from workbench.tui.widgets.pane_frame import extent_text
from workbench.views.conversation_progress import CommandProgress
from workbench.views.detail_pages import DetailPage, PageSection
from workbench.views.status_icons import ICONS, IconName
from workbench.views.tools import LineTone, output_tones

FIXED_ROWS: Final = 3
"""Title, parts, a blank row."""
_INDENT: Final = 3
_BAR_CELLS: Final = 12
_SAME_CELLS: Final = 40
"""Characters at the start of a sentence by which it is found in a part."""
MAX_LIVE_CHARS: Final = 16_384
"""Characters shown of an output while the command runs: its end."""
_EMPTY_PARTS: Final = {
    "Output": "It has written nothing.",
    "Parameters": "It has no parameters.",
    "Gate": "The gate has not spoken yet.",
    "Changes": "It changed no file.",
    "Raw": "Nothing is recorded.",
}


class _Row(NamedTuple):
    """A piece of a line of a part, as wide as fits."""

    line: int
    start: int
    """The first character of it in its line."""
    text: str


def tone_style(tone: LineTone, ink: Ink) -> Style:
    """Return the colours of a part of a line."""
    match tone:
        case "strong":
            return ink.of("foreground", bold=True)
        case "muted" | "faint":
            return ink.of(tone)
        case _:
            return ink.sign(tone)


class CallView(LineView):
    """The parts of one call; the first rows stay while the rest scrolls."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.detail: DetailPage | None = None
        self.find = ""
        self._clock, self._share = "", 0.0
        """How long a command has run, in words with its limit, and as a share of that."""
        self._part = 0
        self.is_past = False
        """Whether it shows a recording: then it does not say what can be done next."""
        self._lines: Sequence[str] = ()
        self._rows: list[_Row] = []
        self._below: list[Content] = []

    # --- what is shown --------------------------------------------------------------------------

    def show(self, detail: DetailPage | None) -> None:
        """Show a call, or nothing; another call begins at its top with its output."""
        before = self.detail
        if detail == before:
            return
        self.detail = detail
        if before is None or detail is None or before.id != detail.id:
            self._part, self.find = 0, ""
            self._lay_out(top=0)
        else:
            self._lay_out(top=self.first_line)

    def show_running(self, command: CommandProgress | None, seconds: int) -> None:
        """Show how far the call is, and what it wrote by now; None where it does not run."""
        detail, clock = self.detail, ""
        if detail is not None and command is not None:
            limit = command.limit_seconds
            clock = (
                f"{countdown_text(seconds)} of {countdown_text(limit)}" if limit else countdown_text(seconds)
            )
            self._share = seconds / limit if limit else 0.0
            lines = tuple(command.output[-MAX_LIVE_CHARS:].splitlines())
            output = PageSection(name="Output", lines=lines, is_empty=not lines)
            rest = [section for section in detail.sections if section.name != "Output"]
            if detail.sections and lines and output != detail.sections[0]:
                was_at_end = self.is_at_end
                self.detail = replace(detail, sections=(output, *rest))
                self._lay_out(top=self.first_line)
                if was_at_end:
                    self.scroll_to_line(self.line_count)
        if clock != self._clock:
            self._clock = clock
            self.refresh()

    @property
    def section(self) -> PageSection | None:
        """Return the part that is shown."""
        if self.detail is None or not self.detail.sections:
            return None
        return self.detail.sections[self._part % len(self.detail.sections)]

    def turn(self, parts: int) -> None:
        """Show the next or previous part."""
        if self.detail is not None and self.detail.sections:
            self._part = (self._part + parts) % len(self.detail.sections)
            self._lay_out(top=0)

    def text(self) -> str:
        """Return the whole part as it was recorded."""
        section = self.section
        return "\n".join(section.lines) if section is not None else ""

    def find_next(self, text: str) -> bool:
        """Go to the next row that holds a text, from the top again after the last; False without one."""
        is_again, self.find = text == self.find, text
        start = self.first_line + (1 if is_again else 0)
        hits = [
            index for index, row in enumerate(self._rows) if text and text.casefold() in row.text.casefold()
        ]
        self.invalidate()
        if not hits:
            return False
        self.scroll_to_line(next((index for index in hits if index >= start), hits[0]))
        return True

    def on_width(self, width: int) -> None:
        del width
        self._lay_out(top=self.first_line)

    def notify_style_update(self) -> None:
        if self.detail is not None:
            self._below = self._ending(self.detail)
        super().notify_style_update()

    def _lay_out(self, top: int) -> None:
        section = self.section
        lines = () if section is None else section.lines or (_EMPTY_PARTS.get(section.name, ""),)
        self._lines = tuple(self._in_glyphs(number, line) for number, line in enumerate(lines))
        self._rows = list(self._wrapped())
        self._below = self._ending(self.detail) if self.detail is not None else []
        self._strips.clear()
        self.set_line_count(FIXED_ROWS + len(self._rows) + len(self._below))
        self.scroll_to_line(top)
        self.refresh()

    def _in_glyphs(self, number: int, line: str) -> str:
        """Return a line made safe, its status icons in the characters in force."""
        text, section = safe_text(line).expandtabs(8), self.section
        if section is None or not render_context.glyphs(self).is_ascii:
            return text
        for start, end, tone in section.tones.get(number, ()):
            icon = ICONS.get(cast("IconName", tone))
            if icon is not None and text[start:end] == icon.unicode:
                text = text[:start] + icon.ascii + text[end:]
        return text

    def _wrapped(self) -> Iterable[_Row]:
        width = max(1, self.width - _INDENT - 1)
        for number, line in enumerate(self._lines):
            start = 0
            for text in wrap_line(line, width):
                yield _Row(number, start, text.rstrip())
                start += len(text)

    # --- drawing --------------------------------------------------------------------------------

    def fixed_line(self, y: int, width: int) -> Strip | None:
        if self.detail is not None and y >= FIXED_ROWS:
            return None
        if self.detail is not None and y == 0:
            return self._title(self.detail, width)
        if self.detail is not None and y == 1:
            return cells.line_strip(
                self._parts(self.detail, width), width, render_context.ink(self).on("background")
            )
        return Strip.blank(width, self.rich_style)

    def draw_line(self, line: int, width: int) -> Strip:
        index, ink = line - FIXED_ROWS, render_context.ink(self)
        if index < 0:
            return Strip.blank(width, self.rich_style)
        content = (
            self._row(self._rows[index]) if index < len(self._rows) else self._below[index - len(self._rows)]
        )
        return cells.line_strip(content, width, ink.on("background"))

    def _row(self, row: _Row) -> Content:
        section, ink = self.section, render_context.ink(self)
        name = "muted" if section is None or section.is_empty else "foreground"
        if section is not None and section.name == "Changes" and row.text[:1] in ("+", "-"):
            name = "added" if row.text[0] == "+" else "removed"
        content = cells.styled(row.text, ink.of(name))
        for start, end, style in self._spans(row.line):
            content = content.stylize(style, max(0, start - row.start), max(0, end - row.start))
        content = cells.mark_hidden(Content(" " * _INDENT) + content, ink)
        start = row.text.casefold().find(self.find.casefold()) if self.find else -1
        return (
            content.stylize(ink.hit(), _INDENT + start, _INDENT + start + len(self.find))
            if start >= 0
            else content
        )

    def _spans(self, line: int) -> Iterable[tuple[int, int, Style]]:
        """Return what of a line has a colour of its own: code of a file, a status, words of test runners."""
        section, ink = self.section, render_context.ink(self)
        painter = render_context.painter(self)
        if section is None or section.is_empty:
            return []
        if section.path:
            painted = painter.lines(section.path, self._lines) if painter is not None else ()
            spans = painted[line] if line < len(painted) else ()
            return [(start, end, ink.of(color)) for start, end, color in spans]
        tones = section.tones.get(line) or (output_tones(self._lines[line]) if section.is_output else ())
        return [(start, end, tone_style(tone, ink)) for start, end, tone in tones]

    def _title(self, detail: DetailPage, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        tool, _, ended = detail.title.partition(" ")
        left = Content.assemble(
            (tool, ink.of("foreground", bold=True)), " ",
            (f"{glyphs.of(detail.sign)} {ended}", ink.sign(detail.sign)),
        )  # fmt: skip
        if self._clock:
            bar = cells.measured_bar(self._share, _BAR_CELLS, ink, glyphs) if self._share else Content("")
            left = Content.assemble(
                left, "   ", bar, "  " if self._share else "", (self._clock, ink.of("info"))
            )
        is_asking = detail.sign == "waiting" and bool(detail.keys) and not self.is_past
        hints = (("[ ]", "part"), *(detail.keys if is_asking else (("/", "find"), ("y", "copy"))))
        right = Content("   ").join(key_hint(keys, words, ink) for keys, words in hints)
        if not self._has_facts_below(detail, width):
            right = self._with_facts(right, detail, width - left.cell_length - 7, needs_keys=is_asking)
        return cells.title_strip(left, right, width, ink, glyphs=glyphs)

    def _with_facts(self, keys: Content, detail: DetailPage, room: int, *, needs_keys: bool) -> Content:
        """Return the keys of a title with as many facts as have room, or facts alone, or the keys alone."""
        facts = [self._facts(detail, count) for count in range(len(detail.facts), 0, -1)]
        choices = [line + Content("   ") + keys for line in facts]
        choices += [] if needs_keys else facts
        return next((line for line in choices if line.cell_length <= room), keys)

    def _facts(self, detail: DetailPage, count: int) -> Content:
        ink = render_context.ink(self)
        return cells.safe_content("   ".join(detail.facts[:count]), ink.of("muted"), ink)

    def _parts(self, detail: DetailPage, width: int) -> Content:
        """Return the names of the parts, the facts if all have room, and how far the part goes."""
        left, right = (
            self._part_names(detail),
            Content.styled(self._more(), render_context.ink(self).of("muted")),
        )
        if self._has_facts_below(detail, width):
            gap = Content("   ") if right else Content("")
            right = self._facts(detail, len(detail.facts)) + gap + right
        room = width - left.cell_length - right.cell_length - 1
        return Content.assemble(left, " " * room, right) if room > 1 and right else left

    def _has_facts_below(self, detail: DetailPage, width: int) -> bool:
        """Return whether all facts have room next to the names of the parts."""
        facts, more = self._facts(detail, len(detail.facts)).cell_length, len(self._more())
        gap = 3 if facts and more else 0
        return self._part_names(detail).cell_length + facts + gap + more + 2 < width

    def _part_names(self, detail: DetailPage) -> Content:
        ink = render_context.ink(self)
        names = [
            Content.styled(f" {part.name} ", ink.reverse("info"))
            if part is self.section
            else Content.styled(f" {part.name} ", ink.of("faint" if part.is_empty else "foreground"))
            for part in detail.sections
        ]
        return Content.assemble(" ", Content(" ").join(names))

    def _more(self) -> str:
        """Return how far the part goes and where there is more of it, as the titles of lists say it."""
        total = self.line_count - FIXED_ROWS
        last = min(total, self.first_line + self.size.height - FIXED_ROWS)
        extent = ListExtent(first=self.first_line, last=last, total=total)
        return extent_text(extent, render_context.glyphs(self))

    def _ending(self, detail: DetailPage) -> list[Content]:
        if not self.is_attached:
            return []
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        moments: list[Content] = []
        for when, sign, words in detail.moments:
            style = ink.sign(sign) if sign is not None else ink.of("foreground")
            mark = f"{glyphs.of(sign)} " if sign is not None else ""
            moments.append(
                Content.assemble(
                    (f"{clock_time_millis(when)} ", ink.of("muted")), mark, cells.safe_content(words)
                ).stylize(style, len(clock_time_millis(when)) + 1)
            )
        lines = [Content(""), *self._flowed(moments)]
        if detail.told and not self._says(detail.told):
            told = cells.wrap_code(
                [cells.safe_content(detail.told, ink.of("muted"), ink)], max(8, self.width - 2)
            )
            lines += [Content(" ") + line for line in told]
        if detail.keys and detail.sign != "waiting" and not self.is_past:
            hints = Content("   ").join(key_hint(keys, words, ink) for keys, words in detail.keys)
            lines.append(Content.assemble((" what next:  ", ink.of("muted")), hints))
        return lines

    def _says(self, text: str) -> bool:
        """Return whether the part on show says already what stands below all parts."""
        start = text[:_SAME_CELLS]
        return any(start in line for line in self._lines)

    def _flowed(self, moments: Iterable[Content]) -> list[Content]:
        """Put as many moments on a line as fit."""
        lines: list[Content] = []
        for moment in moments:
            if lines and lines[-1].cell_length + moment.cell_length + 5 <= self.width:
                lines[-1] = Content.assemble(lines[-1], "    ", moment)
            else:
                lines.append(Content.assemble(" ", moment))
        return lines


class StepView(CallView, can_focus=True):
    """The parts of one step."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._chosen: str | None = None
        self.follows = True
        """Whether the log stays at its end while the step writes."""

    def show(self, detail: DetailPage | None) -> None:
        was_at_end, is_same = self.is_at_end, self.detail is not None
        is_same = is_same and detail is not None and self.detail is not None and self.detail.id == detail.id
        super().show(detail)
        if detail is None:
            return
        if not is_same:
            self._part = self._part_of(detail)
            self._lay_out(top=0)
        if self.is_log and self.follows and (was_at_end or not is_same) and detail.sign == "running":
            self.scroll_to_line(self.line_count)

    def _part_of(self, detail: DetailPage) -> int:
        names = [section.name for section in detail.sections]
        if self._chosen is not None:
            return names.index(self._chosen) if self._chosen in names else 0
        filled = [index for index, section in enumerate(detail.sections) if not section.is_empty]
        contract = names.index("Contract")
        has_trouble = detail.sign == "failed" or bool(detail.told)
        return contract if has_trouble and contract in filled else next(iter(filled), 0)

    def turn(self, parts: int) -> None:
        super().turn(parts)
        self._chosen = self.section.name if self.section is not None else None

    @property
    def is_log(self) -> bool:
        """Return whether the log is shown."""
        return self.section is not None and self.section.name == "Log"
