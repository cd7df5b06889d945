"""Measure importing: the reader alone, lines scrubbed and stored, a whole history, a library, watching.

    python benchmarks/importing.py [--mb N] [--history N] [--sessions N]

The lines are made up in the shape of Claude Code's. Speeds of readers are held to processor time, because
machines are shared: ≥ 20 MB/s for the reader, ≥ 3 MB/s stored, ≤ 80 MB of memory more for 100 MB.

`--history`: MB of files in an agent's folder, imported by the command (≥ 6 MB/s by the clock, ≤ 80 MB), again
unchanged (≤ 2 s), and watched at rest (≤ 1 %). `--sessions`: how many small ones are imported before the
screen is started, keys are pressed and words are looked for. 0 leaves either out. Exits with 1 if one fails.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from workbench.formats import detect
from workbench.formats.detect import detect_format
from workbench.journal.home import Home
from workbench.journal.imports import SessionImport
from workbench.journal.journal import Journal
from workbench.tui.library.library_list import LibraryModel, LibraryQuery

WORDS = (
    "the", "handler", "of", "this", "route", "returns", "a", "value", "that", "its", "tests", "expect", "to",
    "be", "list", "paths", "and", "keys",
)  # fmt: skip


def prose(length):
    """Return some words."""
    return " ".join(random.choice(WORDS) for _ in range(length))


def code(lines):
    """Return what looks like a file."""
    return "\n".join(
        f"    {random.choice(WORDS)}_{n} = compute({random.choice(WORDS)}, {n})" for n in range(lines)
    )


def turn(number):
    """Yield the lines of one prompt, a thought, a call and its result."""
    stamp = f"2026-11-21T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    common = {
        "sessionId": "s",
        "cwd": "/home/me/shop",
        "version": "2.0",
        "gitBranch": "main",
        "timestamp": stamp,
    }

    def line(kind, part, content, **more):
        message = {"role": kind, "content": content, "id": f"m{number}", "model": "big",
                   "usage": {"input_tokens": 900, "output_tokens": 90}}  # fmt: skip
        return {**common, "type": kind, "uuid": f"u{number}.{part}", "message": message, **more}

    path = f"/home/me/shop/src/{random.choice(WORDS)}.py"
    yield line("user", 0, prose(30))
    yield line("assistant", 1, [{"type": "thinking", "thinking": prose(60)}])
    yield line("assistant", 2, [{"type": "text", "text": prose(50)}])
    yield line(
        "assistant",
        3,
        [{"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": path}}],
    )
    said = code(40)
    yield line("user", 4, [{"type": "tool_result", "tool_use_id": f"t{number}", "content": said}],
               toolUseResult={"type": "text", "file": {"filePath": path, "content": said}})  # fmt: skip


def write(path, size):
    """Write lines until the file is so large."""
    written = number = 0
    with path.open("w") as file:
        while written < size:
            for value in turn(number):
                written += file.write(json.dumps(value) + "\n")
            number += 1


def write_history(root, size, files=136):
    """Write a folder of an agent with so many bytes, and return it."""
    written = number = 0
    for index in range(files):
        path = root / f".claude/projects/-home-me-p{index % 12}" / f"session-{index}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            while written < size * (index + 1) / files:
                for value in turn(number):
                    value |= {"sessionId": f"session-{index}", "uuid": f"{index}.{value['uuid']}"}
                    if "message" in value:
                        value["message"]["id"] = f"m{index}.{number}"
                    written += file.write(json.dumps(value) + "\n")
                number += 1
    return root


def write_small(root, count):
    """Write so many sessions of one prompt and a reply."""
    for index in range(count):
        path = root / f".claude/projects/-home-me-p{index % 40}" / f"small-{index}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            for value in turn(index):
                value |= {"sessionId": f"small-{index}", "uuid": f"{index}.{value['uuid']}"}
                file.write(json.dumps(value) + "\n")


def command(user, home, *words):
    """Run the program; returns seconds by the clock and of the processor, and its most memory in MB."""
    env = {**os.environ, "HOME": str(user), "WORKBENCH_HOME": str(home)}
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "workbench", *words], env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, words
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_history(folder, size):
    """Import a whole history by the command, again, and watch it at rest."""
    user, home = write_history(folder / "user", size * 1_000_000), folder / "home"
    (folder / "nobody").mkdir()
    _, _, base = command(folder / "nobody", folder / "empty", "sessions", "import", "--yes", "--json")
    seconds, worked, most = command(user, home, "sessions", "import", "--yes", "--json")
    again, worked_again, _ = command(user, home, "sessions", "import", "--yes", "--json")
    print(f"a whole history    {size / seconds:6.1f} MB/s  (≥ 6) by the clock, {size} MB in {seconds:.0f} s")
    print(f"of the processor   {size / worked:6.1f} MB/s, {worked:.0f} s; again {worked_again:.2f} s")
    print(f"memory             {most:6.1f} MB    (≤ 80), {base:.0f} MB for nothing")
    print(f"again, unchanged   {again:6.2f} s     (≤ 2)")
    share = watched(user, home)
    print(f"watching at rest   {share:6.2f} %     (≤ 1) of a processor")
    return size / seconds >= 6 and most <= 80 and again <= 2 and share <= 1


def watched(user, home, seconds=40):
    """Return the share of a processor that watching takes while nothing changes, in percent."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from workbench.host.import_watch import ImportWatch\n"
        "from workbench.host.import_choice import set_watch\n"
        "from workbench.journal.home import Home; from workbench.journal.journal import Journal\n"
        "home = Home.open(Path(sys.argv[1])); set_watch(home, is_on=True)\n"
        "with Journal.open(home) as journal:\n"
        "    watch = ImportWatch(home, journal, sys.argv[1]); time.sleep(20); begin = time.process_time()\n"
        f"    time.sleep({seconds}); print(time.process_time() - begin); watch.close()\n"
    )
    env = {**os.environ, "HOME": str(user)}
    said = subprocess.run(
        [sys.executable, "-c", code, str(home)], env=env, capture_output=True, check=True, text=True
    )
    return 100 * float(said.stdout) / seconds


