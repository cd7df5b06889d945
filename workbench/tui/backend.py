"""What the screen asks of the rest of the program; the screen imports no host, tool or provider.

The classes here answer for a screen that only shows: they refuse in words. `backend.local_backend` reaches
the journal, hosts and the system.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.text import human
from workbench.text.canonical import dumps

if TYPE_CHECKING:
    from workbench.domain.events import RuleAdded
    from workbench.domain.incidents import Incident, IncidentOptions
    from workbench.domain.rows import Call, Rule
    from workbench.domain.values import Place, ToolDescriptor, Usage
    from workbench.formats.agent_folders import AgentCommand
    from workbench.formats.session_diff import SessionDiff
    from workbench.policy.shell.command_paths import CommandBoundary
    from workbench.views.action_detail import QuestionCounts
    from workbench.views.agent_connections import AgentRow, ConnectionAnswers, ConnectionChange
    from workbench.views.incidents import CodeExcerpt
    from workbench.views.new_pipeline import (
        NewPipelineDraft,
        NewPipelineRequest,
        NewPipelineSource,
        WrittenPipeline,
    )
    from workbench.views.pipeline import LaunchPlan, LaunchRequest, PipelineChoice
    from workbench.views.provider_form import ProviderFields
    from workbench.views.providers import (
        FoundModel,
        ProviderReport,
        ProviderRow,
        ProviderStatus,
        ProviderUsage,
    )
    from workbench.views.sandbox import SandboxPast, SandboxStanding
    from workbench.views.undo_plan import UndoPlan
    from workbench.views.unseen_ends import UnseenEnd
    from workbench.views.welcome import ImportOffer

EXIT_FOR_DEMO: Final = 10
"""What the screen returns when its user wants the demo."""


_NOTHING_SENT: Final = "Nothing was sent. This screen only shows."
_NOTHING_DONE: Final = "Nothing was done. This screen only shows."
_NO_RULE: Final = "No rule was changed. This screen only shows."
_NO_PROVIDER: Final = "No provider was changed. This screen only shows."
_NO_RUN: Final = "No run was started. This screen only shows."


MAX_LISTED_FILES: Final = 500_000
"""Files of a workspace that can be completed; where there are more, it is said."""


class BackendError(Exception):
    """A service could not do what was asked; its text says what, why and what to do."""


class RestartLater(BackendError):
    """The background process is doing something that a restart would cut off."""

    def __init__(self, doing: str) -> None:
        """Refuse a restart because of what is being done, a few words."""
        super().__init__(f"Not restarted: {doing} is running. Do it again when that has ended.")
        self.doing = doing


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


class SettingValue(Struct, frozen=True, kw_only=True):
    """What a setting is now."""

    value: object
    """As JSON has it."""
    where: str
    """Where it comes from: a file with its line, a variable, `default`."""
    is_default: bool = False


def setting_words(path: str, value: object) -> str:
    """Return what a setting is, as one says it: `Theme nord`, `ui.notify.bell is off`."""
    if path == "ui.theme":
        return f"Theme {value}"
    return f"{path} is {setting_value_text(value)}"


def setting_value_text(value: object) -> str:
    """Return a value of a setting as people read it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == "":
        return "not set"
    return value if isinstance(value, str) else dumps(value)


def error_text(error: Exception) -> str:
    """Return what an error says to a person, as sentences: what, why, what to do."""
    parts = [
        str(getattr(error, name)).strip() for name in ("what", "why", "remedy") if getattr(error, name, "")
    ]
    return " ".join(map(human.sentence, parts)) or str(error) or type(error).__name__


class SuggestedText(Struct, frozen=True, kw_only=True):
    """A command that was made of words, and what to say of it."""

    command: str
    said: str


