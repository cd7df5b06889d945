"""Runs the user's `notify.command` for what happens in a workspace: a thread of its background process.

One background process serves a workspace: each notice is sent once, whatever screens and drivers there are.
"""

# Nothing is sent for what happened before the command was known here, and nothing for a row that was
# answered by the time its turn came. The journal is the queue that others write; what is due is bounded.

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.config.types import Config
from workbench.domain.events import ActionOpened, Event, RunChanged, TurnEnded
from workbench.domain.rows import Action
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook
from workbench.effects.process_environment import agent_environment
from workbench.effects.search_path import own_search_path, search_path_outside
from workbench.host.provider_keys import key_variables
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal
from workbench.policy.hooks import UnresolvedHookPath, resolved_hook_command
from workbench.secrets.scrubber import scrub
from workbench.text.human import SECOND_MICROS
from workbench.text.safe import one_line
from workbench.views.command_notices import CommandNotice, RowEvent, end_notice, notice_json, row_notice
from workbench.views.unseen_ends import session_end

LOG = logging.getLogger("workbench.host")
COMMAND_SECONDS: Final = 10.0
"""Seconds after which the command is ended."""
EXPIRING_SECONDS: Final = 120
"""Seconds before the end of a row at which it is about to expire."""
SETTLE_SECONDS: Final = 1.0
"""Seconds that a row waits before it is reported: rules and batches answer sooner."""
MAX_QUEUED: Final = 100
"""Notices that wait for the command; further ones are dropped."""
_GRACE_SECONDS: Final = 0.5
_REST_SECONDS: Final = 0.1
"""Least time between two looks at the journal."""
_MAX_OUTPUT: Final = 4096
_KINDS: Final = (ActionOpened.KIND, TurnEnded.KIND, RunChanged.KIND)


class NoticeNotDelivered(Exception):
    """The command was not run, or did not end with 0; the message is a clause without secrets."""


def deliver_notice(
    home: Path, config: Config, command: str, notice: CommandNotice, cancel: int | None = None
) -> None:
    """Run the user's command in the data folder with a notice as its input. Raises NoticeNotDelivered."""
    folder = str(home)
    try:
        line = resolved_hook_command(command, folder)
        end = run_hook(
            line, notice_json(notice), folder, _environment(folder, config, notice.folder), COMMAND_SECONDS,
            grace=_GRACE_SECONDS, keep=_MAX_OUTPUT, cancel=cancel,
        )  # fmt: skip
    except (UnresolvedHookPath, ProcessNotStarted) as error:
        raise NoticeNotDelivered(f"it was not run: {_safe(str(error))}") from None
    if end.code != 0:
        raise NoticeNotDelivered(_failure(end))


def _environment(folder: str, config: Config, workspace: str) -> dict[str, str]:
    """Return the variables of the user's hooks: no secrets, no folder in PATH that an agent can change."""
    variables = agent_environment(os.environ, folder, key_variables(config))
    workspaces = [os.path.realpath(workspace)] if workspace else []
    path = search_path_outside(own_search_path(variables.get("PATH", "")), workspaces)
    return {**variables, "PATH": path}


def _failure(end: HookExit) -> str:
    how = f"it ended with {end.code}" if end.code is not None else "a signal ended it"
    if end.timed_out:
        how = f"it was ended after {COMMAND_SECONDS:.0f} s"
    output = _safe(end.output.decode("utf-8", "replace"))
    return f"{how}: {output}" if output else how


def _safe(text: str) -> str:
    return one_line(scrub(text).text.strip(), 300)


class _Queued(Struct, frozen=True):
    """A notice that waits for the command; that of a row is made when its turn comes."""

    event: RowEvent | None = None
    action_id: str = ""
    notice: CommandNotice | None = None


