"""`workbench demo`: a throw-away project with a recorded agent, on the screen or line by line.

Line by line the agent runs in this process and the user answers by typing.
"""

import asyncio
import contextlib
import gc
import shutil
import sys
import tempfile
import threading
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.cli.approval_line_mode import LineMode, read_lines
from workbench.cli.console import Console, can_draw_screen
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_PARKED, Refusal
from workbench.cli.run import EventConsumer, pause_session
from workbench.cli.run_printers import HumanPrinter
from workbench.domain.events import FileChanged
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Decision
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.path_files import private_folder, read_bounded
from workbench.host import host_stop, workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity, refuse_inside_agents
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.session_provider import provider_of
from workbench.host.session_sandbox import has_full_sandbox, prove_sandbox_once
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock


async def run_demo_by_line(demo: "Demo", session: Session, prompt: str) -> int:
    """Let the agent work until its turn ends or the person leaves; return the exit code."""
    console, journal = demo.console, demo.journal
    lines = TypedLines(sys.stdin.fileno())
    console.say(f"A temporary project: {demo.workspace}. Its agent is recorded; no network, no model.")
    await ask_trust_question(journal, console, demo.workspace, lines, is_typed=sys.stdin.isatty())
    console.say(f"› {prompt}")
    await _drive_demo(demo, session, lines)
    return _exit_code(journal, session.id)


class TypedLines:
    """Lines as they are typed; in one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: deque[str] = deque()
        self.has_ended = False
        self.changed = asyncio.Event()
        read_lines(descriptor, self._hear)

    def _hear(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._keep, line)

    def _keep(self, line: str | None) -> None:
        if line is None:
            self.has_ended = True
        elif line.strip():
            self._lines.append(line)
        self.changed.set()

    async def next(self) -> str | None:
        """Wait for the next line and return it; None when there are no more."""
        while not self._lines and not self.has_ended:
            self.changed.clear()
            await self.changed.wait()
        return self.take()

    def take(self) -> str | None:
        """Return the next line if there is one."""
        return self._lines.popleft() if self._lines else None

    def put_back(self, line: str) -> None:
        """Let a line be the next one again."""
        self._lines.appendleft(line)


async def _drive_demo(demo: "Demo", session: Session, lines: TypedLines) -> None:
    journal = demo.journal
    printer = HumanPrinter(journal, demo.console, says_how=False)
    start = journal.last_position() if session.status == "paused" else 0
    consumer = EventConsumer(journal, session.id, printer, start)
    # Its lines may come from a pipe, one an answer; the files are a throw-away copy.
    mode = LineMode(journal, demo.console, require_seen=False)
    conversation = AnswerLoop(lines, mode, lambda: journal.actions(session.id, states=("pending",)))
    context = open_driver_context(
        journal.home, journal, demo.workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    with DriverLock(journal, driver := driver_identity(journal, demo.workspace, "run")):
        driven = asyncio.ensure_future(
            drive_session(context, driver, session.id, until=conversation.is_over, on_events=consumer.see)
        )
        await _until_either_ends(driven, asyncio.ensure_future(conversation.talk()))
    consumer.require_listener()
    pause_session(journal, session.id, "finished")


async def _until_either_ends(
    driven: "asyncio.Future[SessionProgress]", talking: "asyncio.Future[None]"
) -> None:
    """Wait until the turn ends or the person leaves, and end the other side; what failed is raised."""
    both = (driven, talking)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        results = await asyncio.gather(*both, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _exit_code(journal: Journal, session_id: str) -> int:
    return EXIT_PARKED if journal.actions(session_id, states=("pending",)) else EXIT_OK


TICK_SECONDS = 1.0


class AnswerLoop:
    """Answers by line while a session is driven."""

    def __init__(self, lines: TypedLines, mode: LineMode, waiting: Callable[[], list[Action]]) -> None:
        self._lines, self._mode, self._waiting = lines, mode, waiting
        self._progress: SessionProgress | None = None

    def is_over(self, progress: SessionProgress) -> bool:
        """Take note of where the session stands; True when its turn has ended."""
        self._progress = progress
        self._lines.changed.set()
        return progress.is_idle

    async def talk(self) -> None:
        """Talk until there are no more lines or the person leaves."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._lines.changed.wait(), TICK_SECONDS)
            self._lines.changed.clear()
            if self._rests() and not self._answer():
                return

    def _rests(self) -> bool:
        progress = self._progress
        return progress is not None and progress.is_resting and bool(progress.waiting)

    def _answer(self) -> bool:
        """Take lines until one of them changes what waits; False when it is time to leave."""
        before = self._ids()
        self._mode.look()
        while (line := self._lines.take()) is not None:
            if not self._mode.answer(line):
                return False
            if self._ids() != before:
                # The driver has not seen the answer yet; the next line waits until it rests again.
                self._progress = None
                return True
        return not self._lines.has_ended

    def _ids(self) -> list[str]:
        return [action.id for action in self._waiting()]


