"""What makes tests quicker gives them what the slow way gives: forks for starts, copies of stages for driven ones."""

import json
import os
import subprocess
import sys

from tests.support.fork_server import run_forked
from tests.support.kept_stages import KeptStages
from tests.support.stage import Stage
from tests.tui.screens import FILES, ROUTER, THREE, driven
from workbench.effects.clock import ManualClock


def test_a_fork_says_and_ends_as_a_started_program_does(tmp_path):
    env = {**os.environ, "WORKBENCH_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}
    for words in (["--version"], ["sessions", "list"], ["no-such-command"], ["sessions", "show", "none"]):
        forked = run_forked("workbench.cli.main", *words, env=env, cwd=tmp_path)
        started = subprocess.run(
            [sys.executable, "-m", "workbench", *words], env=env, cwd=tmp_path, capture_output=True, text=True
        )
        assert (forked.returncode, forked.stdout, forked.stderr) == (
            started.returncode,
            started.stdout,
            started.stderr,
        )


def test_a_fork_keeps_nothing_of_the_one_before(tmp_path):
    for name in ("one", "two"):
        home = tmp_path / name
        home.mkdir()
        (home / "config.json").write_text(
            json.dumps({"config_version": 1, "max_session_messages": len(name) + 40})
        )
        env = {**os.environ, "WORKBENCH_HOME": str(home)}
        found = run_forked("workbench.cli.main", "config", "show", "--json", env=env, cwd=tmp_path)
        assert json.loads(found.stdout)["config"]["max_session_messages"] == 43, found
        (home / "config.json").write_text(json.dumps({"config_version": 1, "max_session_messages": 77}))
        found = run_forked("workbench.cli.main", "config", "show", "--json", env=env, cwd=tmp_path)
        assert json.loads(found.stdout)["config"]["max_session_messages"] == 77, found


def rows(stage):
    return [(event.position, event.kind, event.at, str(event.body)) for event in stage.journal.events()]


def test_a_kept_stage_is_as_it_was_however_the_test_before_left_it(tmp_path):
    kept, drives = KeptStages(tmp_path / "kept"), []

    def drive(stage):
        drives.append(driven(stage))

    slow = driven(Stage(tmp_path / "slow", THREE, clock=ManualClock(), files=FILES))
    first = kept.stage(THREE, FILES, {}, drive)
    before, next_id = rows(first), first.journal.clock.new_id()
    assert ([row[:3] for row in before], next_id) == (
        [row[:3] for row in rows(slow)],
        slow.journal.clock.new_id(),
    )
    slow.close()
    assert len(first.waiting()) == 3
    assert kept.stage(THREE, FILES, {}, drive) is None, "the first is still open"
    first.reject(first.waiting()[0])
    (first.workspace / "router.py").write_text("another\n")
    first.journal.close()
    second = kept.stage(THREE, FILES, {}, drive)
    assert (rows(second), second.journal.clock.new_id(), second.read("router.py")) == (
        before,
        next_id,
        ROUTER.encode(),
    )
    second.close()
    other = kept.stage(THREE, {"router.py": "two\n"}, {}, drive)
    assert (len(drives), other.read("router.py")) == (2, b"two\n")
    other.close()
