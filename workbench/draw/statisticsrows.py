"""Statistics as lines: tools, how asks ended, times to decide, tokens, sessions, files. Pure.

A line has an id: those that can be opened say what the library is to be narrowed to, captions begin with `-`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content

from workbench.draw import cells, rows
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.libraryrows import OUTCOME_SIGNS, bar
from workbench.draw.tokens import Ink
from workbench.records import dataclass
from workbench.text.human import duration, tokens
from workbench.views.remarks import Remark
from workbench.views.signs import Meaning
from workbench.views.statistics import Deciding, Statistics, ToolCount, unfinished_words

Line = tuple[str, Content]

_STEPS: Final = " ▁▂▃▄▅▆▇█"
_STATUSES: Final[dict[str, Meaning]] = {
    "completed": "ok", "ready": "ok", "failed": "failed", "terminated": "cancelled", "paused": "cancelled",
    "processing": "running",
}  # fmt: skip
_ASKED: Final = {
    "approved": "asked:approved", "partly": "asked:approved", "rejected": "asked:rejected",
    "expired": "asked:expired", "withdrawn": "asked:cancelled",
}  # fmt: skip
_MOST_FILES: Final = 12
_LEAST_BAR: Final = 8
_TIMES: Final = ("1 s", "2 s", "5 s", "10 s", "20 s", "1 min", "2 min", "5 min", "15 min", "more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What lines are drawn with."""

    width: int
    ink: Ink
    glyphs: Glyphs

    def caption(self, name: str, text: str, right: str = "") -> Line:
        """Return the title of a block."""
        rule, line = self.ink.of("rule"), self.glyphs.line("─")
        tail = styled(f" {right} ", self.ink.of("muted")) if right else Content("")
        head = Content.assemble((line, rule), " ", (text, self.ink.of("foreground", bold=True)), " ")
        room = max(0, self.width - head.cell_length - tail.cell_length - 1)
        return f"-{name}", Content.assemble(head, (line * room, rule), tail, (line, rule))

    def blank(self, name: str) -> Line:
        """Return an empty line."""
        return f"-{name}-blank", Content("")

    def plain(self, name: str, text: str) -> Line:
        """Return a line of muted words."""
        return f"-{name}", styled(f" {self.glyphs.line(text)}", self.ink.of("muted"))


# --- tools ------------------------------------------------------------------------------------------


def tool_lines(found: Sequence[ToolCount], frame: Frame) -> list[Line]:
    """Return the calls by tool: how many, the share of those that ran which succeeded, how long."""
    if not found:
        return [frame.blank("tools"), frame.plain("no-tools", "No tool was called in this period.")]
    muted = frame.ink.of("muted")
    words = ("tool", "calls", "ok", "p50", "p95", "waited", "run time")
    head = _tool_columns([styled(word, muted) for word in words], frame)
    most = max(one.run_ms for one in found)
    return [
        frame.blank("tools"),
        ("-tools-head", head),
        *((f"tool:{one.tool}", _tool(one, most, frame)) for one in found),
        *([frame.plain("unfinished", words)] if (words := unfinished_words(found)) else []),
    ]


def _tool(one: ToolCount, most: int, frame: Frame) -> Content:
    ink = frame.ink
    share = "–" if one.success is None else f"{one.success:.0%}"
    is_poor = one.success is not None and one.success < 0.9
    waited = styled(_took(one.waited_ms or None), ink.of("waiting" if one.waited_ms else "muted"))
    room = _bar_room(frame)
    length = max(1, round(room * one.run_ms / most)) if one.run_ms and most else 0
    return _tool_columns(
        [
            content(one.tool, ink.of("foreground"), ink), styled(f"{one.calls:,}"),
            styled(share, ink.of("waiting" if is_poor else "foreground")), styled(_took(one.p50_ms)),
            styled(_took(one.p95_ms)), waited, styled(frame.glyphs.of("ran") * length, ink.of("info")),
        ],
        frame,
    )  # fmt: skip


