"""`workbench pipeline logs`: the output of the steps of a run."""

import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from workbench.cli.arguments import add_run_argument
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK, Refusal
from workbench.cli.journal_access import open_journal
from workbench.cli.output_format import prefers_json
from workbench.cli.pipeline_output import find_run
from workbench.cli.row_json import JsonFields
from workbench.domain.events import ContractChecked, Event, OutputStreamed, StepChanged
from workbench.domain.machines import ENDED_RUN_STATES, LOST
from workbench.effects.files import workspace_path
from workbench.journal.journal import Journal
from workbench.journal.leases import is_driver_gone
from workbench.text.human import iso_time
from workbench.views.lost_drivers import listed_run

LOGS_EXAMPLE = """workbench pipeline logs nightly#41 --step tests
workbench pipeline logs nightly#41 --errors --tail 40
workbench pipeline logs --follow"""
LOG_TICK_SECONDS: Final = 1.0
"""Seconds after which a run that is followed is looked at, also when nothing rang."""


def configure_logs(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--step", metavar="STEP", help="only of this step")
    parser.add_argument("--errors", action="store_true", help="only what failed or was tried again")
    parser.add_argument("--tail", type=int, metavar="N", help="only the last N lines of each output")
    parser.add_argument("--follow", action="store_true", help="stay, and show more as it comes")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute_logs(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        step_ids = {step.step_id for step in journal.step_states(run.pipeline_id)}
        if options.step and options.step not in step_ids:
            why = f"the run has no step {options.step}"
            raise Refusal("no log was shown", why, f"there are {', '.join(sorted(step_ids)) or 'none yet'}")
        if options.follow and options.json:
            remedy = "use workbench pipeline run --output-format stream-json"
            raise Refusal(
                "no log was shown", "a JSON array has an end, and what is followed has none", remedy
            )
        events = journal.events(run.pipeline_id)
        logged = [event for event in events if _is_wanted(event, options)]
        is_json = options.json or (not options.follow and prefers_json(options))
        entries = [_log_entry(journal, event, options.tail) for event in logged]
        entries += [] if options.errors else _running_output(events, options)
        if is_json:
            console.json(entries)
            return EXIT_OK
        _print_entries(entries, console)
        if options.follow:
            _follow_logs(journal, run.pipeline_id, events[-1].position if events else 0, options, console)
        elif not entries:
            console.say("Nothing yet.")
    return EXIT_OK


def _print_entries(entries: Iterable[JsonFields], console: Console) -> None:
    for entry in entries:
        console.say(f"── {entry['step_id']}  attempt {entry['attempt']}  {entry['state']}  {entry['at']}")
        for text in (str(entry["detail"]), str(entry["output"])):
            if text.strip():
                console.say(text.rstrip("\n"))


def _running_output(events: Sequence[Event], options: Namespace) -> list[JsonFields]:
    running: dict[str, tuple[Event, list[str]]] = {}
    for event in events:
        step = event.step or ""
        if isinstance(event.body, StepChanged):
            running.pop(step, None)
            if event.body.state == "running":
                running[step] = (event, [])
        elif isinstance(event.body, OutputStreamed) and step in running:
            running[step][1].append(event.body.text)
    return [
        {
            "step_id": step, "attempt": getattr(begun.body, "attempt", 1), "state": "running",
            "at": iso_time(begun.at), "detail": "", "output": _last_lines("".join(texts), options.tail),
            "output_bytes": len("".join(texts).encode("utf-8", "surrogatepass")),
        }
        for step, (begun, texts) in running.items()
        if not options.step or step == options.step
    ]  # fmt: skip


def _follow_logs(journal: Journal, run_id: str, cursor: int, options: Namespace, console: Console) -> None:
    rung = threading.Event()
    silence = journal.on_change(rung.set)
    last = ""
    try:
        while True:
            rung.clear()
            row = journal.pipeline_state(run_id)
            run = None if row is None else listed_run(row, partial(is_driver_gone, journal))
            for event in journal.events(run_id, after=cursor):
                cursor, step = event.position, event.step or ""
                if options.step and step != options.step:
                    continue
                if isinstance(event.body, OutputStreamed):
                    head = "" if step == last else f"── {step}\n"
                    console.say(f"{head}{event.body.text}".rstrip("\n"))
                    last = step
                elif _is_wanted(event, options):
                    _print_entries([{**_log_entry(journal, event, options.tail), "output": ""}], console)
                    last = ""
            if run is None or run.status in ENDED_RUN_STATES:
                return
            if run.status == LOST:
                console.note(f"The process that ran it is gone. workbench pipeline resume {run_id[:8]}")
                return
            rung.wait(LOG_TICK_SECONDS)
    finally:
        silence()


def _is_wanted(event: Event, options: Namespace) -> bool:
    if options.step and event.step != options.step:
        return False
    match event.body:
        case StepChanged(state=state):
            if options.errors:
                return state in ("failed", "retrying")
            return state not in ("running", "waiting")
        case ContractChecked(outcome=outcome):
            return outcome != "passed" or bool(event.body.repairs or event.body.summary)
        case _:
            return False


def _contract_words(body: ContractChecked) -> list[str]:
    repaired = [f"repaired: {', '.join(body.repairs)}"] if body.repairs else []
    return [*repaired, *([body.summary] if body.summary else []), *body.problems]


def _log_entry(journal: Journal, event: Event, tail: int | None) -> JsonFields:
    body = event.body
    if isinstance(body, ContractChecked):
        return {
            "step_id": event.step, "attempt": body.attempt, "state": f"contract {body.outcome}",
            "at": iso_time(event.at), "detail": "\n".join(_contract_words(body)), "output": "",
            "output_bytes": 0,
        }  # fmt: skip
    assert isinstance(body, StepChanged)
    return {
        "step_id": event.step, "attempt": body.attempt, "state": body.state, "at": iso_time(event.at),
        "detail": body.detail, "output": _last_lines(_step_output(journal, body), tail),
        "output_bytes": body.output_bytes,
    }  # fmt: skip


def _step_output(journal: Journal, body: StepChanged) -> str:
    data = journal.blobs.read(body.output_ref) if body.output_ref else None
    return body.output if data is None else data.decode("utf-8", "replace")


def _last_lines(text: str, tail: int | None) -> str:
    return text if tail is None else "\n".join(text.splitlines()[-max(0, tail) :])