TRUST_QUESTION = "May agents read files here without asking? yes, no"
_SANDBOX_ANSWER: Final = ", or sandbox: also run commands inside the sandbox"
_TRUST_ANSWERS: Final = {
    "y": "trust_and_read", "yes": "trust_and_read", "n": "not_now", "no": "not_now",
    "sandbox": "trust_and_sandbox",
}  # fmt: skip
_TRUST_RESULTS: Final = {
    "trust_and_read": "Reads are allowed without a question, everything else asks.",
    "trust_and_sandbox": "Reads, and commands inside the sandbox, do not ask; everything else does.",
    "not_now": "Reads ask, like everything else.",
}


async def ask_trust_question(
    journal: Journal, console: Console, workspace: str, lines: TypedLines, *, is_typed: bool
) -> None:
    """Ask the trust question unless it was answered."""
    from workbench.cli.attached_screen import screen_config

    config = screen_config(journal, workspace)
    action_id = workspace_trust.open_trust_question(
        journal, workspace, offers_sandbox=lambda: has_full_sandbox(config, prove_sandbox_once)
    )
    action = journal.action(action_id) if action_id else None
    if action is None:
        return
    question = TRUST_QUESTION + (_SANDBOX_ANSWER if "trust_and_sandbox" in action.choices else "")
    choice = await _read_trust_answer(console, lines, question, action.choices, is_typed=is_typed)
    verdict = "reject" if choice == "not_now" else "approve"
    decision = Decision(action_id=action.id, verdict=verdict, choice=choice)
    decide_action(journal, decision, action.digest, user_actor())
    console.say(_TRUST_RESULTS[choice])


async def _read_trust_answer(
    console: Console, lines: TypedLines, question: str, offered: Collection[str], *, is_typed: bool
) -> str:
    """Ask until a word of the question is typed; return the choice that it names."""
    console.say(question)
    while (line := await lines.next()) is not None:
        choice = _TRUST_ANSWERS.get(line.strip().lower(), "")
        if choice in offered:
            return choice
        if not is_typed:
            lines.put_back(line)
            return "trust_and_read"
        console.say(question)
    return "not_now"


EXAMPLE = """workbench demo
workbench demo --at ~/workbench-demo
printf 'a 1\\na 2\\na 3\\n' | workbench demo"""
DEMO_PROMPT = "Fix the router so that the tests pass."


class DemoFolder(Struct, frozen=True, kw_only=True):
    """The folder of one demo."""

    folder: Path

    @property
    def home(self) -> Path:
        """Its own data folder."""
        return self.folder / "home"

    @property
    def project(self) -> Path:
        """The workspace."""
        return self.folder / "project"

    @property
    def recording(self) -> Path:
        """What its agent plays."""
        return self.folder / "recording.json"


