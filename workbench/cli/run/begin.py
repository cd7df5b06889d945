"""Which session a run is about: a new one, or one that goes on.

Owns the checks that come before a session exists, so that nothing is created that could not run. A
session keeps its workspace, provider, model and recording for life.
"""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.agents.instructions import system_prompt
from workbench.cli.errors import Misuse, Refusal
from workbench.cli.lookup import session_named, short
from workbench.cli.place import person, workspace_of
from workbench.config.kinds import Unfit, Url
from workbench.config.values import Config
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.host import sessions
from workbench.host.choosing import NoModel, Wish, choose
from workbench.journal.journal import Journal
from workbench.providers.recorded import Recording, RecordingBroken, load
from workbench.text.located import node_of
from workbench.text.safe import one_line

_TITLE_CELLS = 60
_MOST = 1_000_000
_WORDS = {int: "whole number", float: "number"}
_KEPT = ("provider", "model", "recording", "base_url", "key_env", "max_turns", "timeout")
"""Options that only a new session takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a new session will be made of."""

    provider: str
    model: str
    configuration: dict[str, Json]
    is_instructed: bool = False
    """Whether its model is told where it works; a recording needs no telling."""


def check_words(options: Namespace) -> None:
    """Refuse options that do not go together.

    Raises:
        Misuse: Says which.
    """
    goes_on = options.goes_on or options.session is not None
    if options.prompt is None and not goes_on:
        raise Misuse("nothing was run", "there is no prompt", "say what to do with -p TEXT")
    if options.prompt is not None and not options.prompt.strip():
        raise Misuse("nothing was run", "the prompt is empty", "say what to do with -p TEXT")
    given = [name for name in _KEPT if getattr(options, name) is not None]
    if goes_on and given:
        option = f"--{given[0].replace('_', '-')}"
        why = f"a session keeps what it was begun with, so {option} has no place here"
        raise Misuse("nothing was run", why, f"leave {option} out, or begin a new session")
    _check_address(options)


def _check_address(options: Namespace) -> None:
    if options.recording is not None and (options.base_url is not None or options.record is not None):
        why = "a recording is played from its file and asks nobody"
        raise Misuse("nothing was run", why, "leave --base-url and --record out, or --recording")
    if options.base_url is None:
        return
    try:
        Url().check(node_of(options.base_url))
    except Unfit as unfit:
        raise Misuse("nothing was run", f"--base-url must be {unfit.expected}", "correct it") from None


def existing(journal: Journal, options: Namespace) -> Session | None:
    """Return the session that is to go on; None for a new one.

    Raises:
        Refusal: There is none, or it has ended.
    """
    if options.session is not None:
        return _usable(journal, session_named(journal, options.session), options)
    if not options.goes_on:
        return None
    workspace = workspace_of(options.directory)
    found = sessions.newest(journal, workspace)
    if found is None:
        why = f"no session of {workspace} can go on"
        raise Refusal("nothing was continued", why, "begin one with workbench run -p TEXT")
    return found


def _usable(journal: Journal, session: Session, options: Namespace) -> Session:
    what = f"session {short(journal, session.id)} was not continued"
    if session.kind != "chat":
        raise Refusal(what, f"it is a session of kind {session.kind}", "name a chat session")
    if session.status in TERMINAL_SESSIONS:
        raise Refusal(what, f"it is {session.status}", "begin a new one with workbench run -p TEXT")
    if options.directory is not None and workspace_of(options.directory) != session.workspace:
        raise Refusal(what, f"its workspace is {session.workspace}", "leave -C out")
    return session


def positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    """Return how an option is read that takes a number above zero."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = kind(0)
        if not 0 < value < _MOST:
            raise ArgumentTypeError(f"{text!r} is no {_WORDS[kind]} above 0 and below {_MOST:,}")
        return value

    return read


def limited(plan: Plan, options: Namespace) -> Plan:
    """Return a plan with the limits that were asked for (S2 configuration: max_turns, timeout)."""
    asked = {name: getattr(options, name) for name in ("max_turns", "timeout")}
    given: dict[str, Json] = {name: value for name, value in asked.items() if value is not None}
    return replace(plan, configuration={**plan.configuration, **given})


def planned(options: Namespace, config: Config) -> Plan:
    """Return what a new session is made of; a recording is read and checked first.

    Raises:
        Misuse: The provider is not there, or has nothing to work with.
        Refusal: The recording cannot be played, or no model can be chosen.
    """
    if options.recording is not None:
        return _recorded(options)
    wish = Wish(
        provider=options.provider, model=options.model, base_url=options.base_url, key_env=options.key_env
    )  # fmt: skip
    try:
        chosen = choose(config, wish)
    except NoModel as error:
        refusal = Misuse if error.is_misuse else Refusal
        raise refusal("nothing was run", error.why, error.remedy) from None
    return Plan(
        provider=chosen.provider, model=chosen.model, configuration=chosen.configuration, is_instructed=True
    )  # fmt: skip


def _recorded(options: Namespace) -> Plan:
    if options.provider not in (None, "recorded"):
        why = f"{one_line(options.provider, 40)} plays no recording"
        raise Misuse("nothing was run", why, "leave --provider or --recording out")
    recording = playable(options.recording)
    facts: dict[str, Json] = {"path": str(recording.path), "sha256": recording.sha256}
    model = recording.model if options.model is None else options.model
    return Plan(provider="recorded", model=model, configuration={"recording": facts})


def playable(path: str) -> Recording:
    """Read and check a recording by its real path.

    Raises:
        Refusal: It cannot be played; names line and key.
    """
    try:
        return load(Path(path).expanduser().resolve())
    except RecordingBroken as error:
        raise Refusal("no session was begun", str(error), "mend it, or name another") from None


def begun(journal: Journal, plan: Plan, workspace: str, prompt: str) -> str:
    """Begin a session, say the prompt, and return the session's id."""
    lines = prompt.strip().splitlines()
    session_id = sessions.create(
        journal,
        workspace=workspace,
        provider=plan.provider,
        model=plan.model,
        title=one_line(lines[0], _TITLE_CELLS),
        configuration=plan.configuration,
        system_prompt=system_prompt(workspace) if plan.is_instructed else "",
        actor=person(),
    )
    sessions.submit(journal, session_id, prompt, person())
    return session_id


def resumed(journal: Journal, session: Session, prompt: str | None) -> None:
    """Let a session go on, with something said or without."""
    if prompt is None:
        sessions.continue_(journal, session.id, person())
    else:
        sessions.submit(journal, session.id, prompt, person())
