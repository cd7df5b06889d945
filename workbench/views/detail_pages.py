"""Pages of details: a tool call in full, a step of a run in full.

Events and texts are handed in. Lines are raw, but for those with tones; whoever draws makes them safe.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.codec import event_to_object
from workbench.domain.rows import Action, Call
from workbench.domain.values import SANDBOX_SPEAKER, GateVerdict, SandboxUse
from workbench.text.failures import failure_fact
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, iso_time, size_text, try_text
from workbench.text.safe import one_line, reason_lines
from workbench.text.width import cell_width
from workbench.views.action_detail import json_text
from workbench.views.call_summary import repeated_text
from workbench.views.pipeline import PipelineItem, PipelineRun, PipelineStep, step_links
from workbench.views.run_history import EarlierStep, usual_seconds
from workbench.views.sandbox import refusal_lines, refusals_text, sandbox_use_text, step_place_text
from workbench.views.status_icons import STEP_STATUSES, StatusName, call_status, step_status_name
from workbench.views.stream_buffers import insert_piece
from workbench.views.supervised import call_judgement, judgement_sentence, own_question
from workbench.views.tools import (
    LineTone,
    PageLine,
    ToneSpan,
    icon_part,
    output_tones,
    page_line,
    streamed_output,
)
from workbench.views.usage import money_text

PageMoment = tuple[int, StatusName | None, str]


class PageSection(Struct, frozen=True, kw_only=True):
    """One part of a call in full."""

    name: str
    lines: tuple[str, ...] = ()
    is_empty: bool = False
    tones: Mapping[int, tuple[ToneSpan, ...]] = field(default_factory=dict[int, tuple[ToneSpan, ...]])
    """By line, where a line has some."""
    path: str = ""
    """The file whose text it is, which is highlighted; empty for any other text."""
    is_output: bool = False
    """Whether programs wrote it: the words of test runners have a meaning in it."""


class DetailPage(Struct, frozen=True, kw_only=True):
    """One call in full."""

    id: str
    sign: StatusName
    title: str
    """`run_in_terminal × exit 1` without the sign: tool and how it ended."""
    facts: tuple[str, ...] = ()
    """Where there is not room for all, the first ones are shown."""
    sections: tuple[PageSection, ...] = ()
    moments: tuple[PageMoment, ...] = ()
    """(when, sign, words): asked, approved by you after 1.9 s, started, exit 1."""
    told: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    """What can be done next: keys, and what they do."""


def call_detail(
    call: Call, action: Action | None, events: Iterable[e.Event], *, output: str | None = None
) -> DetailPage:
    """Return one call in full; without `output` it shows what was streamed, or the preview."""
    mine = [
        event for event in events if event.call_id == call.id or (action and event.action_id == action.id)
    ]
    sign, word = call_status(call, action)
    finished = next((event.body for event in mine if isinstance(event.body, e.CallFinished)), None)
    words = (f"exit {call.exit_code}" if call.exit_code else word, call_judgement(call))
    ended = ", ".join(filter(None, words))
    return DetailPage(
        id=call.id, sign=sign, title=f"{one_line(call.tool, 64)} {ended}", facts=_call_facts(call),
        sections=(
            _page_section(
                "Output", _output_lines(mine, finished, output), path=_read_path(call), is_output=True
            ),
            _page_section("Parameters", _parameter_lines(call)),
            _page_section("Gate", filter(None, [*_gate_lines(mine), own_question(call)])),
            _page_section("Changes", _change_lines(mine)),
            _page_section("Raw", [_raw_json(event) for event in mine]),
        ),
        moments=tuple(moment for event in mine if (moment := _page_moment(event, action))),
        told=judgement_sentence(call) or _told_sentence(finished),
    )  # fmt: skip


def _read_path(call: Call) -> str:
    """Return the path of the file that a call has read; empty for any other call."""
    path = call.parameters.get("path")
    has_text = call.tool in ("read_file", "context.read") and call.state == "succeeded"
    return path if has_text and isinstance(path, str) else ""


def _call_facts(call: Call) -> tuple[str, ...]:
    name = one_line(call.provider_call_id, 24)
    parts = [f"{call.place} the sandbox"] if call.place else []
    parts += [f"call {name}"] if name else []
    parts += [size_text(call.output_bytes)] if call.output_bytes else []
    parts += [repeated_text(call.repeats)] if call.repeats else []
    parts += ["stdout and stderr, in order"] if call.output_bytes and call.exit_code is not None else []
    return tuple(parts)


def _output_lines(events: Iterable[e.Event], finished: e.CallFinished | None, whole: str | None) -> list[str]:
    if whole is not None:
        return whole.splitlines()
    if finished is not None and finished.preview:
        return finished.preview.splitlines()
    return streamed_output(event.body for event in events).splitlines()


def _parameter_lines(call: Call) -> Iterable[str]:
    for name, value in call.parameters.items():
        lines = (value if isinstance(value, str) else json_text(value)).splitlines() or [""]
        if len(lines) == 1:
            yield f"{name}: {lines[0]}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in lines)


def _gate_lines(events: Iterable[e.Event]) -> Iterable[str]:
    for event in events:
        match event.body:
            case e.CallProposed(verdict=verdict):
                yield _verdict_sentence(verdict)
            case e.CallExecuting(sandbox=SandboxUse() as use):
                yield f"it ran {sandbox_use_text(use)}"
            case e.SandboxRefused(refusals=refusals):
                yield from (f"the sandbox refused {line}" for line in refusal_lines(refusals))
            case e.HookRan() as hook:
                blocked = ", it blocks the call" if hook.blocked else ""
                yield f"{hook.event} {hook.command}: exit {hook.exit_code}{blocked}"
                yield from (f"  {line}" for line in hook.output.splitlines())
            case e.AnswerRefused() as refused:
                yield f"an answer did not count: {refused.why}"
            case _:
                pass


_GATE_STEP_WORDS = {
    "request": "the tools it may use", "schema": "the form of its parameters", "paths": "the paths it names",
    "ceiling": "the limits of its run", "deny": "what is denied", "hooks": "the hooks",
}  # fmt: skip


def _verdict_sentence(verdict: GateVerdict) -> str:
    name = "the sandbox" if verdict.by == SANDBOX_SPEAKER else verdict.by
    speaker = "" if verdict.by in ("", "default") else f" by {name}"
    default = "no rule or setting allows it" if verdict.outcome == "ask" else ""
    why = verdict.reason or default
    # That it came as far as being let pass or asked about says the sentence; every earlier step is named.
    step = f" (step: {_GATE_STEP_WORDS[verdict.step]})" if verdict.step in _GATE_STEP_WORDS else ""
    return f"{_VERDICT_WORDS[verdict.outcome]}{speaker}{f': {why}' if why else ''}{step}"


_VERDICT_WORDS: Mapping[str, str] = {
    "ask": "it asks you", "allowed": "allowed", "denied": "denied", "refused": "refused",
}  # fmt: skip


def _change_lines(events: Iterable[e.Event]) -> Iterable[str]:
    for event in events:
        if isinstance(event.body, e.FileChanged):
            body = event.body
            yield f"{body.change} {body.path}  +{body.added} −{body.removed}"
            for hunk in body.hunks:
                yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
                yield from (f"{sign}{text}" for sign, text in hunk.lines)


def _raw_json(event: e.Event) -> str:
    return json_text(event_to_object(event))


def _page_moment(event: e.Event, action: Action | None) -> PageMoment | None:
    match event.body:
        case e.ActionOpened():
            return event.at, "waiting", "asked"
        case e.ActionApproved():
            return event.at, "ok", f"approved by {_actor_name(event)}{_after_text(event, action)}"
        case e.ActionRejected():
            return event.at, "rejected", f"rejected by {_actor_name(event)}{_after_text(event, action)}"
        case e.ActionExpired():
            return event.at, "expired", "expired"
        case e.CallExecuting(sandbox=use):
            return event.at, None, f"started {use.place}" if use else "started"
        case e.SandboxRefused(refusals=refusals):
            return event.at, "rejected", f"the sandbox refused {refusals_text(refusals)}"
        case e.CallFinished() as body:
            meaning, words = _CALL_ENDS.get(body.state, ("failed", body.state))
            return event.at, meaning, f"exit {body.exit_code}" if body.exit_code else words
        case _:
            return None


_CALL_ENDS: Mapping[str, tuple[StatusName, str]] = {
    "succeeded": ("ok", "done"),
    "interrupted": ("unknown", "outcome unknown"),
    "cancelled": ("cancelled", "cancelled"),
}


def _actor_name(event: e.Event) -> str:
    return "you" if event.actor.kind == "user" else event.actor.kind


def _after_text(event: e.Event, action: Action | None) -> str:
    return f" after {duration_text((event.at - action.created_at) / SECOND_MICROS)}" if action else ""


def _told_sentence(finished: e.CallFinished | None) -> str:
    if finished is None:
        return ""
    how = f"exit code {finished.exit_code}" if finished.exit_code is not None else finished.state
    if not finished.preview:
        return f"The agent was told: {how}."
    lines = len(finished.preview.splitlines())
    is_cut = len(finished.preview.encode()) < finished.output_bytes
    rest = f"{lines} lines with the middle left out" if is_cut else "all of the output"
    return f"The agent was told: {how}, {rest}."


def _page_section(
    name: str, lines: Iterable[str | PageLine], empty: str = "", *, path: str = "", is_output: bool = False
) -> PageSection:
    shown = tuple(lines)
    texts = tuple(line.text if isinstance(line, PageLine) else line for line in shown)
    tones = {index: line.tones for index, line in enumerate(shown) if isinstance(line, PageLine)}
    return PageSection(
        name=name, lines=texts or ((empty,) if empty else ()), is_empty=not shown, tones=tones, path=path,
        is_output=is_output,
    )  # fmt: skip


# --- a step of a run -----------------------------------------------------------------------------------


_CONTRACT_ICONS: Final[Mapping[str, StatusName]] = {
    "passed": "ok", "failed": "failed", "warned": "risk", "not_checked": "unknown",
}  # fmt: skip
_MAX_LOG_CHARS: Final = 200_000
ReadBlobText = Callable[[str], str | None]


def step_detail(
    run: PipelineRun,
    step: PipelineStep,
    events: Sequence[e.Event],
    child: Sequence[e.Event],
    calls: Iterable[Call],
    text_of: ReadBlobText,
    item: PipelineItem | None = None,
    earlier: Sequence[EarlierStep] = (),
) -> DetailPage:
    """Return a step or an item of a matrix in full; `child` and `calls` are those of its last session.

    `earlier`: how the step went in other runs, nearest first.
    """
    mine = [event for event in events if item is None or event.step == item.id]
    subject, calls = item or step, tuple(calls)
    sections = [
        _page_section(
            "Log", _log_lines(mine, child, calls, text_of), "It has written nothing yet.", is_output=True
        ),
        _page_section("Contract", _contract_lines(step, mine), _no_contract_text(step)),
        _page_section("Artifacts", _artifact_lines(mine), "It has handed on nothing yet."),
        _page_section("Attempts", _attempt_lines(mine), "It has not started."),
        _page_section("Prompt", _prompt_lines(step, child), "No agent was asked in this step."),
        _page_section("Tools", _tool_lines(calls), "No tool was called."),
        _page_section("Workspace", _workspace_lines(step, mine), "It has none yet."),
    ]
    if earlier:
        sections.append(_page_section("History", _history_lines(earlier)))
    if step.is_matrix and item is None:
        sections.insert(1, _page_section("Items", _item_lines(step), "Its items are not known yet."))
    return DetailPage(
        id=f"{run.id}/{subject.id}", sign=subject.status[0],
        title=f"{subject.id.replace(' ', '_')} {_step_state_text(step, subject)}",
        facts=_step_facts(step, subject), sections=tuple(sections), told=_told_of_step(step),
        keys=_next_keys(run, step, mine),
    )  # fmt: skip


def _told_of_step(step: PipelineStep) -> str:
    """Return why a step ended as it did, where neither the title nor its log says it."""
    has_fact = step.state in ("failed", "warned") and bool(failure_fact(step.error))
    return "" if has_fact else step.error


def _step_state_text(step: PipelineStep, subject: PipelineStep | PipelineItem) -> str:
    if subject is step and step.action_id is not None:
        return "asks you" + (f", {countdown_text(step.left)} left" if step.left is not None else "")
    words = [subject.status[1]]
    if subject.attempt and max(subject.attempt, step.attempts) > 1:
        words.append(try_text(subject.attempt, step.attempts))
    if subject.seconds >= 0.05:
        words.append(duration_text(subject.seconds))
    fact = failure_fact(subject.error) if subject.state in ("failed", "warned") else ""
    return f"{', '.join(words)}  {fact}".rstrip()


def _step_facts(step: PipelineStep, subject: PipelineStep | PipelineItem) -> tuple[str, ...]:
    cost = money_text(step.cost) if step.cost and subject is step else ""
    tokens = f"{subject.tokens:,} tok" if subject.tokens else ""
    return tuple(filter(None, (step_place_text(step.sandbox), step.persona, tokens, cost)))


def _history_lines(earlier: Sequence[EarlierStep]) -> Iterator[str | PageLine]:
    usual = usual_seconds(earlier)
    if usual is not None:
        yield page_line(("usual ", "muted"), duration_text(usual), (f"   of {len(earlier)} runs", "muted"))
    for step in earlier:
        yield page_line(
            icon_part(step.sign), f" {step.run}", (f"   {duration_text(step.seconds)}   ", "muted"),
            step.word, (f"   {step.error}" if step.error else "", "muted"),
        )  # fmt: skip


def _next_keys(
    run: PipelineRun, step: PipelineStep, events: Iterable[e.Event]
) -> tuple[tuple[str, str], ...]:
    if step.action_id is not None:
        return (("a", "answer it here"), ("enter", "its row"))
    if step.state not in ("failed", "warned", "cancelled"):
        return ()
    paths = {event.body.path for event in events if isinstance(event.body, e.ArtifactStored)}
    opens = (("e", f"open {one_line(paths.pop(), 60)}" if len(paths) == 1 else "open"),) if paths else ()
    is_over = run.finished_at is not None
    return (("R", "retry"), *opens, ("F", "from here")) if is_over else opens


def _log_lines(
    events: Sequence[e.Event], child: Sequence[e.Event], calls: Iterable[Call], text_of: ReadBlobText
) -> Sequence[str | PageLine]:
    if not child:
        return _command_log(events, text_of)[-_MAX_LOG_CHARS:].splitlines()
    lines, room = list(_agent_log(child, calls)), _MAX_LOG_CHARS
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        room -= len(line.text if isinstance(line, PageLine) else line)
        if room < 0:
            return lines[index + 1 :]
    return lines


def _agent_log(child: Iterable[e.Event], calls: Iterable[Call]) -> Iterator[str | PageLine]:
    signs: dict[str, StatusName] = {call.id: call_status(call)[0] for call in calls}
    for event in child:
        match event.body:
            case e.ReplyCompleted(text=text) if text:
                yield from text.splitlines()
            case e.CallProposed(target=target, tool=tool):
                sign = signs.get(event.call_id or "", "todo")
                words = f" {one_line(tool, 64)} {one_line(target, 300)}".rstrip()
                yield page_line("  ", icon_part(sign), words)
            case _:
                pass


def _command_log(events: Iterable[e.Event], text_of: ReadBlobText) -> str:
    done, live = "", ""
    for event in events:
        match event.body:
            case e.OutputStreamed(offset=offset, text=text):
                live = insert_piece(live, offset, text)
            case e.StepChanged() as body:
                if body.output or body.output_ref:
                    live = _full_output(body, text_of)
                    if body.state != "waiting":  # its last words come once more when it ends
                        done, live = done + live, ""
                elif body.state == "running" and body.attempt > 1:
                    done, live = f"{done}{live}── {try_text(body.attempt, 1)}\n", ""
            case _:
                pass
    return done + live


def _full_output(body: e.StepChanged, text_of: ReadBlobText) -> str:
    text = (text_of(body.output_ref) if body.output_ref else None) or body.output
    return text if text.endswith("\n") else f"{text}\n"


def _contract_lines(step: PipelineStep, events: Iterable[e.Event]) -> Iterator[str | PageLine]:
    """Yield the last check first, with its problems; of earlier ones what was different in them."""
    checks = [event.body for event in events if isinstance(event.body, e.ContractChecked)]
    last: dict[str, e.ContractChecked] = {}
    for body in reversed(checks):
        newer = last.setdefault(body.contract, body)
        is_same = body is not newer and (body.outcome, body.problems) == (newer.outcome, newer.problems)
        yield from _check_lines(body, body.contract or step.contract, is_same=is_same)


def _check_lines(body: e.ContractChecked, name: str, *, is_same: bool) -> Iterator[str | PageLine]:
    sign, count = _CONTRACT_ICONS[body.outcome], len(body.problems)
    has_count = count > 0 and body.contract != _TEST_CONTRACT
    outcome = f"{count} problem{'s' * (count != 1)}" if has_count else body.outcome.replace("_", " ")
    outcome = f"the same {outcome}" if is_same and has_count else outcome
    weight = "" if body.is_blocking else "   does not block"
    checked: tuple[str, LineTone] = ("   checked " if body.source else "", "muted")
    yield page_line(
        icon_part(sign), " ", (one_line(name, 120), "strong"), (f"   {try_text(body.attempt, 1)}", "muted"),
        checked, one_line(body.source, 300), (f"   {outcome}{weight}", "muted"),
    )  # fmt: skip
    if is_same:
        return
    if body.repairs:
        words = f" repaired before it was checked: {', '.join(body.repairs)}"
        yield page_line("  ", icon_part("risk"), words)
    if body.summary:
        yield f"  {one_line(body.summary, 1_000)}"
    yield from _problem_lines(body)
    yield ""


def _problem_lines(body: e.ContractChecked) -> Iterator[str | PageLine]:
    """Yield what is wrong with values as a table, and anything else as it was said."""
    read = [(_value_problem(problem), one_line(problem, 1_000)) for problem in body.problems]
    rows = [row for row, _ in read if row is not None]
    widths = [_column_cells(column) for column in zip(_PROBLEM_HEADS, *rows, strict=True)] if rows else []
    if rows:
        yield page_line("  ", (_padded(_PROBLEM_HEADS, widths), "faint"))
    for index, (row, text) in enumerate(read):
        if row is not None:
            yield page_line(icon_part("failed"), " ", _padded(row, widths))
        elif index and body.contract == _TEST_CONTRACT:
            yield PageLine(
                f"    {text}", tuple((start + 4, end + 4, tone) for start, end, tone in output_tones(text))
            )
        else:
            yield page_line("  ", icon_part("failed"), " ", text)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        text + " " * max(0, width - cell_width(text)) for text, width in zip(cells, widths, strict=True)
    )
    return "  ".join(padded).rstrip()


def _column_cells(column: Sequence[str]) -> int:
    return min(_MAX_PROBLEM_CELLS, max(map(cell_width, column)))


_TEST_CONTRACT: Final = "test_suite"
"""Its problems are how its command ended, and the last lines of what that wrote."""
_PROBLEM_HEADS: Final = ("path", "expected", "found")
_MAX_PROBLEM_CELLS: Final = 40
_PROBLEM_PATH: Final = re.compile(r"(?P<path>[$/]\S*): (?P<message>.+)", re.DOTALL)
_SCHEMA_MESSAGES: Final = tuple(
    (re.compile(pattern, re.DOTALL), expected)
    for pattern, expected in (
        (r"(?P<found>.*) is not of type (?P<rule>.+)", "{rule}"),
        (r"(?P<found>.*) is not one of (?P<rule>.+)", "one of {rule}"),
        (r"(?P<found>.*) is not an? (?P<rule>.+)", "{rule}"),
        (r"(?P<found>.*) does not match (?P<rule>.+)", "matches {rule}"),
        (r"(?P<found>.*) is too short", "longer"),
        (r"(?P<found>.*) is too long", "shorter"),
        (r"(?P<found>.*) should be non-empty", "not empty"),
        (r"(?P<found>.*) is less than the minimum of (?P<rule>.+)", "at least {rule}"),
        (r"(?P<found>.*) is greater than the maximum of (?P<rule>.+)", "at most {rule}"),
        (r"(?P<rule>.*) is a required property", "{rule}"),
        (r"(?P<rule>.*) was expected", "{rule}"),
    )
)
"""What a validator says of a value, as what was expected; what it found is a part of the sentence."""


def _value_problem(problem: str) -> tuple[str, str, str] | None:
    """Return path, expected and found of a problem with a value; None for a problem of another kind."""
    at = _PROBLEM_PATH.fullmatch(problem)
    if at is None:
        return None
    path, message = one_line(at["path"], 300), at["message"]
    for pattern, expected in _SCHEMA_MESSAGES:
        if match := pattern.fullmatch(message):
            groups = match.groupdict()
            actual = one_line(groups.get("found") or "nothing", 300)
            return path, one_line(expected.format(rule=groups.get("rule", "")), 300), actual
    return path, one_line(message, 600), ""


def _no_contract_text(step: PipelineStep) -> str:
    return f"{step.contract} has not been checked yet." if step.contract else "It has no contract."


def _artifact_lines(events: Sequence[e.Event]) -> Iterable[str | PageLine]:
    for link in step_links(events):
        label, target = one_line(link.label, 120), one_line(link.target, 500)
        yield page_line(icon_part("ok"), " ", (label, "strong"), f"   {target}")
    artifacts = [event.body for event in events if isinstance(event.body, e.ArtifactStored)]
    wide = max((len(one_line(body.name, 60)) for body in artifacts), default=0)
    for body in artifacts:
        files = f"{body.files} files" if body.artifact_kind == "folder" else body.artifact_kind
        name = one_line(body.name, 60).ljust(wide)
        words = [name, size_text(body.size_bytes), files, body.type, one_line(body.path, 300)]
        yield "   ".join(word for word in words if word)


def _attempt_lines(events: Iterable[e.Event]) -> Iterator[PageLine]:
    changes = [(event, event.body) for event in events if isinstance(event.body, e.StepChanged)]
    newest = {event.step: body for event, body in changes}
    for event, body in changes:
        icon, word = STEP_STATUSES[step_status_name(body.state, is_warned=body.is_warned)]
        status: tuple[StatusName | None, str] = icon, word
        if newest[event.step] is not body:
            status = _PAST_STATUSES.get(body.state, status)
        sign = icon_part(status[0]) if status[0] is not None else " "
        took = f"   {duration_text(body.duration_ms / 1000)}" if body.duration_ms else ""
        code = f"   exit {body.exit_code}" if body.exit_code is not None else ""
        tokens = f"   {body.usage.total_tokens:,} tok" if body.usage.total_tokens else ""
        of = f"{one_line(event.step or '', 120)}   " if body.matrix else ""
        first, *more = reason_lines(body.detail, 500) or [""]
        why = f"   {first}" if first else ""
        yield page_line(
            (iso_time(event.at)[11:19], "muted"), f"  {of}{body.attempt}  ", sign, f" {status[1]}",
            (f"{took}{code}{tokens}", "muted"), why,
        )  # fmt: skip
        yield from (page_line(f"{' ' * 13}{line}") for line in more)


_PAST_STATUSES: Final[Mapping[str, tuple[StatusName | None, str]]] = {
    "running": (None, "started"),
    "waiting": (None, "asked you"),
    "retrying": ("failed", "failed, tried again"),
}
"""States that a step has left again: nothing runs or waits there any more."""


def _prompt_lines(step: PipelineStep, child: Iterable[e.Event]) -> Iterable[str]:
    prompts = (event.body.text for event in child if isinstance(event.body, e.PromptSubmitted))
    text = next(prompts, "")
    if text and step.persona:
        yield f"to {step.persona}"
        yield ""
    yield from text.splitlines()


def _tool_lines(calls: Iterable[Call]) -> Iterator[PageLine]:
    for call in calls:
        sign, word = call_status(call)
        took = f"   {duration_text(call.duration_ms / 1000)}" if call.duration_ms is not None else ""
        words = f" {one_line(call.tool, 64)}   {one_line(call.target, 200)}   {word}"
        yield page_line(icon_part(sign), words, (took, "muted"))


def _workspace_lines(step: PipelineStep, events: Iterable[e.Event]) -> Iterable[str]:
    paths = [event.body.workspace for event in events if isinstance(event.body, e.StepChanged)]
    path = next((known for known in reversed(paths) if known), step.workspace)
    if path:
        yield one_line(path, 1_000)
    if step.session_id:
        yield f"session  {step.session_id}"


def _item_lines(step: PipelineStep) -> Iterator[str | PageLine]:
    order = sorted(step.items, key=lambda item: _STATE_ORDER.get(item.state, len(_STATE_ORDER)))
    shown = order[:_MAX_ITEMS]
    labels = min(_MAX_LABEL_CELLS, max((cell_width(item.label) for item in shown), default=0))
    words = max((len(item.status[1]) for item in shown), default=0)
    for item in shown:
        sign, word = item.status
        took = f"   {duration_text(item.seconds)}" if item.seconds >= 0.05 else ""
        why = f"   {item.error}" if item.error else ""
        label = item.label + " " * max(0, labels - cell_width(item.label))
        word = f"{word:<{words}}" if took or why else word
        yield page_line(icon_part(sign), f" {label}   {word}", (took, "muted"), why)
    if len(order) > _MAX_ITEMS:
        yield f"and {len(order) - _MAX_ITEMS:,} more"


_MAX_ITEMS: Final = 500
_MAX_LABEL_CELLS: Final = 30
_STATE_ORDER: Final[Mapping[str, int]] = {
    word: rank
    for rank, word in enumerate(("failed", "warned", "waiting", "retrying", "running", "cancelled"))
}