class LibraryBackend:
    """What is done with sessions as a whole; called in threads, returns what to say."""

    def retitle(self, session_id: str, title: str) -> str:
        """Give a session another title."""
        raise BackendError(_NOTHING_DONE)

    def tag(self, session_id: str, words: str) -> str:
        """Give a session exactly the tags that are typed."""
        raise BackendError(_NOTHING_DONE)

    def archive(self, session_id: str, *, is_archived: bool) -> str:
        """Archive a session, or put it back."""
        raise BackendError(_NOTHING_DONE)

    def end(self, session_id: str) -> str:
        """End a session for good."""
        raise BackendError(_NOTHING_DONE)

    def delete(self, session_ids: Sequence[str]) -> str:
        """Delete sessions with everything that belongs to them."""
        raise BackendError(_NOTHING_DONE)

    def fork(self, session_id: str) -> str:
        """Begin a session here with the conversation of another one, and return its id."""
        raise BackendError(_NOTHING_DONE)

    def undo_plan(self, session_id: str, turn_id: str | None, *, is_redo: bool) -> "UndoPlan":
        """Return what undoing, or restoring, the file changes of a session or of a turn of it would do."""
        raise BackendError(_NOTHING_DONE)

    def undo_files(self, plan: "UndoPlan", paths: Sequence[str]) -> str:
        """Write files of a plan, all or none, and wait for it. May take seconds."""
        raise BackendError(_NOTHING_DONE)

    def undo_change(self, action_id: str) -> str:
        """Undo an applied change, wait for it and return what was undone. May take seconds."""
        raise BackendError(_NOTHING_DONE)

    def export(self, session_id: str, path: str) -> str:
        """Write a session to a file whose ending says in which format."""
        raise BackendError(_NOTHING_DONE)

    def import_path(self, path: str, goes_on: Callable[[str], bool]) -> str:
        """Import a file or folder; `goes_on` is told the progress, and False ends it before the next file."""
        raise BackendError(_NOTHING_DONE)

    def import_offer(self) -> "ImportOffer | None":
        """Return what other agents have here that is new; None where nobody has anything."""
        return None

    def import_found(self, goes_on: Callable[[str], bool]) -> str:
        """Import all that the offer names; `goes_on` as for `import_path`."""
        raise BackendError(_NOTHING_DONE)

    def is_watching(self) -> bool:
        """Return whether the background process imports what other agents write."""
        return False

    def toggle_watch(self) -> str:
        """Turn that on or off in the user's configuration; return what to say."""
        raise BackendError(_NOTHING_DONE)


class RuleBackend:
    """Rules, and what they are judged and tried on."""

    def known_tools(self) -> "Mapping[str, ToolDescriptor]":
        """Return every tool by id."""
        return {}

    def command_boundary(self, workspace: str) -> "CommandBoundary | None":
        """Return what commands may touch in a workspace without a question; None where nobody knows."""
        return None

    def all_rules(self) -> "Sequence[Rule]":
        """Return every rule by number, revoked and expired ones too."""
        return ()

    def asked_calls(self, tool: str) -> Sequence[AskedCall]:
        """Return the calls of a tool that were asked about in all sessions, newest first. In a thread."""
        return ()

    def add_rule(self, rule: "RuleAdded") -> "Rule":
        """Add a rule of the user's; it is judged once more. Refused inside an agent."""
        raise BackendError(_NO_RULE)

    def revoke_rule(self, number: str) -> "Rule":
        """Revoke a rule. Refused inside an agent."""
        raise BackendError(_NO_RULE)

    def place_rule(self, number: str, place: "Place") -> "Rule":
        """Say where the commands run that a rule allows. Refused inside an agent."""
        raise BackendError(_NO_RULE)