class Demo(Struct, frozen=True, kw_only=True):
    """One demo as it runs."""

    place: DemoFolder
    journal: Journal
    console: Console

    @property
    def workspace(self) -> str:
        """The real path of its project."""
        return str(self.place.project.resolve())


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--at", metavar="DIR", help="the folder of the demo; one that is there is continued")
    parser.add_argument("--plain", action="store_true", help="line by line instead of on the screen")


def execute(options: Namespace, console: Console) -> int:
    place = copy_example(Path(options.at or tempfile.mkdtemp(prefix="workbench-demo-")))
    home = Home.open(place.home)
    with Journal.open(home) as journal:
        refuse_inside_agents(journal, home, "answer in the demo")
        demo = Demo(place=place, journal=journal, console=console)
        if can_draw_screen() and not options.plain:
            return _run_on_screen(demo)
        session = _demo_session(demo)
        if session is None:
            return _print_finished(demo)
        return _run_by_line(demo, session)


def _run_by_line(demo: Demo, session: Session) -> int:
    import asyncio

    try:
        code = asyncio.run(run_demo_by_line(demo, session, DEMO_PROMPT))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    _print_summary(demo)
    return code


def _run_on_screen(demo: Demo) -> int:
    gc.disable()  # the app lets it go on after its first frame

    show_demo_screen(demo.journal, demo.workspace, lambda: _demo_session(demo))
    _print_summary(demo)
    return EXIT_OK


def _demo_session(demo: Demo) -> Session | None:
    from workbench.cli.run_session import SessionPlan, begin_session, read_recording
    from workbench.config.keys import RECORDED
    from workbench.host import session_requests

    session = own_session(demo.journal, demo.workspace)
    if session is None:
        recording = read_recording(str(demo.place.recording))
        configuration = {"recording": {"path": str(recording.path), "sha256": recording.sha256}}
        plan = SessionPlan(provider=RECORDED.name, model=recording.model, configuration=configuration)
        key = begin_session(demo.journal, plan, demo.workspace, DEMO_PROMPT)
        return demo.journal.session(key)
    if session.open_turn is None and session.reason == "run ended":
        return None
    if session.reason not in ("parked", None):
        session_requests.continue_session(demo.journal, session.id, user_actor())
    return session


def own_session(journal: Journal, workspace: str) -> Session | None:
    """Return the session that the demo began: no run, step or fork that came after it."""
    sessions = journal.sessions(workspace=workspace, kinds=("chat",))
    return min(sessions, key=lambda session: session.created_at, default=None)


def _print_finished(demo: Demo) -> int:
    _print_summary(demo)
    demo.console.say("This demo has come to its end. workbench demo starts another.")
    return EXIT_OK


def _print_summary(demo: Demo) -> None:
    demo.console.say_lines(summary_lines(demo.place, demo.journal, demo.workspace))


EXAMPLE_FOLDER: Final = Path(__file__).resolve().parents[1] / "examples" / "demo"
_PYTHON_COMMAND: Final = b"python3 -m unittest"


def copy_example(folder: Path) -> DemoFolder:
    """Copy the example into a folder unless it is there."""
    try:
        place = DemoFolder(folder=private_folder(folder.expanduser().absolute()))
        if not place.recording.exists():
            _require_empty_folder(place.folder)
            _copy_files(place.folder)
    except FileRefused as error:
        raise Refusal("the demo was not started", f"{error.path}: {error.why}", error.remedy) from None
    return place


def _require_empty_folder(folder: Path) -> None:
    if any(folder.iterdir()):
        why = f"{folder} holds other things"
        raise Refusal("the demo was not started", why, "name a new or an empty folder with --at")


def _copy_files(folder: Path) -> None:
    with Root(folder) as root:
        for name, data in _example_files():
            root.commit(root.stage(name, data, 0o644), lambda existing: existing is None)


