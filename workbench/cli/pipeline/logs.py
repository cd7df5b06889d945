"""`workbench pipeline logs`: what the steps of a run printed and said."""

import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts
from workbench.domain.events import Event, OutputStreamed
from workbench.domain.machines import ENDED_RUNS
from workbench.domain.runs import ContractChecked, StepChanged
from workbench.journal.journal import Journal
from workbench.text.human import iso

EXAMPLE = """workbench pipeline logs nightly#41 --step tests
workbench pipeline logs nightly#41 --errors --tail 40
workbench pipeline logs --follow"""

TICK: Final = 1.0
"""Seconds after which a run that is followed is looked at, also when nothing rang."""


def configure(parser: ArgumentParser) -> None:
    """Add the run and what of it."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument("--step", metavar="STEP", help="only of this step")
    parser.add_argument("--errors", action="store_true", help="only what failed or was tried again")
    parser.add_argument("--tail", type=int, metavar="N", help="only the last N lines of each output")
    parser.add_argument("--follow", action="store_true", help="stay, and show more as it comes")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Show logs."""
    with opened() as (_, journal):
        run = run_named(journal, workspace_of(options.directory), options.run)
        known = {step.step_id for step in journal.step_states(run.pipeline_id)}
        if options.step and options.step not in known:
            why = f"the run has no step {options.step}"
            raise Refusal("no log was shown", why, f"there are {', '.join(sorted(known)) or 'none yet'}")
        if options.follow and options.json:
            remedy = "use workbench pipeline run --output-format stream-json"
            raise Refusal(
                "no log was shown", "a JSON array has an end, and what is followed has none", remedy
            )
        events = journal.events(run.pipeline_id)
        found = [event for event in events if _is_wanted(event, options)]
        entries = [_facts(journal, event, options.tail) for event in found]
        entries += [] if options.errors else _running(events, options)
        if options.json:
            console.json(entries)
            return DONE
        _tell(entries, console)
        if options.follow:
            _follow(journal, run.pipeline_id, events[-1].position if events else 0, options, console)
        elif not entries:
            console.say("Nothing yet.")
    return DONE


def _tell(entries: Iterable[Facts], console: Console) -> None:
    for entry in entries:
        console.say(f"── {entry['step_id']}  attempt {entry['attempt']}  {entry['state']}  {entry['at']}")
        for text in (str(entry["detail"]), str(entry["output"])):
            if text.strip():
                console.say(text.rstrip("\n"))


def _running(events: Sequence[Event], options: Namespace) -> list[Facts]:
    """Return what the steps that run now have printed so far, as it was streamed: scrubbed and bounded."""
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
            "at": iso(begun.at), "detail": "", "output": _cut("".join(texts), options.tail),
            "output_bytes": len("".join(texts).encode("utf-8", "surrogatepass")),
        }
        for step, (begun, texts) in running.items()
        if not options.step or step == options.step
    ]  # fmt: skip


def _follow(journal: Journal, run_id: str, cursor: int, options: Namespace, console: Console) -> None:
    """Print what comes until the run is over; an interrupt ends it."""
    rung = threading.Event()
    silence = journal.on_ring(rung.set)
    last = ""
    try:
        while True:
            rung.clear()
            run = journal.pipeline_state(run_id)
            for event in journal.events(run_id, after=cursor):
                cursor, step = event.position, event.step or ""
                if options.step and step != options.step:
                    continue
                if isinstance(event.body, OutputStreamed):
                    head = "" if step == last else f"── {step}\n"
                    console.say(f"{head}{event.body.text}".rstrip("\n"))
                    last = step
                elif _is_wanted(event, options):
                    _tell([{**_facts(journal, event, options.tail), "output": ""}], console)
                    last = ""
            if run is None or run.status in ENDED_RUNS:
                return
            rung.wait(TICK)
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
            return outcome != "passed"
        case _:
            return False


def _facts(journal: Journal, event: Event, tail: int | None) -> Facts:
    body = event.body
    if isinstance(body, ContractChecked):
        return {
            "step_id": event.step, "attempt": body.attempt, "state": f"contract {body.outcome}",
            "at": iso(event.at), "detail": "\n".join(body.problems), "output": "", "output_bytes": 0,
        }  # fmt: skip
    assert isinstance(body, StepChanged)
    return {
        "step_id": event.step, "attempt": body.attempt, "state": body.state, "at": iso(event.at),
        "detail": body.detail, "output": _cut(_output(journal, body), tail),
        "output_bytes": body.output_bytes,
    }  # fmt: skip


def _output(journal: Journal, body: StepChanged) -> str:
    data = journal.blobs.read(body.output_ref) if body.output_ref else None
    return body.output if data is None else data.decode("utf-8", "replace")


def _cut(text: str, tail: int | None) -> str:
    return text if tail is None else "\n".join(text.splitlines()[-max(0, tail) :])
