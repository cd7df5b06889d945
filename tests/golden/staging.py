"""A small web shop, one developer, one recorded agent: what a scenario of a golden session is played on.

Owns the folders of one making and the writing of what came of it. The human answers between two drives, as
from another process, through the same doors as the command line.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import warnings
from dataclasses import dataclass

from msgspec.structs import replace

from tests.golden.shop import FILES
from tests.golden.still import START, PlacedBlobs, Places, StillClock, StillJournal, stillness
from tests.golden.words import MODEL, recording_text
from tests.support.golden import KEY
from tests.support.stage import provider_maker_with_sleep
from tests.support.waits import PATIENCE
from workbench.changes.decision import seal_decision
from workbench.domain.codec import EVENT_FORMAT_VERSION, blob_refs, event_to_line, to_json_value
from workbench.domain.events import ActionOpened
from workbench.domain.values import Actor, Decision, SelectedHunk
from workbench.effects import fault_points
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.host import session_requests
from workbench.host.driver_context import open_driver_context
from workbench.host.session_driver import drive_session
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal import write_queue
from workbench.journal.decisions import decide_action, extend_action
from workbench.journal.home import Home
from workbench.journal.index_tables import fold_journal, index_table_differences
from workbench.journal.leases import DriverIdentity, DriverLock

SCREEN = Actor(kind="user", pid=3021, via="screen")
CLI = Actor(kind="user", pid=3077, via="cli")
WORKSPACE = "/workspace/shop"
HOME = "/home/dev/.local/share/workbench"
MINUTE = 60
TABLES = ("sessions", "calls", "actions", "rules", "trusts", "pipeline_states", "step_states")
END, GONE, LOOK = "end", "gone", "look"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C", AGENT_VARIABLE: "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A golden session as it is kept, and the index tables of the journal that it was made in."""

    files: dict
    """Path below the session's folder -> bytes."""
    tables: dict
    """Table -> key -> row as JSON values."""


