"""The screen's tests see one time zone, one theme and colours."""

import os
import time

import pytest


@pytest.fixture(scope="session", autouse=True)
def snapshot_settings():
    """Keep what the snapshot plugin says to itself: the isolation of every test would take it away."""
    return {name: value for name, value in os.environ.items() if name.startswith("TEXTUAL_SNAPSHOT")}


@pytest.fixture(autouse=True)
def still_terminal(isolated, snapshot_settings, monkeypatch):
    for name, value in snapshot_settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
