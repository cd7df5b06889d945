"""Measure what a box adds to a command, compared with the bare command and with a bare process.

`python -m benchmarks.sandbox [--times N] [--folders N]`. A box is described, made, checked and left, and the
workspace is compared with what was there before; the aim is at most 15 ms more than the bare command. Needs
bubblewrap. On a busy machine the least of many runs says most: a box takes several processes in turn.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.effects.command_execution import prepare_command
from workbench.effects.sandbox import Sandbox, boxed_argv, boxed_environment
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.host.command_box import BoxPlaces, forget_box, plan_box, quarantine_new_closed

AIM_MS = 15.0
FILES_OF_FOLDER = 10
COMMAND = ("/bin/true",)


def places(base: Path, workspace: Path) -> BoxPlaces:
    """Return the places of a workspace, with the home folder and PATH of who runs this."""
    return BoxPlaces(
        data=f"{base}/data", storage=f"{base}/data/session", caches=f"{base}/data/caches",
        workspace=str(workspace), folder=str(workspace), home=os.path.realpath(Path.home()),
        search_path=os.environ["PATH"],
    )  # fmt: skip


def make_workspace(folder: Path, folders: int, closed: int) -> Path:
    """Make a repository with some folders of ten files, and some paths that are closed."""
    for number in range(folders):
        below = folder / f"package{number % 30}" / f"folder{number}"
        below.mkdir(parents=True)
        for file in range(FILES_OF_FOLDER):
            (below / f"file{file}.py").touch()
    for number in range(closed):
        path = folder / f"vendored{number % 10}" / f"module{number}" / ".npmrc"
        path.parent.mkdir(parents=True)
        path.touch()
    (folder / ".git" / "hooks").mkdir(parents=True)
    for name in (".envrc", ".pre-commit-config.yaml", ".github/workflows/ci.yml", "AGENTS.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def times(work: Callable[[], object], count: int) -> list[float]:
    """Return milliseconds of each of some runs."""
    found: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1000)
    return sorted(found)


async def to_end(argv: tuple[str, ...], folder: str, environment: dict[str, str], *, is_boxed: bool) -> None:
    command = prepare_command(argv, folder, environment, "benchmark", is_boxed=is_boxed)
    end = await command.go(lambda _: None, 60, None, 1_000_000)
    if end.code != 0:
        sys.exit(f"the command ended with {end}")


def boxed(sandbox: Sandbox, where: BoxPlaces, runner: asyncio.Runner) -> None:
    """Do all that one command in a box takes."""
    planned = plan_box(where, "workspace")
    environment = boxed_environment(os.environ, planned.box)
    runner.run(to_end(boxed_argv(sandbox, planned.box, COMMAND), where.folder, environment, is_boxed=True))
    quarantine_new_closed(planned)


def rows(sandbox: Sandbox, base: Path, folders: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is measured: the floor and the bare command first."""
    small = places(base, make_workspace(base / "small", 20, 0))
    large = places(base, make_workspace(base / "large", folders, 0))
    many = places(base, make_workspace(base / "many", 20, 60))
    runner = asyncio.Runner()
    environment = dict(os.environ)
    yield "bare process", lambda: subprocess.run(COMMAND, check=True)
    yield "command, bare", lambda: runner.run(to_end(COMMAND, small.folder, environment, is_boxed=False))
    yield "command in a box", lambda: boxed(sandbox, small, runner)
    yield f"in {folders * FILES_OF_FOLDER:,} files", lambda: boxed(sandbox, large, runner)
    yield "with 60 closed paths in depth", lambda: boxed(sandbox, many, runner)
    yield "  of it: description", lambda: forget_box(plan_box(small, "workspace"))
    yield (
        f"  description in {folders * FILES_OF_FOLDER:,} files",
        lambda: forget_box(plan_box(large, "workspace")),
    )
    landlock = prove_sandbox("landlock")
    if landlock.backend == "landlock":
        yield "command under Landlock", lambda: boxed(landlock, small, runner)


def main() -> None:
    """Print for each row the first run, the least, the median, the multiple of the floor and what it adds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--folders", type=int, default=1_000)
    options = parser.parse_args()
    sandbox = prove_sandbox("auto")
    if sandbox.strength != "full":
        sys.exit(f"no full sandbox here: {sandbox.problem}; {sandbox.remedy}")
    with tempfile.TemporaryDirectory(prefix="workbench-sandbox-") as folder:
        floor = bare = 0.0
        for name, work in rows(sandbox, Path(folder).resolve(), options.folders):
            first = times(work, 1)[0]
            found = times(work, options.times)
            floor, bare = floor or found[0], found[0] if name == "command, bare" else bare
            added = f", {found[0] - bare:+.1f} ms (aim {AIM_MS:.0f})" if name == "command in a box" else ""
            print(
                f"{name:32} first {first:6.1f} ms, least {found[0]:6.1f} ms, median "
                f"{statistics.median(found):6.1f} ms, least {found[0] / floor:5.1f} x floor{added}"
            )


if __name__ == "__main__":
    main()
