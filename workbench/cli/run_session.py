"""The session of `workbench run`: check the options, read the prompt, then begin a session or resume one."""

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.console import Console
from workbench.cli.context import find_session, short_id, user_actor
from workbench.cli.errors import Refusal, UsageError
from workbench.config.keys import RECORDED, URL, InvalidValue, convert_node
from workbench.config.types import Config
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.effects.files import workspace_path
from workbench.host import session_requests
from workbench.host.instruction_files import SessionInstructions, session_instructions
from workbench.host.model_selection import ModelPreference, NoModelSelected, select_model
from workbench.host.session_tools import ToolNotOffered, named_tools, tool_words
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity
from workbench.providers.recording import Recording, RecordingBroken, load_recording
from workbench.text.json_nodes import node_of_value
from workbench.text.safe import one_line
from workbench.tools.registry import tool_descriptors
from workbench.views.supervised import why_not_asked

_NOTHING_RUN: Final = "nothing was run"
_TITLE_CELLS = 60
_LARGEST_NUMBER = 1_000_000
_NUMBER_WORDS = {int: "whole number", float: "number"}
_SESSION_OPTIONS = (
    "provider", "model", "recording", "base_url", "key_env", "max_turns", "timeout", "tools",
    "sandbox", "sandboxed",
)  # fmt: skip
"""Options that only a new session takes."""


class SessionPlan(Struct, frozen=True, kw_only=True):
    """What a new session will be made of."""

    provider: str
    model: str
    configuration: dict[str, Json]
    is_instructed: bool = False
    """Whether its model is told where it works; a recording needs no telling."""
    instruction_files: tuple[str, ...] = ()
    """Names of files whose text joins the system prompt in a trusted workspace."""
    active_tools: tuple[str, ...] = ()
    """Ids of the tools that its agent has; empty means all."""
    note: str = ""
    """Why it is not known whether the provider has the model."""


def require_consistent_options(options: Namespace) -> None:
    """Refuse options that do not go together."""
    given_options = [name for name in _SESSION_OPTIONS if getattr(options, name) is not None]
    if is_continuing(options) and given_options:
        option = f"--{given_options[0].replace('_', '-')}"
        why = f"a session keeps what it was started with, so {option} has no place here"
        raise UsageError(_NOTHING_RUN, why, f"leave {option} out, or start a new session")
    if is_continuing(options) and options.worktree:
        why = "a session keeps the folder that it works in, so --worktree has no place here"
        raise UsageError(_NOTHING_RUN, why, "leave --worktree out, or start a new session")
    require_valid_url(options)


def is_continuing(options: Namespace) -> bool:
    """Return whether a session that is there continues, instead of a new one."""
    return bool(options.goes_on) or options.session is not None


def require_valid_url(options: Namespace) -> None:
    """Refuse an address that is none, and one beside a recording."""
    if options.recording is not None and (options.base_url or getattr(options, "record", None)):
        why = "a recording is played from its file and asks nobody"
        raise UsageError(_NOTHING_RUN, why, "leave --base-url and --record out, or --recording")
    if options.base_url is None:
        return
    try:
        convert_node(node_of_value(options.base_url), URL)
    except InvalidValue as unfit:
        raise UsageError(_NOTHING_RUN, f"--base-url must be {unfit.expected}", "correct it") from None


STANDARD_INPUT: Final = "-"
"""The word behind `-p` that means standard input."""
MAX_PROMPT_BYTES: Final = 1_000_000
_PROMPT_REMEDY: Final = "say what to do with -p TEXT, or pipe it in: echo TEXT | workbench run"


def read_prompt(typed: str | None, console: Console, *, continues: bool) -> str | None:
    """Return the prompt of a run; None for one that continues a session without words.

    Standard input is read where it was asked for with `-p -`, and for a new session without `-p` where no
    terminal stands behind it. Raises UsageError where there is no prompt, Refusal where it cannot be read.
    """
    if typed is None and continues:
        return None
    if typed not in (None, STANDARD_INPUT):
        return _required(typed, "the prompt is empty")
    has_person = sys.stdin is not None and sys.stdin.isatty()
    if typed is None:
        return _required("" if has_person else _decoded(_standard_input()), "there is no prompt")
    if has_person:
        console.note("Type the prompt; ctrl+d on a line of its own ends it.")
    return _required(_decoded(_standard_input()), "standard input is empty")


def _required(text: str | None, why: str) -> str:
    if text is None or not text.strip():
        raise UsageError(_NOTHING_RUN, why, _PROMPT_REMEDY)
    return text


def _standard_input() -> bytes:
    try:
        data = b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_PROMPT_BYTES + 1)
    except OSError:  # nothing is behind it
        return b""
    if len(data) > MAX_PROMPT_BYTES:
        why = f"the prompt on standard input is longer than {MAX_PROMPT_BYTES:,} bytes"
        raise Refusal(_NOTHING_RUN, why, "put it into a file, and name that in the prompt")
    return data


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"the prompt on standard input is not UTF-8 text (byte {error.start + 1:,})"
        raise Refusal(_NOTHING_RUN, why, "convert it, for example with iconv -t UTF-8") from None
    if "\0" in text:
        raise Refusal(_NOTHING_RUN, "the prompt on standard input has zero bytes in it", "pipe in text")
    return text.replace("\r\n", "\n").strip("\n")