class RunBackend:
    """Pipelines and their runs."""

    def pipeline_names(self) -> Sequence[str]:
        """Return the names of the workspace's pipelines."""
        return ()

    def pipeline_choices(self) -> "Sequence[PipelineChoice]":
        """Return the pipelines that a run can be begun of."""
        return ()

    def launch_plan(self, file: str) -> "LaunchPlan":
        """Return what a run of a pipeline's file would do, ask and be granted. In a thread."""
        raise BackendError("No pipeline was read. This screen only shows.")

    def launch(self, request: "LaunchRequest") -> str:
        """Begin a run and return its id. Refused inside an agent."""
        raise BackendError(_NO_RUN)

    def new_pipeline_source(self, session_id: str) -> "NewPipelineSource":
        """Return the templates, or with a session its steps. In a thread."""
        raise BackendError("No pipeline was made. This screen only shows.")

    def draft_pipeline(self, request: "NewPipelineRequest") -> "NewPipelineDraft":
        """Return the files of a new pipeline. In a thread."""
        raise BackendError("No pipeline was made. This screen only shows.")

    def write_pipeline(self, request: "NewPipelineRequest", draft: "NewPipelineDraft") -> "WrittenPipeline":
        """Write a new pipeline exactly as its draft shows it, and ask for trust. Refused inside an agent."""
        raise BackendError("No pipeline was made. This screen only shows.")

    def run_from(self, run_id: str, step: str) -> str:
        """Begin a run that takes over what stands before a step, and return its id."""
        raise BackendError(_NO_RUN)

    def retry_step(self, run_id: str, step: str) -> None:
        """Do a step again, with everything that depends on it."""
        raise BackendError(_NOTHING_SENT)

    def cancel_run(self, run_id: str) -> None:
        """End a run; what waits in it is withdrawn."""
        raise BackendError(_NOTHING_SENT)


class ModelBackend:
    """Models and settings of a session, or with an empty id of the next one."""

    def available_models(self, session_id: str) -> tuple[Sequence[tuple[str, str]], str]:
        """Return models with what is said of each, and who could not be asked. May take seconds."""
        return (), ""

    def set_model(self, session_id: str, text: str) -> str:
        """Ask `MODEL` or `PROVIDER/MODEL` from here on; return what to say."""
        raise BackendError(_NOTHING_DONE)

    def set_mode(self, session_id: str, mode: str) -> str:
        """Change what is asked about from here on; return what to say."""
        raise BackendError(_NOTHING_DONE)

    def set_sandbox(self, session_id: str, word: str) -> str:
        """Choose the sandbox of a session, or whether commands inside ask; empty is the next session."""
        raise BackendError(_NOTHING_DONE)

    def choose_worktree(self, *, is_chosen: bool) -> str:
        """Let the next session work in a git worktree of its own, or not; return the folder of worktrees."""
        if is_chosen:
            raise BackendError(_NOTHING_DONE)
        return ""

    def set_tools(self, session_id: str, tools: str) -> str:
        """Narrow the tools that it has from its next turn on, or say which it has; return what to say."""
        raise BackendError(_NOTHING_DONE)

    def add_bookmark(self, session_id: str, label: str) -> str:
        """Mark this moment with a label that may be empty; return what to say."""
        raise BackendError(_NOTHING_DONE)


class Trial:
    """A trial of a provider while it goes on: told its progress in its thread, cancelled from another one."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Begin; `say` is told what is being done, as a sentence each."""
        self._say = say
        self._stop: Callable[[], object] | None = None
        self.is_cancelled = False

    def progress(self, text: str, stop: Callable[[], object]) -> None:
        """Take what is being done now, and what ends it from any thread."""
        self._stop = stop
        if self.is_cancelled:
            stop()
        else:
            self._say(text)

    def cancel(self) -> None:
        """End the trial; nobody waits for what comes of it."""
        self.is_cancelled = True
        if self._stop is not None:
            self._stop()