def _bar_room(frame: Frame) -> int:
    room = frame.width - 74
    return min(30, room) if room >= _LEAST_BAR else 0


def _tool_columns(parts: Sequence[Content], frame: Frame) -> Content:
    name, calls, ok, p50, p95, waited, run = parts
    columns = [
        Column(content=name, grows=True, least=18, gap=2),
        Column(content=calls, width=7, align="right"),
        Column(content=ok, width=5, align="right"),
        Column(content=p50, width=8, align="right", drop=2),
        Column(content=p95, width=8, align="right", drop=1),
        Column(content=waited, width=9, align="right"),
    ]
    if room := _bar_room(frame):
        columns.append(Column(content=run, width=room, gap=2, drop=3))
    return cells.compose([*columns, Column(content=Content(""), width=0)], frame.width, frame.glyphs)


def _took(ms: int | None) -> str:
    return "–" if ms is None else duration(ms / 1000)


# --- asks -------------------------------------------------------------------------------------------


def outcome_lines(counts: Statistics, frame: Frame) -> list[Line]:
    """Return who decided calls and how questions ended; expired is never rejected."""
    total = sum(count for _, count in counts.outcomes)
    lines = [frame.blank("asks"), frame.caption("asks", "Who decided", f"{total:,}")]
    if not total:
        return [*lines, frame.plain("no-asks", "Nothing was decided in this period.")]
    most = max(count for _, count in counts.outcomes)
    for name, count in counts.outcomes:
        sign = OUTCOME_SIGNS[name]
        head = _counted(frame, sign, name, count, f"{count / total:>5.0%}")
        line = head + bar(
            count, most, max(4, frame.width - head.cell_length - 2), sign, frame.ink, frame.glyphs
        )
        lines.append((_ASKED.get(name) or f"-{name.replace(' ', '-')}", line))
    return _unique(lines)


def _unique(lines: Iterable[Line]) -> list[Line]:
    """Return lines of which no two have one id: a second one for the same sessions gets a blank behind it."""
    taken: set[str] = set()
    found: list[Line] = []
    for name, line in lines:
        while name in taken:
            name += " "
        taken.add(name)
        found.append((name, line))
    return found


def _counted(frame: Frame, sign: Meaning, word: str, count: int, share: str = "") -> Content:
    ink = frame.ink
    return Content.assemble(
        "  ", (frame.glyphs.of(sign), ink.sign(sign)), f" {frame.glyphs.line(word):<11}", f"{count:>7,}",
        (f" {share}", ink.of("muted")), "  ",
    )  # fmt: skip


