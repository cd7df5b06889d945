"""`workbench demo`: a throw-away project with a recorded agent, on the screen or line by line."""

import gc
import shutil
import sys
import tempfile
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.cli.console import Console, can_draw_screen
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_INTERRUPTED, EXIT_OK, Refusal
from workbench.domain.events import FileChanged
from workbench.domain.rows import Call, Session
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root, private_folder, read_bounded
from workbench.host import lifecycle, workspace_trust
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.home import Home
from workbench.journal.journal import Journal

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
    home: Home
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
        demo = Demo(place=place, home=home, journal=journal, console=console)
        if can_draw_screen() and not options.plain:
            return _run_on_screen(demo)
        session = _demo_session(demo)
        if session is None:
            return _print_finished(demo)
        return _run_by_line(demo, session)


def _run_by_line(demo: Demo, session: Session) -> int:
    import asyncio

    from workbench.cli.demo_line_mode import run_demo_by_line

    try:
        code = asyncio.run(run_demo_by_line(demo, session, DEMO_PROMPT))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    _print_summary(demo)
    return code


def _run_on_screen(demo: Demo) -> int:
    gc.disable()  # the app lets it go on after its first frame

    show_demo_screen(demo.home, demo.journal, demo.workspace, lambda: _demo_session(demo))
    _print_summary(demo)
    return EXIT_OK


def _demo_session(demo: Demo) -> Session | None:
    from workbench.cli.run_session import SessionPlan, begin_session, load_recording
    from workbench.config.keys import RECORDED
    from workbench.host import session_requests

    session = own_session(demo.journal, demo.workspace)
    if session is None:
        recording = load_recording(str(demo.place.recording))
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
    for line in summary_lines(demo.place, demo.journal, demo.workspace):
        demo.console.say(line)


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


def show_demo_screen(
    home: Home, journal: Journal, workspace: str, begin: Callable[[], Session | None]
) -> None:
    """Show the demo until the person leaves it; then its host ends, for nobody would answer it."""
    from workbench.cli.local_backend import LocalBackend
    from workbench.cli.screen import screen_config, show_screen

    config = screen_config(home, journal, workspace)

    class DemoBackend(LocalBackend):
        opening = OPENING_LINES

        def has_model(self) -> bool:
            return True

    backend = DemoBackend(home, journal, workspace)

    def start() -> None:
        if begin() is not None:
            backend.ensure_host(workspace)

    question = workspace_trust.open_trust_question(journal, workspace)
    opening = DelayedStart(journal, question, start) if question else None
    if opening is None:
        start()
    try:
        # To wait for the journal loads a watcher, which no first frame may wait for.
        show_screen(
            home, journal, workspace, backend, config, then=(lambda _: opening.start()) if opening else None
        )
    finally:
        if opening is not None:
            opening.stop()
        lifecycle.stop_host(home, workspace)
