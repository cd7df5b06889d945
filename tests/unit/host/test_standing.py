"""How a host stands: what it says of itself, how it differs from here, suspended, stopped by force."""

import logging
import os
import signal
import subprocess
import sys

import pytest
from msgspec.structs import replace

from tests.support.stage import call, exchange, recording
from tests.support.waits import until
from workbench.effects.file_locks import FileLock
from workbench.host import host_stop
from workbench.host.host_locks import driver_identity, host_lock_path, provider_variables
from workbench.host.host_status import host_differences, host_status, host_warnings, living_host_locks
from workbench.host.supervisor import MAX_LOG_ENTRY, HostLogHandler
from workbench.journal.database import SCHEMA_VERSION
from workbench.journal.leases import DriverLock, release_lease, take_lease

CREATE = call("c1", "create_file", path="n.txt", content="new\n")


@pytest.fixture
def held(staged, monkeypatch):
    """A host in this process, as its locks and its row say."""
    monkeypatch.setenv("SHOP_API_KEY", "x")
    stage = staged(recording(exchange(CREATE)))
    place = str(stage.workspace)
    lock = FileLock(host_lock_path(stage.home, place))
    assert lock.try_acquire()
    driver = driver_identity(stage.journal, place, "host", named=["MY_KEY"])
    with DriverLock(stage.journal, driver):
        yield stage, place, driver
    lock.release()


def test_a_host_says_what_it_is_and_what_it_drives(held, monkeypatch):
    stage, place, driver = held
    stage.begin()
    lease = take_lease(stage.journal, stage.session_id, driver)
    log = stage.home.logs / f"host-{driver.host_id}.log"
    log.write_text("12345")
    found = host_status(stage.home, stage.journal, place, ("SHOP_API_KEY",))
    assert (found.state, found.pid, found.log, found.log_bytes) == ("running", os.getpid(), log, 5)
    assert [one.id for one in found.sessions] == [stage.session_id]
    other = f"{place}/other"
    assert stage.journal.driven(driver.host_id, other) == stage.journal.driven("other", place) == []
    release_lease(stage.journal, lease)
    assert host_status(stage.home, stage.journal, place, ("SHOP_API_KEY",)).sessions == ()
    assert (found.host.schema, found.host.variables) == (SCHEMA_VERSION, ("SHOP_API_KEY",))
    assert found.differences == ()
    assert living_host_locks(stage.home, stage.journal) == {host_lock_path(stage.home, place): place}
    assert living_host_locks(stage.home, None) == {host_lock_path(stage.home, place): ""}


def test_variables_are_those_of_providers_and_those_that_the_configuration_names(monkeypatch):
    for name in ("A_API_KEY", "B_BASE_URL", "MY_KEY", "EDITOR"):
        monkeypatch.setenv(name, "x")
    found = provider_variables(["MY_KEY", "NOT_SET"])
    assert {"A_API_KEY", "B_BASE_URL", "MY_KEY"} <= set(found)
    assert not {"EDITOR", "NOT_SET"} & set(found)


def test_a_host_of_another_version_or_environment_is_told_apart(held):
    stage, place, _ = held
    (host,) = stage.journal.hosts()
    assert host_differences(replace(host, version="0.0.9"), ("SHOP_API_KEY",))[0].startswith(
        "It runs version 0.0.9"
    )
    assert "schema 0" in host_differences(replace(host, schema=0), ("SHOP_API_KEY",))[0]
    assert host_differences(host, ("SHOP_API_KEY", "OTHER_API_KEY")) == (
        "It was started without OTHER_API_KEY.",
    )
    assert "SHOP_API_KEY, which is not set here" in host_differences(host, ())[0]
    (told,) = host_warnings(stage.home, stage.journal, place, ())
    assert "workbench host restart" in told
    assert host_warnings(stage.home, stage.journal, place, ("SHOP_API_KEY",)) == ()


def test_a_lock_without_a_row_is_a_host_that_starts(staged):
    stage = staged(recording(exchange(CREATE)))
    place = str(stage.workspace)
    with FileLock(host_lock_path(stage.home, place)) as lock:
        assert lock.try_acquire()
        assert host_status(stage.home, stage.journal, place, ()).state == "starting"
    assert host_status(stage.home, stage.journal, place, ()).state == "absent"


HOLD = """
import signal, sys, time
from pathlib import Path
from workbench.effects.file_locks import FileLock
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
lock = FileLock(Path(sys.argv[1]))
assert lock.try_acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holding():
    started = []

    def start(path, manner):
        started.append(
            subprocess.Popen([sys.executable, "-c", HOLD, str(path), manner], stdout=subprocess.PIPE)
        )
        started[-1].stdout.readline()
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def until_stopped(pid):
    until(lambda: os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT | os.WNOHANG) is not None)


def test_a_suspended_host_is_not_said_to_act_and_ends_when_told(staged, holding):
    from workbench.host.host_status import is_suspended

    stage = staged(recording(exchange(CREATE)))
    lock = host_lock_path(stage.home, str(stage.workspace))
    process = holding(lock, "meek")
    assert not is_suspended(process.pid)
    process.send_signal(signal.SIGSTOP)
    until_stopped(process.pid)
    assert is_suspended(process.pid)
    ended = host_stop.stop_host(stage.home, str(stage.workspace))
    assert (ended.is_gone, ended.was_killed, ended.pid) == (True, False, process.pid)


def test_a_host_that_does_not_listen_is_killed_only_by_force(staged, holding):
    stage = staged(recording(exchange(CREATE)))
    place = str(stage.workspace)
    process = holding(host_lock_path(stage.home, place), "deaf")
    ended = host_stop.stop_host(stage.home, place, timeout=0.2)
    assert (ended.is_gone, ended.words) == (False, f"The background process (pid {process.pid}) still runs.")
    ended = host_stop.stop_host(stage.home, place, timeout=0.2, force=True)
    assert (ended.is_gone, ended.was_killed) == (True, True)


def test_the_log_is_scrubbed_safe_and_bounded(tmp_path):
    path = tmp_path / "host.log"
    secret = "ghp_" + "a1B2" * 9
    with path.open("a") as stream:
        handler = HostLogHandler(stream, path, largest=40_000)
        handler.emit(logging.LogRecord("x", logging.ERROR, "", 1, f"key {secret} \x1b[31m", None, None))
        first = path.read_text()
        assert secret not in first and "\x1b" not in first and " ERROR key " in first
        handler.emit(logging.LogRecord("x", logging.ERROR, "", 1, "y" * 3 * MAX_LOG_ENTRY, None, None))
        assert len(path.read_text()) - len(first) < MAX_LOG_ENTRY + 10
        for number in range(2_000):
            handler.emit(logging.LogRecord("x", logging.INFO, "", 1, f"line {number}", None, None))
    kept = path.read_text().splitlines()
    assert path.stat().st_size <= 41_000
    assert (kept[0].startswith("(what was here"), kept[-1].endswith("line 1999")) == (True, True)