def deciding_lines(deciding: Deciding, frame: Frame) -> list[Line]:
    """Return how long people took, as a bar for every step of time."""
    right = f"median {_took(deciding.p50_ms)}, 95 % in {_took(deciding.p95_ms)}" if deciding.answers else ""
    lines = [frame.blank("time"), frame.caption("time", "Your time to decide", right)]
    if not deciding.answers:
        return [*lines, frame.plain("no-time", "Nobody answered anything in this period.")]
    cell = max(4, min(7, (frame.width - 3) // len(_TIMES)))
    drawn = columns(deciding.buckets, cell - 1, 4, frame)
    lines += [(f"-time-{at}", styled(f"   {text}", frame.ink.of("info"))) for at, text in enumerate(drawn)]
    labels = "".join(word[: cell - 1].ljust(cell) for word in _TIMES)
    return [*lines, ("-time-labels", styled(f"   {labels}", frame.ink.of("muted")))]


def columns(values: Sequence[int], cell: int, height: int, frame: Frame, gap: int = 1) -> list[str]:
    """Return standing bars on one scale, the highest of full height; what is there is at least a step."""
    most = max(values, default=0) or 1
    steps = [max(1, round(value * height * 8 / most)) if value else 0 for value in values]
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        marks = [_STEPS[max(0, min(8, step - row * 8))] for step in steps]
        if frame.glyphs.is_ascii:
            marks = ["#" if mark != " " else " " for mark in marks]
        lines.append("".join(mark * cell + " " * gap for mark in marks))
    return lines


# --- the right side ---------------------------------------------------------------------------------


def token_lines(days: Sequence[int], labels: tuple[str, str], counts: Statistics, frame: Frame) -> list[Line]:
    """Return tokens by day, grouped where the days do not fit."""
    used = counts.input_tokens + counts.output_tokens
    money = "" if counts.cost is None else f"   {counts.cost:.2f}"
    lines = [frame.caption("tokens", "Tokens by day", f"{tokens(used)}{money}")]
    if not any(days):
        return [*lines, frame.plain("no-tokens", "No token was counted in this period.")]
    room = max(7, frame.width - 4)
    group = -(-len(days) // room)
    grouped = [sum(days[at : at + group]) for at in range(0, len(days), group)]
    cell = max(1, min(5, room // len(grouped)))
    gap = 1 if cell > 2 else 0
    drawn = columns(grouped, cell - gap, 5, frame, gap)
    lines += [(f"-tokens-{at}", styled(f"  {text}", frame.ink.of("info"))) for at, text in enumerate(drawn)]
    wide = max(len(labels[0]) + len(labels[1]) + 1, min(room, cell * len(grouped)))
    text = labels[0] + labels[1].rjust(wide - len(labels[0]))
    return [
        *lines,
        ("-tokens-labels", styled(f"  {text}", frame.ink.of("muted"))),
        frame.plain(
            "tokens-note", f" sent {tokens(counts.input_tokens)}, received {tokens(counts.output_tokens)}"
        ),
    ]


def session_lines(counts: Statistics, frame: Frame) -> list[Line]:
    """Return how sessions stand."""
    lines = [frame.blank("sessions"), frame.caption("sessions", "Sessions", f"{counts.sessions:,}")]
    most = max((count for _, count in counts.statuses), default=0)
    for status, count in counts.statuses:
        sign = _STATUSES.get(status, "todo")
        head = _counted(frame, sign, status, count)
        line = head + bar(
            count, most, max(3, frame.width - head.cell_length - 2), sign, frame.ink, frame.glyphs
        )
        lines.append((f"status:{status}", line))
    return lines


def file_lines(counts: Statistics, frame: Frame) -> list[Line]:
    """Return the files that were changed most."""
    files = counts.files
    lines = [
        frame.blank("files"),
        frame.caption("files", "Most changed", _files_words(len(files))),
    ]
    if not files:
        return [*lines, frame.plain("no-files", "No file was changed in this period.")]
    for one in files[:_MOST_FILES]:
        times = styled(frame.glyphs.line(f"{one.times:,}×"), frame.ink.of("muted"))
        sizes = rows.sizes(one.added, one.removed, frame.ink, frame.glyphs)
        line = [
            Column(content=content(one.path, None, frame.ink), grows=True, cut="path", gap=2),
            Column(content=times, width=6, align="right"), Column(content=sizes, width=13, align="right"),
            Column(content=Content(""), width=0),
        ]  # fmt: skip
        lines.append((f'"{one.path}"', cells.compose(line, frame.width, frame.glyphs)))
    return lines


def _files_words(count: int) -> str:
    return "" if not count else "1 file" if count == 1 else f"{count:,} files"


def remark_lines(found: Iterable[Remark], frame: Frame) -> list[Line]:
    """Return what is worth a look; nothing where nothing is."""
    lines: list[Line] = []
    for at, one in enumerate(found):
        sign = styled(f"  {frame.glyphs.of(one.sign)} ", frame.ink.sign(one.sign))
        for row, text in enumerate(_wrapped(one.words, max(10, frame.width - 5))):
            head = sign if row == 0 else Content("    ")
            lines.append((f"-remark-{at}-{row}", head + content(text, frame.ink.of("foreground"), frame.ink)))
    return [frame.blank("remarks"), frame.caption("remarks", "Worth a look"), *lines] if lines else []


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
