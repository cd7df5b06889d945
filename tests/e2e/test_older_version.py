"""A home that the version before the redesign of the source made: opened, read, exported and continued, no word lost.

`tests/data/older_version` holds that home with its project folder, and what that version printed of it.
"""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE

DATA = Path(__file__).resolve().parents[1] / "data" / "older_version"
SESSIONS = sorted(path.stem.removeprefix("session-") for path in DATA.glob("session-*.jsonl"))


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(DATA / "home.tar.gz") as archive:
        # Debian 12's own Python does not know filters; the archive is ours.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder


def workbench(folder, *words, home=None, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *words], cwd=folder / "project", capture_output=True, text=True,
        env={**os.environ, "WORKBENCH_HOME": str(home or folder / "home")}, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout


def parsed(name):
    return json.loads((DATA / name).read_text())


def test_its_tables_agree_with_its_events_after_it_was_opened(old):
    assert "✓ ok     tables" in workbench(old, "doctor")


@pytest.mark.parametrize("session", SESSIONS)
def test_its_sessions_are_exported_byte_for_byte(old, session):
    before = (DATA / f"session-{session}.jsonl").read_text()
    # What it waited for has expired since, which is recorded behind all that it knew.
    assert workbench(old, "sessions", "export", session).startswith(before)


@pytest.mark.parametrize("session", SESSIONS)
def test_its_sessions_are_shown_as_they_were(old, session):
    now = json.loads(workbench(old, "sessions", "show", session, "--json"))
    before = parsed(f"show-{session}.json")
    if before["waiting"]:
        changed = {"updated_at", "waiting", "calls", "actions"}
        assert [call["id"] for call in now["calls"]] == [call["id"] for call in before["calls"]]
        now, before = ({key: shown[key] for key in shown.keys() - changed} for shown in (now, before))
    assert known_then(now, before) == before


def known_then(now, before):
    """Return what was said before of what is said now; objects may have got more members."""
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [known_then(*pair) for pair in zip(now, before, strict=True)]
    if not isinstance(now, dict) or not isinstance(before, dict):
        return now
    return {key: known_then(now.get(key), value) for key, value in before.items()}


def test_its_configuration_means_the_same(old):
    shown = json.loads(workbench(old, "config", "show", "--json"))
    before = parsed("config-show.json")
    assert known_then(shown["config"], before["config"]) == before["config"]
    assert shown["problems"] == [] == before["problems"]


def test_keys_that_a_user_set_have_their_ids_still(old):
    assert workbench(old, "config", "validate") == "Nothing is wrong.\n"
    from workbench.tui.keyboard.table import all_rows

    keymap = parsed("config-show.json")["config"]["ui"]["keymap"]
    assert sorted(set(keymap) - {key.id for key in all_rows()}) == []


@pytest.mark.parametrize("session", SESSIONS)
def test_its_exports_are_imported_with_every_event(old, session, tmp_path):
    exported = DATA / f"session-{session}.jsonl"
    workbench(old, "sessions", "import", str(exported), home=tmp_path / "home")
    (row,) = json.loads(workbench(old, "sessions", "list", "--all", "--json", home=tmp_path / "home"))
    again = workbench(old, "sessions", "export", row["id"], home=tmp_path / "home").splitlines()
    kinds = [json.loads(line)["kind"] for line in exported.read_text().splitlines()[1:]]
    assert [json.loads(line)["kind"] for line in again[1:]][: len(kinds)] == kinds


def test_its_recording_still_answers(old, tmp_path):
    recording = str(old / "recording.json")
    printed = workbench(
        old, "run", "-p", "do it", "--recording", recording, "--on-approval", "park", "--output-format", "json",
        home=tmp_path / "home", code=3,
    )  # fmt: skip
    told = json.loads(printed)
    assert (told["reply"], [action["target"] for action in told["actions"]]) == (
        "I look at the **router** first.",
        ["router.py"],
    )
