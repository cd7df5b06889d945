"""What a session is about at a moment: the change, the output or the thought of its newest call or word."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.rows import Call
from workbench.domain.values import Hunk, Json
from workbench.text.safe import one_line
from workbench.views.action_detail import FileDetail, change_details, json_text
from workbench.views.conversation_blocks import Block, OutputBuffer, ThoughtBlock
from workbench.views.status_icons import StatusName, call_status
from workbench.views.tools import call_target, shown_tool

MAX_MOMENT_LINES: Final = 2_000
"""Lines of an output or a thought that are shown beside what goes on: enough to fill any screen."""
_MAX_LINE_CHARS: Final = 2_000
_OLD_TEXT: Final = ("old_string", "old_str", "oldString", "old_text", "oldText")
_NEW_TEXT: Final = ("new_string", "new_str", "newString", "new_text", "newText")
_WHOLE_TEXT: Final = ("content", "file_text", "patch", "input")


class Moment(Struct, frozen=True, kw_only=True):
    """The newest call of a session, or its newest thought. Texts are raw."""

    id: str
    kind: Literal["change", "output", "thought"]
    name: str
    """The tool, or `thought`; one safe line."""
    target: str = ""
    """What the call is about, one safe line."""
    sign: StatusName | None = None
    files: tuple[FileDetail, ...] = ()
    lines: tuple[str, ...] = ()
    """Without files: the output, the parameters of a call that has written nothing, or the thought."""
    is_growing: bool = False
    """More lines may come: the last ones are those to show."""

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return tuple(hunk for file in self.files for hunk in file.hunks)


def newest_thought(blocks: Sequence[Block]) -> ThoughtBlock | None:
    return next((block for block in reversed(blocks) if isinstance(block, ThoughtBlock)), None)


def thought_moment(thought: ThoughtBlock) -> Moment:
    return Moment(
        id=thought.id, kind="thought", name="thought", sign="running" if thought.is_open else None,
        lines=_bounded(thought.text.splitlines()), is_growing=thought.is_open,
    )  # fmt: skip


def call_moment(
    call: Call, events: Iterable[e.Event], opened: e.ActionOpened | None = None, *, output: str | None = None,
    written: str = "",
) -> Moment:  # fmt: skip
    """Return what a call is about: its change where it has one, else what it wrote.

    Args:
        call: as it stands.
        events: those of the call until the moment.
        opened: its question, which holds the change that was asked about.
        output: all that it wrote, where that is kept.
        written: what a command that runs has written by now.
    """
    bodies = [event.body for event in events if event.call_id == call.id]
    changed = [body for body in bodies if isinstance(body, e.FileChanged)]
    files = change_details(opened, changed)
    lines = ()
    if not files:
        lines = _edit_lines(call) or _output_lines(bodies, output, written) or _parameter_lines(call)
    return Moment(
        id=call.id, kind="change" if files or _is_edit(call) else "output",
        name=one_line(shown_tool(call.tool), 64), target=call_target(call), sign=call_status(call)[0],
        files=files, lines=_bounded(lines), is_growing=call.state == "executing",
    )  # fmt: skip


def _bounded(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:_MAX_LINE_CHARS] for line in lines[-MAX_MOMENT_LINES:])


def _is_edit(call: Call) -> bool:
    return shown_tool(call.tool) in ("edit", "write")


def _edit_lines(call: Call) -> tuple[str, ...]:
    """Return what an edit was asked to do, as long as nobody knows which lines of the file it came to."""
    if not _is_edit(call):
        return ()
    old, new, whole = (_text_of(call, names) for names in (_OLD_TEXT, _NEW_TEXT, _WHOLE_TEXT))
    if old or new:
        return (*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines()))
    is_patch = whole.startswith(("***", "---", "diff "))
    return tuple(whole.splitlines()) if is_patch else tuple(f"+{line}" for line in whole.splitlines())


def _text_of(call: Call, names: Iterable[str]) -> str:
    values: Iterable[Json] = (call.parameters.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), "")


def _output_lines(bodies: Iterable[e.Body], output: str | None, written: str) -> tuple[str, ...]:
    """Return what a call wrote, in whole, as far as it came, or as its agent was told."""
    if output is not None or written:
        return tuple((output if output is not None else written).splitlines())
    stream, preview = OutputBuffer(), ""
    for body in bodies:
        if isinstance(body, e.OutputStreamed):
            stream.add(body.offset, body.text)
        elif isinstance(body, e.CallFinished):
            preview = body.preview or body.error
    return tuple((preview or stream.text).splitlines())


def _parameter_lines(call: Call) -> tuple[str, ...]:
    """Return what a call was given, as long as it has written nothing."""
    lines: list[str] = []
    for name, value in call.parameters.items():
        first, *rest = (value if isinstance(value, str) else json_text(value)).splitlines() or [""]
        lines += [f"{name}: {first}", *(f"  {line}" for line in rest)]
    return tuple(lines)
