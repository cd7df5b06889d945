"""Rows and events in one line each, for tables of tests."""

from itertools import count

from workbench.domain.events import Event
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Actor, Hunk

SECOND = 1_000_000
MINUTE = 60 * SECOND
NOW = 1_000_000 * SECOND


def session(key="s1", **more):
    facts = {
        "kind": "chat",
        "status": "ready",
        "created_at": NOW,
        "updated_at": NOW,
        "title": "rename handler",
    }
    return Session(**{"id": key, **facts, **more})


def action(key="a1", **more):
    facts = {
        "session_id": "s1", "kind": "tool", "state": "pending", "target": "src/shop/router.py", "digest": f"d-{key}",
        "created_at": NOW - MINUTE, "opened_at": 1, "expires_at": NOW + 10 * MINUTE, "verb": "edit",
        "tool": "replace_string_in_file", "call_id": f"c-{key}",
    }  # fmt: skip
    return Action(**{"id": key, **facts, **more})


def call(key="c1", **more):
    facts = {
        "session_id": "s1", "turn_id": "t1", "ordinal": 1, "provider_call_id": key, "tool": "read_file",
        "state": "succeeded", "requested_at": NOW - MINUTE, "target": "src/app.py", "proposed": True,
    }  # fmt: skip
    return Call(**{"id": key, **facts, **more})


def hunk(
    index=1, path="src/shop/router.py", lines=((" ", "a"), ("-", "b"), ("+", "c"), ("+", "d")), old=10, new=10
):
    olds = sum(sign in " -" for sign, _ in lines)
    news = sum(sign in " +" for sign, _ in lines)
    return Hunk(
        index=index,
        path=path,
        old_start=old,
        old_count=olds,
        new_start=new,
        new_count=news,
        lines=tuple(lines),
    )


_numbers = count(1)


def event(body, *, at=NOW, session_id="s1", by="host", **more):
    number = next(_numbers)
    actor = Actor(kind=by, pid=41, via="screen" if by == "user" else None)
    return Event(
        id=f"e{number}", session_id=session_id, at=at, actor=actor, body=body, position=number, sequence_number=number,
        **more,
    )  # fmt: skip
