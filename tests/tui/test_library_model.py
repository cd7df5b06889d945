"""What the library reads: a search leaves out of one order, costs are of a session with all below it."""

import json

import pytest

from workbench.domain.events import SessionChanged
from workbench.domain.values import Actor
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.library.library_list import LibraryModel, LibraryQuery

USER = Actor(kind="user", via="cli")


def lines(name, words, second, parent=None):
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    rows = [
        {"type": "user", "uuid": f"{name}0", "message": {"role": "user", "content": words}},
        {"type": "assistant", "uuid": f"{name}1", "message": {
            "role": "assistant", "id": f"m{name}", "model": "big", "usage": usage,
            "content": [{"type": "text", "text": f"the reply of {name}"}]}},
    ]  # fmt: skip
    common = {"sessionId": parent or name, "cwd": "/shop", "timestamp": f"2026-11-21T12:00:{second:02}Z"}
    more = {"isSidechain": True, "agentId": name} if parent else {}
    return "".join(json.dumps({**common, **more, **row}) + "\n" for row in rows)


@pytest.fixture
def journal(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number, words in enumerate(("rename the handler", "handle it", "something else", "a handler again")):
        (folder / f"s{number}.jsonl").write_text(lines(f"s{number}", words, number * 5))
    (folder / "agent-x.jsonl").write_text(lines("x", "look around", 30, parent="s2"))
    with Journal.open(Home.open(tmp_path / "home")) as opened:
        import_sources(opened, find_sources([str(folder)]), ImportRequest(), SilentProgress())
        yield opened


def price(_provider, _model, usage, _context):
    return usage.input_tokens


def titles(model, text, **more):
    found = model.find(LibraryQuery(text=text, **more))
    return [model.sessions[key].title for key in found.rows.ids]


def test_a_search_finds_the_same_after_changes_as_from_the_start(journal):
    model = LibraryModel(journal, price)
    model.read()
    assert titles(model, "handler") == ["a handler again", "rename the handler"]
    key = next(one.id for one in model.sessions.values() if one.title == "handle it")
    journal.append([journal.event(SessionChanged(title="the handler of all"), key, USER)])
    model.read({key})
    fresh = LibraryModel(journal, price)
    fresh.read()
    for text in ("handler", "hand", "reply", "-handler", "the reply", "nothing", ""):
        for order in range(4):
            assert titles(model, text, order=order) == titles(fresh, text, order=order), (text, order)
    assert "the handler of all" in titles(model, "handler")
    assert model.find(LibraryQuery()).total == 4 and model.find(LibraryQuery(text="look")).total == 5


def test_a_row_costs_what_the_session_and_all_below_it_took(journal):
    model = LibraryModel(journal, price)
    model.read()
    by_title = {one.title: key for key, one in model.sessions.items()}
    model.look(model.sessions)
    assert model.costs[by_title["handle it"]] == "$1.00"
    assert model.costs[by_title["something else"]] == "$2.00"
    unpriced = LibraryModel(journal, lambda *_: None)
    unpriced.read()
    unpriced.look(unpriced.sessions)
    assert unpriced.costs == {}
