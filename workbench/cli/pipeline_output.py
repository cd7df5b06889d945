"""Runs and steps of pipelines as rows and JSON, printers that follow a run, and lookup by name."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from workbench.cli.console import Console, StatusIcons
from workbench.cli.errors import Refusal
from workbench.cli.row_json import JsonFields, row_fields
from workbench.domain.events import (
    ActionOpened,
    ArtifactStored,
    ContractChecked,
    Event,
    ProgressReported,
    RunChanged,
    RunStarted,
    StepChanged,
)
from workbench.domain.machines import (
    COMPLETED_STEP_STATES,
    ENDED_STEP_STATES,
    StepStateName,
    unstarted_item_state,
)
from workbench.domain.rows import PipelineState, StepState, run_title
from workbench.domain.values import RunLink, Usage
from workbench.journal.journal import Journal
from workbench.journal.place_queue import PlaceWait
from workbench.journal.session_queries import (
    ItemCount,
    item_counts,
    refused_calls_by_step,
    steps_with_links,
)
from workbench.pipelines.code_hosts import CodeHost
from workbench.text.human import SECOND_MICROS, counted, duration_text, size_text, token_text
from workbench.text.problems import Problem
from workbench.text.safe import one_line, reason_line, reason_lines
from workbench.views.pipeline import matrix_item_count
from workbench.views.status_icons import (
    RUN_STATUSES,
    STEP_STATUSES,
    StepStatus,
    refused_calls_text,
    step_status_name,
)
from workbench.views.usage import money_text

_MOST_NAMED: Final = 20
"""Steps of a round that are named in its line."""


class RunPrinter(Protocol):
    """Tells a run."""

    def see(self, events: Sequence[Event]) -> None:
        """Tell events as they come."""
        ...

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int, /) -> None:
        """Tell how it stands."""
        ...


def pipeline_printer(journal: Journal, run_id: str, options: Namespace, console: Console) -> RunPrinter:
    """Return the printer of an output format."""
    from workbench.cli.headless_run import event_printer

    plain = _JsonPrinter if options.output_format == "json" else _LinePrinter
    return event_printer(options.output_format, journal, console) or plain(journal, run_id, console)


class _JsonPrinter:
    def __init__(self, journal: Journal, run_id: str, console: Console) -> None:
        self._journal, self._run, self._console = journal, run_id, console

    def see(self, events: Sequence[Event]) -> None:
        del events

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        self._console.json(run_report_json(self._journal, row, waiting, code))


def run_report_json(
    journal: Journal, row: PipelineState, waiting: tuple[str, ...], code: int | None = None
) -> JsonFields:
    """Return a run with its steps, artifacts and waiting actions as JSON."""
    facts = {
        **run_json(row), "steps": _steps_json(journal, row.pipeline_id),
        "artifacts": artifacts_json(journal, row.pipeline_id),
        "outcomes": outcomes_json(journal, row.pipeline_id), "waiting": list(waiting),
    }  # fmt: skip
    return facts if code is None else {**facts, "exit": code}


def _steps_json(journal: Journal, run_id: str) -> list[JsonFields]:
    """Return the steps of a run and the items that have begun; a matrix counts its items by state."""
    steps, refused = journal.step_states(run_id), refused_by_step(journal, run_id)
    summaries = matrix_summaries(journal, run_id, [step for step in steps if not step.matrix])
    return [
        step_json(step, refused[step.step_id])
        | ({"items": {**summaries[step.step_id].counts}} if step.step_id in summaries else {})
        for step in steps
    ]


def refused_by_step(journal: Journal, run_id: str) -> Counter[str]:
    """Count the refused calls of each step's last attempt by step id; a matrix counts those of its items."""
    with journal.snapshot() as database:
        return refused_calls_by_step(database, run_id)


def outcomes_json(journal: Journal, run_id: str) -> list[JsonFields]:
    """Return what came of a run as JSON: the links of the last completed attempt of each step."""
    with journal.snapshot() as database:
        steps = steps_with_links(database, run_id)
    links = {step: _last_links(journal, run_id, step) for step in steps}
    return [
        {
            "step_id": step, "type": link.type, "label": link.label, "kind": link.kind,
            "target": link.target,
        }
        for step, left in links.items()
        for link in left
    ]  # fmt: skip


def _last_links(journal: Journal, run_id: str, step: str) -> tuple[RunLink, ...]:
    bodies = (event.body for event in journal.step_events(run_id, step))
    ends = [body for body in bodies if isinstance(body, StepChanged) and body.state in COMPLETED_STEP_STATES]
    return ends[-1].links if ends else ()


