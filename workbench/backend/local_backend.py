"""The backend of a screen on this machine: its calls reach the journal, hosts, editors and the system."""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import get_ident
from typing import TYPE_CHECKING, Final

from workbench.backend.screen_files import Draft, LeftMoment, keep_shown
from workbench.backend.workspace import LocalWorkspace, NextSession
from workbench.domain.events import PromptSubmitted
from workbench.domain.rows import Host
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import (
    MAX_LISTED_FILES,
    Backend,
    BackendError,
    ExportRequest,
    ForkRequest,
    RestartLater,
    SettingValue,
    SuggestedText,
    setting_words,
)

if TYPE_CHECKING:
    from workbench.backend.agents import LocalAgents
    from workbench.backend.incidents import LocalIncidents
    from workbench.backend.library import LocalLibrary
    from workbench.backend.models import LocalModels
    from workbench.backend.providers import LocalProviders
    from workbench.backend.rules import LocalRules
    from workbench.backend.runs import LocalRuns
    from workbench.config.model_prices import PriceList
    from workbench.domain.values import Usage
    from workbench.formats.agent_folders import AgentCommand
    from workbench.formats.session_diff import SessionDiff
    from workbench.views.action_detail import QuestionCounts
    from workbench.views.sandbox import SandboxPast, SandboxStanding
    from workbench.views.unseen_ends import UnseenEnd

MOST_PROMPTS = 200
"""Prompts that the composer brings back."""
LOG_TAIL, LOG_LINES = 65_536, 400
"""Bytes and lines that are read of a host's log."""


def session_requests():
    """Import the requests to sessions on first use."""
    from workbench.host import session_requests

    return session_requests


