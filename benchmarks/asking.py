"""What `workbench ask` takes: `python -m benchmarks.asking` prints each figure beside its aim.

The context of a folder with 10,000 files, 500 of them in docs/, with a README, a Makefile and scripts of npm:
as much documentation as may be sent at all (aim: 150 ms, processor time). From the command to the first byte
that is sent, beside a bare program that sends a request by httpx (aim: 1.5 x, by the clock and by processor
time, taking turns). 10,000 logs listed (aim: 300 ms) and filtered (aim: 50 ms), processor time of the query.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from workbench.ask.context import AskContext, collect_context
from workbench.cli.ask_logs import log_page
from workbench.cli.session_search import SessionFilters, parse_filters
from workbench.config.sections import AskSettings
from workbench.domain.events import (
    CommandSuggested,
    ContextCollected,
    Event,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.values import Actor, Body
from workbench.journal.home import Home
from workbench.journal.journal import Journal

FOLDERS, FILES, DOCUMENTS = 95, 100, 500
AIM_MS = 150


def make_tree(root: Path) -> None:
    """Make 10,000 files and those that are read."""
    for folder in range(FOLDERS):
        (root / f"src{folder}").mkdir()
        for file in range(FILES):
            (root / f"src{folder}" / f"module{file}.py").touch()
    (root / "docs").mkdir()
    for page in range(DOCUMENTS):
        text = f"# Page {page}\n\n## Usage\n\n" + f"Run the program with its option number {page}.\n" * 100
        (root / "docs" / f"page{page}.md").write_text(text)
    (root / "README.md").write_text("# x\n\n## Usage\n\n" + "Use `make all` and look at it.\n" * 1_200)
    (root / "Makefile").write_text("".join(f"target{n}: other ## Does {n}\n" for n in range(1_000)))
    scripts = ", ".join(f'"script{n}": "node run.js {n}"' for n in range(100))
    (root / "package.json").write_text(f'{{"scripts": {{{scripts}}}}}')


BARE = """import httpx, sys
with httpx.Client() as client:
    client.post(sys.argv[1] + "/chat/completions", json={"model": "m", "messages": []})
"""
ROUNDS, LOGS = 9, 10_000
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def first_byte(argv: list[str], server: socket.socket, env: dict[str, str], cwd: str) -> tuple[float, float]:
    """Return milliseconds from a command to its first byte: by the clock, and of the processor."""
    begun = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=quiet, stdout=quiet, stderr=quiet)
    connection, _ = server.accept()
    connection.recv(1)
    took = (time.perf_counter() - begun) * 1000
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    process.kill()
    process.wait()
    connection.close()
    return took, sum(map(int, fields[11:13])) * _TICK_MS


def measure_first_byte(folder: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        env = {**os.environ, "WORKBENCH_HOME": f"{folder}/home"}
        ask = [sys.executable, "-m", "workbench", "ask", "--print", "--base-url", url, "--model", "m", "x"]
        bare = [sys.executable, "-c", BARE, url]
        rows = [
            (first_byte(ask, server, env, folder), first_byte(bare, server, env, folder))
            for _ in range(ROUNDS)
        ]
    for index, word in enumerate(("clock", "processor")):
        ours, floor = (statistics.median(row[side][index] for row in rows) for side in (0, 1))
        print(f"first byte, {word}: {ours:.0f} ms, bare {floor:.0f} ms: {ours / floor:.2f} x (aim 1.5 x)")


def log_events(journal: Journal, number: int) -> list[Event]:
    """Return the events of one command, as `ask` records them."""
    key, user = journal.clock.new_id(), Actor(kind="user", via="cli")
    command = f"tool{number % 500} --step {number} 'path {number % 7}'"
    status = ("accepted", "rejected", "quit")[number % 3]
    bodies: list[Body] = [
        SessionCreated(
            session_kind="ask", title=f"words {number}", workspace="/w", provider="p", model=f"m{number % 2}"
        ),
        ContextCollected(text="context " * 200),
        PromptSubmitted(text=f"words {number} about thing{number % 100}"),
        ReplyCompleted(text=f'{{"command": "{command}", "explanation": "It does."}}'),
        CommandSuggested(command=command, explanation="It does."),
        SessionStatusChanged(status="terminated", detail=status),
    ]  # fmt: skip
    return [journal.event(body, key, user) for body in bodies]


def measured(work: Callable[[], object], rounds: int = 7) -> float:
    spent: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        spent.append((time.process_time() - begun) * 1000)
    return statistics.median(spent)


def measure_logs(folder: str) -> None:
    with Journal.open(Home.open(Path(folder, "logs"))) as journal:
        for first in range(0, LOGS, 500):
            journal.append([event for n in range(first, first + 500) for event in log_events(journal, n)])
        every = SessionFilters(limit=LOGS)
        names = ("model", "provider", "origin", "kind", "tag", "since", "until")
        usual = {**dict.fromkeys(names), "archived": False, "sort": "updated", "order": "desc", "offset": 0}
        ask = {
            "--status accepted --model m1": {"status": "accepted", "model": "m1"},
            "--search tool77": {"search": "tool77"},
            "--search thing42 --status quit": {"search": "thing42", "status": "quit"},
        }
        print(f"{LOGS:,} logs listed: {measured(lambda: log_page(journal, every)):.0f} ms (aim 300 ms)")
        for words, wanted in ask.items():
            options = Namespace(**{"status": None, "search": None, "limit": 100, **usual, **wanted})
            filters = parse_filters(options)
            spent = measured(lambda filters=filters: log_page(journal, filters))
            count = len(log_page(journal, filters)[0])
            print(f"filtered by {words}: {count} rows, {spent:.0f} ms (aim 50 ms)")


def main() -> None:
    measure_context()
    with tempfile.TemporaryDirectory() as folder:
        measure_first_byte(folder)
        measure_logs(folder)


def measure_context() -> None:
    with tempfile.TemporaryDirectory() as made:
        root, home = Path(made, "tree"), Path(made, "home")
        root.mkdir()
        home.mkdir()
        make_tree(root)
        spent: list[float] = []
        context = AskContext()
        for _ in range(15):
            begun = time.process_time()
            context = collect_context(
                str(root), AskSettings(), data_folder=home, environ={}, is_denied=lambda _: False
            )
            spent.append((time.process_time() - begun) * 1000)
    print(f"context of 10,000 files, {len(context.documentation):,} characters: first {spent[0]:.0f} ms,")
    print(f"then {statistics.median(spent[1:]):.0f} ms (aim {AIM_MS} ms)")


if __name__ == "__main__":
    main()
