"""How a run is told while it goes on and when it ends: to a person, as one object, as a line an event.

Owns the forms and nothing of the run.
"""

from argparse import Namespace
from collections.abc import Sequence
from typing import Protocol

from workbench.cli.console import Console
from workbench.cli.pipeline.facts import MEANINGS, WORDS, run_facts, step_facts, step_state
from workbench.cli.render.facts import Facts
from workbench.domain.codec import to_line
from workbench.domain.events import ActionOpened, Event
from workbench.domain.rows import PipelineState
from workbench.domain.runs import ArtifactStored, ContractChecked, RunChanged, RunStarted, StepChanged
from workbench.journal.journal import Journal
from workbench.text.human import duration, size, tokens
from workbench.text.safe import one_line
from workbench.views.pipeline import run_title


class RunPrinter(Protocol):
    """Tells a run."""

    def see(self, events: Sequence[Event]) -> None:
        """Tell events as they come."""
        ...

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        """Tell how it stands."""
        ...


def printer_for(journal: Journal, run_id: str, options: Namespace, console: Console) -> RunPrinter:
    """Return the printer of an output format."""
    output = options.output_format or ("json" if options.json else "human")
    if output == "stream-json":
        return _Stream(console)
    return _Object(journal, run_id, console) if output == "json" else _Lines(journal, run_id, console)


class _Stream:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: dict[str, int] = {}

    def see(self, events: Sequence[Event]) -> None:
        for event in events:
            # A session that is driven again is read from its start again.
            if event.position > self._seen.get(event.session_id, 0):
                self._seen[event.session_id] = event.position
                self._console.json_line(to_line(event))

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        del row, waiting, code


class _Object:
    def __init__(self, journal: Journal, run_id: str, console: Console) -> None:
        self._journal, self._run, self._console = journal, run_id, console

    def see(self, events: Sequence[Event]) -> None:
        del events

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        self._console.json(run_object(self._journal, row, waiting, code))


def run_object(
    journal: Journal, row: PipelineState, waiting: tuple[str, ...], code: int | None = None
) -> Facts:
    """Return a run with its steps, artifacts and waiting actions as JSON."""
    found = {
        **run_facts(row), "steps": [step_facts(step) for step in journal.step_states(row.pipeline_id)],
        "artifacts": artifact_facts(journal, row.pipeline_id), "waiting": list(waiting),
    }  # fmt: skip
    return found if code is None else {**found, "exit": code}


def artifact_facts(journal: Journal, run_id: str) -> list[Facts]:
    """Return the artifacts of a run as JSON, the newest of each step and name."""
    newest: dict[tuple[str, str], Event] = {}
    for event in journal.events(run_id):
        if isinstance(event.body, ArtifactStored):
            newest[event.step or "", event.body.name] = event
    found: list[Facts] = []
    for (step, name), event in newest.items():
        body = event.body
        assert isinstance(body, ArtifactStored)
        found.append(
            {
                "step_id": step, "name": name, "kind": body.artifact_kind, "type": body.type,
                "path": body.path, "size_bytes": body.size_bytes, "files": body.files,
                "digest": body.digest, "attempt": body.attempt,
            }
        )  # fmt: skip
    return found


class _Lines:
    def __init__(self, journal: Journal, run_id: str, console: Console) -> None:
        self._journal, self._run, self._console = journal, run_id, console
        self._seen: dict[str, int] = {}

    def see(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.position <= self._seen.get(event.session_id, 0):
                continue
            self._seen[event.session_id] = event.position
            line = self._line(event)
            if line:
                self._console.say(line)

    def _line(self, event: Event) -> str:
        signs, step = self._console.signs, self._where(event.session_id) + one_line(event.step or "", 60)
        match event.body:
            case RunStarted() as body:
                again = (
                    f", round {body.round}: {', '.join(body.reset) or 'nothing'} again"
                    if body.round > 1
                    else ""
                )
                name = self._where(event.session_id).removesuffix(" · ") or one_line(body.pipeline, 80)
                return f"{name}: {len(body.steps)} step{'' if len(body.steps) == 1 else 's'}{again}"
            case StepChanged() as body:
                return self._step(body, step)
            case ContractChecked(outcome="failed" | "warned" | "not_checked") as body:
                first = body.problems[0] if body.problems else ""
                return (
                    f"      contract {body.contract} {body.outcome.replace('_', ' ')}: {one_line(first, 160)}"
                )
            case ActionOpened() as body:
                asks = f"{body.verb} {one_line(body.target, 120)}"
                return f"  {signs.of('waiting')} {step or 'asks'} {asks}  {(event.action_id or '')[:8]}"
            case RunChanged(status="completed" | "failed" | "cancelled") as body:
                why = f": {one_line(body.detail, 400)}" if body.detail else ""
                took = duration(body.duration_ms / 1000)
                where = self._where(event.session_id).replace(" · ", " ")
                sign, failed = MEANINGS[body.status], self._allowed(event.session_id)
                if failed and body.status == "completed":
                    sign, why = "failed", f", failed all the same: {', '.join(failed)}{why}"
                return f"{signs.of(sign)} {where}{body.status} in {took}{why}"
            case _:
                return ""

    def _allowed(self, run_id: str) -> list[str]:
        """Return the steps of a run that failed and with which it went on."""
        steps = self._journal.step_states(run_id)
        return [
            one_line(step.step_id, 60)
            for step in steps
            if not step.matrix and step_state(step.state, is_warned=step.is_warned) == "warned"
        ]

    def _where(self, session_id: str) -> str:
        """Return the run below that an event is of, to stand before its step; empty for the run itself."""
        if session_id == self._run:
            return ""
        row = self._journal.pipeline_state(session_id)
        return f"{run_title(row)} · " if row else ""

    def _step(self, body: StepChanged, step: str) -> str:
        state = step_state(body.state, is_warned=body.is_warned, has_failed=body.has_failed)
        sign = self._console.signs.of(MEANINGS[state])
        tried = f" attempt {body.attempt}" if body.attempt > 1 else ""
        # Gates and lists do no work of their own: what their items took stands in the items' lines.
        took = f" {duration(body.duration_ms / 1000)}" if body.duration_ms else ""
        used = f" {tokens(body.usage.total_tokens)} tok" if body.usage.total_tokens else ""
        why = f"  {one_line(body.detail, 300)}" if body.detail else ""
        word = WORDS.get(state, state.replace("_", " "))
        return f"  {sign} {step:<26} {word}{tried}{took}{used}{why}"

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        del waiting, code
        for found in artifact_facts(self._journal, self._run):
            self._console.say(f"    {found['step_id']}/{found['name']}  {size(int(found['size_bytes']))}")
        self._console.say(f"{run_title(row)}  {row.status}  {row.pipeline_id}")