def _example_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the example, the recording last: where it is, everything is."""
    for path in sorted((EXAMPLE_FOLDER / "project").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(EXAMPLE_FOLDER)), read_bounded(path) or b""
    yield "recording.json", _with_this_python(read_bounded(EXAMPLE_FOLDER / "recording.json") or b"")


def _with_this_python(recording: bytes) -> bytes:
    """Name this Python where there is no `python3` to be found."""
    if shutil.which("python3"):
        return recording
    return recording.replace(_PYTHON_COMMAND, f"{sys.executable} -m unittest".encode())


def summary_lines(place: DemoFolder, journal: Journal, workspace: str) -> Iterable[str]:
    """Yield the last words of a demo."""
    session = own_session(journal, workspace)
    if session is None:
        return
    yield written_files_line(journal, session)
    yield test_result_line(journal.calls(session.id))
    waiting = len(journal.actions(session.id, states=("pending",)))
    if waiting:
        yield f"Parked: {waiting} {'waits' if waiting == 1 else 'wait'} for an answer."
    if waiting or session.open_turn is not None or session.reason in ("unattended", "user", "host lost"):
        yield f"workbench demo --at {place.folder} continues it."
    else:
        yield f"All of it is in {place.folder}; delete that folder when you are done."


def written_files_line(journal: Journal, session: Session) -> str:
    """Return which files were written, with their lines."""
    bodies = [event.body for event in journal.events(session.id) if isinstance(event.body, FileChanged)]
    if not bodies:
        return "Written: nothing."
    files = (f"{body.path} (plus {body.added} minus {body.removed})" for body in bodies)
    return f"Written: {', '.join(files)}."


def test_result_line(calls: Iterable[Call]) -> str:
    """Return how the test run went."""
    runs = [call for call in calls if call.tool == "run_in_terminal" and call.started_at is not None]
    if not runs:
        return "Tests: not run."
    last = runs[-1]
    return "Tests: green." if last.state == "succeeded" else f"Tests: red (exit {last.exit_code})."


OPENING_LINES: Final = (
    "A recorded agent starts as soon as you",
    "have answered the question about trust.",
    "No network, no key, no model.",
)


class DelayedStart(threading.Thread):
    """Waits until the trust question is answered, then begins the demo's session."""

    def __init__(self, journal: Journal, action_id: str, begin: Callable[[], object]) -> None:
        super().__init__(name="demo opening", daemon=True)
        self._journal, self._action_id, self._begin = journal, action_id, begin
        self._is_over = threading.Event()

    def run(self) -> None:
        """Wait and begin."""
        while not self._is_over.is_set():
            cursor = self._journal.last_position()
            action = self._journal.action(self._action_id)
            if action is None or action.state != "pending":
                self._begin()
                return
            self._journal.wait(cursor, 1.0)

    def stop(self) -> None:
        """End without beginning anything."""
        self._is_over.set()
        if self.is_alive():
            self.join(5)


def show_demo_screen(journal: Journal, workspace: str, begin: Callable[[], Session | None]) -> None:
    """Show the demo until the person leaves it; then its host ends, for nobody would answer it."""
    from workbench.backend.local_backend import LocalBackend
    from workbench.cli.attached_screen import screen_config, show_screen

    config = screen_config(journal, workspace)

    class DemoBackend(LocalBackend):
        opening = OPENING_LINES

        def has_model(self) -> bool:
            return True

    backend = DemoBackend(journal.home, journal, workspace)

    def start() -> None:
        if begin() is not None:
            backend.ensure_host(workspace)

    question = workspace_trust.open_trust_question(
        journal, workspace, offers_sandbox=lambda: workspace_trust.may_have_full_sandbox(config)
    )
    opening = DelayedStart(journal, question, start) if question else None
    if opening is None:
        start()
    try:
        # To wait for the journal loads a watcher, which no first frame may wait for.
        show_screen(
            journal, workspace, backend, config, then=(lambda _: opening.start()) if opening else None
        )
    finally:
        if opening is not None:
            opening.stop()
        host_stop.stop_host(journal.home, workspace)
