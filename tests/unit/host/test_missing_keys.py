"""A key that the background process lacks: how it is noticed, said, and when a restart is offered."""

import json
import os
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from tests.support.stage import call, exchange, recording
from workbench.backend.local_backend import LocalBackend
from workbench.cli.console import Console
from workbench.cli.run import _note_key_of_this_shell
from workbench.config.layers import load_config
from workbench.domain.events import CallExecuting, CallProposed, GateVerdict
from workbench.domain.values import Actor
from workbench.effects.file_locks import FileLock
from workbench.effects.process_table import variable_names
from workbench.host import host_status, host_stop
from workbench.host.host_locks import driver_identity, host_lock_path
from workbench.host.session_provider import (
    ProviderUnavailable,
    background_provider_of,
    endpoint_of,
    provider_of,
)
from workbench.host.session_requests import create_session
from workbench.journal.leases import DriverLock, take_lease
from workbench.providers.base import KeyMissing
from workbench.tui.backend import BackendError

USER, HOST = Actor(kind="user", via="screen"), Actor(kind="host", pid=1)
LACKS = "The background process of this folder does not have PLAIN_NAME."
PROVIDERS = {
    "hosted": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:1/v1", "key_env": "PLAIN_NAME"}
}


@pytest.fixture
def held(staged, monkeypatch):
    """A background process in this one, started before the variable was set."""
    stage = staged(recording(exchange(call("c1", "list_dir", path="."))), config={"providers": PROVIDERS})
    place = str(stage.workspace)
    lock = FileLock(host_lock_path(stage.home, place))
    assert lock.try_acquire()
    driver = driver_identity(stage.journal, place, "host")
    with DriverLock(stage.journal, driver):
        monkeypatch.setenv("PLAIN_NAME", "fabricated")
        yield stage, LocalBackend(stage.home, stage.journal, place), driver
    lock.release()


def test_a_screen_says_which_key_is_missing_and_offers_a_restart(held, monkeypatch):
    _, backend, _ = held
    assert backend.host_trouble() == (
        "background lacks PLAIN_NAME, /restart", f"{LACKS} /restart starts one that has it."
    )  # fmt: skip
    monkeypatch.delenv("PLAIN_NAME")
    assert backend.host_trouble() == ("", ""), "it lacks what this screen could not give it either"


def execute(stage, driver):
    stage.begin()
    take_lease(stage.journal, stage.session_id, driver)
    verdict = GateVerdict(outcome="allowed", step="rule", by="r", reason="")
    proposed = CallProposed(tool="run_in_terminal", target="make all", verdict=verdict)
    for body in (proposed, CallExecuting()):
        stage.journal.append([stage.journal.event(body, stage.session_id, HOST, call_id="c")])


def test_a_restart_waits_for_what_executes(held, monkeypatch):
    stage, backend, driver = held
    execute(stage, driver)
    short, whole = backend.host_trouble()
    assert (short, whole) == ("background lacks PLAIN_NAME", f"{LACKS} /restart once make all has ended.")
    stopped = []
    monkeypatch.setattr(host_stop, "stop_host", lambda *_: stopped.append(True))
    with pytest.raises(BackendError, match="Not restarted: make all is running"):
        backend.restart_host()
    assert stopped == []
    monkeypatch.setattr(host_status, "is_suspended", lambda _pid: True)
    monkeypatch.setattr(LocalBackend, "ensure_host", lambda *_: "")
    backend.restart_host()
    assert stopped == [True], "one that stands still is replaced whatever it was doing"


def test_where_the_system_does_not_say_its_row_counts(held, monkeypatch):
    stage, backend, _ = held
    (host,) = stage.journal.hosts()
    monkeypatch.setattr(host_status, "variable_names", lambda _pid: None)
    assert not host_status.has_variable(host, "PLAIN_NAME")
    monkeypatch.setattr(host_status, "variable_names", lambda _pid: frozenset({"PLAIN_NAME"}))
    assert host_status.has_variable(host, "PLAIN_NAME")
    assert backend.host_trouble() == ("", "")


def test_names_of_variables_of_a_process_without_their_values():
    names = variable_names(os.getpid())
    if names is None:
        pytest.skip("this system does not say")
    assert "PATH" in names and not any("/" in name for name in names)
    assert variable_names(2**30) is None


def test_the_message_says_whose_environment_is_meant(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"providers": PROVIDERS}))
    config = load_config(tmp_path, None, trusted=True, env={}, options={}).config
    for in_background, words, remedy in (
        (True, "the background process of this folder does not have PLAIN_NAME", "workbench host restart"),
        (False, "the variable PLAIN_NAME is not set here", "export PLAIN_NAME="),
    ):
        endpoint = endpoint_of(config, "hosted", env={"PLAIN_NAME": " "}, in_background=in_background)
        with pytest.raises(KeyMissing) as missing:
            endpoint.authorized_headers()
        assert words in missing.value.why and remedy in missing.value.remedy


@pytest.mark.parametrize("maker", [provider_of, background_provider_of])
def test_an_unknown_provider_is_named_with_what_helps(staged, maker):
    stage = staged(recording(exchange(call("c1", "list_dir", path="."))), config={"providers": PROVIDERS})
    key = create_session(
        stage.journal, workspace=str(stage.workspace), provider="tooled", model="m", actor=USER, title="t"
    )
    context = stage.context()
    with pytest.raises(ProviderUnavailable) as unknown:
        maker(stage.journal.session(key), context.read_settings().config)
    unplayed = replace(stage.journal.session(key), provider="recorded")
    with pytest.raises(ProviderUnavailable, match="no recording to play; name one with --recording FILE"):
        maker(unplayed, context.read_settings().config)
    context.root.close()
    assert unknown.value.why == "There is no provider “tooled” in the configuration (there: hosted)."
    assert "workbench providers add" in unknown.value.remedy and "kind" not in str(unknown.value)


@pytest.mark.parametrize(
    ("detail", "value", "count"), [("key_missing", "x", 1), ("key_missing", "", 0), ("http_500", "x", 0)]
)
def test_a_run_says_that_its_own_shell_has_the_key(staged, monkeypatch, capsys, detail, value, count):
    stage = staged(recording(exchange(call("c1", "list_dir", path="."))))
    monkeypatch.setenv("PLAIN_NAME", value)
    key = create_session(
        stage.journal, workspace=str(stage.workspace), provider="openai-compatible", model="m", actor=USER,
        title="t", configuration={"endpoint": {"base_url": "http://h/v1", "key_env": "PLAIN_NAME"}},
    )  # fmt: skip
    consumer = SimpleNamespace(session_id=key, tally=SimpleNamespace(detail=detail))
    config = load_config(stage.home.path, None, trusted=True, env={}, options={}).config
    _note_key_of_this_shell(
        SimpleNamespace(journal=stage.journal, consumer=consumer, config=config, console=Console())
    )
    told = "PLAIN_NAME is set in this shell: workbench host restart hands it over.\n"
    assert capsys.readouterr().err == told * count