class ProviderBackend:
    """Providers of the user's configuration. Called in threads, but for `kinds`, `names` and `is_set`."""

    def kinds(self) -> Mapping[str, str]:
        """Return the kinds of provider that can be added, with the address each usually has."""
        return {}

    def names(self) -> Sequence[str]:
        """Return the providers that are set up, by name."""
        return ()

    def is_set(self, variable: str) -> bool:
        """Return whether an environment variable holds something."""
        return False

    def search(self) -> "Sequence[FoundModel]":
        """Look for models on this machine and keys in the environment; takes at most a second."""
        return ()

    def rows(self) -> "Sequence[ProviderRow]":
        """Return the providers that are set up."""
        return ()

    def status(self, name: str, trial: "Trial") -> "ProviderStatus":
        """Ask the server of a provider that is set up for its models. May take seconds."""
        raise BackendError("No server was asked. This screen only shows.")

    def usage(self) -> "Mapping[str, ProviderUsage]":
        """Return what the sessions of this home took of each provider."""
        return {}

    def test(self, name: str, trial: "Trial") -> "ProviderReport":
        """Ask the model of a provider that is set up for two short replies. May take minutes."""
        raise BackendError("No model was asked. This screen only shows.")

    def offered_models(self, fields: "ProviderFields") -> Sequence[str]:
        """Ask the server of a form which models it has. May take seconds."""
        raise BackendError(_NO_PROVIDER)

    def try_provider(self, fields: "ProviderFields", trial: "Trial") -> "ProviderReport":
        """List the models of a form's server and make a small request with a tool. May take minutes."""
        raise BackendError(_NO_PROVIDER)

    def save(self, fields: "ProviderFields") -> str:
        """Add a provider to the configuration; return what was written where."""
        raise BackendError(_NO_PROVIDER)

    def form_of(self, name: str) -> "ProviderFields":
        """Return a provider as it stands in the form. Raises BackendError: it is not in the user's file."""
        raise BackendError(_NO_PROVIDER)

    def change(self, fields: "ProviderFields") -> str:
        """Change the provider of that name in the configuration; return what was written where."""
        raise BackendError(_NO_PROVIDER)

    def asking_sessions(self, name: str) -> int:
        """Return how many sessions ask a provider and could not continue without it."""
        return 0

    def remove(self, name: str) -> str:
        """Take a provider out of the configuration; return what was written where."""
        raise BackendError(_NO_PROVIDER)

    def make_default(self, name: str) -> str:
        """Let new sessions use a provider; return what was written where."""
        raise BackendError(_NO_PROVIDER)

    def can_undo(self) -> bool:
        """Return whether there is a change of this screen that can be undone."""
        return False

    def undo(self) -> str:
        """Undo the last of these changes to the configuration; return what to say."""
        raise BackendError("Nothing was changed here, so there is nothing to undo.")


class AgentBackend:
    """Connections of other agents of this machine. Called in threads."""

    def agent_rows(self) -> "Sequence[AgentRow]":
        """Return the agents that are on this machine or connected; no program is started."""
        return ()

    def connection_change(
        self, agent_id: str, answers: "ConnectionAnswers", *, is_removal: bool
    ) -> "ConnectionChange":
        """Return the change of settings that connects an agent, or disconnects it."""
        raise BackendError("No agent was connected. This screen only shows.")

    def write_connection(self, change: "ConnectionChange") -> str:
        """Write a change that was shown; return what was written where, and what is left to do."""
        raise BackendError("No agent was connected. This screen only shows.")


