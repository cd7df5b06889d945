"""Pages of details: a tool call in full, a step of a run in full, two runs compared.

Events and texts are handed in. Lines are raw; `render` makes them safe.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.codec import event_to_object
from workbench.domain.machines import ENDED_STEP_STATES
from workbench.domain.rows import Action, Call
from workbench.domain.values import GateVerdict
from workbench.text.human import duration_text, iso_time, size_text
from workbench.text.safe import one_line
from workbench.text.width import cell_width
from workbench.views.action_detail import json_text
from workbench.views.conversation_blocks import OutputBuffer, insert_piece
from workbench.views.pipeline import ContractState, PipelineItem, PipelineRun, PipelineStep
from workbench.views.status_icons import ICONS, STEP_STATUSES, StatusName, call_status, step_status_name

PageMoment = tuple[int, StatusName | None, str]


class PageSection(Struct, frozen=True, kw_only=True):
    """One part of a call in full."""

    name: str
    lines: tuple[str, ...] = ()
    is_empty: bool = False


class DetailPage(Struct, frozen=True, kw_only=True):
    """One call in full."""

    id: str
    sign: StatusName
    title: str
    """`run_in_terminal × exit 1` without the sign: tool and how it ended."""
    facts: str = ""
    sections: tuple[PageSection, ...] = ()
    moments: tuple[PageMoment, ...] = ()
    """(when, sign, words): asked, approved by you after 1.9 s, started, exit 1."""
    told: str = ""


def call_detail(
    call: Call, action: Action | None, events: Iterable[e.Event], *, output: str | None = None
) -> DetailPage:
    """Return one call in full; without `output` it shows what was streamed, or the preview."""
    mine = [
        event for event in events if event.call_id == call.id or (action and event.action_id == action.id)
    ]
    sign, word = call_status(call, action)
    finished = next((event.body for event in mine if isinstance(event.body, e.CallFinished)), None)
    ended = f"exit {call.exit_code}" if call.exit_code else word
    return DetailPage(
        id=call.id, sign=sign, title=f"{one_line(call.tool, 64)} {ended}", facts=_call_facts(call),
        sections=(
            _page_section("Output", _output_lines(mine, finished, output)),
            _page_section("Parameters", _parameter_lines(call)),
            _page_section("Gate", _gate_lines(mine)),
            _page_section("Changes", _change_lines(mine)),
            _page_section("Raw", [_raw_json(event) for event in mine]),
        ),
        moments=tuple(moment for event in mine if (moment := _page_moment(event, action))),
        told=_told_sentence(finished),
    )  # fmt: skip


def _call_facts(call: Call) -> str:
    name = one_line(call.provider_call_id, 24)
    parts = [f"call {name}"] if name else []
    parts += [size_text(call.output_bytes)] if call.output_bytes else []
    parts += ["stdout and stderr, in order"] if call.output_bytes and call.exit_code is not None else []
    return "   ".join(parts)


def _output_lines(events: Iterable[e.Event], finished: e.CallFinished | None, whole: str | None) -> list[str]:
    if whole is not None:
        return whole.splitlines()
    if finished is not None and finished.preview:
        return finished.preview.splitlines()
    stream = OutputBuffer()
    for event in events:
        if isinstance(event.body, e.OutputStreamed):
            stream.add(event.body.offset, event.body.text)
    return stream.text.splitlines()


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
    speaker = "" if verdict.by in ("", "default") else f" by {verdict.by}"
    default = "no rule or setting lets it pass" if verdict.outcome == "ask" else ""
    why = verdict.reason or default
    # That it came as far as being let pass or asked about says the sentence; every earlier step is named.
    step = f" (step: {_GATE_STEP_WORDS[verdict.step]})" if verdict.step in _GATE_STEP_WORDS else ""
    return f"{_VERDICT_WORDS[verdict.outcome]}{speaker}{f': {why}' if why else ''}{step}"


_VERDICT_WORDS: Mapping[str, str] = {
    "ask": "it asks you", "allowed": "let pass", "denied": "denied", "refused": "refused",
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
        case e.CallExecuting():
            return event.at, None, "started"
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
    return f" after {duration_text((event.at - action.created_at) / 1_000_000)}" if action else ""


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


_CONTRACT_ICONS: Final[Mapping[str, StatusName]] = {
    "passed": "ok", "failed": "failed", "warned": "risk", "not_checked": "unknown",
}  # fmt: skip
_MAX_LOG_CHARS: Final = 200_000
ReadBlobText = Callable[[str], str | None]


def step_icon(step: PipelineStep | PipelineItem) -> StatusName:
    return STEP_STATUSES[step.state][0]


def step_word(step: PipelineStep | PipelineItem) -> str:
    return STEP_STATUSES[step.state][1]


def step_detail(
    run: PipelineRun,
    step: PipelineStep,
    events: Sequence[e.Event],
    child: Sequence[e.Event],
    calls: Iterable[Call],
    text_of: ReadBlobText,
    item: PipelineItem | None = None,
) -> DetailPage:
    """Return a step or an item of a matrix in full; `child` and `calls` are those of its last session."""
    mine = [event for event in events if item is None or event.step == item.id]
    subject, calls = item or step, tuple(calls)
    sections = [
        _page_section("Log", _log_lines(mine, child, calls, text_of), "It has written nothing yet."),
        _page_section("Contract", _contract_lines(step, mine), _no_contract_text(step)),
        _page_section("Artifacts", _artifact_lines(mine), "It has handed on nothing yet."),
        _page_section("Attempts", _attempt_lines(mine), "It has not begun."),
        _page_section("Prompt", _prompt_lines(step, child), "No agent was asked in this step."),
        _page_section("Tools", _tool_lines(calls), "No tool was called."),
        _page_section("Workspace", _workspace_lines(step, mine), "It has none yet."),
    ]
    if step.is_matrix and item is None:
        sections.insert(1, _page_section("Items", _item_lines(step), "Its items are not known yet."))
    return DetailPage(
        id=f"{run.id}/{subject.id}", sign=step_icon(subject),
        title=f"{subject.id.replace(' ', '_')} {_step_state_text(step, subject)}",
        facts=_step_facts(step, subject), sections=tuple(sections), told=_next_action_text(run, step),
    )  # fmt: skip


def _page_section(name: str, lines: Iterable[str], empty: str = "") -> PageSection:
    shown_lines = tuple(lines)
    return PageSection(name=name, lines=shown_lines or ((empty,) if empty else ()), is_empty=not shown_lines)


def _step_state_text(step: PipelineStep, subject: PipelineStep | PipelineItem) -> str:
    words = [step_word(subject)]
    if subject.attempt:
        of = f" of {step.attempts}" if step.attempts > 1 else ""
        words.append(f"attempt {subject.attempt}{of}")
    if subject.seconds >= 0.05:
        words.append(duration_text(subject.seconds))
    return ", ".join(words)


def _step_facts(step: PipelineStep, subject: PipelineStep | PipelineItem) -> str:
    words = [step.persona, f"{subject.tokens:,} tok" if subject.tokens else ""]
    return "   ".join(word for word in words if word)


def _next_action_text(run: PipelineRun, step: PipelineStep) -> str:
    if step.action_id is not None:
        return "It asks you: a goes to its row of the queue."
    if step.state in ("failed", "cancelled") and run.finished_at is not None:
        return "What next: R does this step again, F runs again from here."
    return step.error


# --- parts ------------------------------------------------------------------------------------------


def _log_lines(
    events: Sequence[e.Event], child: Sequence[e.Event], calls: Iterable[Call], text_of: ReadBlobText
) -> Iterable[str]:
    text = _agent_log(child, calls) if child else _command_log(events, text_of)
    yield from text[-_MAX_LOG_CHARS:].splitlines()


def _agent_log(child: Iterable[e.Event], calls: Iterable[Call]) -> str:
    signs: dict[str, StatusName] = {call.id: call_status(call)[0] for call in calls}
    parts: list[str] = []
    for event in child:
        match event.body:
            case e.ReplyCompleted(text=text) if text:
                parts.append(text)
            case e.CallProposed(target=target, tool=tool):
                sign = ICONS[signs.get(event.call_id or "", "todo")].unicode
                parts.append(f"  {sign} {tool} {one_line(target, 300)}".rstrip())
            case _:
                pass
    return "\n".join(parts)


def _command_log(events: Iterable[e.Event], text_of: ReadBlobText) -> str:
    done, live = "", ""
    for event in events:
        match event.body:
            case e.OutputStreamed(offset=offset, text=text):
                live = insert_piece(live, offset, text)
            case e.StepChanged() as body:
                if body.output or body.output_ref:
                    done += _full_output(body, text_of)
                    live = ""
                elif body.state == "running" and body.attempt > 1:
                    done += f"── attempt {body.attempt}\n"
            case _:
                pass
    return done + live


def _full_output(body: e.StepChanged, text_of: ReadBlobText) -> str:
    text = (text_of(body.output_ref) if body.output_ref else None) or body.output
    return text if text.endswith("\n") else f"{text}\n"


def _contract_lines(step: PipelineStep, events: Iterable[e.Event]) -> Iterable[str]:
    checks = [event.body for event in events if isinstance(event.body, e.ContractChecked)]
    for body in checks:
        sign = ICONS[_CONTRACT_ICONS[body.outcome]].unicode
        count = len(body.problems)
        outcome = f"{count} problem{'s' * (count != 1)}" if count else body.outcome.replace("_", " ")
        weight = "" if body.is_blocking else "   does not block"
        where = f"   checked {one_line(body.source, 300)}" if body.source else ""
        yield f"{sign} attempt {body.attempt}   {body.contract or step.contract}{where}   {outcome}{weight}"
        yield from (f"    {ICONS['failed'].unicode} {one_line(problem, 1_000)}" for problem in body.problems)
        yield ""


def _no_contract_text(step: PipelineStep) -> str:
    return f"{step.contract} has not been checked yet." if step.contract else "It has no contract."


def _artifact_lines(events: Iterable[e.Event]) -> Iterable[str]:
    artifacts = [event.body for event in events if isinstance(event.body, e.ArtifactStored)]
    wide = max((len(one_line(body.name, 60)) for body in artifacts), default=0)
    for body in artifacts:
        files = f"{body.files} files" if body.artifact_kind == "folder" else body.artifact_kind
        name = one_line(body.name, 60).ljust(wide)
        words = [name, size_text(body.size_bytes), files, body.type, one_line(body.path, 300)]
        yield "   ".join(word for word in words if word)


def _attempt_lines(events: Iterable[e.Event]) -> Iterable[str]:
    for event in events:
        body = event.body
        if isinstance(body, e.StepChanged):
            icon, word = STEP_STATUSES[step_status_name(body.state, is_warned=body.is_warned)]
            sign = ICONS[icon].unicode
            took = f"   {duration_text(body.duration_ms / 1000)}" if body.duration_ms else ""
            code = f"   exit {body.exit_code}" if body.exit_code is not None else ""
            tokens = f"   {body.usage.total_tokens:,} tok" if body.usage.total_tokens else ""
            of = f"{event.step}   " if body.matrix else ""
            why = f"   {one_line(body.detail, 500)}" if body.detail else ""
            yield f"{iso_time(event.at)[11:19]}  {of}{body.attempt}  {sign} {word}{took}{code}{tokens}{why}"


def _prompt_lines(step: PipelineStep, child: Iterable[e.Event]) -> Iterable[str]:
    prompts = (event.body.text for event in child if isinstance(event.body, e.PromptSubmitted))
    text = next(prompts, "")
    if text and step.persona:
        yield f"to {step.persona}"
        yield ""
    yield from text.splitlines()


def _tool_lines(calls: Iterable[Call]) -> Iterable[str]:
    for call in calls:
        sign, word = call_status(call)
        took = f"   {duration_text(call.duration_ms / 1000)}" if call.duration_ms is not None else ""
        target = one_line(call.target, 200)
        yield f"{ICONS[sign].unicode} {call.tool}   {target}   {word}{took}"


def _workspace_lines(step: PipelineStep, events: Iterable[e.Event]) -> Iterable[str]:
    paths = [event.body.workspace for event in events if isinstance(event.body, e.StepChanged)]
    path = next((known for known in reversed(paths) if known), step.workspace)
    if path:
        yield one_line(path, 1_000)
    if step.session_id:
        yield f"session  {step.session_id}"


def _item_lines(step: PipelineStep) -> Iterable[str]:
    order = sorted(step.items, key=lambda item: _STATE_ORDER.get(item.state, len(_STATE_ORDER)))
    shown = order[:_MAX_ITEMS]
    labels = min(_MAX_LABEL_CELLS, max((cell_width(item.label) for item in shown), default=0))
    words = max((len(step_word(item)) for item in shown), default=0)
    for item in shown:
        took = f"   {duration_text(item.seconds)}" if item.seconds >= 0.05 else ""
        why = f"   {item.error}" if item.error else ""
        label = item.label + " " * max(0, labels - cell_width(item.label))
        word = f"{step_word(item):<{words}}" if took or why else step_word(item)
        yield f"{ICONS[step_icon(item)].unicode} {label}   {word}{took}{why}"
    if len(order) > _MAX_ITEMS:
        yield f"and {len(order) - _MAX_ITEMS:,} more"


_MAX_ITEMS: Final = 500
_MAX_LABEL_CELLS: Final = 30
_STATE_ORDER: Final[Mapping[str, int]] = {
    word: rank
    for rank, word in enumerate(("failed", "warned", "waiting", "retrying", "running", "cancelled"))
}
DifferenceKind = Literal["same", "outcome", "slower", "faster", "added", "gone", "open"]
"""How a step differs, its outcome before its time; `open` has not ended while its run goes on."""
_NOTICEABLE_SHARE = 0.1
_NOTICEABLE_SECONDS = 1.0
_ENDED_STATES = frozenset[str]({*ENDED_STEP_STATES, "warned"})
_GOOD_STATES = frozenset({"completed", "completed_empty", "skipped"})


class ComparedStep(Struct, frozen=True, kw_only=True):
    """A step in one of the runs."""

    sign: StatusName
    word: str
    seconds: float
    tokens: int
    attempt: int
    attempts: int
    contract: ContractState
    error: str


class ComparisonRow(Struct, frozen=True, kw_only=True):
    """A step in both runs."""

    id: str
    name: str
    kind: DifferenceKind
    is_worse: bool
    earlier: ComparedStep | None
    later: ComparedStep | None

    @property
    def seconds(self) -> float:
        """Return how much longer it took."""
        return (self.later.seconds if self.later else 0.0) - (self.earlier.seconds if self.earlier else 0.0)

    @property
    def tokens(self) -> int:
        return (self.later.tokens if self.later else 0) - (self.earlier.tokens if self.earlier else 0)


class RunComparison(Struct, frozen=True, kw_only=True):
    """Two runs of one pipeline."""

    earlier: PipelineRun
    later: PipelineRun
    rows: tuple[ComparisonRow, ...]
    """In the order of the later run's file; what only the earlier has, last."""

    @property
    def outcomes(self) -> int:
        """Return how many steps ended otherwise, or are in one of the runs only."""
        return sum(row.kind in ("outcome", "added", "gone") for row in self.rows)

    @property
    def has_same_input(self) -> bool:
        """Return whether both worked on the same."""
        return self.earlier.input == self.later.input


