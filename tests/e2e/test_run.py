"""`workbench run` in one process, `workbench approvals` in another: DESIGN section 8, word for word."""

import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest

from tests.support.stage import call, exchange, recording, result, text
from tests.support.waits import PATIENCE, is_readable, until


def test_a_second_process_approves_a_headless_runs_edit(shop):
    run = shop.run("--output-format", "json")
    write, command = shop.waiting(2)
    assert (write["tool"], write["target"], write["added"]) == ("create_file", "hello.py", 1)
    assert set(write) == {
        "id",
        "session_id",
        "call_id",
        "kind",
        "tool",
        "target",
        "added",
        "removed",
        "digest",
        "created_at",
        "expires_at",
        "state",
        "supersedes",
        "warnings",
    }
    assert not (shop.project / "hello.py").exists()
    shop.call("approvals", "approve", write["id"])
    shop.call("approvals", "approve", command["id"])
    out, err = run.communicate(timeout=PATIENCE)
    assert (run.returncode, err.count("Not trusted")) == (0, 1)
    told = json.loads(out)
    assert (told["status"], told["reply"], told["exit"]) == ("paused", "Done: it says hello.", 0)
    assert told["usage"]["total_tokens"] == 120
    assert [f["path"] for f in told["files"]] == ["hello.py"]
    assert (shop.project / "hello.py").read_text() == "print('hello')\n"
    again = shop.call("approvals", "approve", write["id"], code=1)
    assert "by user (cli" in again.stderr + again.stdout


def said_to_run(shop):
    """Return the words of a run whose end is waited for: `shop.call` forks it."""
    return "run", "-p", "say hello", "--provider", "recorded", "--recording", str(shop.recording)


def test_a_rejection_with_a_reason(shop):
    run = shop.run()
    write, command = shop.waiting(2)
    shop.call("approvals", "reject", command["id"], "--reason", "not now")
    shop.call("approvals", "reject", write["id"], "--reason", "no file")
    out, _ = run.communicate(timeout=PATIENCE)
    assert (run.returncode, "Nobody wanted it." in out) == (0, True)
    assert list(shop.project.iterdir()) == []


LINES = [f"line {n}\n" for n in range(1, 31)]
CHANGED = [
    "LINE 2\n" if n == 1 else "LINE 15\n" if n == 14 else "LINE 29\n" if n == 28 else line
    for n, line in enumerate(LINES)
]


def test_some_hunks_are_approved_from_a_second_process(shop):
    (shop.project / "a.txt").write_text("".join(LINES))
    edit = call(
        "c1", "replace_string_in_file", path="a.txt", old_string="".join(LINES), new_string="".join(CHANGED)
    )
    shop.recording.write_text(
        json.dumps(recording(exchange(edit), exchange(text("ok"), expect=result("c1", "partial", "keep 15"))))
    )
    run = shop.run("--output-format", "json")
    (action,) = shop.waiting(1)
    assert [(h["index"], h["old_start"]) for h in shop.json("approvals", "show", action["id"])["hunks"]] == [
        (1, 1),
        (2, 12),
        (3, 26),
    ]
    shop.call("approvals", "approve", action["id"], "--hunks", "1,9", code=1)
    shop.call("approvals", "approve", action["id"], "--hunks", "1,3", "--reason", "keep 15")
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, err
    assert json.loads(out)["reply"] == "ok"
    kept = ["line 15\n" if n == 14 else line for n, line in enumerate(CHANGED)]
    assert (shop.project / "a.txt").read_text() == "".join(kept)


def test_parking_ends_with_3_and_the_last_decision_lets_a_host_go_on(shop):
    run = shop.run("--on-approval", "park")
    out, _ = run.communicate(timeout=PATIENCE)
    ids = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", out)
    assert run.returncode == 3
    actions = shop.waiting(2)
    assert {a["id"] for a in actions} <= set(ids)
    (session,) = shop.json("sessions", "list")
    assert (session["status"], session["reason"]) == ("paused", "parked")
    shop.call("approvals", "approve", *(a["id"] for a in actions))
    shop.written("hello.py")
    until(lambda: shop.json("sessions", "list")[0]["status"] == "ready")
    assert shop.json("host", "status")["pid"] > 0


def test_denying_ends_with_4(shop):
    assert "Denied, then." in shop.call(*said_to_run(shop), "--on-approval", "deny", code=4).stdout
    assert list(shop.project.iterdir()) == []


def test_continue_goes_on_with_the_same_session(shop):
    shop.call(*said_to_run(shop), "--on-approval", "deny", code=4)
    more = shop.call("run", "-p", "and now?", "--continue", "--output-format", "json")
    assert json.loads(more.stdout)["reply"] == "So be it."
    assert len(shop.json("sessions", "list")) == 1


def test_every_line_of_stream_json_is_an_event(shop):
    words = ("--output-format", "stream-json", "--on-approval", "deny")
    out = shop.call(*said_to_run(shop), *words, code=4).stdout
    events = [json.loads(line) for line in out.splitlines()]
    assert [e["sequence_number"] for e in events] == list(range(1, len(events) + 1))
    assert {"session.created", "prompt.submitted", "reply.completed", "call.proposed", "turn.ended"} <= {
        e["kind"] for e in events
    }


def test_an_interrupted_run_ends_with_130_and_nothing_waits(shop):
    run = shop.run()
    shop.waiting(2)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert shop.waiting(0) == []


