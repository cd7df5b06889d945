"""One tool call in full: output, parameters, what the gate said, changes, the raw events.

Never reads a blob: whole outputs are handed in. Lines are raw; `draw` makes them safe.
"""

from collections.abc import Iterable, Mapping

from workbench.domain import events as e
from workbench.domain.codec import to_object
from workbench.domain.events import Event
from workbench.domain.rows import Action, Call
from workbench.domain.values import Verdict
from workbench.records import dataclass
from workbench.text.human import duration, size
from workbench.text.safe import one_line
from workbench.views.plain import json_text
from workbench.views.signs import Meaning, call_sign
from workbench.views.streams import Stream

Moment = tuple[int, Meaning | None, str]
"""When, whose sign, and what happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a call in full."""

    name: str
    """`Output`, `Gate`: what stands in the row of parts."""
    lines: tuple[str, ...] = ()
    """Raw lines."""
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDetail:
    """One call in full."""

    id: str
    sign: Meaning
    title: str
    """`run_in_terminal ✗ exit 1` without the sign: tool and how it ended."""
    facts: str = ""
    """`call c5   1.1 KB   stdout and stderr, in order`."""
    sections: tuple[Section, ...] = ()
    """Output, Parameters, Gate, Changes, Raw, in this order."""
    moments: tuple[Moment, ...] = ()
    """(when, sign, words): asked, approved by you after 1.9 s, started, exit 1."""
    told: str = ""
    """What the agent was told, as a sentence."""


def detail(
    call: Call, action: Action | None, events: Iterable[Event], *, output: str | None = None
) -> ToolDetail:
    """Return one call in full.

    Args:
        call: its row.
        action: the question it asked, if it asked.
        events: of its session; those of other calls are skipped.
        output: its whole output where the caller has read it; None shows what was streamed or the preview.
    """
    mine = [
        event for event in events if event.call_id == call.id or (action and event.action_id == action.id)
    ]
    sign, word = call_sign(call, action)
    finished = next((event.body for event in mine if isinstance(event.body, e.CallFinished)), None)
    ended = f"exit {call.exit_code}" if call.exit_code else word
    return ToolDetail(
        id=call.id, sign=sign, title=f"{one_line(call.tool, 64)} {ended}", facts=_facts(call),
        sections=(
            _section("Output", _output(mine, finished, output)),
            _section("Parameters", _parameters(call)),
            _section("Gate", _gate(mine)),
            _section("Changes", _changes(mine)),
            _section("Raw", [_raw(event) for event in mine]),
        ),
        moments=tuple(moment for event in mine if (moment := _moment(event, action))), told=_told(finished),
    )  # fmt: skip


def _section(name: str, lines: Iterable[str]) -> Section:
    found = tuple(lines)
    return Section(name=name, lines=found, is_empty=not found)


def _facts(call: Call) -> str:
    name = one_line(call.provider_call_id, 24)
    parts = [f"call {name}"] if name else []
    parts += [size(call.output_bytes)] if call.output_bytes else []
    parts += ["stdout and stderr, in order"] if call.output_bytes and call.exit_code is not None else []
    return "   ".join(parts)


def _output(events: Iterable[Event], finished: e.CallFinished | None, whole: str | None) -> list[str]:
    if whole is not None:
        return whole.splitlines()
    if finished is not None and finished.preview:
        return finished.preview.splitlines()
    stream = Stream()
    for event in events:
        if isinstance(event.body, e.OutputStreamed):
            stream.add(event.body.offset, event.body.text)
    return stream.text.splitlines()


def _parameters(call: Call) -> Iterable[str]:
    for name, value in call.parameters.items():
        lines = (value if isinstance(value, str) else json_text(value)).splitlines() or [""]
        if len(lines) == 1:
            yield f"{name}: {lines[0]}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in lines)


def _gate(events: Iterable[Event]) -> Iterable[str]:
    for event in events:
        match event.body:
            case e.CallProposed(verdict=verdict):
                yield _said(verdict)
            case e.HookRan() as hook:
                blocked = ", it blocks the call" if hook.blocked else ""
                yield f"{hook.event} {hook.command}: exit {hook.exit_code}{blocked}"
                yield from (f"  {line}" for line in hook.output.splitlines())
            case e.AnswerRefused() as refused:
                yield f"an answer did not count: {refused.why}"
            case _:
                pass


_STEPS = {
    "request": "the tools it may use", "schema": "the form of its parameters", "paths": "the paths it names",
    "ceiling": "the limits of its run", "deny": "what is denied", "hooks": "the hooks",
}  # fmt: skip


def _said(verdict: Verdict) -> str:
    """Return what the gate said, as a sentence that names who spoke and at which step."""
    speaker = "" if verdict.by in ("", "default") else f" by {verdict.by}"
    default = "no rule or setting lets it pass" if verdict.outcome == "ask" else ""
    why = verdict.reason or default
    # That it came as far as being let pass or asked about says the sentence; every earlier step is named.
    step = f" (step: {_STEPS[verdict.step]})" if verdict.step in _STEPS else ""
    return f"{_SAID[verdict.outcome]}{speaker}{f': {why}' if why else ''}{step}"


_SAID: Mapping[str, str] = {
    "ask": "it asks you", "allowed": "let pass", "denied": "denied", "refused": "refused",
}  # fmt: skip


def _changes(events: Iterable[Event]) -> Iterable[str]:
    for event in events:
        if isinstance(event.body, e.FileChanged):
            body = event.body
            yield f"{body.change} {body.path}  +{body.added} −{body.removed}"
            for hunk in body.hunks:
                yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
                yield from (f"{sign}{text}" for sign, text in hunk.lines)


def _raw(event: Event) -> str:
    return json_text(to_object(event))


def _moment(event: Event, action: Action | None) -> Moment | None:
    match event.body:
        case e.ActionOpened():
            return event.at, "waiting", "asked"
        case e.ActionApproved():
            return event.at, "ok", f"approved by {_who(event)}{_after(event, action)}"
        case e.ActionRejected():
            return event.at, "rejected", f"rejected by {_who(event)}{_after(event, action)}"
        case e.ActionExpired():
            return event.at, "expired", "expired"
        case e.CallExecuting():
            return event.at, None, "started"
        case e.CallFinished() as body:
            meaning, words = _ENDS.get(body.state, ("failed", body.state))
            return event.at, meaning, f"exit {body.exit_code}" if body.exit_code else words
        case _:
            return None


_ENDS: Mapping[str, tuple[Meaning, str]] = {
    "succeeded": ("ok", "done"),
    "interrupted": ("unknown", "outcome unknown"),
    "cancelled": ("cancelled", "cancelled"),
}


def _who(event: Event) -> str:
    return "you" if event.actor.kind == "user" else event.actor.kind


def _after(event: Event, action: Action | None) -> str:
    return f" after {duration((event.at - action.created_at) / 1_000_000)}" if action else ""


def _told(finished: e.CallFinished | None) -> str:
    if finished is None:
        return ""
    how = f"exit code {finished.exit_code}" if finished.exit_code is not None else finished.state
    if not finished.preview:
        return f"The agent was told: {how}."
    lines = len(finished.preview.splitlines())
    is_cut = len(finished.preview.encode()) < finished.output_bytes
    rest = f"{lines} lines with the middle left out" if is_cut else "all of the output"
    return f"The agent was told: {how}, {rest}."
