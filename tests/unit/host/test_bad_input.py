"""What agents ask for that cannot be done, and commands that do not behave."""

import os
import re
import time

import pytest

from tests.support.stage import call, exchange, recording, result, text
from tests.support.waits import PATIENCE
from workbench.domain import events
from workbench.effects.clock import ManualClock


def refused(staged, part, contains, files=None, prepare=None, outcome="refused"):
    """Drive one call that cannot be done; the recording expects to be told so."""
    script = recording(exchange(part), exchange(text("so"), expect=result("c1", outcome, contains)))
    stage = staged(script, files=files)
    if prepare:
        prepare(stage.workspace)
    progress = stage.trust().begin().drive()
    assert progress.last_outcome == "done", [b.message for b in stage.bodies(events.ErrorRaised)]
    assert stage.waiting() == []
    return stage


@pytest.mark.spec(27, 64, 65)
@pytest.mark.parametrize(
    "path", ["../out.txt", "/etc/passwd", "a/../../out.txt", "/work2", "a\x00b", "x" * 5000]
)
def test_a_path_that_leads_out_is_refused(staged, path):
    stage = refused(staged, call("c1", "create_file", path=path, content="x"), None)
    assert stage.calls()["c1"].state == "rejected"
    assert sorted(path.name for path in stage.root.iterdir()) == ["home", "project", "recording.json"]