class LocalBackend(LocalWorkspace, Backend):
    """The backend of one workspace; what a method needs is imported when it is called."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        super().__init__(home, journal, workspace)
        self._last_warnings = ""
        self._prices: PriceList | None = None
        self._starting: set[int] = set()
        """Threads that are starting a host now: that there is none yet is no trouble then."""
        self._next_session = NextSession()
        self._draft = Draft(home, workspace)
        self._left = LeftMoment(home, workspace)
        self._others: dict[str, LocalBackend] = {}

    def of(self, workspace: str) -> "LocalBackend":
        if workspace in ("", self._workspace):
            return self
        if workspace not in self._others:
            self._others[workspace] = LocalBackend(self._home, self._journal, workspace)
        return self._others[workspace]

    def folder_problem(self, workspace: str) -> str:
        from workbench.host.host_start import folder_problem

        why = folder_problem(workspace)
        return f"{why} Put it back, or reject what waits." if why else ""

    @cached_property
    def library(self) -> "LocalLibrary":
        from workbench.backend.library import LocalLibrary

        return LocalLibrary(self._home, self._journal, self._workspace)

    @cached_property
    def rules(self) -> "LocalRules":
        from workbench.backend.rules import LocalRules

        return LocalRules(self._home, self._journal, self._workspace)

    @cached_property
    def runs(self) -> "LocalRuns":
        from workbench.backend.runs import LocalRuns

        return LocalRuns(self._home, self._journal, self._workspace)

    @cached_property
    def models(self) -> "LocalModels":
        from workbench.backend.models import LocalModels

        return LocalModels(self._home, self._journal, self._workspace, self._next_session)

    @cached_property
    def providers(self) -> "LocalProviders":
        from workbench.backend.providers import LocalProviders

        return LocalProviders(self._home, self._journal, self._workspace)

    @cached_property
    def agents(self) -> "LocalAgents":
        from workbench.backend.agents import LocalAgents

        return LocalAgents(self._home, self._journal, self._workspace)

    @cached_property
    def incidents(self) -> "LocalIncidents":
        from workbench.backend.incidents import LocalIncidents

        return LocalIncidents(self._home, self._journal, self._workspace)

    def submit_prompt(self, session_id: str, text: str) -> None:
        session_requests().submit_prompt(self._journal, session_id, text, self._actor)

    def edit_prompt(self, session_id: str, prompt_id: str, text: str) -> None:
        from workbench.host.queued_prompts import edit_prompt, withdraw_prompt

        if text.strip():
            edit_prompt(self._journal, session_id, prompt_id, text, self._actor)
        else:
            withdraw_prompt(self._journal, session_id, prompt_id, self._actor)

    def move_prompt(self, session_id: str, prompt_id: str, places: int) -> None:
        from workbench.host.queued_prompts import move_prompt

        move_prompt(self._journal, session_id, prompt_id, places, self._actor)

    def interrupt_session(self, session_id: str) -> None:
        session_requests().interrupt_session(self._journal, session_id, self._actor)

    def continue_session(self, session_id: str) -> None:
        session_requests().continue_session(self._journal, session_id, self._actor)

    def compact_session(self, session_id: str, words: str) -> None:
        session = self._journal.session(session_id)
        if session is not None:
            session_requests().compact_session(self._journal, session, words, self._actor)

    def end_session(self, session_id: str) -> str:
        from workbench.host.session_worktree import own_worktree, release_worktree

        session = self._require_session(session_id)
        session_requests().end_session(self._journal, session, self._actor)
        released = release_worktree(self._journal, session.id, own_worktree(self._journal, session))
        return f"The session is ended; ctrl+n starts another. {released}".rstrip()

    def hold_agents(self) -> bool:
        from workbench.journal.agent_hold import hold_agents

        self._require_person("hold all agents")
        return hold_agents(self._journal, self._actor)

    def release_agents(self) -> bool:
        from workbench.journal.agent_hold import release_agents

        self._require_person("release all agents")
        return release_agents(self._journal, self._actor)

    def refresh_action(self, action_id: str) -> None:
        session_requests().request_refresh(self._journal, action_id, self._actor)

    def propose_again(self, action_ids: Sequence[str]) -> str:
        from workbench.host.session_requests import propose_again
        from workbench.views.approvals import asked_words

        return asked_words(propose_again(self._journal, action_ids, self._actor))

    def reopen_action(self, action_id: str) -> None:
        from workbench.host.reopening import request_reopening

        request_reopening(self._journal, action_id, self._actor)

    def earlier_prompts(self, session_id: str) -> Sequence[str]:
        prompts = self._journal.prompts(self._workspace, MOST_PROMPTS)
        prompts.sort(key=lambda event: event.session_id == session_id)
        return [event.body.text for event in prompts if isinstance(event.body, PromptSubmitted)]

    def draft(self) -> str:
        return self._draft.read()

    def setting(self, path: str) -> SettingValue:
        from operator import attrgetter

        from workbench.backend.screen_files import choices_in_force
        from workbench.config.describe import plain_json
        from workbench.config.types import DEFAULT_ORIGIN, KEYS_BY_PATH

        loaded = self._loaded()
        origin = loaded.origins.get(path, DEFAULT_ORIGIN)
        chosen = choices_in_force(self._home, loaded.config.ui)
        if path in chosen:
            return SettingValue(value=chosen[path], where="chosen on the screen")
        value = plain_json(attrgetter(KEYS_BY_PATH[path].attribute)(loaded.config))
        return SettingValue(value=value, where=origin.where(), is_default=origin.layer == "default")

    def keep_setting(self, path: str, value: str | bool) -> str:
        from workbench.backend.screen_files import keep_choice

        keep_choice(self._home, path, value, self._config().ui)
        return f"{setting_words(path, value)}, on the next screens too."

    def ends_since_left(self) -> "Sequence[UnseenEnd]":
        left_at = self._left.read()
        return () if left_at is None else ends_since(self._journal, self._workspace, left_at)

    def keep_left(self) -> None:
        self._left.keep(self._journal.now())

    def keep_folders(self, *, is_wide: bool) -> None:
        keep_shown(self._home, is_wide=is_wide)

    def keep_all_sessions(self, places: Sequence[str]) -> None:
        keep_shown(self._home, all_sessions=tuple(places))

    def keep_draft(self, text: str) -> None:
        self._draft.keep(text)

    def spending(self, session_id: str) -> str:
        from workbench.host.spend_limits import spending_text

        session = self._journal.session(session_id)
        return "" if session is None else spending_text(self._journal, session, self._config())

    def configuration_changed(self) -> None:
        for backend in (self, *self._others.values()):
            backend._prices = None

    def price(self, provider: str, model: str, usage: "Usage", context: int = 0) -> int | None:
        from workbench.config.model_prices import PriceList

        if self._prices is None:
            self._prices = PriceList.of(self._config())
        return self._prices.cost(provider, model, usage, context)

    def ensure_host(self, workspace: str) -> str:
        """Start the workspace's host unless one lives; return why not, or once what is odd about it."""
        if problem := self.folder_problem(workspace):
            return problem
        from workbench.host.host_start import ensure_host, start_failure_reason
        from workbench.host.host_status import host_warnings

        self._starting.add(get_ident())
        try:
            host = ensure_host(self._home, self._journal, workspace)
        finally:
            self._starting.discard(get_ident())
        if host is None:
            why = start_failure_reason(self._home)
            return f"The background process did not start: {why} Its log is in {self._home.logs}."
        warnings = " ".join(host_warnings(self._home, self._journal, workspace))
        is_new, self._last_warnings = warnings != self._last_warnings, warnings
        return warnings if is_new else ""

    def host_trouble(self) -> tuple[str, str]:
        from workbench.host.host_status import (
            host_status,
            inherited_variables,
            missing_keys_sentence,
            suspended_host_sentence,
        )

        if problem := self.folder_problem(self._workspace):
            return "the folder is gone", problem
        variables = inherited_variables(self._home, self._journal, self._workspace)
        status = host_status(self._home, self._journal, self._workspace, variables)
        if status.state == "stopped":
            return "background process suspended, /restart replaces it", suspended_host_sentence(status.pid)
        if status.host is not None and (missing := self._missing_keys(status.host)):
            words = missing_keys_sentence(missing)
            if status.executing:
                return (
                    f"background lacks {missing[0]}",
                    f"{words} /restart once {status.executing} has ended.",
                )
            return f"background lacks {missing[0]}, /restart", f"{words} /restart starts one that has it."
        if status.differences:
            words = " ".join(status.differences)
            return (
                "background process has other settings, /restart",
                f"The background process differs from this program. {words}",
            )
        if status.state == "absent" and not self._starting and self._is_wanted():
            sentence = (
                "No background process runs here: answers are kept, and nothing acts on them."
                " /restart starts one."
            )
            return "no background process runs, /restart starts one", sentence
        return "", ""

    def _is_wanted(self) -> bool:
        from workbench.journal.leases import is_lease_live

        waiting_sessions = self._journal.awaiting(self._workspace)
        return any(
            not is_lease_live(self._home, self._journal.lease(session.id)) for session in waiting_sessions
        )

    def _missing_keys(self, host: Host) -> tuple[str, ...]:
        from workbench.host.host_status import missing_key_variables

        return missing_key_variables(host, self._config(), os.environ)

    def restart_host(self) -> str:
        from workbench.host.host_status import host_status
        from workbench.host.host_stop import stop_host

        status = host_status(self._home, self._journal, self._workspace, ())
        if status.executing and status.state == "running":
            raise RestartLater(status.executing)
        stop_host(self._home, self._workspace)
        if why := self.ensure_host(self._workspace):
            raise BackendError(why)
        return "Another background process works here now."

    def may_answer(self) -> str:
        from workbench.host.host_locks import InsideAgent

        try:
            self._require_person("answering on a screen")
        except InsideAgent as error:
            return f"{error.why} {error.remedy}"
        return ""

    def suggest_command(self, words: str) -> SuggestedText:
        from workbench.backend.command_session import suggest_command

        command, sentence = suggest_command(self._journal, self._workspace, words, self._actor)
        return SuggestedText(command=command, said=sentence)

    def begin_session(self, prompt: str) -> str:
        """Begin a session with the model that the settings name, else with the newest session's."""
        from workbench.host.instruction_files import SessionInstructions, session_instructions
        from workbench.host.session_provider import plays_recording
        from workbench.host.session_worktree import session_place

        config = self._config()
        selected = self._next_session.choice or self._selected_model()
        instructions = SessionInstructions(system_prompt="")
        if not plays_recording(selected.provider, config):
            instructions = session_instructions(self._journal, self._workspace, config.instruction_files)
        chosen = self._next_session
        with session_place(self._journal, self._workspace, prompt, is_worktree=chosen.is_worktree) as place:
            session_id = session_requests().create_session(
                self._journal, workspace=place.workspace, provider=selected.provider, model=selected.model,
                actor=self._actor, title=prompt.splitlines()[0],
                configuration={
                    **selected.configuration, **chosen.members, **instructions.configuration,
                    **place.configuration,
                },
                system_prompt=instructions.system_prompt, active_tools=chosen.active_tools,
            )  # fmt: skip
        chosen.is_worktree = False
        session_requests().submit_prompt(self._journal, session_id, prompt, self._actor)
        return session_id

    def count_other_sessions(self) -> int:
        from workbench.journal.session_queries import count_in_other_workspaces

        with self._journal.snapshot() as database:
            return count_in_other_workspaces(database, self._workspace)

    def found_agents(self) -> Sequence[str]:
        from workbench.formats.agent_folders import find_agent_folders

        return tuple(dict.fromkeys(folder.title for folder in find_agent_folders(self._workspace)))

    def question_counts(self) -> "QuestionCounts | None":
        from workbench.backend.rules import read_question_counts

        return read_question_counts(self._journal)

    def sandbox_standing(self) -> "SandboxStanding":
        from workbench.backend.sandbox import sandbox_standing

        return sandbox_standing(self._journal, self._workspace, self._config(), self._next_session.members)

    def sandbox_past(self) -> "SandboxPast | None":
        from workbench.backend.sandbox import sandbox_past

        return sandbox_past(self._journal, self._config())

    def fork(self, request: ForkRequest) -> str:
        from workbench.backend.library import fork_at_moment

        return fork_at_moment(self._journal, request)

    def export_film(self, request: ExportRequest, on_progress: Callable[[str], None]) -> str:
        from workbench.backend.library import export_film

        return export_film(self._journal, self._workspace, request, on_progress)

    def has_model(self) -> bool:
        if self._newest_session() is not None:
            return True
        from workbench.host.model_selection import is_provider_set_up

        return is_provider_set_up(self._config())

    def config_file(self) -> str:
        from workbench.config.layers import USER_CONFIG_FILE

        return str(self._home.path / USER_CONFIG_FILE)

    def approval_setting(self) -> tuple[str, int]:
        from workbench.host.workspace_trust import asked_tools
        from workbench.policy.rules import RuleMoment, rules_in_force

        asks = asked_tools(self._journal, self._workspace, self._config())
        if reads := self._next_session.members.get("reads"):
            asks = "all except reads" if reads == "reads" else "every call"
        moment = RuleMoment(
            session_id="", workspace=self._workspace, run_id=None, now=self._journal.clock.now()
        )
        rules = rules_in_force("allow", self._journal.rules(), moment)
        return ("every call, held" if self._journal.are_agents_held else asks), len(rules)

    def requires_seen(self) -> bool:
        return self._config().approvals.require_seen

    def takes_single_press(self) -> bool:
        return self._config().approvals.single_press == "edits"

    def session_diff(self, session_id: str) -> "SessionDiff":
        from workbench.backend.session_diff import session_diff

        return session_diff(self._journal, self._require_session(session_id, "Nothing is shown"))

    def agent_command(self, session_id: str) -> "AgentCommand":
        from workbench.backend.agent_commands import checked_agent_command
        from workbench.formats.agent_folders import NotResumable

        try:
            return checked_agent_command(self._require_session(session_id, "Nothing is shown"))
        except NotResumable as error:
            raise BackendError(f"Not continued: {error}. F starts a session from its end.") from None

    def run_agent(self, command: "AgentCommand") -> str:
        from workbench.backend.agent_commands import run_agent_command

        self._require_person("resume a session")
        code = run_agent_command(command)
        ended = "has ended" if code == 0 else f"ended with {code}"
        return f"{command.argv[0]} {ended}. I imports what it wrote."

    def open_editor(self, name: str, data: bytes) -> bytes | None:
        from workbench.effects.terminal_programs import EditorFailed, edit_in_editor

        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            return edit_in_editor(command, self._home.run, name, data)
        except EditorFailed as error:
            raise BackendError(f"Nothing was changed: {error}") from None

    def pipe_to(self, command: str, text: str) -> str:
        from workbench.effects.terminal_programs import run_with_input

        code = run_with_input(command, text.encode("utf-8", "replace"), self._workspace)
        if sys.stdin.isatty():
            # The screen comes back over what was printed: it stays until it was read.
            with contextlib.suppress(EOFError, KeyboardInterrupt):
                input(f"\nEnded with {code}; enter goes back to workbench. ")
        return "" if code == 0 else f"The command ended with {code}."

    def notify_desktop(self, title: str, text: str) -> None:
        from workbench.effects.terminal_programs import capture_output

        # The body is read as markup. No folder of a stranger is one that programs are looked for in.
        body = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        capture_output(["notify-send", "--app-name=workbench", "--", title, body], "/", 2.0)

    def list_files(self) -> Sequence[str]:
        """Return the workspace's files that git does not ignore; all of them where there is no git."""
        from workbench.effects.git import GitFailed, run_git

        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        try:
            listed = run_git(self._workspace, *words, environment=os.environ, seconds=5.0)
        except GitFailed:
            return _walk_files(self._workspace)
        return [name.decode("utf-8", "replace") for name in listed.split(b"\0") if name][:MAX_LISTED_FILES]

    def host_log(self) -> Sequence[str]:
        logs = sorted(self._home.logs.glob("host-*.log"), key=lambda path: path.stat().st_mtime)
        if not logs:
            return ()
        with logs[-1].open("rb") as file:
            file.seek(max(0, logs[-1].stat().st_size - LOG_TAIL))
            return file.read(LOG_TAIL).decode("utf-8", "replace").splitlines()[-LOG_LINES:]

    def branch(self) -> str:
        from workbench.backend.checked_out_branch import checked_out_branch

        return checked_out_branch(self._workspace)


