"""`workbench run`: an agent without a screen, for terminals and scripts.

Owns the course of a run: which session, who drives it, how it is told, and what is left when it ends. It
composes; the parts are beside it.
"""

import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass

from workbench.cli.console import Console
from workbench.cli.errors import Refusal, sentence
from workbench.cli.host.remarks import tell_remarks
from workbench.cli.place import opened, person, workspace_of
from workbench.cli.run.begin import Plan, begun, check_words, existing, limited, planned, positive, resumed
from workbench.cli.run.driving import OnApproval, drive
from workbench.cli.run.following import NOBODY, follow
from workbench.cli.run.keeping import recorded_to
from workbench.cli.run.printing import HumanPrinter, JsonPrinter, Printer, StreamPrinter
from workbench.cli.run.result import Ending, Tally, exit_code, of_this_run, result_facts
from workbench.cli.run.witness import Witness
from workbench.config.pricing import cost
from workbench.config.values import Config, Loaded
from workbench.domain.events import SessionStatusChanged
from workbench.domain.machines import PauseReason
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Decision
from workbench.host import config_rules, trusting
from workbench.host.endpoints import teach
from workbench.host.kit import open_kit
from workbench.host.models import ProviderMaker, provider_of
from workbench.host.settings import Settings
from workbench.host.upkeep import tidy_if_due
from workbench.journal.decide import decide, expire_due
from workbench.journal.errors import Driven
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused
from workbench.tools.registry import catalogue

EXAMPLE = """workbench run -p "add a test for the parser" --base-url http://127.0.0.1:8080/v1
workbench run -p "add a test for the parser" --provider local --model qwen3-coder --record session.json
workbench run -p "add a test for the parser" --recording session.json
workbench run --continue --on-approval park --output-format json"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run: where, which session, and how questions are met."""

    home: Home
    journal: Journal
    console: Console
    workspace: str
    on_approval: OnApproval
    witness: Witness
    since: int
    config: Config
    provider: ProviderMaker = provider_of


def configure(parser: ArgumentParser) -> None:
    """Add the options of DESIGN section 8."""
    parser.add_argument("-p", dest="prompt", metavar="TEXT", help="what the agent should do")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", dest="goes_on", action="store_true", help="go on with this workspace's newest session"
    )
    which.add_argument("--session", metavar="ID", help="go on with this session")
    parser.add_argument("--provider", metavar="NAME", help="who answers: a provider of config.json")
    parser.add_argument("--model", metavar="NAME", help="which of its models")
    parser.add_argument("--base-url", metavar="URL", help="where an OpenAI-compatible server answers")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument("--recording", metavar="FILE", help="play a recording instead of asking a model")
    parser.add_argument("--record", metavar="FILE", help="write what the model says as a recording")
    parser.add_argument(
        "--max-turns", metavar="N", type=positive(int), help="stop after so many model calls for one prompt"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=positive(float),
        help="stop after so many seconds of work; waiting for an answer does not count",
    )  # fmt: skip
    parser.add_argument(
        "--output-format",
        choices=("human", "json", "stream-json"),
        help="text, an object, or an event a line",
    )
    parser.add_argument(
        "--on-approval",
        choices=("wait", "park", "deny"),
        default="wait",
        help="when it asks (else: wait)",
    )


def execute(options: Namespace, console: Console) -> int:
    """Run an agent and return the exit code."""
    check_words(options)
    provider = recorded_to(options.record) if options.record is not None else provider_of
    with opened() as (home, journal):
        expire_due(journal)
        session = existing(journal, options)
        workspace = session.workspace if session else workspace_of(options.directory)
        loaded = Settings(home, workspace, {}).loaded(trusted=trusting.is_trusted(journal, workspace))
        require_usable(loaded, console)
        plan = None if session else limited(planned(options, loaded.config), options)
        teach(loaded.config)
        config_rules.sync(journal, loaded, catalogue().descriptors())
        prepare(journal, workspace, console)
        start, since = journal.last_position(), journal.now()
        session_id = _asked(journal, session, plan, workspace, options.prompt)
        printer = printer_for(options.output_format or loaded.config.output_format, journal, console)
        run = Run(
            home=home, journal=journal, console=console, workspace=workspace, since=since,
            on_approval=options.on_approval, provider=provider,
            witness=Witness(journal, session_id, printer, start),
            config=loaded.config,
        )  # fmt: skip
        return _told(run, _carried_out(run), printer)


