"""Exports read by the programs that their formats are of: trajectories by harbor's models, films by asciinema.

Both come through pip, as `tests/support/oracles.py` says.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.oracles import unpacked

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from foreign_files import FILES

pytestmark = pytest.mark.campaign
PACKAGES = ("asciinema==2.4.0", "harbor==0.26.0")
CHECK = """
import json, sys
from harbor.models.trajectories import Trajectory
for path in sys.argv[1:]:
    read = Trajectory.model_validate(json.load(open(path)))
    metrics = read.final_metrics
    print(json.dumps([len(read.steps), sum(len(s.tool_calls or ()) for s in read.steps),
                      metrics and metrics.total_prompt_tokens]))
"""
READ = """
import json, sys
from asciinema.asciicast import open_from_url
with open_from_url(sys.argv[1]) as cast:
    events = list(cast.events())
print(json.dumps(events))
"""
SESSIONS = ("rename-handler", "any-order", "stacked-edits", "hostile-text")


@pytest.fixture(scope="module")
def oracles(tmp_path_factory):
    """Return the folder in which both are unpacked."""
    # harbor asks for a newer Python than its models need.
    return unpacked(tmp_path_factory.mktemp("oracles"), PACKAGES, "--python-version", "3.13")


def ran(oracles, *words):
    env = {**os.environ, "PYTHONPATH": str(oracles)}
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_harbors_models_take_every_trajectory(shell, tmp_path, oracles):
    """Of every sample of every format, with as many steps and calls as are there."""
    for name, (data, *_) in FILES.items():
        (tmp_path / name).write_bytes(data)
    found = shell.json("sessions", "import", *(str(tmp_path / name) for name in FILES), "--json")["sessions"]
    paths = []
    for session in found:
        assert shell("sessions", "export", session["id"], "--format", "atif") == 0, shell.err
        paths.append(tmp_path / f"{session['id']}.json")
        paths[-1].write_text(shell.out, encoding="utf-8")
    lines = ran(oracles, "-c", CHECK, *map(str, paths)).decode().splitlines()
    assert len(lines) == len(found) > 40
    counted = 0
    for line, path in zip(lines, paths, strict=True):
        steps, calls, sent = json.loads(line)
        told = json.loads(path.read_text())
        assert steps == len(told["steps"])
        assert calls == sum(len(step.get("tool_calls", ())) for step in told["steps"])
        counted += calls
        assert sent == told["final_metrics"].get("total_prompt_tokens")
    assert counted > 50


def test_asciinema_reads_every_film(shell, tmp_path, oracles):
    """Its parser finds what stands in the file, in order, and playing it prints that."""
    for name in SESSIONS:
        source = Path(__file__).parents[2] / "golden" / name / "session.jsonl"
        target = tmp_path / f"{name}.cast"
        key = shell.json("sessions", "import", str(source), "--json")["sessions"][0]["id"]
        assert shell("sessions", "export", key, "--format", "cast", "--output", str(target)) == 0, shell.err
        head, *written = [json.loads(line) for line in target.read_text().splitlines()]
        assert head["version"] == 2 and written
        assert json.loads(ran(oracles, "-c", READ, str(target))) == written
        printed = "".join(data for _, code, data in written if code == "o")
        assert ran(oracles, "-m", "asciinema", "cat", str(target)).decode() == printed
