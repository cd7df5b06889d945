"""A history that was copied into another session: told in both, paid once."""

import json

import pytest

from workbench.domain.values import Actor
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.maintenance import delete_session

USER = Actor(kind="user", via="cli")


def lines(session, numbers, *, has_requests=True):
    for number in numbers:
        common = {"sessionId": session, "cwd": "/shop", "timestamp": f"2026-11-21T12:{number:02}:00Z"}
        usage = {"input_tokens": 10, "output_tokens": 1 << number}
        said = {
            "role": "assistant",
            "id": f"m{number}",
            "model": "big",
            "content": [{"type": "text", "text": f"{number}"}],
        }
        request = {"requestId": f"r{number}"} if has_requests else {}
        yield {
            **common,
            "type": "user",
            "uuid": f"{session}p{number}",
            "message": {"role": "user", "content": f"ask {number}"},
        }
        # One message over two lines: the first counts less than the last.
        first = {**said, "usage": {**usage, "output_tokens": 0}}
        yield {**common, **request, "type": "assistant", "uuid": f"{session}a{number}", "message": first}
        last = {**said, "content": [{"type": "text", "text": "more"}], "usage": usage}
        yield {**common, **request, "type": "assistant", "uuid": f"{session}b{number}", "message": last}


def write(path, *args, **more):
    path.write_text("".join(json.dumps(row) + "\n" for row in lines(*args, **more)))


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as opened:
        yield opened


def take(journal, path, **wish):
    return import_sources(journal, find_sources([str(path)]), ImportRequest(**wish), SilentProgress())


def spent(journal):
    """Return the tokens of each session, by the id that its file has."""
    return {
        one.configuration["import"]["id"]: (one.usage.input_tokens, one.usage.output_tokens)
        for one in journal.sessions()
        if one.origin
    }


def test_what_was_copied_counts_where_it_was_read_first(journal, tmp_path):
    write(tmp_path / "a.jsonl", "a", range(3))
    write(tmp_path / "b.jsonl", "b", range(5))
    take(journal, tmp_path / "a.jsonl")
    take(journal, tmp_path / "b.jsonl")
    assert spent(journal) == {"a": (30, 0b111), "b": (20, 0b11000)}
    texts = [
        event.body.text
        for one in journal.sessions()
        for event in journal.events(one.id)
        if event.kind == "reply.completed"
    ]
    assert len(texts) == 16  # what was said stands in both
    before = [event.id for one in journal.sessions() for event in journal.events(one.id)]
    result = take(journal, tmp_path, is_again=True)
    assert result.added == {}
    assert [event.id for one in journal.sessions() for event in journal.events(one.id)] == before
    write(tmp_path / "a.jsonl", "a", range(4))  # a copy may go on in its source as well
    take(journal, tmp_path)
    assert spent(journal) == {"a": (30, 0b111), "b": (20, 0b11000)}
    assert index_table_differences(journal) == []


def test_what_a_deleted_session_paid_is_nobodys(journal, tmp_path):
    write(tmp_path / "a.jsonl", "a", range(2))
    write(tmp_path / "b.jsonl", "b", range(2))
    take(journal, tmp_path / "a.jsonl")
    (first,) = (one for one in journal.sessions() if one.origin)
    delete_session(journal, first.id, USER)
    take(journal, tmp_path / "b.jsonl")
    assert spent(journal) == {"b": (20, 0b11)}


def test_replies_without_a_request_are_no_copies(journal, tmp_path):
    """Ids of messages alone are short in some files and the same in files that have nothing in common."""
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", name, range(2), has_requests=False)
    take(journal, tmp_path)
    assert spent(journal) == {"a": (20, 0b11), "b": (20, 0b11)}


def test_what_is_left_out_has_paid_nothing(journal, tmp_path):
    write(tmp_path / "a.jsonl", "a", range(2))
    take(journal, tmp_path, leaves_out=lambda _: True)
    write(tmp_path / "b.jsonl", "b", range(2))
    take(journal, tmp_path / "b.jsonl")
    assert spent(journal) == {"b": (20, 0b11)}