class Scene:
    """One making of one golden session."""

    def __init__(self, name, root, exchanges, *, files=FILES, config=None):
        self.name, self.root, self.files = name, root, dict(files)
        self.workspace, self.recording = root / "project", root / "recording.json"
        for path, content in self.files.items():
            self.write(path, content)
        self.recording.write_text(recording_text(exchanges), encoding="utf-8")
        self.home = _home(root / "home", config)
        self.places = Places((self.workspace, WORKSPACE), (self.home.path, HOME), (root, f"/golden/{name}"))
        self.process = 1
        self.user = SCREEN
        self.session_id = ""
        self.at_sleep = None
        """Asked with the seconds whenever the model pauses; a true answer lets it pause for ever."""
        self._open(StillClock(name))

    def _open(self, clock):
        self.clock = clock
        self.journal = StillJournal.open(self.home, clock)
        self.journal.pid = 4000 + 100 * self.process
        self.journal.blobs = PlacedBlobs(self.home, self.places)

    # --- the workspace ------------------------------------------------------------------------------

    def write(self, path, content):
        """Do what a human's editor does, beside the agent."""
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(content))
        target.chmod(0o644)

    def text(self, path):
        return (self.workspace / path).read_text(encoding="utf-8")

    # --- the human ------------------------------------------------------------------------------------

    def passes(self, seconds):
        self.clock.advance(seconds)
        return self

    def begin(self, title, prompt, **more):
        facts = {
            "path": str(self.recording),
            "sha256": hashlib.sha256(self.recording.read_bytes()).hexdigest(),
        }
        self.session_id = session_requests.create_session(
            self.journal, workspace=str(self.workspace), provider="recorded", model=MODEL, actor=self.user,
            title=title, configuration={"recording": facts}, **more,
        )  # fmt: skip
        return self.say(prompt, after=0)

    def say(self, prompt, after=20):
        self.passes(after)
        session_requests.submit_prompt(self.journal, self.session_id, prompt, self.user)
        return self

    def go_on(self, after=30):
        self.passes(after)
        session_requests.continue_session(self.journal, self.session_id, self.user)
        return self

    def interrupt(self):
        session_requests.interrupt_session(self.journal, self.session_id, self.user)

    def waiting(self, target=None):
        found = self.journal.actions(session_id=self.session_id, states=("pending",))
        return [action for action in found if target is None or target in action.target]

    def one(self, target=None):
        (action,) = self.waiting(target)
        return action

    def approve(self, action=None, after=6, *, hunks=None, edited=None, **more):
        """Approve the one action that waits, or the given one."""
        selection = (
            None
            if hunks is None
            else [h if isinstance(h, SelectedHunk) else SelectedHunk(hunk=h) for h in hunks]
        )
        edited = edited and {path: text.encode() for path, text in edited.items()}
        return self._answer(
            action, after, "approve", edited, selection=selection and tuple(selection), **more
        )

    def reject(self, action=None, after=8, reason=None):
        return self._answer(action, after, "reject", reason=reason)

    def _answer(self, action, after, verdict, edited=None, **more):
        action = action or self.one()
        self.passes(after)
        opened = self.journal.event_at(action.opened_at).body
        assert isinstance(opened, ActionOpened)
        decision = Decision(action_id=action.id, verdict=verdict, **more)
        made = seal_decision(opened, decision, self.journal.blobs, edited)
        return decide_action(self.journal, made, action.digest, self.user)

    def extend(self, action=None, after=0):
        self.passes(after)
        return extend_action(self.journal, (action or self.one()).id, self.user)

    def refresh(self, action=None, after=5):
        self.passes(after)
        session_requests.request_refresh(self.journal, (action or self.one()).id, self.user)
        return self

    def undo(self, action, after=15):
        self.passes(after)
        session_requests.request_undo(self.journal, action.id, self.user)
        return self

    def note(self, body, session_id=None, **more):
        """Append something that a screen or another tool says itself."""
        actor = more.pop("actor", self.user)
        event = self.journal.event(body, session_id or self.session_id, actor, **more)
        self.journal.append([event])
        return self

    # --- the driver -------------------------------------------------------------------------------------

    def play(self, scenario):
        """Let the human of a scenario act and a host work, in turns.

        A scenario is a generator: at a bare `yield` the host works until it rests, while it lives on;
        `yield LOOK` lets it look for files that moved, `yield GONE` ends it until the next `yield`; a
        function of the progress lets the human act when it holds.
        """
        self._human = scenario(self)
        wish = next(self._human, END)
        while wish is not END:
            wish = GONE if wish is GONE else self._drive(wish)
            if wish is GONE:
                wish = next(self._human, END)

    def _drive(self, wish):
        self.passes(0.4)
        driver = DriverIdentity(
            host_id=self.clock.new_id(), pid=self.journal.pid, driver="host", workspace=str(self.workspace)
        )
        lock = DriverLock(self.journal, driver)
        turns = _Turns(self._human, wish)
        try:
            with stillness(self.clock, turns), _still_environment():
                asyncio.run(self._driving(driver, turns))
        finally:
            lock.close()
        return turns.wish

    async def _driving(self, driver, turns):
        context = open_driver_context(
            self.home,
            self.journal,
            str(self.workspace),
            provider=provider_maker_with_sleep(self._sleep),
            pipelines=SessionPipelineStarter,
            sleep=self._sleep,
        )
        try:
            context = replace(context, environment={**ENVIRONMENT, "PWD": str(self.workspace)})
            await asyncio.wait_for(
                drive_session(context, driver, self.session_id, until=turns.until), PATIENCE
            )
        finally:
            context.root.close()

    async def _sleep(self, seconds):
        self.clock.advance(seconds)
        await asyncio.sleep(0)
        if self.at_sleep is not None and self.at_sleep(seconds):
            await asyncio.Event().wait()

    def dies_at(self, point, nth=1, away=180):
        """Drive in a process of its own that dies at a fault point; another one will take over."""
        self.journal.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.setsid()
                # What is streamed is written with what must be kept, and not when some time has passed.
                write_queue.GROUP_SECONDS = 60.0
                self._open(self.clock)
                fault_points.arm_fault(point, "exit", nth)
                self._human = iter(())
                self._drive(None)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 137
        self.process += 1
        self._open(StillClock(self.name, process=self.process))
        return self.passes((self.journal.now() - START) / 1_000_000 + away)

    # --- what came of it ----------------------------------------------------------------------------------

    def made(self):
        """Return everything that is kept of it, and let go."""
        with contextlib.closing(self.journal):
            assert index_table_differences(self.journal) == []
            events = self.journal.events()
            with self.journal.snapshot() as database:
                rows = fold_journal(database).known
            tables = self._tables(rows)
            files = {f"project/{path}": _bytes(content) for path, content in self.files.items()}
            files |= self._recordings()
            files["session.jsonl"] = "".join(f"{line}\n" for line in self._lines(events)).encode()
            return Made(files=files, tables=tables)

    def _recordings(self):
        return {"recording.json": self.recording.read_bytes()}

    def _lines(self, events):
        yield json.dumps({"workbench_session": 1, "schema": EVENT_FORMAT_VERSION})
        known = set()
        for event in events:
            for ref in blob_refs(event.body):
                if ref.startswith("recorded:") and ref not in known:
                    known.add(ref)
                    yield self._blob_line(ref)
            yield self.places.text(event_to_line(event))

    def _blob_line(self, ref):
        data = self.journal.blobs.read(ref)
        line = {"blob": ref, "text": self.places.text(data.decode())}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))

    def _tables(self, rows):
        named = {table: getattr(rows, table) for table in TABLES}
        found = {
            table: {key: to_json_value(row) for key, row in kept.items()} for table, kept in named.items()
        }
        return json.loads(self.places.text(json.dumps(found)))


class _Turns:
    """When it is the human's turn; what the host asks whether it may stop."""

    def __init__(self, human, wish):
        self._human, self.wish = human, wish
        self.has_to_look = False

    def until(self, progress):
        if self.wish in (END, GONE):
            return True
        if not (self.wish(progress) if callable(self.wish) else progress.is_resting):
            return False
        self.wish = next(self._human, END)
        self.has_to_look = self.wish == LOOK
        return self.wish in (END, GONE)


def _bytes(content):
    return content if isinstance(content, bytes) else content.encode()


def _home(path, config):
    path.mkdir(mode=0o700)
    (path / "key").write_bytes(KEY)
    (path / "key").chmod(0o600)
    if config is not None:
        (path / "config.json").write_text(json.dumps({"config_version": 1, **config}))
    return Home.open(path)


@contextlib.contextmanager
def _still_environment():
    """Hide the settings that this machine's user has in variables."""
    hidden = {name: value for name, value in os.environ.items() if name.startswith("WORKBENCH_")}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