def measure_library(folder, count):
    """Import many small sessions, then start the screen, press keys in the library and look for words."""
    user, home, workspace = folder / "many", folder / "many-home", folder / "workspace"
    workspace.mkdir()
    write_small(user, count)
    seconds, _, most = command(user, home, "sessions", "import", "--yes", "--json")
    again, _, _ = command(user, home, "sessions", "import", "--yes", "--json")
    print(f"{count} sessions    {count / seconds:6.0f} a second, {most:.0f} MB; again {again:.2f} s (≤ 2)")
    empty, _ = on_screen(user, folder / "none-home", workspace)
    full, keys = on_screen(user, home, workspace)
    keys.sort()
    late = keys[int(len(keys) * 0.95)]
    print(f"start              {full:6.0f} ms    with none {empty:.0f} ms")
    print(
        f"keys               {late:6.1f} ms    (≤ 16.7) p95, page down too; p50 {keys[len(keys) // 2]:.1f} ms"
    )
    with Journal.open(Home.open(home)) as journal:
        model = LibraryModel(journal, lambda _provider, _sent, _received: None)
        model.read()
        taken = []
        for text in ("handler", "rename handler", "paths keys", "nothing-has-this"):
            for _ in range(5):
                begin = time.perf_counter()
                model.find(LibraryQuery(text=text))
                taken.append((time.perf_counter() - begin) * 1000)
    found = sorted(taken)[int(len(taken) * 0.95)]
    print(f"search             {found:6.1f} ms    (≤ 50) p95")
    return again <= 2 and full <= 1.15 * empty and late <= 16.7 and found <= 50


def on_screen(user, home, workspace):
    """Start the screen at a terminal; returns milliseconds until it is drawn and until each key is."""
    env = {**os.environ, "HOME": str(user), "WORKBENCH_HOME": str(home), "TERM": "xterm-256color"}
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe(sys.executable, [sys.executable, "-m", "workbench", str(workspace)], env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    begin = time.perf_counter()
    seen = b""
    while b"all keys" not in seen:
        seen += os.read(terminal, 1 << 16)
    started, keys = (time.perf_counter() - begin) * 1000, []
    settle(terminal, 3)
    os.write(terminal, b"\x1b")
    settle(terminal, 1)
    os.write(terminal, b"5")
    settle(terminal, 4)
    for key in (b"j", b"\x1b[6~") * 40:
        begin = time.perf_counter()
        os.write(terminal, key)
        if select.select([terminal], [], [], 1)[0]:
            os.read(terminal, 1 << 16)
            keys.append((time.perf_counter() - begin) * 1000)
        settle(terminal, 0.15)
    os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass
    os.waitpid(pid, 0)
    return started, keys


def settle(terminal, seconds):
    """Read what is drawn until nothing is for a while."""
    while select.select([terminal], [], [], seconds)[0]:
        os.read(terminal, 1 << 16)


def peak():
    """Return the most memory this process had, in MB."""
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main():
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--history", type=int, default=300)
    parser.add_argument("--sessions", type=int, default=20_000)
    options = parser.parse_args()
    size = options.mb * 1_000_000
    random.seed(1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "lines"
        write(path, size)
        with path.open("rb") as stream:
            begin = time.process_time()
            count = sum(1 for _ in detect_format(stream, "x").items)
            parsed = size / 1e6 / (time.process_time() - begin)
        with Journal.open(Home.open(Path(folder) / "home")) as journal, path.open("rb") as stream:
            before, begin, wall = peak(), time.process_time(), time.perf_counter()
            intake = SessionImport(journal)
            opened = detect.open_file(
                stream, "x", 0, None, store=intake.store, current_id=intake.current_id, recorded_at=intake.now
            )
            for event in opened.events:
                intake.add(event)
            intake.finish()
            stored, real = (
                size / 1e6 / (time.process_time() - begin),
                size / 1e6 / (time.perf_counter() - wall),
            )
        grown = peak() - before
    print(f"parser alone       {parsed:6.1f} MB/s  (≥ 20), {count} records")
    print(f"scrubbed, stored   {stored:6.1f} MB/s  (≥ 3) of processor time, {real:.1f} MB/s by the clock")
    print(f"memory more        {grown:6.1f} MB    (≤ 80) for {size // 1_000_000} MB")
    is_held = parsed >= 20 and stored >= 3 and grown <= 80
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        is_held &= not options.history or measure_history(Path(folder), options.history)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        is_held &= not options.sessions or measure_library(Path(folder), options.sessions)
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