class IncidentBackend:
    """Lists of incidents of a workspace. Called in threads."""

    def open(self, source: str, goes_on: Callable[[str], bool]) -> str:
        """Read a file of findings, or run a checker and read what it prints; return the new list's session.

        `source` is a file that is there, a command, or both with ` ! ` between them: then the command checks
        what the file names. `goes_on` is told the progress; False ends it.
        """
        raise BackendError("No findings were read. This screen only shows.")

    def open_file(self, file: str, checker: str, goes_on: Callable[[str], bool]) -> str:
        """Read a file of findings, whatever its name looks like, and return the new list's session.

        Nothing is run. `checker` is the command that checks its findings; empty: that of the settings.
        """
        raise BackendError("No findings were read. This screen only shows.")

    def checker(self) -> str:
        """Return the command that the settings name as checker; empty where they name none."""
        return ""

    def options(self) -> "IncidentOptions":
        """Return how incidents would be worked off, with the model that the settings name."""
        raise BackendError(_NOTHING_SENT)

    def start(self, list_id: str, incident_ids: Sequence[str], options: "IncidentOptions") -> None:
        """Ask for incidents of a list to be worked off. Refused inside an agent."""
        raise BackendError(_NOTHING_SENT)

    def go_on(self, list_id: str) -> None:
        """Let the work on a list continue that is paused. Refused inside an agent."""
        raise BackendError(_NOTHING_SENT)

    def cancel(self, list_id: str) -> None:
        """End the work on a list; what was not started is skipped."""
        raise BackendError(_NOTHING_SENT)

    def dismiss(self, list_id: str, incident_ids: Sequence[str], reason: str) -> None:
        """Say that incidents will not be fixed, and why; an empty reason takes it back."""
        raise BackendError(_NOTHING_SENT)

    def dismissed(self) -> Mapping[str, str]:
        """Return why incidents will not be fixed that were dismissed in this workspace, by fingerprint."""
        return {}

    def prompt(self, incident: "Incident", line: int) -> str:
        """Return the prompt that an incident would be asked with, at a line."""
        return ""

    def code(self, path: str, line: int) -> "CodeExcerpt":
        """Return the lines of a file around one, bounded; 0 is the beginning of the file."""
        from workbench.views.incidents import CodeExcerpt

        return CodeExcerpt(problem="Files are not read here.")


