"""Two imports of one folder and a watch over it, one of them killed at a fault point: nothing lost, nothing twice.

WORKBENCH_IMPORT_RUNS says how many deaths; each is another point and another passing of it.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys

import pytest

from tests.support.sizes import size
from tests.support.waits import PATIENCE
from tests.unit.host.test_import_growth import claude_lines, told
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal

pytestmark = pytest.mark.faults
RUNS = size("WORKBENCH_IMPORT_RUNS", 2, 24)
POINTS = ("journal.before_commit", "journal.after_commit", "journal.blob_written", "journal.blob_renamed")
WATCH = (
    "import sys, time; from pathlib import Path\n"
    "from workbench.host.import_watch import ImportWatch; from workbench.host.import_choice import set_watch\n"
    "from workbench.journal.home import Home; from workbench.journal.journal import Journal\n"
    "home = Home.open(Path(sys.argv[1])); set_watch(home, is_on=True)\n"
    "with Journal.open(home) as journal:\n"
    "    watch = ImportWatch(home, journal, sys.argv[1]); print('on', flush=True); sys.stdin.read(); watch.close()\n"
)


def write_sessions(folder, chance):
    """Write sessions of different lengths, two with outputs that are stored beside their events."""
    rows = [json.loads(line) for line in claude_lines()]
    for number in range(6):
        name = f"s{number}"
        some = [
            dict(row, sessionId=name, uuid=f"{name}{row['uuid']}") for row in rows[: chance.randrange(20, 70)]
        ]
        for row in some:
            row["parentUuid"] = f"{name}{row['parentUuid']}" if row["parentUuid"] else None
            for block in row["message"]["content"] if number < 2 else ():
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    block["content"] += f" {number} " + "words of an output, " * 2_500
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))


def importing(home, user, folder, faults=""):
    env = {**os.environ, "HOME": str(user), "WORKBENCH_HOME": str(home), "WORKBENCH_FAULTS": faults}
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", "sessions", "import", str(folder), "--json"], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize("number", range(1, RUNS + 1))
def test_a_killed_import_beside_another_one_loses_and_doubles_nothing(tmp_path, number):
    chance = random.Random(number)
    user, home, whole = (tmp_path / name for name in ("user", "home", "whole"))
    folder = user / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    write_sessions(folder, chance)
    env = {**os.environ, "HOME": str(user), "WORKBENCH_HOME": str(home)}
    # The one that dies starts first, so that it nearly always has the turn.
    dying = importing(home, user, folder, f"{POINTS[number % len(POINTS)]}:kill:{chance.randint(1, 8)}")
    watch = subprocess.Popen(
        [sys.executable, "-c", WATCH, str(home)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        two = [dying, importing(home, user, folder)]
        codes = []
        for child in two:
            _, err = child.communicate(timeout=PATIENCE)
            codes.append(child.returncode)
            assert child.returncode in (0, -signal.SIGKILL), err.decode()
        assert codes[1] == 0
        assert watch.stdout.readline() == b"on\n"
        with (folder / "s5.jsonl").open("a") as file:  # one grows after that
            file.write(json.dumps({
                "type": "user", "uuid": "last", "parentUuid": None, "sessionId": "s5",
                "timestamp": "2026-11-21T13:00:00Z", "message": {"role": "user", "content": "and more"},
            }) + "\n")  # fmt: skip
        third = importing(home, user, folder)
        _, err = third.communicate(timeout=PATIENCE)
        assert third.returncode == 0, err.decode()
    finally:
        watch.communicate(timeout=PATIENCE)
    with Journal.open(Home.open(home)) as journal:
        found = told(journal)
        assert index_table_differences(journal) == []
    whole.mkdir(mode=0o700)
    shutil.copy(home / "key", whole / "key")  # what names stored bytes is the same
    with Journal.open(Home.open(whole)) as journal:
        import_sources(journal, find_sources([str(folder)]), ImportRequest(), SilentProgress())
        assert told(journal) == found
        assert len(found) >= 6 and any(
            "and more" in body for rows in found.values() for *_, body, _, _ in rows
        )
