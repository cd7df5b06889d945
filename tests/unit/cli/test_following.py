"""A run whose session a host drives: it asks by events, shows the same, and ends with the same codes."""

import signal
import threading

import pytest

from workbench.cli.headless_run import STOP_SIGNALS
from workbench.cli.session_follower import stop_signals_as_ctrl_c
from workbench.domain.events import (
    InterruptRequested,
    PromptSubmitted,
    ReplyCompleted,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.host.host_locks import driver_identity
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock, lease_guard, take_lease

ME = Actor(kind="user", via="cli")


@pytest.fixture
def host(shell):
    with Journal.open(Home.open()) as journal:
        key = session_requests.create_session(
            journal, workspace=str(shell.workspace), provider="recorded", model="m", actor=ME
        )
        driver = driver_identity(journal, str(shell.workspace), "host")
        with DriverLock(journal, driver):
            yield FakeHost(journal, key, driver)


class FakeHost:
    """Holds the lease, and answers in a thread when it is asked."""

    def __init__(self, journal, key, driver):
        self.journal, self.key, self.actor = journal, key, driver.actor
        self.guard = lease_guard(take_lease(journal, key, driver))
        self.append(*(SessionStatusChanged(status=status) for status in ("initializing", "ready")))

    def append(self, *bodies):
        events = [self.journal.event(body, self.key, self.actor, turn_id="t1") for body in bodies]
        self.journal.append(events, guard=self.guard)

    def wait_for(self, kind):
        cursor = 0
        while True:
            for event in self.journal.events(self.key, after=cursor):
                cursor = event.position
                if isinstance(event.body, kind):
                    return
            assert self.journal.wait(cursor, 20)

    def answering(self, *steps):
        def act():
            for kind, bodies in steps:
                self.wait_for(kind)
                self.append(*bodies)

        thread = threading.Thread(target=act)
        thread.start()
        return thread


STARTED = TurnStarted(provider="recorded", model="m")
PROCESSING = SessionStatusChanged(status="processing")
READY = SessionStatusChanged(status="ready")


def turn(outcome):
    return (
        PromptSubmitted,
        (STARTED, PROCESSING, ReplyCompleted(text="Hi."), TurnEnded(outcome=outcome), READY),
    )


@pytest.mark.spec(215)
@pytest.mark.parametrize("outcome, code", [("done", 0), ("error", 1), ("limit", 1), ("unattended", 4)])
def test_a_driven_session_is_followed(shell, host, outcome, code):
    thread = host.answering(turn(outcome))
    assert shell("run", "--session", host.key, "-p", "say hi") == code
    thread.join()
    assert shell.out == "Hi.\n"
    statuses = [
        e.body.status for e in host.journal.events(host.key) if isinstance(e.body, SessionStatusChanged)
    ]
    assert statuses == ["initializing", "ready", "processing", "ready"]


def test_ctrl_c_is_passed_on_and_waited_for(shell, host, monkeypatch):
    from workbench.cli.run import EventConsumer

    presses = iter([True])
    wait = EventConsumer.wait

    def pressed(self, seconds):
        if any(isinstance(e.body, TurnStarted) for e in self.journal.events(self.session_id)) and next(
            presses, False
        ):
            raise KeyboardInterrupt
        wait(self, seconds)

    monkeypatch.setattr(EventConsumer, "wait", pressed)
    thread = host.answering(
        (PromptSubmitted, (STARTED, PROCESSING)),
        (InterruptRequested, (TurnEnded(outcome="interrupted"), READY)),
    )
    assert shell("run", "--session", host.key, "-p", "say hi") == 130
    thread.join()
    assert "Interrupted." in shell.err


def test_a_driven_session_that_repeats_itself_is_left_paused(shell, host):
    paused = SessionStatusChanged(status="paused", reason="loop")
    thread = host.answering((PromptSubmitted, (STARTED, PROCESSING, ReplyCompleted(text="Hi."), paused)))
    assert shell("run", "--session", host.key, "-p", "say hi") == 1
    thread.join()
    assert "Paused: the agent repeats the same call and gets the same result." in shell.err
    assert f"workbench sessions stop {host.key} stops it." in shell.err


def test_a_recording_is_refused_before_a_model_is_asked(shell, host):
    path = shell.folder / "new.json"
    assert shell("run", "--session", host.key, "-p", "say hi", "--record", str(path)) == 1
    assert "runs this session, and only that process can record it" in shell.err
    assert not any(isinstance(e.body, PromptSubmitted) for e in host.journal.events(host.key))
    assert not path.exists()


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_every_signal_that_stops_arrives_as_ctrl_c(number):
    # The tests themselves may run where one of them is ignored, as behind nohup.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt), stop_signals_as_ctrl_c():
            signal.raise_signal(number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_signals_as_ctrl_c():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