def test_a_killed_run_leaves_a_queue_that_a_host_takes_up(shop):
    run = shop.run()
    write, _ = shop.waiting(2)
    run.kill()
    run.wait()
    done = shop.call("approvals", "approve", write["id"])
    (session,) = shop.json("sessions", "list")
    assert f"stays paused: workbench run --session {session['id'][:8]} continues it" in done.stderr
    shop.written("hello.py")
    assert shop.call("doctor").returncode == 0


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["run"], 2, "-p"),
        (["run", "-p", "x", "--provider", "nonesuch"], 2, "recorded"),
        (["run", "-p", "x", "--provider", "recorded"], 2, "--recording"),
        (["run", "-p", "x", "--continue"], 1, "session"),
        (["approvals", "approve", "nosuchid"], 1, "nosuchid"),
        (["approvals", "approve"], 2, "ID"),
        (["frobnicate"], 2, "frobnicate"),
        (["sessions", "show", "nosuchid"], 1, "nosuchid"),
    ],
)
def test_errors_name_the_thing_and_the_remedy(shop, words, code, says):
    done = shop.call(*words, code=code)
    assert says in done.stderr
    assert done.stdout == ""
    assert 1 <= len(done.stderr.strip().splitlines()) <= 5


def test_a_broken_recording_is_named_with_its_line(shop):
    shop.recording.write_text('{"recording": 1,\n "exchanges": [\n  {"replay": []}]}')
    done = shop.run().communicate(timeout=PATIENCE)
    assert "session.json" in done[1]
    assert "3" in done[1]
    assert shop.json("sessions", "list") == []


def test_a_home_that_is_a_file_is_refused(shop):
    shop.home.write_text("")
    done = shop.call("sessions", "list", code=1)
    shop.home.unlink()
    assert "not a directory" in done.stderr


def test_a_child_of_an_agent_cannot_approve(shop):
    run = shop.run()
    write, _ = shop.waiting(2)
    done = shop.call("approvals", "approve", write["id"], code=1, env=shop.env(WORKBENCH_AGENT="1"))
    assert "agents cannot answer for a human" in done.stderr
    run.kill()


# --- the demo and the line mode --------------------------------------------------------------------


def test_the_demo_turns_green_from_a_pipe(shop):
    done = shop.call("demo", "--at", str(shop.root / "demo"), stdin="y\na 1\na 2\na 3\n")
    assert "Tests: green." in done.stdout


def test_the_demo_parks_when_nobody_answers(shop):
    done = shop.call("demo", "--at", str(shop.root / "demo"), stdin="y\n", code=3)
    assert "green" not in done.stdout.splitlines()[-1]


def spoken(master, until, seconds=PATIENCE):
    """Read a terminal until a text is on it."""
    seen, end = "", time.monotonic() + seconds
    while until not in seen:
        assert time.monotonic() < end, seen
        if is_readable(master, 0.1):
            try:
                seen += os.read(master, 65536).decode(errors="replace")
            except OSError:
                break
    return seen


def test_the_line_mode_answers_in_a_real_terminal(shop):
    run = shop.run()
    shop.waiting(2)
    master, slave = pty.openpty()
    watch = subprocess.Popen(
        shop.argv("approvals", "watch"),
        cwd=shop.project,
        env=shop.env(TERM="dumb"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    shop.started.append(watch)
    os.close(slave)
    seen = spoken(master, "help?")
    assert re.search(r"\d waiting\. .*write hello\.py", seen)
    number = re.search(r"(\d+) write hello\.py", seen)[1]
    other = re.search(r"(\d+) run python3 hello\.py", seen)[1]
    os.write(master, f"r {other} too wide\n".encode())
    spoken(master, "rejected")
    os.write(master, f"a {number}\n".encode())
    assert "print('hello')" in spoken(master, "approves it.")
    os.write(master, f"a {number}\n".encode())
    spoken(master, "approved")
    assert "\x1b" not in seen
    run.communicate(timeout=PATIENCE)
    assert (shop.project / "hello.py").exists()
    os.kill(watch.pid, signal.SIGINT)
    assert watch.wait(PATIENCE) == 130
    os.close(master)


def test_watching_without_a_terminal_prints_changes(shop):
    run = shop.run("--on-approval", "wait")
    write, command = shop.waiting(2)
    watch = shop.start("approvals", "watch", "--json")
    first = [json.loads(watch.stdout.readline()) for _ in range(3)]
    assert {c["change"] for c in first} == {"opened"}
    shop.call("approvals", "reject", write["id"])
    change = json.loads(watch.stdout.readline())
    assert (change["change"], change["action"]["id"]) == ("rejected", write["id"])
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=PATIENCE)
    assert watch.returncode == 130
    shop.call("approvals", "reject", command["id"])
    run.communicate(timeout=PATIENCE)


def test_an_undo_says_what_came_of_it(shop):
    run = shop.run()
    write, command = shop.waiting(2)
    shop.call("approvals", "approve", write["id"])
    shop.call("approvals", "reject", command["id"])
    run.communicate(timeout=PATIENCE)
    (shop.project / "hello.py").write_text("print('mine')\n")
    refused = shop.call("approvals", "undo", write["id"], code=1)
    assert "hello.py" in refused.stderr
    (shop.project / "hello.py").write_text("print('hello')\n")
    shop.call("approvals", "undo", write["id"])
    assert not (shop.project / "hello.py").exists()


def test_an_agents_command_does_not_open_its_humans_data_folder(shop):
    env = {key: value for key, value in shop.env(WORKBENCH_AGENT="1").items() if key != "WORKBENCH_HOME"}
    done = shop.call("approvals", "list", code=1, env={**env, "HOME": str(shop.root)})
    assert "WORKBENCH_HOME" in done.stderr
    assert not (shop.root / ".local").exists()


def test_what_an_untrusted_workspace_asked_for_is_listed(shop):
    (shop.project / ".workbench.json").write_text('{"approvals": {"allow": ["Bash(*)"]}}')
    assert "Ignored: approvals.allow" in shop.call("config", "show").stderr
    assert "Ignored: approvals.allow" in shop.call("config", "validate").stderr
