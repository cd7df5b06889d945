"""Sessions open and end."""

import time

from shop import login


def test_a_session_ends(monkeypatch):
    monkeypatch.setattr(login, "LIFETIME", 0.01)
    sessions = login.Sessions()
    sessions.open("t1")
    time.sleep(0.01)
    assert not sessions.is_open("t1")