def outcome_lines(journal: Journal, run_id: str) -> list[str]:
    """Return what came of a run, a line for each; an address stands alone at the end of its line."""
    return [
        f"  {one_line(str(link['label']), 60)}  {one_line(str(link['target']), 2_000)}"
        for link in outcomes_json(journal, run_id)
    ]


def artifacts_json(journal: Journal, run_id: str) -> list[JsonFields]:
    """Return the artifacts of a run as JSON, the newest of each step and name."""
    newest: dict[tuple[str, str], Event] = {}
    for event in journal.events(run_id):
        if isinstance(event.body, ArtifactStored):
            newest[event.step or "", event.body.name] = event
    artifacts: list[JsonFields] = []
    for (step, name), event in newest.items():
        body = event.body
        assert isinstance(body, ArtifactStored)
        artifacts.append(
            {
                "step_id": step, "name": name, "kind": body.artifact_kind, "type": body.type,
                "path": body.path, "size_bytes": body.size_bytes, "files": body.files,
                "digest": body.digest, "attempt": body.attempt, "repairs": list(body.repairs),
            }
        )  # fmt: skip
    return artifacts


class _LinePrinter:
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
                again = f": {named_steps(body.reset)} again" if body.reset else ""
                again = f", round {body.round}{again}" if body.round > 1 else ""
                name = self._where(event.session_id).removesuffix(" · ") or one_line(body.pipeline, 80)
                return f"{name}: {counted(len(body.steps), 'step')}{again}"
            case StepChanged() as body:
                return self._step(body, step, self._refused(event, body))
            case ContractChecked(outcome="failed" | "warned" | "not_checked") as body:
                first = body.problems[0] if body.problems else ""
                return (
                    f"      contract {body.contract} {body.outcome.replace('_', ' ')}: {one_line(first, 160)}"
                )
            case ContractChecked(repairs=repaired, summary=said) as body if repaired or said:
                words = "; ".join((*([f"repaired: {', '.join(repaired)}"] if repaired else []), said)).rstrip(
                    "; "
                )
                return f"      contract {body.contract} {body.outcome}: {one_line(words, 160)}"
            case ProgressReported() as body if event.step:
                return f"  {signs.of('todo')} {step:<26} {one_line(body.message, 160)}"
            case ActionOpened() as body:
                asks = f"{body.verb} {one_line(body.target, 120)}"
                return f"  {signs.of('waiting')} {step or 'asks'} {asks}  {(event.action_id or '')[:8]}"
            case RunChanged(status="completed" | "failed" | "cancelled") as body:
                # Why the step failed stands in its own line.
                head, failed_step, _ = body.detail.partition(" failed: ")
                why = f"{head} failed" if failed_step else reason_line(body.detail, 400)
                why = f": {one_line(why, 400)}" if why else ""
                took = duration_text(body.duration_ms / 1000)
                where = self._where(event.session_id).replace(" · ", " ")
                sign, failed = RUN_STATUSES[body.status][0], self._allowed(event.session_id)
                if failed and body.status == "completed":
                    sign, why = "failed", f", failed all the same: {', '.join(failed)}{why}"
                return f"{signs.of(sign)} {where}{body.status} in {took}{_used_text(body.usage)}{why}"
            case _:
                return ""

    def _allowed(self, run_id: str) -> list[str]:
        steps = self._journal.step_states(run_id)
        return [
            one_line(step.step_id, 60)
            for step in steps
            if not step.matrix and step_status_name(step.state, is_warned=step.is_warned) == "warned"
        ]

    def _where(self, session_id: str) -> str:
        if session_id == self._run:
            return ""
        row = self._journal.pipeline_state(session_id)
        return f"{run_title(row)} · " if row else ""

    def _refused(self, event: Event, body: StepChanged) -> int:
        """Return how many calls of a step that has ended were refused."""
        is_ended = body.state in ENDED_STEP_STATES
        return refused_by_step(self._journal, event.session_id)[event.step or ""] if is_ended else 0

    def _step(self, body: StepChanged, step: str, refused: int) -> str:
        is_warned = body.is_warned or body.has_failed
        icon, word = STEP_STATUSES[step_status_name(body.state, is_warned=is_warned, refused=refused)]
        sign = self._console.signs.of(icon)
        tried = f" attempt {body.attempt}" if body.attempt > 1 else ""
        # Gates and lists do no work of their own: what their items took stands in the items' lines.
        took = f" {duration_text(body.duration_ms / 1000)}" if body.duration_ms else ""
        used = f"{_used_text(body.usage)}{_refused_text(refused)}"
        first, *more = reason_lines(body.detail, 300) or [""]
        why = f"  {first}" if first else ""
        return "\n".join(
            [f"  {sign} {step:<26} {word}{tried}{took}{used}{why}", *(f"      {m}" for m in more)]
        )

    def end(self, row: PipelineState, waiting: tuple[str, ...], code: int) -> None:
        del waiting, code
        for artifact in artifacts_json(self._journal, self._run):
            self._console.say(
                f"    {artifact['step_id']}/{artifact['name']}  {size_text(int(artifact['size_bytes']))}"
            )
        self._console.say_lines(outcome_lines(self._journal, self._run))
        self._console.say(f"{run_title(row)}  {row.status}  {row.pipeline_id}")