def compare_runs(earlier: PipelineRun, later: PipelineRun) -> RunComparison:
    """Compare two runs, step by step."""
    before = {step.id: step for step in earlier.steps}
    now = {step.id for step in later.steps}
    are_over = earlier.finished_at is not None and later.finished_at is not None
    rows = [_comparison_row(before.get(step.id), step, are_over=are_over) for step in later.steps]
    rows += [_comparison_row(step, None, are_over=are_over) for step in earlier.steps if step.id not in now]
    return RunComparison(earlier=earlier, later=later, rows=tuple(rows))


def _comparison_row(
    earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool
) -> ComparisonRow:
    step = later or earlier
    assert step is not None
    return ComparisonRow(
        id=step.id, name=one_line(step.name, 120), kind=_difference_kind(earlier, later, are_over=are_over),
        is_worse=bool(
            earlier and later and earlier.state in _GOOD_STATES and later.state in ("failed", "warned")
        ),
        earlier=_compared_step(earlier), later=_compared_step(later),
    )  # fmt: skip


def _compared_step(step: PipelineStep | None) -> ComparedStep | None:
    if step is None:
        return None
    return ComparedStep(
        sign=step_icon(step), word="taken over" if _is_from_earlier_run(step) else step_word(step),
        seconds=step.seconds, tokens=step.tokens,
        attempt=step.attempt, attempts=step.attempts, contract=step.contract_mark, error=step.error,
    )  # fmt: skip


def _is_from_earlier_run(step: PipelineStep) -> bool:
    """Return whether a run from a step on has it from an earlier run."""
    return step.attempt == 0 and step.state in ("completed", "completed_empty")


def _difference_kind(
    earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool
) -> DifferenceKind:
    if earlier is None or later is None:
        return "added" if earlier is None else "gone"
    if not are_over and not {earlier.state, later.state} <= _ENDED_STATES:
        return "open"
    if _is_from_earlier_run(earlier) or _is_from_earlier_run(later):
        return "same" if earlier.state == later.state else "outcome"
    if (earlier.state, earlier.contract_mark) != (later.state, later.contract_mark):
        return "outcome"
    change = later.seconds - earlier.seconds
    if abs(change) < max(_NOTICEABLE_SECONDS, earlier.seconds * _NOTICEABLE_SHARE):
        return "same"
    return "slower" if change > 0 else "faster"