def _walk_files(workspace: str) -> list[str]:
    paths: list[str] = []
    for folder, below, names in os.walk(workspace):
        below[:] = [name for name in below if not name.startswith(".")]
        inside = os.path.relpath(folder, workspace)
        paths += [name if inside == "." else f"{inside}/{name}" for name in names]
        if len(paths) >= MAX_LISTED_FILES:
            break
    return paths[:MAX_LISTED_FILES]


_MAX_LEFT_SESSIONS: Final = 50
_AFTER_ALL: Final = 1 << 60
_MAX_LAST_EVENTS: Final = 30
"""Lasting events of a session among which its last end is found."""


def ends_since(journal: Journal, workspace: str, since: int) -> "list[UnseenEnd]":
    """Return the last end of each session of a workspace that ended after a moment, oldest first."""
    from workbench.views.unseen_ends import session_end

    ends: list[UnseenEnd] = []
    for session in journal.sessions(workspace=workspace, archived=False, limit=_MAX_LEFT_SESSIONS):
        if session.updated_at <= since:
            continue
        events = journal.lasting(session.id, before=_AFTER_ALL, limit=_MAX_LAST_EVENTS)
        candidates = [session_end(event, session) for event in events if event.at > since]
        ends += [end for end in candidates if end is not None][-1:]
    return sorted(ends, key=lambda end: end.at)
