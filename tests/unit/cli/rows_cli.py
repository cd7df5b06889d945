"""Rows as the tests of the command line need them."""

from workbench.domain.rows import Action, Call, Session

NOW = 1_700_000_000_000_000
HOSTILE = "a\x1b[31m‮b\x9b2Jc​d"
RAW = ("\x1b", "‮", "\x9b", "​", "\x07", "\x7f")


def action(**facts):
    given = {
        "id": "3f2a0000-0000-4000-8000-000000000001", "session_id": "s1", "kind": "tool", "state": "pending",
        "target": "src/shop/router.py", "digest": "d1", "created_at": NOW, "opened_at": 7,
        "expires_at": NOW + 299_000_000, "call_id": "c1", "tool": "replace_string_in_file", "verb": "edit",
        "added": 9, "removed": 4,
    }  # fmt: skip
    return Action(**{**given, **facts})


def call(**facts):
    given = {
        "id": "c1", "session_id": "s1", "turn_id": "t1", "ordinal": 1000, "provider_call_id": "p1",
        "tool": "replace_string_in_file", "state": "succeeded", "requested_at": NOW, "action_id": "a1",
        "target": "src/shop/router.py", "duration_ms": 12,
    }  # fmt: skip
    return Call(**{**given, **facts})


def session(**facts):
    given = {
        "id": "5e550000-0000-4000-8000-000000000001", "kind": "chat", "status": "paused", "created_at": NOW,
        "updated_at": NOW, "title": "rename handler", "workspace": "/src/shop", "provider": "recorded",
        "model": "m1",
    }  # fmt: skip
    return Session(**{**given, **facts})
