"""`workbench pipeline logs`: what the steps of a run printed and said."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts
from workbench.domain.events import Event
from workbench.domain.runs import ContractChecked, StepChanged
from workbench.journal.journal import Journal
from workbench.text.human import iso

EXAMPLE = """workbench pipeline logs nightly#41 --step tests
workbench pipeline logs nightly#41 --errors --tail 40"""


def configure(parser: ArgumentParser) -> None:
    """Add the run and what of it."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument("--step", metavar="STEP", help="only of this step")
    parser.add_argument("--errors", action="store_true", help="only what failed or was tried again")
    parser.add_argument("--tail", type=int, metavar="N", help="only the last N lines of each output")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Show logs."""
    with opened() as (_, journal):
        run = run_named(journal, workspace_of(options.directory), options.run)
        known = {step.step_id for step in journal.step_states(run.pipeline_id)}
        if options.step and options.step not in known:
            why = f"the run has no step {options.step}"
            raise Refusal("no log was shown", why, f"there are {', '.join(sorted(known)) or 'none yet'}")
        found = [e for e in journal.events(run.pipeline_id) if _is_wanted(e, options)]
        entries = [_facts(journal, event, options.tail) for event in found]
    if options.json:
        console.json(entries)
        return DONE
    for entry in entries:
        console.say(f"── {entry['step_id']}  attempt {entry['attempt']}  {entry['state']}  {entry['at']}")
        for text in (str(entry["detail"]), str(entry["output"])):
            if text.strip():
                console.say(text.rstrip("\n"))
    if not entries:
        console.say("Nothing yet.")
    return DONE


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