def require_usable(loaded: Loaded, console: Console) -> None:
    """Tell what is wrong in the configuration.

    Raises:
        Refusal: With what is wrong, less might be denied than was written.
    """
    tools = catalogue().descriptors()
    for problem in (*loaded.problems, *config_rules.problems(loaded, tools)):
        console.note(str(problem))
    for note in config_rules.notes(loaded, tools):
        console.note(note)
    if not loaded.is_usable:
        raise Refusal("nothing was run", "the configuration cannot be used as it is", "mend it first")


def prepare(journal: Journal, workspace: str, console: Console) -> None:
    """Ask whether the workspace may act, and say that it does not yet."""
    if trusting.is_trusted(journal, workspace):
        return
    console.note(f"Not trusted: {workspace}. What governs it only narrows; workbench trust changes that.")
    try:
        trusting.ask(journal, workspace)
    except TrustRefused as error:
        console.note(sentence(str(error)))


def printer_for(output: str, journal: Journal, console: Console) -> Printer:
    """Return the printer of an output format."""
    if output == "json":
        return JsonPrinter(console)
    return StreamPrinter(console) if output == "stream-json" else HumanPrinter(journal, console)


def _asked(
    journal: Journal, session: Session | None, plan: Plan | None, workspace: str, prompt: str | None
) -> str:
    if session is not None:
        resumed(journal, session, prompt)
        return session.id
    assert plan is not None and prompt is not None
    return begun(journal, plan, workspace, prompt)


def _carried_out(run: Run) -> Ending:
    """Drive the session, or follow it where a host was faster."""
    if run.on_approval == "deny":
        _deny_old_questions(run)
    kit = open_kit(
        run.home, run.journal, run.workspace, provider=run.provider, can_ask=run.on_approval != "deny"
    )
    try:
        ending = drive(kit, run.witness, run.on_approval)
    except Driven as held:
        if held.driver != "host":
            raise
        tell_remarks(run.home, run.journal, run.workspace, run.console)
        if run.provider is not provider_of:
            run.console.note("Not recorded: a host drives the session. --record works where none does.")
        return follow(run.home, run.journal, run.witness, run.on_approval)
    finally:
        kit.root.close()
    rest(run.journal, run.witness.session_id, ending)
    # Whoever never opens a screen has nobody else who tidies.
    tidy_if_due(run.home, run.journal, kit.loaded().config.retention.sealed_days)
    return ending


def _deny_old_questions(run: Run) -> None:
    for action in run.journal.actions(run.witness.session_id, states=("pending",)):
        no = Decision(action_id=action.id, verdict="reject", reason=NOBODY)
        run.witness.tally.refused += decide(run.journal, no, action.digest, person()).ok


def rest(journal: Journal, session_id: str, ending: Ending) -> None:
    """Leave a session that was driven here paused, with the reason, unless it is so or has ended."""
    session = journal.session(session_id)
    if session is None or session.status not in ("ready", "processing"):
        return
    reason: PauseReason = "parked" if ending == "parked" else "run ended"
    actor = Actor(kind="host", pid=os.getpid())
    journal.append([journal.event(SessionStatusChanged(status="paused", reason=reason), session_id, actor)])


def _told(run: Run, ending: Ending, printer: Printer) -> int:
    """Tell how it ended and return the exit code."""
    witness, journal = run.witness, run.journal
    witness.catch_up()
    witness.require_listener()
    session = journal.session(witness.session_id)
    if session is None:
        raise Refusal("the run has no result", "its session was deleted meanwhile", "begin a new one")
    code = exit_code(witness.tally, ending)
    actions = of_this_run(journal.actions(session.id), journal.calls(session.id), witness.start, run.since)
    denied = [call for key in witness.tally.denied if (call := journal.call(key)) is not None]
    waiting = [action for action in actions if action.state == "pending"]
    facts = result_facts(session, witness.tally, actions, denied, code)
    printer.end({**facts, "cost": cost(run.config, session.provider, session.usage)}, waiting)
    for line in last_words(session, witness.tally, ending):
        run.console.note(line)
    return code


def last_words(session: Session, tally: Tally, ending: Ending) -> list[str]:
    """Return what a person should know about the end of a run, for stderr."""
    goes_on = f"workbench run --session {session.id} lets it go on."
    if ending == "parked":
        return ["Parked: the last answer lets it go on."]
    if ending == "interrupted":
        return [f"Interrupted. {goes_on}"]
    if tally.outcome == "unattended":
        return [f"Nobody answered in time. Nothing was done. {goes_on}"]
    if tally.outcome == "limit":
        return [f"Stopped at a limit. {sentence(tally.detail)} {goes_on}"]
    if tally.outcome == "interrupted":
        return [f"Stopped by somebody else. {goes_on}"]
    return []