class CommandNotices:
    """A thread that runs the command for one notice after another, while the settings name one."""

    def __init__(self, journal: Journal, workspace: str, config: Callable[[], Config]) -> None:
        """Begin now; `config` returns the settings in force, also in this thread."""
        self._journal, self._workspace, self._config = journal, workspace, config
        self._cursor: int | None = None
        """Position up to which the journal was read; None without a command."""
        self._due: dict[tuple[RowEvent, str], int] = {}
        """When a row is to be reported, in microseconds."""
        self._queue: deque[_Queued] = deque()
        self._stop, self._wake = threading.Event(), threading.Event()
        self._cancelled, self._cancel = os.pipe()
        self._look()
        self._unsubscribe = journal.on_change(self._wake.set)
        self._thread = threading.Thread(target=self._work, name="notices", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and the command if it runs."""
        self._unsubscribe()
        self._stop.set()
        self._wake.set()
        os.close(self._cancel)
        self._thread.join()
        os.close(self._cancelled)

    def _work(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                self._look()
                has_sent = self._send_next()
            except JournalError as error:
                LOG.warning("notices: %s", error)
                has_sent = False
            if not has_sent:
                self._wake.wait(self._seconds_until_due())
                self._stop.wait(_REST_SECONDS)

    def _seconds_until_due(self) -> float | None:
        if not self._due:
            return None
        return max(0.0, (min(self._due.values()) - self._journal.clock.now()) / SECOND_MICROS)

    # --- what is due ----------------------------------------------------------------------------

    def _look(self) -> None:
        """Read what happened since the last look, and queue what is due now."""
        if self._config().notify.command is None:
            self._cursor = None
            self._due.clear()
            self._queue.clear()
            return
        if self._cursor is None:
            self._begin()
            return
        for event in self._journal.events_of_kinds(_KINDS, self._cursor):
            self._cursor = event.position
            self._note(event)
        now = self._journal.clock.now()
        for key in [key for key, at in self._due.items() if at <= now]:
            del self._due[key]
            self._enqueue(_Queued(event=key[0], action_id=key[1]))

    def _begin(self) -> None:
        self._cursor = self._journal.last_position()
        now = self._journal.clock.now()
        for action in self._journal.actions(states=("pending",)):
            if self._is_here(action):
                self._schedule_expiry(action.id, action.expires_at, now)

    def _note(self, event: Event) -> None:
        body = event.body
        if isinstance(body, ActionOpened):
            action = self._journal.action(event.action_id or "")
            if action is None or not self._is_here(action):
                return
            if body.supersedes is None:
                self._due["row_opened", action.id] = event.at + int(SETTLE_SECONDS * SECOND_MICROS)
            self._schedule_expiry(action.id, body.expires_at, event.at)
        elif (notice := self._end_notice(event)) is not None:
            self._enqueue(_Queued(notice=notice))

    def _schedule_expiry(self, action_id: str, expires_at: int | None, now: int) -> None:
        """Report a row two minutes before its end, unless that moment has passed."""
        if expires_at is not None and (at := expires_at - EXPIRING_SECONDS * SECOND_MICROS) > now:
            self._due["row_expiring", action_id] = at

    def _end_notice(self, event: Event) -> CommandNotice | None:
        session = self._journal.session(event.session_id)
        end = session_end(event, session)
        if session is None or end is None or session.workspace != self._workspace:
            return None
        return None if session.origin is not None else end_notice(end, session)

    def _is_here(self, action: Action) -> bool:
        """Return whether a row is of this workspace; a step belongs where its run does."""
        if action.session_id == SYSTEM_SESSION:
            return action.subject.get("workspace") == self._workspace
        session = self._journal.driving_session(action.session_id)
        return session is not None and session.workspace == self._workspace

    def _enqueue(self, queued: _Queued) -> None:
        if len(self._queue) < MAX_QUEUED:
            self._queue.append(queued)
        else:
            LOG.warning("a notice was dropped: %d others wait for notify.command", MAX_QUEUED)

    # --- sending --------------------------------------------------------------------------------

    def _send_next(self) -> bool:
        """Run the command for the first notice that waits; return whether there was one."""
        if not self._queue:
            return False
        queued, config = self._queue.popleft(), self._config()
        notice = queued.notice
        if queued.event is not None:
            notice = self._row_notice(queued.event, queued.action_id)
        if notice is None or config.notify.command is None:
            return True
        try:
            deliver_notice(self._journal.home.path, config, config.notify.command, notice, self._cancelled)
        except NoticeNotDelivered as error:
            if not self._stop.is_set():
                LOG.warning("notify.command for %s: %s", notice.event, error)
        return True

    def _row_notice(self, event: RowEvent, action_id: str) -> CommandNotice | None:
        """Return the notice of a row that is still pending, or of the row that replaced it."""
        action, now = self._journal.action(action_id), self._journal.clock.now()
        while event == "row_opened" and action is not None and action.state == "superseded":
            action = self._journal.action(action.successor or "")
        if action is None or action.state != "pending" or (action.expires_at or now + 1) <= now:
            return None
        session = None if action.session_id == SYSTEM_SESSION else self._journal.session(action.session_id)
        return row_notice(event, action, session, self._workspace, now)
