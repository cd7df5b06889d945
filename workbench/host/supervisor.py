"""The host process of one workspace: drive every session with work to do, end by itself."""

# A human's word to a dead driver counts. `continue` or a prompt that came after the last thing a driver
# wrote lets the next driver go on at once; asking again would make every crash cost two answers. A word
# that the dead driver had heard (it wrote something afterwards) does not.
#
# A host takes up a session whose driver was killed in the middle of a model call only to say that it is
# paused (host lost): until then it would look busy for ever.

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct
from msgspec.structs import replace

from workbench.agents.planner import TurnLimits, due_effects
from workbench.agents.reducer import fold_turn
from workbench.config.types import Config
from workbench.domain.events import LeaseTaken
from workbench.domain.rows import Session
from workbench.domain.values import SessionKind
from workbench.effects.fault_points import fault_point
from workbench.effects.file_locks import FileLock
from workbench.effects.process_table import (
    ProcessIdentity,
    ancestor_pids,
    become_subreaper,
    process_identity,
)
from workbench.effects.unix_sockets import Peer
from workbench.host import driver_context, workspace_trust
from workbench.host.agent_link import AgentLink
from workbench.host.agent_socket import AgentSocket
from workbench.host.data_folder_cleanup import TIDY_INTERVAL_SECONDS, tidy_data_folder_if_due
from workbench.host.driver_context import (
    WATCH_DELAY_SECONDS,
    ConfigUnusable,
    DriverContext,
    following_config_changes,
    open_driver_context,
)
from workbench.host.host_locks import driver_identity, has_screen, host_lock_path, provider_variables
from workbench.host.import_watch import ImportWatch
from workbench.host.incident_driver import IncidentDriverOptions, drive_incidents
from workbench.host.incident_sessions import answered_lists, has_list_work, undriven_lists
from workbench.host.notify_command import CommandNotices
from workbench.host.old_rules import open_rules_question
from workbench.host.pipeline_watch import PipelineWatch, log_pipeline_change
from workbench.host.provider_keys import key_variables
from workbench.host.session_driver import SessionProgress, drive_session, session_log_name, set_on_change
from workbench.host.session_provider import background_provider_of
from workbench.host.session_sandbox import has_full_sandbox
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.host.steps.run_start import answered_runs, is_runnable
from workbench.host.supervised_driver import drive_supervised
from workbench.host.supervised_session import require_supervised_session
from workbench.journal.database import is_newer_schema_wanted
from workbench.journal.errors import JournalError, SessionDriven, SessionEnded
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, unfinished_sessions
from workbench.journal.session_queries import has_executing_call
from workbench.journal.transaction import TransactionTables
from workbench.policy.trust import TrustRefused
from workbench.secrets.scrubber import scrub
from workbench.supervised.messages import Hello
from workbench.text.safe import safe_text

LINGER_SECONDS = 60.0
"""Seconds that a host stays when nothing is processing or pending and no screen is attached."""
RETRY_SECONDS = 5.0
"""Seconds until a session is looked at again whose journal could not be written."""


class _KindOfWork(Struct, frozen=True, kw_only=True):
    """How sessions of one kind are driven, and whether one has something to do."""

    drive: Callable[[Session], Coroutine[None, None, None]]
    has_work: Callable[[Session], bool]


