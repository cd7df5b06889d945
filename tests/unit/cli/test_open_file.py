"""`workbench FILE`: what a file is by its content, what a configuration would set, and what is nothing known."""

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from foreign_files import FILES

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.cli import open_file
from workbench.cli.dispatch import parse_invocation
from workbench.cli.errors import Refusal
from workbench.cli.open_file import file_kind

SARIF = {"$schema": "https://example.test/sarif-2.1.0.json", "version": "2.1.0", "runs": []}
RUFF = [{"filename": "a.py", "code": "F401", "message": "m", "location": {"row": 1, "column": 1}}]
KAIAK = [{"id": "1", "rule_id": "r", "file_path": "a.java", "line_number": 3, "message": "m"}]
KONVEYOR = "- name: rules\n  violations:\n    r1:\n      description: d\n      incidents: []\n"
PIPELINE = "kind: WavePipeline\nmetadata:\n  name: release\nsteps: []\n"
WINK = {"config_version": "1.0", "default_model": "qwen3:8b", "api_timeout_seconds": 60}
TALKS_OF_IT = {
    "type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w",
    "message": {"role": "user", "content": 'the "runs" of a sarif file, "generalDiagnostics", "default_model"'},
}  # fmt: skip


@pytest.mark.spec(212)
@each_row(
    "content, kind",
    [
        (json.dumps(SARIF), "findings"), (json.dumps(SARIF, indent=1), "findings"),
        (json.dumps({"runs": [], "version": "2.1.0"}), "findings"),
        (json.dumps(RUFF), "findings"), (json.dumps(KAIAK), "findings"),
        (json.dumps({"version": "1", "generalDiagnostics": [], "summary": {}}), "findings"),
        (json.dumps({"incidents": KAIAK}), "findings"), (KONVEYOR, "findings"),
        (PIPELINE, "pipeline"), ("kind: WaveManifest\npersonas: {}\n", "manifest"),
        ("name: old\nsteps:\n  - id: a\n", "pipeline"), (json.dumps({"kind": "WavePipeline"}), "pipeline"),
        (json.dumps(WINK), "settings"), (json.dumps({"output_format": "json"}), "settings"),
        (json.dumps(TALKS_OF_IT) + "\n", "session"),
        (json.dumps({"id": "s", "model": "m", "working_dir": "/w", "status": "active", "messages": [],
                     "output_format": "x"}), "session"),
        ("kind: Pod\nspec: {}\n", "session"), ("", "session"), ("\x00\x01", "session"),
        ('{"a": {"runs": [], "default_model": 1}}', "session"),
    ],
)  # fmt: skip
def test_a_file_is_known_by_its_content_whatever_it_is_called(content, kind):
    path = Path(os.environ["PYTEST_TMP"]) / "any.name"
    path.write_text(content)
    assert file_kind(path) == kind


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))


@pytest.mark.spec(212)
@each_row("name", list(FILES))
def test_sessions_and_logs_of_every_program_are_none_of_the_others(name):
    path = Path(os.environ["PYTEST_TMP"]) / "f"
    path.write_bytes(FILES[name][0])
    assert file_kind(path) == "session"


def test_a_word_that_is_a_file_opens_it_and_a_command_stays_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("report.sarif", "run"):
        (tmp_path / name).write_text(json.dumps(SARIF))
    assert parse_invocation(["report.sarif"]).path == ("open",)
    assert parse_invocation(["report.sarif"]).rest == ("report.sarif",)
    assert parse_invocation(["-C", ".", "./run"]).path == ("open",)
    assert parse_invocation(["run"]).path == ("run",)
    assert parse_invocation([str(tmp_path)]).path == ("screen",)
    assert open_file.simple(["report.sarif"]) == {"file": "report.sarif"}
    assert open_file.simple(["--help"]) is None


def test_what_is_nothing_known_says_what_it_could_be(shell):
    (shell.workspace / "notes.bin").write_bytes(b"\x00\x01\x02 nothing")
    assert shell(str(shell.workspace / "notes.bin")) == 1
    assert "was not opened" in shell.err
    for word in ("SARIF", "pipeline", "Wink configuration", "session", "commands"):
        assert word in shell.err
    assert "Traceback" not in shell.err


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refusal, match="not a regular file"):
        file_kind(tmp_path / "pipe")


def test_a_wink_configuration_says_what_it_would_set_and_changes_nothing(shell):
    file = shell.workspace / "any.txt"
    file.write_text(json.dumps({**WINK, "max_session_messages": 5, "output_format": "human"}))
    before = sorted(shell.workspace.iterdir())
    shell(str(file))
    assert 'default_model = "qwen3:8b"   (now null)' in shell.out
    assert "api_timeout_seconds = 60   (now 30)" in shell.out
    assert 'output_format = "human"   (as it is)' in shell.out
    assert "max_session_messages" in shell.err and "Nothing was changed." in shell.out
    assert sorted(shell.workspace.iterdir()) == before


def test_findings_and_pipelines_need_a_terminal_and_say_so(shell):
    (shell.workspace / "r.sarif").write_text(json.dumps(SARIF))
    (shell.workspace / "p.yaml").write_text(PIPELINE)
    for name, remedy in (("r.sarif", "incidents run FILE --dry-run"), ("p.yaml", "pipeline validate FILE")):
        assert shell(str(shell.workspace / name)) != 0
        assert "The screen was not opened" in shell.err and remedy in shell.err


def test_a_compressed_session_is_replayed_as_the_plain_one_is(shell):
    path = shell.workspace / "s.jsonl.gz"
    path.write_bytes(gzip.compress(FILES["codex"][0]))
    assert file_kind(path) == "session"


def test_quotation_marks_without_an_end_are_looked_through_once(tmp_path):
    short, long = tmp_path / "short", tmp_path / "long"
    short.write_bytes(b'{"' + b'\\"' * 4_000)
    long.write_bytes(b'{"' + b'\\"' * 32_000)
    assert file_kind(long) == "session"
    assert_grows_with_length(file_kind, short, long)