def named_steps(names: Sequence[str]) -> str:
    """Return names of steps in one line, the first few of many."""
    shown = ", ".join(one_line(name, 60) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown or "nothing"


def run_json(run: PipelineState) -> JsonFields:
    names = "created_at updated_at started_at finished_at duration_ms error_message"
    return {
        "run_id": run.pipeline_id, "pipeline_id": run.pipeline_id, "pipeline": run.pipeline_name,
        **row_fields(run, f"number status file input round {names}"),
        **row_fields(run.usage, "input_tokens output_tokens cost_microdollars"),
    }  # fmt: skip


def step_json(step: StepState, refused: int) -> JsonFields:
    """Return a step as JSON; `refused` is the number of calls of its last attempt that were refused."""
    times = "started_at completed_at duration_ms"
    return {
        **row_fields(step, "step_id pipeline_id state kind persona"), "matrix": step.matrix or None,
        **row_fields(step, "attempt retry_count"), "warned": step.is_warned,
        "refused_calls": refused,
        **row_fields(step, f"contract {times} workspace_path session_id"),
        "action_id": step.action_id if step.state == "waiting" else None,
        **row_fields(step, "exit_code error_message"),
        **row_fields(step.usage, "input_tokens output_tokens cost_microdollars"),
    }  # fmt: skip


def code_host_json(host: CodeHost | None) -> JsonFields:
    """Return the code host of a pipeline that names one, as a member of its JSON."""
    return {} if host is None else {"code_host": {"kind": host.kind or None, "found_by": host.origin}}


def place_json(place: PlaceWait | None) -> JsonFields | None:
    """Return what a run waits for, if it waits for a place among all runs."""
    if place is None:
        return None
    return {"before": place.before, "limit": "home" if place.is_home else "workspace"}


def place_limit_words(place: PlaceWait) -> str:
    """Say which setting a run waits for."""
    whose, setting = (
        ("the home", "max_home_steps") if place.is_home else ("the workspace", "max_workspace_steps")
    )
    return f"all places of {whose} are taken (pipelines.{setting})"


def run_line(run: PipelineState, signs: StatusIcons, now: int, place: PlaceWait | None = None) -> str:
    """Return a run as a row: sign, title, status, id, working time, when, why it failed or waits."""
    age = duration_text(max(0, now - run.created_at) / SECOND_MICROS)
    why = f"  {reason_line(run.error_message, 80)}" if run.error_message else ""
    why = f"  {place.text}" if place is not None else why
    took = duration_text(run.duration_ms / 1000) if run.duration_ms else ""
    title = run_title(run)
    sign, run_id = signs.of(RUN_STATUSES[run.status][0]), run.pipeline_id[:8]
    used = _used_text(run.usage)
    return f"{sign} {title:<28} {run.status:<10} {run_id}  {took:>9}  {age} ago{used}{why}"


MOST_NAMED_ITEMS: Final = 20
"""Failed items of a matrix that are named where its items are folded."""


class MatrixSummary(Struct, frozen=True, kw_only=True):
    """The items of a matrix, folded: how many are in each state, and which failed first."""

    counts: Mapping[StepStatus, int]
    failed: Sequence[StepState] = ()

    @property
    def words(self) -> str:
        """Return `100,000 items: 99,998 completed, 2 failed`."""
        parts = ", ".join(f"{count:,} {STEP_STATUSES[name][1]}" for name, count in self.counts.items())
        return f"{counted(sum(self.counts.values()), 'item')}: {parts}" if parts else "no items"


def matrix_summaries(journal: Journal, run_id: str, steps: Iterable[StepState]) -> dict[str, MatrixSummary]:
    """Return the folded items of the matrices of a run, by step; `steps` are its own."""
    with journal.snapshot() as database:
        begun = item_counts(database, run_id)
    summaries: dict[str, MatrixSummary] = {}
    for step in steps:
        total = matrix_item_count(journal.step_events(run_id, step.step_id)) if step.attempt else 0
        counts = item_state_counts(step.state, [row for row in begun if row.matrix == step.step_id], total)
        if counts:
            failed = journal.failed_items(run_id, step.step_id, MOST_NAMED_ITEMS)
            summaries[step.step_id] = MatrixSummary(counts=counts, failed=failed)
    return summaries


def item_state_counts(matrix: StepStateName, begun: Iterable[ItemCount], total: int) -> dict[StepStatus, int]:
    """Count the items of a matrix by state; those that never began, with a row or without, end with it."""
    counts = Counter[StepStatus]()
    for row in begun:
        if row.state != "pending":
            counts[step_status_name(row.state, is_warned=row.is_warned)] += row.size
    counts[unstarted_item_state(matrix)] += max(0, total - counts.total())
    return {name: counts[name] for name in STEP_STATUSES if counts[name]}


def matrix_lines(summary: MatrixSummary, signs: StatusIcons, refused: Mapping[str, int]) -> Iterator[str]:
    """Yield the items of a matrix, folded: counts by state, then the failed ones."""
    yield f"    {summary.words}"
    yield from (step_line(item, signs, refused.get(item.step_id, 0)) for item in summary.failed)
    more = summary.counts.get("failed", 0) + summary.counts.get("warned", 0) - len(summary.failed)
    if more > 0:
        yield f"    and {more:,} more failed; --all lists every item"


def step_line(step: StepState, signs: StatusIcons, refused: int = 0) -> str:
    """Return a step as a row: sign, id, state, time, attempt, contract, refused calls, why it failed."""
    icon, word = STEP_STATUSES[step_status_name(step.state, is_warned=step.is_warned, refused=refused)]
    took = duration_text(step.duration_ms / 1000) if step.duration_ms else ""
    tried = f" attempt {step.attempt}" if step.attempt > 1 else ""
    contract = f" contract {step.contract.replace('_', ' ')}" if step.contract else ""
    why = f"  {reason_line(step.error_message, 160)}" if step.error_message else ""
    indent = "    " if step.matrix else "  "
    sign, used = signs.of(icon), f"{_used_text(step.usage)}{_refused_text(refused)}"
    return f"{indent}{sign} {step.step_id:<26} {word:<10} {took:>9}{tried}{contract}{used}{why}"


def _used_text(usage: Usage) -> str:
    """Return tokens and cost, with a blank before each; empty where there are none."""
    used = f" {token_text(usage.total_tokens)} tok" if usage.total_tokens else ""
    return used + (f" {money_text(usage.cost_microdollars)}" if usage.cost_microdollars else "")


def _refused_text(refused: int) -> str:
    return f" · {refused_calls_text(refused)}" if refused else ""


_NONE: Final = "there is none of that id"


class RunNotFound(Refusal):
    """No run has the id or the name that was given."""


def find_run(journal: Journal, workspace: str, word: str | None) -> PipelineState:
    """Return the run that a word names; the newest one without a word. Raises Refusal and RunNotFound."""
    runs = journal.pipeline_states(workspace if word is None else None)
    if word is None:
        if not runs:
            raise Refusal(
                "no run was found", f"{workspace} has none", "start one with workbench pipeline run NAME"
            )
        return next((run for run in runs if not _has_parent_run(journal, run)), runs[0])
    exact = journal.pipeline_state(word)
    if exact is not None:
        return exact
    name, _, number = word.replace(" ", "").partition("#")
    matches = [r for r in runs if r.pipeline_id.startswith(word)] if len(word) >= 4 else []
    matches = matches or [
        r for r in runs if r.pipeline_name == name and (not number or str(r.number) == number)
    ]
    if not matches or (len(matches) > 1 and matches[0].pipeline_name != name):
        refusal, why = (Refusal, f"{len(matches)} runs start like this") if matches else (RunNotFound, _NONE)
        raise refusal(f"run {one_line(word, 60)} was not found", why, "see workbench pipeline list --runs")
    return matches[0]


def _has_parent_run(journal: Journal, run: PipelineState) -> bool:
    session = journal.session(run.pipeline_id)
    return bool(session and session.parent_id and journal.pipeline_state(session.parent_id))


def problem_json(problem: Problem) -> JsonFields:
    """Return a problem of a pipeline's files as a JSON object."""
    fields: JsonFields = {
        "code": problem.code, "message": problem.message, "file": problem.file, "line": problem.line,
        "column": problem.column, "path": problem.key,
    }  # fmt: skip
    return {**fields, "stops_run": True} if problem.severity == "warning" and problem.fatal else fields
