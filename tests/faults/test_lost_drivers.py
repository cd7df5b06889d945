"""Drivers and owners of commands killed at random moments: nothing runs twice without a person's word."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.runs import USER, Runs
from tests.support.sizes import size
from tests.support.waits import PATIENCE, until
from workbench.effects.process_table import ProcessIdentity, is_running
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.host.steps.run_requests import resume_run
from workbench.pipelines.lost_steps import AGAIN, DONE

pytestmark = pytest.mark.faults

STEPS = size("WORKBENCH_KILLED_STEPS", 6, 200)
KILLS = size("WORKBENCH_KILLS", 2, 20)
SEED = int(os.environ.get("WORKBENCH_KILL_SEED", "1"))
DRIVE = "from tests.support import drive_a_run; import sys; drive_a_run.main(sys.argv[1:])"


def steps(chance):
    """Return command steps that each note their start and end, and print a line in between."""
    lines = []
    for number in range(STEPS):
        seconds = f"0.{chance.randrange(30):02}"
        line = (
            f"echo start s{number} >> log; echo printed s{number}; sleep {seconds}; echo end s{number} >> log"
        )
        needs = f", dependencies: [s{chance.randrange(number)}]" if number and chance.random() < 0.5 else ""
        lines.append(
            f"  - {{id: s{number}, workspace: {{root: ./}}{needs}, exec: {{type: command, source: '{line}'}}}}"
        )
    return "\n" + "\n".join(lines) + "\n"


def owners(here):
    """Return the owners that work, as the records of jobs name them."""
    found = {}
    for path in (here.home.path / "jobs").glob("*/*/job.json"):
        with suppress(OSError, ValueError, KeyError):
            owner = ProcessIdentity(**json.loads(path.read_text())["content"]["owner"])
            if is_running(owner):
                found[owner.pid] = owner
    return found


def drives(here, run, chance, kind, most):
    """Drive a run in a process, and kill what `kind` names now and then. Return how often that was done."""
    driver, kills = started(here, run), 0
    while driver.poll() is None and kills < most:
        wanted = len(log(here)) + chance.randrange(1, 12)
        until(lambda: driver.poll() is not None or len(log(here)) >= wanted)  # noqa: B023 -- at once
        if driver.poll() is not None:
            break
        victims = [driver.pid] if kind in ("host", "both") else []
        victims += list(owners(here)) if kind in ("owner", "both") else []
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        kills += 1
        if kind != "owner":
            break
    output, errors = driver.communicate(timeout=PATIENCE * 3)
    assert driver.returncode in (0, -signal.SIGKILL), (output, errors.decode())
    return kills


def log(here):
    path = here.root / "log"
    return path.read_text().splitlines() if path.exists() else []


def answered(here, run, words):
    """Answer what is asked about lost steps, as a person does who has looked: done, or again."""
    while asked := here.waiting(run):
        step = next(event.step for event in here.journal.events(run) if event.action_id == asked[0].id)
        choice = DONE if f"end {step}" in log(here) else AGAIN
        words[step, choice] += 1
        here.answer(run, choice=choice)


@pytest.mark.parametrize("kind", ["host", "owner", "both"])
def test_nothing_runs_twice_and_no_output_is_lost(tmp_path, kind):
    chance, here = random.Random(f"{SEED} {kind}"), Runs(tmp_path)
    run, words, killed = here.request(here.pipeline(steps(chance))), Counter(), 0
    for _ in range(KILLS * 4):
        if here.journal.pipeline_state(run).status in ("completed", "failed"):
            break
        killed += drives(here, run, chance, kind, KILLS - killed)
        answered(here, run, words)
        if here.journal.pipeline_state(run).status == "running":
            resume_run(here.journal, run, USER)
    check(here, run, words, killed)
    here.close()


def test_the_next_driver_moves_out_what_a_program_inside_left(tmp_path, monkeypatch):
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    if prove_sandbox("auto").strength != "full":
        pytest.skip("no full sandbox")
    here = Runs(tmp_path)
    source = "echo start >> log; echo x > .envrc; while [ ! -e go ]; do sleep 0.05; done; echo end >> log"
    step = f"exec: {{type: command, source: '{source}'}}"
    run = here.request(here.pipeline(f"  - {{id: a, sandbox: workspace, workspace: {{root: ./}}, {step}}}"))
    driver = started(here, run)
    until((here.root / ".envrc").exists)
    driver.kill()
    driver.communicate()
    (here.root / "go").touch()
    resume_run(here.journal, run, USER)
    assert here.drive(run).status == "failed"
    assert ".envrc" in here.step(run, "a").error_message
    assert not (here.root / ".envrc").exists()
    assert log(here) == ["start", "end"]
    here.close()


def started(here, run):
    words = [sys.executable, "-c", DRIVE, str(here.home.path), str(here.root), run]
    root, pipe = Path(__file__).parents[2], subprocess.PIPE
    return subprocess.Popen(words, cwd=root, stdout=pipe, stderr=pipe)


def check(here, run, words, killed):
    row = here.journal.pipeline_state(run)
    assert row.status == "completed", row.error_message
    counts = Counter(log(here))
    asked = {
        choice: sum(count for (_, one), count in words.items() if one == choice) for choice in (AGAIN, DONE)
    }
    print(f"killed {killed} times; starts {starts(counts)}; answered {asked}")
    for number in range(STEPS):
        step = f"s{number}"
        assert counts[f"start {step}"] <= 1 + words[step, AGAIN], step
        assert counts[f"end {step}"] == 1, step
        assert words[step, DONE] or f"printed {step}" in printed(here, run, step), step


def starts(counts):
    return sum(count for line, count in counts.items() if line.startswith("start "))


def printed(here, run, step):
    """Return what the ends of a step say that it printed."""
    return "".join(body.output for name, body in here.bodies(run, "step.changed") if name == step)