class Supervisor:
    """Drives every session of a workspace that has unfinished work and no live driver."""

    def __init__(
        self,
        context: DriverContext,
        driver: DriverIdentity,
        is_attached: Callable[[], bool],
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._context, self._driver = context, driver
        self._is_attached, self._linger = is_attached, linger
        self._driven: dict[str, asyncio.Task[None]] = {}
        self._considered_versions: dict[str, int] = {}
        self._broken_at: dict[str, int] = {}
        self._answered_checked_at = 0.0
        self._began_at = time.time()
        self._changed = asyncio.Event()
        self._noted_readings = 0
        self._links: dict[str, AgentLink] = {}
        """Of agents that execute their own calls, by session."""
        self._kinds: Mapping[SessionKind, _KindOfWork] = {
            "chat": _KindOfWork(drive=self._drive_chat, has_work=self._has_chat_work),
            "pipeline": _KindOfWork(drive=self._drive_pipeline, has_work=self._has_pipeline_work),
            "incidents": _KindOfWork(drive=self._drive_list, has_work=self._has_list_work),
            "supervised": _KindOfWork(drive=self._drive_agent, has_work=lambda _: True),
        }

    def join_agent(self, hello: Hello, peer: Peer | None) -> AgentLink:
        """Return the link of an agent's session, which is driven from now on. Raises SessionNotTaken."""
        context = self._context
        session = require_supervised_session(context.journal, hello, context.workspace, self._driver)
        link = self._links.setdefault(session.id, AgentLink())
        if (process := _agent_process(hello, peer)) is not None:
            link.processes.add(process)
        if session.id not in self._driven:
            self._broken_at.pop(session.id, None)
            self._start_driving(session)
        return link

    async def run(self, stop: asyncio.Event) -> None:
        """Run until told to stop, or until idle for `linger` seconds."""
        idle_since = self._context.clock.monotonic()
        tidying = asyncio.create_task(self._tidy(), name="upkeep")
        try:
            async with set_on_change(self._context.journal, self._changed):
                while not stop.is_set():
                    self._changed.clear()
                    if self._is_workspace_gone():
                        LOG.error("%s is gone; its questions stay open", self._context.workspace)
                        return
                    is_leaving = is_newer_schema_wanted(self._context.home, self._began_at)
                    if is_leaving and not self._is_call_running():
                        LOG.info("this process makes way for a newer version of the program")
                        return
                    if not is_leaving:
                        self._start_sessions()
                    if self._driven or self._is_attached():
                        idle_since = self._context.clock.monotonic()
                    elif self._context.clock.monotonic() - idle_since >= self._linger:
                        LOG.info("nothing to do for %.0f s", self._linger)
                        return
                    await self._wait(stop)
        finally:
            tidying.cancel()
            await self._end_driving()
            await asyncio.gather(tidying, return_exceptions=True)

    async def _tidy(self) -> None:
        while True:
            days = self._context.recall_settings().config.retention.sealed_days
            await asyncio.to_thread(tidy_data_folder_if_due, self._context.home, self._context.journal, days)
            await asyncio.sleep(TIDY_INTERVAL_SECONDS)

    def _is_workspace_gone(self) -> bool:
        """Return whether the workspace's folder was moved or replaced: nothing may be done there."""
        return not self._context.root.is_in_place()

    def _is_call_running(self) -> bool:
        with self._context.journal.snapshot() as database:
            return has_executing_call(database, self._driven)

    def _start_sessions(self) -> None:
        self._note_key_variables()
        unfinished = unfinished_sessions(self._context.journal, self._context.workspace, self._driven)
        for session in (*unfinished, *undriven_lists(self._context)):
            is_known = self._considered_versions.get(session.id) == session.updated_at
            if session.id in self._driven or is_known:
                continue
            self._considered_versions[session.id] = session.updated_at
            # Sessions of other kinds are not driven from here: a step is driven by its run.
            kind = self._kinds.get(session.kind)
            if kind is not None and kind.has_work(session):
                self._start_driving(session)
        self._start_answered()
        self._start_heard()

    def _start_heard(self) -> None:
        """Drive the sessions of agents that spoke while their driver was ending; forget the other links."""
        for session_id, link in tuple(self._links.items()):
            if session_id in self._driven:
                continue
            session = self._context.journal.session(session_id)
            if session is not None and link.is_busy():
                self._start_driving(session)
            else:
                del self._links[session_id]

    def _note_key_variables(self) -> None:
        """Say in this host's row which of the variables it has that its settings name as keys by now."""
        if self._noted_readings == (readings := self._context.settings.readings):
            return
        self._noted_readings = readings
        variables = provider_variables(key_variables(self._context.recall_settings().config))
        self._context.journal.change(lambda live: _put_variables(live, self._driver.host_id, variables))

    def _start_answered(self) -> None:
        now = self._context.clock.monotonic()
        if now - self._answered_checked_at < 1.0:
            return
        self._answered_checked_at = now
        for session in (*answered_runs(self._context), *answered_lists(self._context)):
            if session.id not in self._driven:
                self._start_driving(session)

    def _start_driving(self, session: Session) -> None:
        if self._broken_at.get(session.id) == session.updated_at:
            return
        task = asyncio.create_task(self._drive(session), name=f"session {session.id}")
        self._driven[session.id] = task

    # --- kinds of sessions ------------------------------------------------------------------------

    async def _drive_chat(self, session: Session) -> None:
        await drive_session(self._context, self._driver, session.id, until=_is_only_waiting)

    def _has_chat_work(self, session: Session) -> bool:
        journal = self._context.journal
        if journal.actions(session_id=session.id, states=("pending",)):
            return True
        limits = TurnLimits(max_rounds=self._context.recall_settings().config.limits.max_turns)
        lease_taken = LeaseTaken(host_id=self._driver.host_id, epoch=1, pid=self._driver.pid, driver="host")
        # As it would be under our lease: a turn whose driver was killed looks busy until somebody takes it.
        state = fold_turn(
            (*journal.events(session.id), journal.event(lease_taken, session.id, self._driver.actor))
        )
        return bool(due_effects(state, limits))

    async def _drive_pipeline(self, session: Session) -> None:
        await drive_run(RunDriverOptions(context=self._context, driver=self._driver), session.id)

    def _has_pipeline_work(self, session: Session) -> bool:
        return is_runnable(self._context, session)

    async def _drive_list(self, session: Session) -> None:
        await drive_incidents(IncidentDriverOptions(context=self._context, driver=self._driver), session.id)

    def _has_list_work(self, session: Session) -> bool:
        return has_list_work(self._context, session)

    async def _drive_agent(self, session: Session) -> None:
        """Drive a supervised session; without a driver its connections end, and the agent connects again."""
        link = self._links.setdefault(session.id, AgentLink())
        try:
            await drive_supervised(self._context, self._driver, session.id, link)
        except BaseException:
            link.close()
            raise

    # --- driving ----------------------------------------------------------------------------------

    async def _drive(self, session: Session) -> None:
        session_id = session.id
        try:
            await self._kinds[session.kind].drive(session)
        except (SessionDriven, SessionEnded) as error:
            LOG.info("%s: %s", session_log_name(session), error)
        except JournalError as error:
            # A disk that was full may have room in a while, and nothing else would ring for that.
            LOG.error("%s: %s", session_log_name(session), error)
            self._considered_versions.pop(session_id, None)
            await asyncio.sleep(RETRY_SECONDS)
        except Exception:
            # Whatever it is, it would be met again: not before somebody has done something about the session.
            LOG.exception("%s", session_log_name(session))
            row = self._context.journal.session(session_id)
            self._broken_at[session_id] = row.updated_at if row is not None else 0
        finally:
            self._driven.pop(session_id, None)
            self._changed.set()

    async def _wait(self, stop: asyncio.Event) -> None:
        """Wait for a change, for the stop, or a second: leases end without a notice."""
        waiters = [asyncio.create_task(event.wait()) for event in (self._changed, stop)]
        try:
            await asyncio.wait(waiters, timeout=min(1.0, self._linger), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()

    async def _end_driving(self) -> None:
        tasks = list(self._driven.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _agent_process(hello: Hello, peer: Peer | None) -> ProcessIdentity | None:
    """Return the agent that connects for each message: the process that connected, or one above it."""
    if hello.pid <= 1 or peer is None or hello.pid not in (peer.pid, *ancestor_pids(peer.pid)):
        return None
    try:
        return process_identity(hello.pid)
    except ProcessLookupError:
        return None


def _put_variables(live: TransactionTables, host_id: str, variables: tuple[str, ...]) -> None:
    row = live.host(host_id)
    if row is not None and row.variables != variables:
        live.put(replace(row, variables=variables))


def _is_only_waiting(progress: SessionProgress) -> bool:
    return progress.is_resting and not progress.waiting


LOG = logging.getLogger("workbench.host")


def serve_workspace(
    home: Home, workspace: str, host_id: str | None = None, linger: float = LINGER_SECONDS
) -> int:
    """Be the host of a workspace until nothing is left to do for `linger` seconds; return the exit code."""
    log_to_stderr(home.logs / f"host-{host_id}.log")
    lock = FileLock(host_lock_path(home, workspace))
    if not lock.try_acquire():
        LOG.info("another background process serves %s", workspace)
        return 0
    become_subreaper()
    journal = Journal.open(home)
    try:
        context = open_driver_context(
            home, journal, workspace, provider=background_provider_of, pipelines=SessionPipelineStarter
        )
        settings = context.recall_settings()
        driver = driver_identity(journal, workspace, "host", host_id, key_variables(settings.config))
        with DriverLock(journal, driver):
            fault_point("host.started")
            LOG.info("host %s, pid %d, serves %s", driver.host_id, driver.pid, workspace)
            tools = context.tools.descriptors()
            driver_context.sync_config_rules(journal, settings.loaded, tools, workspace)
            _open_trust_question(context, settings.config)
            open_rules_question(journal, workspace, settings.config, context.prove_sandbox)
            asyncio.run(_supervise(context, driver, linger))
            LOG.info("host %s ended", driver.host_id)
    except ConfigUnusable as error:
        LOG.error("%s", error)
        return 1
    finally:
        journal.close()
        lock.release()
    return 0


def _open_trust_question(context: DriverContext, config: Config) -> None:
    try:
        workspace_trust.open_trust_question(
            context.journal, context.workspace,
            offers_sandbox=lambda: has_full_sandbox(config, context.prove_sandbox),
        )  # fmt: skip
    except TrustRefused as error:
        LOG.warning("the trust question was not asked: %s", error)


async def _supervise(context: DriverContext, driver: DriverIdentity, linger: float) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: LOG.info("the terminal is gone; agents keep working"))
    watching = PipelineWatch(context.journal, context.workspace, log_pipeline_change, WATCH_DELAY_SECONDS)
    imports = ImportWatch(context.home, context.journal, context.workspace, WATCH_DELAY_SECONDS)
    notices = CommandNotices(
        context.journal, context.workspace, lambda: context.settings.loaded(trusted=True).config
    )
    try:
        with following_config_changes(context):
            supervisor = Supervisor(
                context, driver, lambda: has_screen(context.home, context.workspace), linger
            )
            async with AgentSocket(context.home, context.workspace, supervisor.join_agent):
                await supervisor.run(stop)
    finally:
        watching.close()
        imports.close()
        notices.close()


MAX_LOG_BYTES: Final = 4_000_000
"""Bytes of a log; the newest quarter is kept when it grows over them."""
MAX_LOG_ENTRY: Final = 20_000
"""Characters of one entry."""


class HostLogHandler(logging.Handler):
    """Writes log entries to a stream and keeps the file at `path` below `largest` bytes."""

    def __init__(self, stream: TextIO, path: Path | None, largest: int = MAX_LOG_BYTES) -> None:
        super().__init__()
        self._stream, self._path, self._largest = stream, path, largest
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = safe_text(scrub(self.format(record)).text)
            cut = text if len(text) <= MAX_LOG_ENTRY else f"{text[:MAX_LOG_ENTRY]} …"
            self._stream.write(cut + "\n")
            self._stream.flush()
            self._shrink()
        except (OSError, ValueError):
            self._path = None

    def _shrink(self) -> None:
        if self._path is None:
            return
        file = self._stream.fileno()
        status = os.fstat(file)
        if status.st_size <= self._largest or not os.path.samestat(status, self._path.stat()):
            return
        with self._path.open("rb") as old:
            old.seek(-self._largest // 4, os.SEEK_END)
            newest = old.read().partition(b"\n")[2]
        os.ftruncate(file, 0)
        os.write(file, b"(what was here before was dropped: the log had grown too large)\n" + newest)


def log_to_stderr(path: Path) -> None:
    """Send everything that is logged in this process to its stderr, which a file may stand behind."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it would name every write of an agent
    root.handlers[:] = [HostLogHandler(sys.stderr, path if path.is_file() else None)]