class Backend:
    """What a screen asks of the rest of the program; as it is here, it belongs to a screen that only shows.

    What may wait for a disk or a process is called in threads. What was not done raises `BackendError`, or an
    error with `what`, `why` and `remedy`.
    """

    opening: Sequence[str] = ()
    """Lines that stand where the first session will be, instead of how one is begun."""
    is_wide: bool = False
    """Whether the queue is that of all folders when the screen opens."""
    all_sessions: Sequence[str] = ()
    """The places that show every session when the screen opens: `tools`, `pipeline`."""

    @cached_property
    def library(self) -> LibraryBackend:
        """Return what is done with sessions as a whole."""
        return LibraryBackend()

    @cached_property
    def rules(self) -> RuleBackend:
        """Return what knows and changes rules."""
        return RuleBackend()

    @cached_property
    def runs(self) -> RunBackend:
        """Return what knows pipelines and begins runs."""
        return RunBackend()

    @cached_property
    def models(self) -> ModelBackend:
        """Return what knows models and changes settings of a session."""
        return ModelBackend()

    @cached_property
    def incidents(self) -> IncidentBackend:
        """Return what reads lists of incidents and has them worked off."""
        return IncidentBackend()

    @cached_property
    def providers(self) -> ProviderBackend:
        """Return what finds, adds and removes providers."""
        return ProviderBackend()

    @cached_property
    def agents(self) -> AgentBackend:
        """Return what finds and connects other agents."""
        return AgentBackend()

    def of(self, workspace: str) -> "Backend":
        """Return the backend of another workspace of this home; without one, and for its own, this one."""
        del workspace
        return self

    def folder_problem(self, workspace: str) -> str:
        """Return why nothing can be done in a workspace, as a sentence; empty when it can. In a thread."""
        return ""

    # --- the agent of a session -------------------------------------------------------------------

    def edit_prompt(self, session_id: str, prompt_id: str, text: str) -> None:
        """Put another text in the place of a queued message; an empty one takes it back."""
        raise BackendError(_NOTHING_SENT)

    def move_prompt(self, session_id: str, prompt_id: str, places: int) -> None:
        """Send a queued message earlier, where `places` is negative, or later."""
        raise BackendError(_NOTHING_SENT)

    def submit_prompt(self, session_id: str, text: str) -> None:
        """Send a prompt to the agent of a session."""
        raise BackendError(_NOTHING_SENT)

    def interrupt_session(self, session_id: str) -> None:
        """Stop the running turn."""
        raise BackendError(_NOTHING_SENT)

    def continue_session(self, session_id: str) -> None:
        """Let a paused session go on."""
        raise BackendError(_NOTHING_SENT)

    def compact_session(self, session_id: str, words: str) -> None:
        """Ask for a summary that stands for the conversation; `words` are what it is to keep."""
        raise BackendError(_NOTHING_SENT)

    def end_session(self, session_id: str) -> str:
        """End a session for good; what it asks is withdrawn, what it did stays."""
        raise BackendError(_NOTHING_SENT)

    def suggest_command(self, words: str) -> SuggestedText:
        """Make a command of words; nothing runs it. In a thread, it asks a model."""
        raise BackendError("No command was made. This screen only shows.")

    def begin_session(self, prompt: str) -> str:
        """Begin a session in the workspace with a first prompt, and return its id."""
        raise BackendError("No session was started. This screen only shows.")

    def hold_agents(self) -> bool:
        """Have every call of every agent ask; False where they do already. Refused inside an agent."""
        raise BackendError(_NOTHING_DONE)

    def release_agents(self) -> bool:
        """Let rules, modes and trust count again; False where they do already. Refused inside an agent."""
        raise BackendError(_NOTHING_DONE)

    def refresh_action(self, action_id: str) -> None:
        """Have a stale action proposed anew."""
        raise BackendError(_NOTHING_SENT)

    def propose_again(self, action_ids: Sequence[str]) -> str:
        """Ask the agent of a session to propose expired actions of it again; return what to say."""
        raise BackendError(_NOTHING_SENT)

    def reopen_action(self, action_id: str) -> None:
        """Have what the files lack of an approved action proposed, as a row of its own."""
        raise BackendError(_NOTHING_SENT)

    def fork(self, request: ForkRequest) -> str:
        """Begin a session from a moment of another one; return what to say. May take seconds."""
        raise BackendError(
            "No session was forked. What is shown here is not in your library: workbench replay --keep."
        )

    def session_diff(self, session_id: str) -> "SessionDiff":
        """Return everything that a session and those that it started changed, without secrets."""
        raise BackendError("There is no diff here.")

    def agent_command(self, session_id: str) -> "AgentCommand":
        """Return what continues an imported session in the agent that wrote it."""
        raise BackendError("Nothing is continued here.")

    def run_agent(self, command: "AgentCommand") -> str:
        """Run the program of an agent in this terminal; return what to say."""
        raise BackendError("Nothing is continued here.")

    def export_film(self, request: ExportRequest, on_progress: Callable[[str], None]) -> str:
        """Write a film or a picture; return what to say. Takes up to some minutes."""
        raise BackendError(
            "Nothing was written. What is shown here is not in your library: workbench replay --keep."
        )

    # --- what the composer keeps --------------------------------------------------------------------

    def earlier_prompts(self, session_id: str) -> Sequence[str]:
        """Return what was said in this workspace before, oldest first, in that session last."""
        return ()

    def draft(self) -> str:
        """Return what stood in the composer when the screen was left."""
        return ""

    def setting(self, path: str) -> SettingValue:
        """Return what a setting is now and where it comes from; `path` is dotted, as files have it."""
        from workbench.config.describe import plain_json
        from workbench.config.types import KEYS_BY_PATH

        return SettingValue(value=plain_json(KEYS_BY_PATH[path].default), where="default", is_default=True)

    def keep_setting(self, path: str, value: str | bool) -> str:
        """Remember what was chosen for the next screens, and return what to say. In a thread."""
        return f"{setting_words(path, value)}, on this screen only."

    def ends_since_left(self) -> "Sequence[UnseenEnd]":
        """Return the last end of each session that ended since a screen was left here. In a thread."""
        return ()

    def keep_left(self) -> None:
        """Remember that the screen is left now."""

    def keep_folders(self, *, is_wide: bool) -> None:
        """Remember for the next screens whether the queue is that of all folders. In a thread."""

    def keep_all_sessions(self, places: Sequence[str]) -> None:
        """Remember for the next screens which places show every session. In a thread."""

    def configuration_changed(self) -> None:
        """Read again what is kept of the configuration, such as prices."""

    def keep_draft(self, text: str) -> None:
        """Keep what stands in the composer until a screen is opened here again; empty keeps nothing."""

    # --- the host -----------------------------------------------------------------------------------

    def ensure_host(self, workspace: str) -> str:
        """Start the workspace's host unless one lives; return why not, empty when one does."""
        return ""

    def host_trouble(self) -> tuple[str, str]:
        """Return what keeps the host from its work, in a few words and as a sentence; empty when nothing."""
        return "", ""

    def restart_host(self) -> str:
        """End the workspace's host and start another; return what to say. May take seconds."""
        raise BackendError("No background process was restarted. This screen only shows.")

    def host_log(self) -> Sequence[str]:
        """Return the last lines of the newest host's log, scrubbed as it was written."""
        return ()

    # --- settings -----------------------------------------------------------------------------------

    def may_answer(self) -> str:
        """Return why nothing may be answered here (inside an agent), empty when it may."""
        return ""

    def approval_setting(self) -> tuple[str, int]:
        """Return what is asked about here, and how many rules let something pass."""
        return "every call", 0

    def requires_seen(self) -> bool:
        """Return whether `a` shows what was not on the screen before it approves."""
        return True

    def takes_single_press(self) -> bool:
        """Return whether one press of `a` approves an edit that can be undone."""
        return False

    def has_model(self) -> bool:
        """Return whether a session can be begun: a model is set up."""
        return True

    def config_file(self) -> str:
        """Return where the user's settings are, as a path to show."""
        return "config.json"

    def spending(self, session_id: str) -> str:
        """Return what a session cost and of what limit, in a few words; empty where nobody knows."""
        return ""

    def price(self, provider: str, model: str, usage: "Usage", context: int = 0) -> int | None:
        """Return what tokens cost in millionths of a dollar; None where nobody knows.

        `context`: the border of tokens that the input of each request exceeds (`TokenUse.context`).
        """
        return None

    # --- the workspace and the system ---------------------------------------------------------------

    def list_files(self) -> Sequence[str]:
        """Return the workspace's files that are not ignored, for `@file`."""
        return ()

    def branch(self) -> str:
        """Return the branch that is checked out, empty when there is none."""
        return ""

    def count_other_sessions(self) -> int:
        """Return how many sessions there are of other folders."""
        return 0

    def found_agents(self) -> Sequence[str]:
        """Return the names of other agents that have sessions on this machine. In a thread."""
        return ()

    def question_counts(self) -> "QuestionCounts | None":
        """Return how many questions the own newest calls would have been; None without a history."""
        return None

    def sandbox_standing(self) -> "SandboxStanding | None":
        """Return the sandbox of commands here, proven by running it. In a thread."""
        return None

    def sandbox_past(self) -> "SandboxPast | None":
        """Return what it would have done with the own newest questions about commands. In a thread."""
        return None

    def open_editor(self, name: str, data: bytes) -> bytes | None:
        """Return what the user made of bytes in $EDITOR; None when nothing was saved."""
        return None

    def copy_to_clipboard(self, text: str) -> bool:
        """Copy a text by a program of the system; False leaves it to the terminal (OSC 52)."""
        return False

    def pipe_to(self, command: str, text: str) -> str:
        """Run a shell command in the terminal with a text as its input; return what to say."""
        return "There is no shell here."

    def notify_desktop(self, title: str, text: str) -> None:
        """Show a notice outside of the terminal."""


class ReplayBackend(Backend):
    """The backend of a replay: it copies, forks, films and holds as the live screen does, if there is one."""

    def __init__(self, live: Backend | None = None) -> None:
        self._live = live or Backend()

    def copy_to_clipboard(self, text: str) -> bool:
        return self._live.copy_to_clipboard(text)

    def fork(self, request: ForkRequest) -> str:
        return self._live.fork(request)

    def export_film(self, request: ExportRequest, on_progress: Callable[[str], None]) -> str:
        return self._live.export_film(request, on_progress)

    def hold_agents(self) -> bool:
        return self._live.hold_agents()

    def release_agents(self) -> bool:
        return self._live.release_agents()

    def session_diff(self, session_id: str) -> "SessionDiff":
        return self._live.session_diff(session_id)
