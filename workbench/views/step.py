"""A step of a run in full: log, contract, artifacts, attempts, prompt, tools, workspace, items.

Never reads a blob or a journal: events, calls and texts are handed in. Lines are raw; `draw` makes them safe.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from workbench.domain.events import CallProposed, Event, OutputStreamed, PromptSubmitted, ReplyCompleted
from workbench.domain.machines import DONE_STEPS
from workbench.domain.rows import Call
from workbench.domain.runs import ArtifactStored, ContractChecked, StepChanged
from workbench.text.human import duration, iso, size
from workbench.text.safe import one_line
from workbench.text.width import cells
from workbench.views.calls import Section, ToolDetail
from workbench.views.pipeline import PipelineItem, PipelineRun, PipelineStep
from workbench.views.signs import SIGNS, STEP_MEANINGS, Meaning, call_sign
from workbench.views.streams import joined

_WORDS: Final[Mapping[str, str]] = {
    "completed_empty": "completed, empty",
    "warned": "failed, goes on",
}
_OUTCOMES: Final[Mapping[str, Meaning]] = {
    "passed": "ok", "failed": "failed", "warned": "risk", "not_checked": "unknown",
}  # fmt: skip
_LONGEST: Final = 200_000
"""Characters of a log that are shown: the last ones."""

TextOf = Callable[[str], str | None]
"""Reads a recorded blob; None if it is not kept."""


def step_sign(step: PipelineStep | PipelineItem) -> Meaning:
    """Return what the state of a step means."""
    return STEP_MEANINGS[step.state]


def step_word(step: PipelineStep | PipelineItem) -> str:
    """Return the word for the state of a step."""
    return _WORDS.get(step.state, step.state)


def step_detail(
    run: PipelineRun,
    step: PipelineStep,
    events: Sequence[Event],
    child: Sequence[Event],
    calls: Iterable[Call],
    text_of: TextOf,
    item: PipelineItem | None = None,
) -> ToolDetail:
    """Return a step in full.

    Args:
        run: its run.
        step: it.
        events: those of the step in the run, and of its items.
        child: events of the session of its last attempt; empty for a command or a gate.
        calls: of that session.
        text_of: reads whole outputs.
        item: only this item of a matrix.
    """
    mine = [event for event in events if item is None or event.step == item.id]
    one, calls = item or step, tuple(calls)
    sections = [
        _section("Log", _log(mine, child, calls, text_of), "It has written nothing yet."),
        _section("Contract", _contract(step, mine), _no_contract(step)),
        _section("Artifacts", _artifacts(mine), "It has handed on nothing yet."),
        _section("Attempts", _attempts(mine), "It has not begun."),
        _section("Prompt", _prompt(step, child), "No agent was asked in this step."),
        _section("Tools", _tools(calls), "No tool was called."),
        _section("Workspace", _workspace(run, step, mine), "It has none yet."),
    ]
    if step.is_matrix and item is None:
        sections.insert(1, _section("Items", _items(step), "Its items are not known yet."))
    return ToolDetail(
        id=f"{run.id}/{one.id}", sign=step_sign(one),
        title=f"{one.id.replace(' ', '_')} {_standing(step, one)}",
        facts=_facts(step, one), sections=tuple(sections), told=_next(run, step),
    )  # fmt: skip


def _section(name: str, lines: Iterable[str], empty: str) -> Section:
    found = tuple(lines)
    return Section(name=name, lines=found or (empty,), is_empty=not found)


def _standing(step: PipelineStep, one: PipelineStep | PipelineItem) -> str:
    words = [step_word(one)]
    if one.attempt:
        of = f" of {step.attempts}" if step.attempts > 1 else ""
        words.append(f"attempt {one.attempt}{of}")
    if one.seconds >= 0.05:
        words.append(duration(one.seconds))
    return ", ".join(words)


def _facts(step: PipelineStep, one: PipelineStep | PipelineItem) -> str:
    words = [step.persona, f"{one.tokens:,} tok" if one.tokens else ""]
    return "   ".join(word for word in words if word)


def _next(run: PipelineRun, step: PipelineStep) -> str:
    if step.action_id is not None:
        return "It asks you: a goes to its row of the queue."
    if step.state in ("failed", "cancelled") and run.finished_at is not None:
        return "What next: R does this step again, F runs again from here."
    return step.error


# --- parts ------------------------------------------------------------------------------------------


def _log(
    events: Sequence[Event], child: Sequence[Event], calls: Iterable[Call], text_of: TextOf
) -> Iterable[str]:
    text = _said(child, calls) if child else _printed(events, text_of)
    yield from text[-_LONGEST:].splitlines()


def _said(child: Iterable[Event], calls: Iterable[Call]) -> str:
    """Return what an agent said and called, in order, each call with the sign of how it stands."""
    signs: dict[str, Meaning] = {call.id: call_sign(call)[0] for call in calls}
    parts: list[str] = []
    for event in child:
        match event.body:
            case ReplyCompleted(text=text) if text:
                parts.append(text)
            case CallProposed(target=target, tool=tool):
                sign = SIGNS[signs.get(event.call_id or "", "todo")].unicode
                parts.append(f"  {sign} {tool} {one_line(target, 300)}".rstrip())
            case _:
                pass
    return "\n".join(parts)


def _printed(events: Iterable[Event], text_of: TextOf) -> str:
    """Return what a command printed: streamed while it runs, whole once it is over, attempt by attempt."""
    done, live = "", ""
    for event in events:
        match event.body:
            case OutputStreamed(offset=offset, text=text):
                live = joined(live, offset, text)
            case StepChanged() as body:
                if body.output or body.output_ref:
                    done += _whole(body, text_of)
                    live = ""
                elif body.state == "running" and body.attempt > 1:
                    done += f"── attempt {body.attempt}\n"
            case _:
                pass
    return done + live


def _whole(body: StepChanged, text_of: TextOf) -> str:
    text = (text_of(body.output_ref) if body.output_ref else None) or body.output
    return text if text.endswith("\n") else f"{text}\n"


def _contract(step: PipelineStep, events: Iterable[Event]) -> Iterable[str]:
    checks = [event.body for event in events if isinstance(event.body, ContractChecked)]
    for body in checks:
        sign = SIGNS[_OUTCOMES[body.outcome]].unicode
        count = len(body.problems)
        found = f"{count} problem{'s' * (count != 1)}" if count else body.outcome.replace("_", " ")
        weight = "" if body.is_blocking else "   does not block"
        where = f"   checked {one_line(body.source, 300)}" if body.source else ""
        yield f"{sign} attempt {body.attempt}   {body.contract or step.contract}{where}   {found}{weight}"
        yield from (f"    {SIGNS['failed'].unicode} {one_line(problem, 1_000)}" for problem in body.problems)
        yield ""


def _no_contract(step: PipelineStep) -> str:
    return f"{step.contract} has not been checked yet." if step.contract else "It has no contract."


def _artifacts(events: Iterable[Event]) -> Iterable[str]:
    found = [event.body for event in events if isinstance(event.body, ArtifactStored)]
    wide = max((len(one_line(body.name, 60)) for body in found), default=0)
    for body in found:
        files = f"{body.files} files" if body.artifact_kind == "folder" else body.artifact_kind
        name = one_line(body.name, 60).ljust(wide)
        words = [name, size(body.size_bytes), files, body.type, one_line(body.path, 300)]
        yield "   ".join(word for word in words if word)


def _attempts(events: Iterable[Event]) -> Iterable[str]:
    for event in events:
        body = event.body
        if isinstance(body, StepChanged):
            is_allowed = body.is_warned and body.state in DONE_STEPS
            sign = SIGNS[STEP_MEANINGS["warned" if is_allowed else body.state]].unicode
            word = _WORDS["warned"] if is_allowed else body.state
            took = f"   {duration(body.duration_ms / 1000)}" if body.duration_ms else ""
            code = f"   exit {body.exit_code}" if body.exit_code is not None else ""
            tokens = f"   {body.usage.total_tokens:,} tok" if body.usage.total_tokens else ""
            of = f"{event.step}   " if body.matrix else ""
            why = f"   {one_line(body.detail, 500)}" if body.detail else ""
            yield f"{iso(event.at)[11:19]}  {of}{body.attempt}  {sign} {word}{took}{code}{tokens}{why}"


def _prompt(step: PipelineStep, child: Iterable[Event]) -> Iterable[str]:
    prompts = (event.body.text for event in child if isinstance(event.body, PromptSubmitted))
    text = next(prompts, "")
    if text and step.persona:
        yield f"to {step.persona}"
        yield ""
    yield from text.splitlines()


def _tools(calls: Iterable[Call]) -> Iterable[str]:
    for call in calls:
        sign, word = call_sign(call)
        took = f"   {duration(call.duration_ms / 1000)}" if call.duration_ms is not None else ""
        target = one_line(call.target, 200)
        yield f"{SIGNS[sign].unicode} {call.tool}   {target}   {word}{took}"


def _workspace(run: PipelineRun, step: PipelineStep, events: Iterable[Event]) -> Iterable[str]:
    del run
    paths = [event.body.workspace for event in events if isinstance(event.body, StepChanged)]
    path = next((one for one in reversed(paths) if one), step.workspace)
    if path:
        yield one_line(path, 1_000)
    if step.session_id:
        yield f"session  {step.session_id}"


def _items(step: PipelineStep) -> Iterable[str]:
    """List items, what needs a look first; of very many only the first ones are written out."""
    order = sorted(step.items, key=lambda item: _WORST.get(item.state, len(_WORST)))
    shown = order[:_MOST_ITEMS]
    labels = min(_LABEL, max((cells(item.label) for item in shown), default=0))
    words = max((len(step_word(item)) for item in shown), default=0)
    for item in shown:
        took = f"   {duration(item.seconds)}" if item.seconds >= 0.05 else ""
        why = f"   {item.error}" if item.error else ""
        label = item.label + " " * max(0, labels - cells(item.label))
        word = f"{step_word(item):<{words}}" if took or why else step_word(item)
        yield f"{SIGNS[step_sign(item)].unicode} {label}   {word}{took}{why}"
    if len(order) > _MOST_ITEMS:
        yield f"and {len(order) - _MOST_ITEMS:,} more"


_MOST_ITEMS: Final = 500
_LABEL: Final = 30
"""Cells up to which the names of items make a column."""
_WORST: Final[Mapping[str, int]] = {
    word: rank
    for rank, word in enumerate(("failed", "warned", "waiting", "retrying", "running", "cancelled"))
}
