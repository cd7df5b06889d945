"""The program that hooks run, as a process: what it sends, prints and does without a background process."""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading

import pytest

from tests.support.waits import PATIENCE, until
from workbench.bridge import hook_client
from workbench.bridge.hook_command import CLIENT

DENIED = (2, b"", hook_client.DENIED)
LEFT = (0, b"", b"")


class Cut(bytes):
    """The beginning of an answer, after which the connection ends."""


class Place:
    """A data folder, a folder of an agent, and the sockets of folders."""

    def __init__(self, root):
        # As an agent would be started in: a folder below the one that is served.
        self.data, self.folder = root / "data", root / "project/deep"
        self.folder.mkdir(parents=True)
        (self.data / "run").mkdir(parents=True)
        self.heard = []

    def serve(self, folder, *answers):
        """Answer connections of a folder in a thread, one after the other; None closes without an answer."""
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16] + ".sock"
        listener = socket.socket(socket.AF_UNIX)
        directory = os.open(self.data / "run", os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{directory}/{name}")
        os.close(directory)
        listener.listen()

        def work():
            with listener:
                for answer in answers:
                    connection, _ = listener.accept()
                    with connection, connection.makefile("rb") as said:
                        header = json.loads(said.readline())
                        heard = {"header": header, "input": said.read(header["size"])}
                        self.heard.append(heard)
                        if answer is not None:
                            connection.sendall(answer)
                        with contextlib.suppress(ConnectionResetError):
                            heard["end"] = said.read() if type(answer) is bytes else b""

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def run(self, *words, data=b"{}", folder=None, **variables):
        """Run the client as an agent does; returns exit code, stdout and stderr."""
        argv = [sys.executable, "-I", "-S", str(CLIENT), "claude", "PreToolUse", str(self.data), *words]
        where, env = folder or self.folder, {**os.environ, **variables}
        done = subprocess.run(argv, input=data, capture_output=True, cwd=where, env=env, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def mode(name):
    return json.dumps({"permission_mode": name}).encode()


@pytest.mark.parametrize(
    ("otherwise", "data", "expected"),
    [
        ("ask", b"{}", LEFT),
        ("ask", mode("default"), LEFT),
        ("ask", mode("yolo"), DENIED),
        ("ask", mode("bypassPermissions"), DENIED),
        ("ask", b'{"permission_mode" :\n "yolo"}', DENIED),
        ("ask", b'{"a": {"permission_mode": "default"}, "permission_mode": "yolo"}', DENIED),
        ("ask", rb'{"a": "\"permission_mode\": \"yolo\""}', LEFT),
        ("ask", b'\xff"permission_mode"', LEFT),
        ("ask", b"", LEFT),
        ("deny", b"{}", DENIED),
        ("leave", mode("yolo"), LEFT),
    ],
)
def test_without_a_background_process_it_does_what_its_command_line_says(place, otherwise, data, expected):
    assert place.run(otherwise, "0", data=data) == expected


def test_it_passes_the_input_on_and_prints_the_answer_as_it_comes(place):
    out, err, data = b'{"a": 1}\n', b"why", b"\x00\xff" * 700_000
    thread = place.serve(place.folder.parent, b"hook 3 %d %d\n" % (len(out), len(err)) + out + err)
    assert place.run("ask", "900", data=data) == (3, out, err)
    thread.join()
    (heard,) = place.heard
    assert (heard["input"], heard["end"]) == (data, b"ok\n")
    header = heard["header"]
    assert {name: header[name] for name in ("type", "agent", "event", "size", "waits")} == {
        "type": "hook", "agent": "claude", "event": "PreToolUse", "size": len(data), "waits": 900,
    }  # fmt: skip
    assert header["pid"] == os.getpid() and len(header["nonce"]) == 32


def test_a_lost_connection_is_asked_again_with_the_same_nonce(place):
    thread = place.serve(place.folder, None, Cut(b"hook 0 1"), b"hook 0 1 0\nx")
    assert place.run("deny", "0") == (0, b"x", b"")
    thread.join()
    assert len({heard["header"]["nonce"] for heard in place.heard}) == 1 and len(place.heard) == 3


@pytest.mark.parametrize("answer", [b'{"type":"refused","why":"no"}\n', b"\n", b"x" * 5_000, b"hook a b c\n"])
def test_what_is_no_answer_is_not_taken_for_one(place, answer):
    place.serve(place.folder, answer)
    assert place.run("deny", "0") == DENIED


def test_a_session_of_another_folder_is_asked_about_there(place, tmp_path):
    other = os.fsencode(tmp_path)
    place.serve(place.folder, b"elsewhere %d\n" % len(other) + other)
    place.serve(tmp_path, b"hook 0 1 0\ny")
    assert place.run("deny", "0") == (0, b"y", b"")


def test_folders_that_name_each_other_end(place, tmp_path):
    here, there = os.fsencode(place.folder), os.fsencode(tmp_path)
    place.serve(place.folder, *[b"elsewhere %d\n" % len(there) + there] * 2)
    place.serve(tmp_path, b"elsewhere %d\n" % len(here) + here)
    assert place.run("deny", "0") == DENIED


def test_the_folder_that_the_agent_names_counts_and_not_where_it_went(place, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(place.folder)
    place.serve(place.folder, b"hook 0 1 0\nz")
    assert place.run("deny", "0", folder=tmp_path, CLAUDE_PROJECT_DIR=str(link)) == (0, b"z", b"")
    assert place.run("deny", "0", folder=tmp_path, CLAUDE_PROJECT_DIR="/no/such/folder") == DENIED


def test_it_stops_waiting_before_the_agent_does(place):
    name = hook_client.socket_name(os.fsencode(place.folder))
    with socket.socket(socket.AF_UNIX) as listener:
        directory = os.open(place.data / "run", os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{directory}/{name}")
        os.close(directory)
        listener.listen()
        assert place.run("deny", str(hook_client.MARGIN_SECONDS)) == DENIED


START = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


def test_a_background_process_that_does_not_come_is_waited_for_and_no_longer(place, tmp_path):
    written = tmp_path / "started"
    seconds = str(hook_client.MARGIN_SECONDS + 1)
    answer = place.run("deny", seconds, sys.executable, "-c", START, str(written), PYTHONPATH="/evil")
    assert answer == DENIED
    assert written.read_text() == str(place.folder)


def test_the_end_of_a_call_is_reported_after_a_start_and_the_agent_does_not_wait_for_it(place, tmp_path):
    started = tmp_path / "started"
    starter = ["/bin/sh", "-c", f'printf %s "$0" > {started}']
    assert place.run("leave", "30", *starter, data=b'{"a": 1}') == LEFT, (
        "it would wait for what is not there yet"
    )
    place.serve(place.folder, b"hook 0 4 0\nnote").join(PATIENCE)
    (heard,) = place.heard
    assert (heard["input"], heard["header"]["pid"], heard["end"]) == (b'{"a": 1}', os.getpid(), b"ok\n")
    until(started.exists)


def test_hooks_that_ended_start_one_background_process_between_them(place, tmp_path):
    """All of them report; the one that starts holds its lock until it has."""
    marks = tmp_path / "marks"
    marks.mkdir()
    starter = ["/bin/sh", "-c", f': > "{marks}/$$"', "sh"]
    for _ in range(5):
        assert place.run("leave", "30", *starter) == LEFT
    until(lambda: list(marks.iterdir()))
    answers = [b"hook 0 0 0\n"] * 5
    place.serve(place.folder, *answers).join(PATIENCE)
    assert len(place.heard) == 5
    assert len(list(marks.iterdir())) == 1


def test_an_input_over_the_limit_is_denied(place, monkeypatch, capfd):
    monkeypatch.setattr(hook_client, "MAX_INPUT_BYTES", 10)
    words = ["claude", "PreToolUse", str(place.data)]
    monkeypatch.setattr(hook_client, "read_input", lambda: b"x" * 11)
    assert hook_client.main([*words, "ask", "0"]) == 2
    assert hook_client.main([*words, "leave", "0"]) == 0
    assert capfd.readouterr().err.encode() == hook_client.DENIED
