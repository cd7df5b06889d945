"""`workbench run` on a terminal with a model that hangs, and beside a background process that lives."""

import hashlib
import json
import signal
import threading

import pytest

from tests.support.chat_server import Answer, ChatServer, Stall, said
from tests.support.stage import USER
from tests.support.terminal import Terminal
from tests.support.waits import PATIENCE, until
from workbench.host import session_requests
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@pytest.fixture
def host(shop):
    """The background process of the workspace, at work."""
    host = shop.start("host", "serve", str(shop.project))
    until(lambda: shop.json("host", "status")["is_running"])
    return host


def listen_to_hang_ups():
    """Take SIGHUP as usual: the tests themselves may run where it is ignored, as behind nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def started(shop, server, *more):
    return shop.start(
        "run", "-p", "x", "--base-url", server.base_url, "--model", "m", *more, preexec_fn=listen_to_hang_ups
    )


def asked(server, run):
    until(lambda: server.asked or run.poll() is not None)
    assert run.poll() is None


def session(shop):
    (row,) = shop.json("sessions", "list")
    return row["status"], row["reason"]


def until_host_looked(shop):
    """Begin another session and wait until it asks: the background process looks at all of them in one go."""
    with Journal.open(Home.open(shop.home)) as journal:
        facts = {
            "path": str(shop.recording),
            "sha256": hashlib.sha256(shop.recording.read_bytes()).hexdigest(),
        }
        key = session_requests.create_session(
            journal, workspace=str(shop.project), provider="recorded", model="recorded-test", actor=USER,
            title="later", configuration={"recording": facts},
        )  # fmt: skip
        session_requests.submit_prompt(journal, key, "say hello", USER)
    until(lambda: shop.json("approvals", "list"))


HANGS = Answer([Stall()], head=False)


def test_a_server_that_sends_no_byte_is_counted_on_the_terminal(shop):
    with ChatServer(HANGS) as server:
        words = ("run", "-p", "x", "--base-url", server.base_url, "--model", "m")
        terminal = Terminal(shop.argv(*words), cwd=shop.project, env=shop.env(), columns=80, rows=24)
        try:
            terminal.until("m reads  0:", "ctrl+c stops", gone=("0:00",))
            terminal.process.send_signal(signal.SIGINT)
            assert terminal.wait() == 130
            terminal.pump(0.1)
            assert "Interrupted." in terminal.text() and "reads" not in terminal.text()
        finally:
            terminal.close()


@pytest.mark.usefixtures("host")
def test_a_run_beside_a_background_process_records(shop):
    with ChatServer(said("Hello.")) as server:
        run = started(shop, server, "--record", str(shop.root / "new.json"))
        out, err = run.communicate(timeout=PATIENCE)
    assert (run.returncode, out) == (0, "Hello.\n"), err
    assert json.loads((shop.root / "new.json").read_text())["exchanges"]


@pytest.mark.usefixtures("host")
def test_the_key_of_the_process_that_runs_is_the_one_that_counts(shop):
    with ChatServer(said("Hello.")) as server:
        words = ("run", "-p", "x", "--base-url", server.base_url, "--model", "m", "--key-env", "MYKEY")
        run = shop.start(*words, env=shop.env(MYKEY="only-here"))
        out, err = run.communicate(timeout=PATIENCE)
        assert (run.returncode, out) == (0, "Hello.\n"), err
        assert server.asked[0].headers["authorization"] == "Bearer only-here"


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_what_the_run_started(shop, number):
    with ChatServer(HANGS, otherwise=said("Nobody asked for this.")) as server:
        run = started(shop, server)
        asked(server, run)
        run.send_signal(number)
        out, err = run.communicate(timeout=PATIENCE)
        assert (run.returncode, out) == (130, "") and "Interrupted." in err
        assert session(shop) == ("paused", "user")
        until_host_looked(shop)
        _, stopped = shop.json("sessions", "list")
        assert (stopped["status"], len(server.asked)) == ("paused", 1), "nobody continues it"


def test_a_hang_up_that_is_to_be_ignored_stays_ignored(shop):
    hung_up = threading.Event()
    with ChatServer(Answer([lambda: hung_up.wait(PATIENCE), *said("Hello.").pieces])) as server:
        run = shop.start(
            "run", "-p", "x", "--base-url", server.base_url, "--model", "m",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )  # fmt: skip
        asked(server, run)
        run.send_signal(signal.SIGHUP)
        hung_up.set()
        out, err = run.communicate(timeout=PATIENCE)
        assert (run.returncode, out) == (0, "Hello.\n"), err


def other_run(shop, run):
    """Ask in the session of a run that is at work, once its follower says so."""
    (row,) = shop.json("sessions", "list")
    other = shop.start("run", "--session", row["id"], "-p", "and then?")
    heard = "".join(other.stderr.readline() for _ in range(2))
    assert f"Another process (pid {run.pid}) runs this session" in heard
    return other


def test_a_run_in_a_session_that_another_run_drives_follows_it(shop):
    go_on = threading.Event()
    first = Answer([lambda: go_on.wait(PATIENCE), *said("Hello.").pieces])
    with ChatServer(first, otherwise=said("Then this.")) as server:
        run = started(shop, server)
        asked(server, run)
        other = other_run(shop, run)
        go_on.set()
        assert run.communicate(timeout=PATIENCE)[0] == "Hello.\nThen this.\n"
        out, err = other.communicate(timeout=PATIENCE)
    assert (run.returncode, other.returncode, len(server.asked)) == (0, 0, 2), err
    assert out.endswith("Then this.\n")


def test_a_run_whose_followed_driver_is_killed_drives_the_session(shop):
    with ChatServer(HANGS, otherwise=said("Then this.")) as server:
        run = started(shop, server)
        asked(server, run)
        other = other_run(shop, run)
        run.kill()
        out, err = other.communicate(timeout=PATIENCE)
    assert (other.returncode, len(server.asked)) == (0, 2), err
    assert out.endswith("Then this.\n")