def named_session(journal: Journal, options: Namespace) -> Session | None:
    """Return the session that is to go on; None for a new one."""
    if options.session is not None:
        return _require_resumable(journal, find_session(journal, options.session), options)
    if not options.goes_on:
        return None
    workspace = workspace_path(options.directory)
    session = session_requests.newest_open_session(journal, workspace)
    if session is None:
        why = f"no session of {workspace} can continue"
        raise Refusal("nothing was continued", why, "start one with workbench run -p TEXT")
    return session


def _require_resumable(journal: Journal, session: Session, options: Namespace) -> Session:
    what = f"session {short_id(journal, session.id)} was not continued"
    if why := why_not_asked(session):
        remedy = "write to it there, or workbench sessions fork starts a session from its end"
        raise Refusal(what, why.rstrip("."), remedy)
    if not session.takes_prompts:
        raise Refusal(what, f"it is a session of kind {session.kind}", "name a chat session")
    if session.status in TERMINAL_SESSION_STATES:
        raise Refusal(what, f"it is {session.status}", "start a new one with workbench run -p TEXT")
    if options.directory is not None and workspace_path(options.directory) != session.workspace:
        raise Refusal(what, f"its workspace is {session.workspace}", "leave -C out")
    return session


def positive_number(kind: type[int] | type[float]) -> Callable[[str], float]:
    """Return how an option is read that takes a number above zero."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = kind(0)
        if not 0 < value < _LARGEST_NUMBER:
            raise ArgumentTypeError(
                f"{text!r} is not a {_NUMBER_WORDS[kind]} above 0 and below {_LARGEST_NUMBER:,}"
            )
        return value

    return read


def tool_names(text: str) -> tuple[str, ...]:
    """Return the tools that a text names, as `/tools` reads it; empty for all. Raises ArgumentTypeError."""
    words = tool_words(text)
    try:
        return () if words == ["all"] else named_tools(words, tool_descriptors())
    except ToolNotOffered as error:
        hint = f"did you mean {error.near}?" if error.near else "workbench tools list names them"
        shown = one_line(error.word, 60)
        what = f"there is no tool {shown}" if shown else "it names no tool"
        raise ArgumentTypeError(f"{what}; {hint}") from None


def with_limits(plan: SessionPlan, options: Namespace) -> SessionPlan:
    """Return a plan with what was asked for: tools, sandbox, limits (S2: max_turns, timeout)."""
    values = {name: getattr(options, name) for name in ("max_turns", "timeout", "sandbox", "sandboxed")}
    limits: dict[str, Json] = {name: value for name, value in values.items() if value is not None}
    return replace(
        plan, configuration={**plan.configuration, **limits}, active_tools=options.tools or ()
    )  # fmt: skip


def plan_session(options: Namespace, config: Config) -> SessionPlan:
    """Return what a new session is made of; a recording is read and checked first."""
    if options.recording is not None:
        return _recorded_plan(options)
    preference = ModelPreference(
        provider=options.provider, model=options.model, base_url=options.base_url, key_env=options.key_env
    )  # fmt: skip
    try:
        selected = select_model(config, preference)
    except NoModelSelected as error:
        refusal = UsageError if error.is_misuse else Refusal
        raise refusal(_NOTHING_RUN, error.why, error.remedy) from None
    return SessionPlan(
        provider=selected.provider, model=selected.model, configuration=selected.configuration,
        is_instructed=True,
        instruction_files=config.instruction_files, note=selected.note,
    )  # fmt: skip


def _recorded_plan(options: Namespace) -> SessionPlan:
    if options.provider not in (None, RECORDED.name):
        why = f"{one_line(options.provider, 40)} plays no recording"
        raise UsageError(_NOTHING_RUN, why, "leave --provider or --recording out")
    recording = read_recording(options.recording)
    facts: dict[str, Json] = {"path": str(recording.path), "sha256": recording.sha256}
    model = recording.model if options.model is None else options.model
    return SessionPlan(provider=RECORDED.name, model=model, configuration={"recording": facts})


def read_recording(path: str) -> Recording:
    """Read and check a recording by its real path."""
    try:
        return load_recording(Path(path).expanduser().resolve())
    except RecordingBroken as error:
        raise Refusal("no session was started", str(error), "correct it, or name another") from None


def begin_session(
    journal: Journal, plan: SessionPlan, workspace: str, prompt: str, driver: DriverIdentity | None = None,
    *, instructed_by: str = "",
) -> str:  # fmt: skip
    """Start a session, say the prompt, and return the session's id.

    `driver` owns it from its first event. `instructed_by`: the folder whose instruction files it reads, if
    that is not its workspace.
    """
    instructions = SessionInstructions(system_prompt="")
    if plan.is_instructed:
        instructions = session_instructions(journal, instructed_by or workspace, plan.instruction_files)
    lines = prompt.strip().splitlines()
    session_id = session_requests.create_session(
        journal,
        workspace=workspace,
        provider=plan.provider,
        model=plan.model,
        title=one_line(lines[0], _TITLE_CELLS),
        configuration={**plan.configuration, **instructions.configuration},
        system_prompt=instructions.system_prompt,
        active_tools=plan.active_tools,
        actor=user_actor(),
        driver=driver,
    )
    session_requests.submit_prompt(journal, session_id, prompt, user_actor())
    return session_id


def resume_session(journal: Journal, session: Session, prompt: str | None) -> None:
    """Let a session go on, with something said or without."""
    if prompt is None:
        session_requests.continue_session(journal, session.id, user_actor())
    else:
        session_requests.submit_prompt(journal, session.id, prompt, user_actor())