@pytest.mark.spec(66)
def test_a_link_that_leads_out_is_refused_also_as_a_parent(staged, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()

    def prepare(workspace):
        (workspace / "link").symlink_to(outside)

    refused(staged, call("c1", "create_file", path="link/new.txt", content="x"), None, prepare=prepare)
    assert list(outside.iterdir()) == []


@pytest.mark.spec(66)
def test_a_link_that_appears_after_the_approval_is_not_followed(staged, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    script = recording(
        exchange(call("c1", "create_file", path="sub/new.txt", content="x")), exchange(text("so"))
    )
    stage = staged(script, files={"sub/old.txt": "old"}).begin()
    stage.drive()
    assert stage.approve(stage.waiting()[0]).ok
    (stage.workspace / "sub").rename(stage.workspace / "moved")
    (stage.workspace / "sub").symlink_to(outside)
    stage.drive()
    assert list(outside.iterdir()) == []
    assert stage.calls()["c1"].state in ("cancelled", "failed", "rejected")


def test_a_folder_is_no_file(staged):
    refused(
        staged,
        call("c1", "replace_string_in_file", path="sub", old_string="a", new_string="b"),
        None,
        files={"sub/x": "a"},
    )


def test_a_pipe_is_not_waited_for(staged):
    started = time.monotonic()
    refused(
        staged,
        call("c1", "replace_string_in_file", path="pipe", old_string="a", new_string="b"),
        None,
        prepare=lambda w: os.mkfifo(w / "pipe"),
    )
    assert time.monotonic() - started < PATIENCE


def test_a_file_that_exists_is_not_created_over(staged):
    stage = refused(
        staged, call("c1", "create_file", path="a.txt", content="x"), "exists", files={"a.txt": "old"}
    )
    assert stage.read("a.txt") == b"old"


@pytest.mark.parametrize(("old", "count"), [("b", "2"), ("z", "0")])
def test_a_string_that_is_not_there_exactly_once_is_refused_with_the_count(staged, old, count):
    refused(
        staged,
        call("c1", "replace_string_in_file", path="a.txt", old_string=old, new_string="B"),
        None,
        files={"a.txt": "b b\n"},
    )


def test_a_binary_file_is_shown_in_hex(staged):
    data = bytes(range(256))
    refused(
        staged, call("c1", "read_file", path="b.bin"), "fd fe ff", files={"b.bin": data}, outcome="succeeded"
    )


@pytest.mark.spec(220)
def test_a_range_of_a_huge_sparse_file_is_read_as_a_stream(staged):
    def prepare(workspace):
        with (workspace / "big").open("wb") as file:
            file.write(b"first line\nsecond line\n")
            file.truncate(1 << 30)

    part = call("c1", "read_file", path="big", start_line=1, end_line=2)
    stage = refused(staged, part, None, prepare=prepare, outcome="succeeded")
    assert stage.calls()["c1"].state == "succeeded"


# --- commands ------------------------------------------------------------------------------------


def ran(staged, command, config=None, **more):
    part = call("c1", "run_in_terminal", command=command, **more)
    stage = staged(recording(exchange(part), exchange(text("so"))), config=config)
    stage.begin().drive()
    assert stage.approve(stage.waiting()[0]).ok
    assert stage.drive().last_outcome == "done"
    (finished,) = stage.bodies(events.CallFinished)
    return stage, finished


def test_a_command_that_never_ends_is_ended_at_its_limit(staged):
    _, finished = ran(staged, "trap '' TERM; echo started; while :; do sleep 1; done", timeout_seconds=1)
    assert (finished.state, finished.detail) == ("failed", "timeout")
    assert finished.preview.startswith("started")


def test_a_command_that_floods_is_ended_and_both_ends_are_kept(staged):
    config = {"limits": {"output_blob_bytes": 3_000_000}}
    stage, finished = ran(staged, "echo first; yes 0123456789 | head -c 50000000", config)
    assert (finished.state, finished.detail) == ("failed", "flood")
    assert finished.preview.startswith("first\n")
    assert len(finished.preview.encode()) <= 10_240
    assert 3_000_000 <= finished.output_bytes < 50_000_000
    assert stage.journal.blobs.read(finished.output_ref).startswith(b"first\n")


def test_a_daemon_that_a_command_leaves_is_ended(staged):
    stage, finished = ran(
        staged,
        "setsid sh -c 'sleep 300 & echo $! > pid; sleep 300' >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.02; done; echo out",
    )
    assert finished.state == "succeeded"
    assert re.fullmatch(
        r"out\n\n\[\d processes that it left running were ended with it\]\n", finished.preview
    )
    assert finished.metadata["leftovers_ended"] >= 1
    from workbench.effects.process_table import read_process

    left = read_process(int(stage.read("pid")))
    assert left is None or not left.is_alive


def test_a_command_gets_no_home_and_no_keys(staged, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fabricated-for-this-test")
    _, finished = ran(staged, "env")
    assert "WORKBENCH_AGENT=1" in finished.preview
    assert "WORKBENCH_HOME" not in finished.preview
    assert "fabricated" not in finished.preview


@pytest.mark.spec(32, 33)
def test_exactly_the_limit_is_not_cut_and_one_byte_more_is(staged):
    _, whole = ran(staged, "head -c 10240 /dev/zero | tr '\\0' x")
    assert (len(whole.preview), whole.output_bytes) == (10_240, 10_240)
    _, cut = ran(staged, "head -c 10241 /dev/zero | tr '\\0' x")
    assert "10241 bytes" in cut.preview


def test_hidden_characters_are_warned_of(staged):
    part = call("c1", "run_in_terminal", command="echo fix\u202egnp.exe")
    stage = staged(recording(exchange(part))).begin()
    stage.drive()
    assert "hidden" in stage.waiting()[0].warnings


# --- the clock -----------------------------------------------------------------------------------


@pytest.mark.spec(207)
def test_setting_the_clock_back_revives_nothing(staged):
    clock = ManualClock()
    stage = staged(recording(exchange(call("c1", "create_file", path="n", content="x"))), clock=clock).begin()
    stage.drive()
    (action,) = stage.waiting()
    clock.advance(16 * 60)
    stage.drive()
    assert stage.journal.action(action.id).state == "expired"
    stage.journal.clock = ManualClock()
    assert stage.approve(action).why == "expired"
    assert stage.journal.now() >= action.expires_at


KEY_LINES = "\n".join("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2" for _ in range(30))
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINES}\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.spec(202)
@pytest.mark.parametrize("before", [100, 5_080, 5_100, 40_000, 1_048_000, 2_500_000])
def test_a_secret_where_an_output_is_cut_is_not_recorded_in_part(staged, before):
    token = "ghp_" + "a1B2" * 9
    command = (
        f"head -c {before} /dev/zero | tr '\\0' '\\n'; cat secrets; head -c 4000 /dev/zero | tr '\\0' '\\n'"
    )
    part = call("c1", "run_in_terminal", command=command)
    stage = staged(recording(exchange(part), exchange(text("so"))), files={"secrets": f"{token}\n{KEY}"})
    stage.begin().drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    (finished,) = stage.bodies(events.CallFinished)
    kept = stage.journal.blobs.read(finished.output_ref) if finished.output_ref else b""
    for recorded in (finished.preview, kept.decode()):
        assert "a1B2a1B2" not in recorded
        assert "QUJDREVG" not in recorded


@pytest.mark.spec(202)
def test_a_part_of_a_key_file_is_not_recorded(staged):
    script = recording(
        exchange(call("c1", "read_file", path="key.pem", start_line=3)),
        exchange(text("so"), expect=result("c1", "succeeded", "QUJDREVG")),
    )
    stage = staged(script, files={"key.pem": KEY}).trust().begin()
    assert stage.drive().last_outcome == "done"
    (finished,) = stage.bodies(events.CallFinished)
    assert "QUJDREVG" not in finished.preview
