"""What the screen needs of the rest of the program: one record of callables that the command line fills.

The screen imports no host, tool or provider. Each default does nothing and says so, so that tests and replays
fill in only what they use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from workbench.domain.events import RuleAdded
    from workbench.domain.rows import Call, Rule
    from workbench.domain.values import ToolDescriptor
    from workbench.policy.shell.command_paths import CommandBoundary
    from workbench.views.pipeline import LaunchPlan, LaunchRequest, PipelineChoice

EXIT_FOR_DEMO: Final = 10
"""What the screen returns when its user wants the demo."""


class BackendError(Exception):
    """A service could not do what was asked; its text says what, why and what to do."""


def _nothing(*_: str) -> None:
    raise BackendError("Nothing was sent. This screen only shows.")


def _no_session(_: str) -> str:
    raise BackendError("No session was begun. This screen only shows.")


def _no_host() -> str:
    raise BackendError("No host was restarted. This screen only shows.")


def _no_run(*_: str) -> str:
    raise BackendError("No run was begun. This screen only shows.")


def _no_plan(_: str) -> "LaunchPlan":
    raise BackendError("No pipeline was read. This screen only shows.")


def _no_launch(_: object) -> str:
    raise BackendError("No run was begun. This screen only shows.")


def _no_pipelines() -> "Sequence[PipelineChoice]":
    return ()


def _no_fork(*_: object) -> str:
    raise BackendError(
        "No session was forked. What is shown here is not in your library: workbench replay --keep."
    )


def _no_export(*_: object) -> str:
    raise BackendError(
        "Nothing was written. What is shown here is not in your library: workbench replay --keep."
    )


def _no_rule(_: object) -> "Rule":
    raise BackendError("No rule was changed. This screen only shows.")


def _no_tools() -> "Mapping[str, ToolDescriptor]":
    return {}


def _no_rules() -> "Sequence[Rule]":
    return ()


def _no_boundary(_: str) -> "CommandBoundary | None":
    return None


def _no_calls(_: str) -> "Sequence[AskedCall]":
    return ()


def _unavailable(*_: object) -> bool:
    return False


class ForkRequest(Struct, frozen=True, kw_only=True):
    """A session from a moment of another one."""

    session_id: str
    position: int
    """The moment, as a position of the journal."""
    folder: str = ""
    """A new folder for the files of that moment; empty leaves files alone."""
    is_worktree: bool = False
    """Whether it becomes a git worktree instead of a copy."""


class ExportRequest(Struct, frozen=True, kw_only=True):
    """A session as a film, or a moment of it as a picture, in a file."""

    session_id: str
    path: str
    """Where; its ending says in which form: `.html`, `.cast` or `.svg`."""
    index: int | None = None
    """The moment of a picture: how many events have happened; None for the last."""
    size: tuple[int, int] = (120, 36)
    """Cells across and down."""
    theme: str = "workbench-dark"


class AskedCall(Struct, frozen=True, kw_only=True):
    """A recorded call that a human was asked about."""

    call: "Call"
    workspace: str
    session_title: str


class SessionOperations(Protocol):
    """What is done with sessions as a whole; all of it is called in threads and returns what to say.

    What was not done raises `NotDone` or an error with `what`, `why` and `remedy`.
    """

    def retitle(self, session_id: str, title: str) -> str:
        """Give a session another title."""
        ...

    def tag(self, session_id: str, words: str) -> str:
        """Give a session exactly the tags that are typed."""
        ...

    def archive(self, session_id: str, *, is_archived: bool) -> str:
        """Put a session out of the way, or back."""
        ...

    def end(self, session_id: str) -> str:
        """End a session for good."""
        ...

    def delete(self, session_ids: Sequence[str]) -> str:
        """Delete sessions with everything that belongs to them."""
        ...

    def fork(self, session_id: str) -> str:
        """Begin a session here with the conversation of another one, and return its id."""
        ...

    def send(self, session_id: str, path: str) -> str:
        """Write a session to a file whose ending says in which format."""
        ...

    def take(self, path: str, goes_on: Callable[[str], bool]) -> str:
        """Import a file or folder; `goes_on` is told how far it is, and False takes all of it back."""
        ...


def _no_session_setting(_session_id: str, _word: str) -> str:
    raise BackendError("Nothing was done. This screen only shows.")


def error_text(error: Exception) -> str:
    """Return what an error says to a person, as sentences: what, why, what to do."""
    parts = [
        str(getattr(error, name)).strip() for name in ("what", "why", "remedy") if getattr(error, name, "")
    ]
    return " ".join(map(_as_sentence, parts)) or str(error) or type(error).__name__


def _as_sentence(words: str) -> str:
    """Return words with a capital in front and a full stop behind; a command keeps its small letter."""
    begun = words if words.startswith("workbench ") else f"{words[:1].upper()}{words[1:]}"
    return begun if begun.endswith((".", "?", ":")) else f"{begun}."


def _no_session_operations() -> SessionOperations:
    raise BackendError("Nothing was done. This screen only shows.")


class Backend(Struct, frozen=True, kw_only=True):
    """Callables that reach outside of the screen; those that wait are called in threads.

    Those that ask something of an agent raise `NotDone` or an error with `what`, `why` and `remedy`.
    """

    submit: Callable[[str, str], None] = _nothing
    """Session id and prompt: say something to its agent."""
    said: Callable[[str], Sequence[str]] = lambda _session_id: ()
    """Session id: what was said in this workspace before, oldest first, in that session last. In a thread."""
    draft: Callable[[], str] = lambda: ""
    """Return what stood in the composer when the screen was left. Called in a thread."""
    keep_draft: Callable[[str], None] = lambda _text: None
    """Keep what stands in the composer until a screen is opened here again; empty keeps nothing."""
    interrupt: Callable[[str], None] = _nothing
    """Session id: stop the running turn."""
    go_on: Callable[[str], None] = _nothing
    """Session id: let a paused session go on."""
    refresh: Callable[[str], None] = _nothing
    """Action id: have a stale action proposed anew."""
    undo: Callable[[str], None] = _nothing
    """Action id: have an applied change taken back."""
    begin: Callable[[str], str] = _no_session
    """First prompt: begin a session in the workspace, say it, and return the session's id."""
    ensure_host: Callable[[str], str] = lambda _: ""
    """Workspace: see to it that a host drives it; returns why not, empty when one does. May take seconds."""
    host_trouble: Callable[[], tuple[str, str]] = lambda: ("", "")
    """Return what keeps the host from its work, in a few words and as a sentence; empty when all is well."""
    restart_host: Callable[[], str] = _no_host
    """End the workspace's host and start another; returns what to say. May take seconds."""
    may_answer: Callable[[], str] = lambda: ""
    """Return why nothing may be answered here (inside an agent), empty when it may."""
    open_editor: Callable[[str, bytes], bytes | None] = lambda _name, _data: None
    """File name and bytes: what the user made of them in $EDITOR; None when nothing was saved."""
    clipboard: Callable[[str], bool] = _unavailable
    """Copy a text by a program of the system; False leaves it to the terminal (OSC 52)."""
    pipe_to: Callable[[str, str], str] = lambda _command, _text: "There is no shell here."
    """Shell command and its input: run it in the terminal; returns what to say."""
    notify_desktop: Callable[[str, str], None] = lambda _title, _text: None
    """Title and sentence of a notice outside of the terminal."""
    list_files: Callable[[], Sequence[str]] = lambda: ()
    """Return the workspace's files that are not ignored, for `@file`."""
    branch: Callable[[], str] = lambda: ""
    """Return the branch that is checked out, empty when there is none. Called in a thread."""
    cancel_run: Callable[[str], None] = _nothing
    """Run id: end a pipeline run; what waits in it is withdrawn."""
    retry_step: Callable[[str, str], None] = _nothing
    """Run id and step: do a step again, with everything that depends on it."""
    run_from: Callable[[str, str], str] = _no_run
    """Run id and step: begin a run that takes over what stands before the step; returns its id."""
    pipeline_choices: "Callable[[], Sequence[PipelineChoice]]" = _no_pipelines
    """Return the pipelines that a run can be begun of."""
    launch_plan: "Callable[[str], LaunchPlan]" = _no_plan
    """File of a pipeline: what a run of it would do, ask and be granted. Called in a thread."""
    launch: "Callable[[LaunchRequest], str]" = _no_launch
    """Begin a run; returns its id. Refused inside an agent."""
    has_model: Callable[[], bool] = lambda: True
    """Return whether a session can be begun: a model is set up."""
    config_file: Callable[[], str] = lambda: "config.json"
    """Return where the user's settings are, as a path to show."""
    elsewhere: Callable[[], int] = lambda: 0
    """Return how many sessions there are of other folders. Called in a thread."""
    models: Callable[[str], tuple[Sequence[tuple[str, str]], str]] = lambda _session_id: ((), "")
    """Session id, empty for the next one: models it may ask, what is said of each, and who could not be
    asked. May take seconds."""
    set_model: Callable[[str, str], str] = _no_session_setting
    """Session id and `MODEL` or `PROVIDER/MODEL`: ask that one from here on; returns what to say."""
    set_mode: Callable[[str, str], str] = _no_session_setting
    """Session id and a mode: what it asks about from here on; returns what to say."""
    mark: Callable[[str, str], str] = _no_session_setting
    """Session id and a name that may be empty: mark this moment; returns what to say."""
    asks: Callable[[], tuple[str, int]] = lambda: ("every tool", 0)
    """Return what is asked about here, and how many rules let something pass. Called in a thread."""
    opening: Sequence[str] = ()
    """Lines that stand where the first session will be, instead of how one is begun."""
    requires_seen: Callable[[], bool] = lambda: True
    """Return whether `a` shows what was not on the screen before it approves. Called in a thread."""
    host_log: Callable[[], Sequence[str]] = lambda: ()
    """Return the last lines of the newest host's log, scrubbed as it was written."""
    end: Callable[[str], None] = _nothing
    """Session id: end it for good; what it asks is withdrawn, what it did stays."""
    fork: "Callable[[ForkRequest], str]" = _no_fork
    """Begin a session from a moment of another one; returns what to say. May take seconds."""
    film: "Callable[[ExportRequest, Callable[[str], None]], str]" = _no_export
    """Write a film or a picture; is told how far it is, returns what to say. Takes up to some minutes."""
    pipelines: Callable[[], Sequence[str]] = lambda: ()
    """Return the pipelines found in the workspace."""
    known_tools: "Callable[[], Mapping[str, ToolDescriptor]]" = _no_tools
    """Return every tool there is, by id."""
    boundary: "Callable[[str], CommandBoundary | None]" = _no_boundary
    """Workspace: return what commands may touch there without a question; None where nobody knows."""
    rules: "Callable[[], Sequence[Rule]]" = _no_rules
    """Return every rule there ever was, by number."""
    asked_calls: "Callable[[str], Sequence[AskedCall]]" = _no_calls
    """Tool id: the calls of it that were asked about in all sessions, newest first. Called in a thread."""
    add_rule: "Callable[[RuleAdded], Rule]" = _no_rule
    """Add a rule of the user's; it is judged once more. Refused inside an agent."""
    revoke_rule: "Callable[[str], Rule]" = _no_rule
    """Number: take a rule back. Refused inside an agent."""
    filing: Callable[[], SessionOperations] = _no_session_operations
    """Return what is done with sessions of the library; loaded when it is first used."""
    price: Callable[[str, int, int], float | None] = lambda _provider, _sent, _received: None
    """Provider, tokens sent and received: what they cost by the user's settings; None where nobody knows."""
