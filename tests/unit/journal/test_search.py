"""The search index: in step with the events, gone with them, made anew by a migration and a rebuild."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

from tests.unit.journal.scenes import HOST, USER, assert_sound, open_journal, start
from workbench.domain.events import CallProposed, PromptSubmitted, ReplyCompleted, SessionChanged
from workbench.domain.values import GateVerdict
from workbench.effects import fault_points
from workbench.journal import database as journal_database
from workbench.journal import maintenance, search
from workbench.journal.database import MIGRATIONS, prepare_database
from workbench.journal.errors import JournalFailed
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences, rebuild_index_tables
from workbench.journal.journal import Journal

NEEDLE = "xylophonist"


def _say(journal: Journal, session: str, text: str) -> None:
    journal.append([journal.event(PromptSubmitted(text=text), session, USER)])


def _found(journal: Journal, match: str) -> dict[str, int]:
    with journal.snapshot() as database:
        return {one.session_id: one.places for one in search.matching_sessions(database, match)}


def _places(journal: Journal, session: str, match: str, most: int = 9) -> list[int]:
    with journal.snapshot() as database:
        return search.matches_in_session(database, match, session, most)


@pytest.mark.spec(179)
def test_titles_prompts_replies_commands_and_paths_are_found(journal: Journal) -> None:
    start(journal)
    allowed = GateVerdict(outcome="allowed", step="grants", by="R1")
    command = CallProposed(
        tool="run_in_terminal", verdict=allowed, target="pytest", parameters={"command": "pytest tests/unit"}
    )
    for body, call in (
        (SessionChanged(title="Rename handler", tags=("release",)), None),
        (PromptSubmitted(text="Überprüfe den Router"), None),
        (ReplyCompleted(text="I look at src/shop/router_test.py"), None),
        (command, "c1"),
    ):
        journal.append([journal.event(body, "s", HOST, call_id=call)])
    for match in ('"rename"', '"release"', '"uberpr"*', '"router_test.py"', '"tests/un"*', '"shop"'):
        assert _found(journal, match) == {"s": 1}, match
    assert _found(journal, '"router"*') == {"s": 2}
    assert _found(journal, '"nothing"') == {}
    assert_sound(journal)


@pytest.mark.spec(179)
def test_an_option_is_found_with_its_hyphen_only(journal: Journal) -> None:
    start(journal)
    for text in ("ls -la src", "the latest la", "fd -e go", "e go", "LS -LA"):
        _say(journal, "s", text)
    with journal.snapshot() as database:
        for expression, options, places in (
            ('"-la"*', ("-la",), 2), ('"-e" AND "go"*', ("-e",), 1), ('"-la"* AND "-x"', ("-la", "-x"), 0),
        ):  # fmt: skip
            (*found,) = search.matching_sessions(database, expression, options=options)
            assert sum(one.places for one in found) == places, expression
            assert len(search.matches_in_session(database, expression, "s", 9, options)) == places
            assert len(search.newest_matches(database, expression, 9, options)) == places
            assert sum(search.hits_by_session(database, expression, -1, options).values()) == places


@pytest.mark.spec(179)
def test_words_within_words_of_code_are_found(journal: Journal) -> None:
    start(journal)
    _say(journal, "s", "rename createRequestHandler in HTTPErrorPage.tsx, not snake_case_name")
    for match in ('"request"*', '"RequestHand"*', '"handler"', '"error"*', '"errorpage"', '"case"*', '"tsx"'):
        assert _found(journal, match) == {"s": 1}, match
    assert _found(journal, '"equest"*') == {}
    assert_sound(journal)


@pytest.mark.parametrize(
    "parameters",
    [
        {"command": "make all", "path": "a/b"}, {"command": ""}, {"command": ["bash", "-lc", "ls"]}, {"path": 7},
        {"command": "cut\0here"}, {},
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["", "what it is about"])
def test_what_is_indexed_is_what_the_view_says(journal: Journal, target: str, parameters: Any) -> None:
    start(journal)
    verdict = GateVerdict(outcome="allowed", step="grants", by="R1")
    body = CallProposed(tool="t", verdict=verdict, target=target, parameters=parameters)
    journal.append([journal.event(body, "s", HOST, call_id="c1")])
    _say(journal, "s", "x" * 70_000 + " behind the cut")
    assert_sound(journal)


def test_places_come_newest_first_and_of_one_session_only(journal: Journal) -> None:
    start(journal, "a")
    start(journal, "b")
    for number in range(3):
        _say(journal, "a", f"{NEEDLE} {number}")
        _say(journal, "b", NEEDLE)
    newest = journal.events("a")[-1].sequence_number
    assert _places(journal, "a", NEEDLE) == [newest, newest - 1, newest - 2]
    assert _places(journal, "a", NEEDLE, 1) == [newest]
    assert _places(journal, "nobody", NEEDLE) == []


def test_an_append_that_is_refused_leaves_nothing_in_the_index(journal: Journal) -> None:
    start(journal)
    refused = [journal.event(PromptSubmitted(text=NEEDLE), name, USER) for name in ("s", "nobody")]
    with pytest.raises(Exception, match="nobody"):
        journal.append(refused)
    assert _found(journal, NEEDLE) == {}
    assert_sound(journal)


def test_an_older_journal_is_indexed_when_it_is_migrated(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home, MIGRATIONS[:1])
    with contextlib.closing(journal_database.connect(home.database)) as database:
        database.execute(
            "INSERT INTO event (id, session_id, sequence_number, at, actor, kind, body) VALUES"
            " ('e1', 's', 1, 1, '{\"kind\":\"user\"}', 'session.created', '{\"title\":\"Xylophonist\"}')"
        )
    with open_journal(tmp_path) as journal:
        assert _found(journal, NEEDLE) == {"s": 1}
        rebuild_index_tables(journal)
        assert_sound(journal)
        _say(journal, "s", NEEDLE)
        assert _found(journal, NEEDLE) == {"s": 2}


def test_a_rebuild_mends_an_index_that_lost_something(journal: Journal) -> None:
    start(journal)
    _say(journal, "s", NEEDLE)
    journal.change(lambda live: live.database.execute("INSERT INTO search (search) VALUES ('delete-all')"))
    assert _found(journal, NEEDLE) == {}
    assert index_table_differences(journal) == ["the search index does not hold what the events say"]
    rebuild_index_tables(journal)
    assert _found(journal, NEEDLE) == {"s": 1}
    assert_sound(journal)


@pytest.mark.parametrize("transaction", range(1, 9))
def test_a_cut_short_delete_leaves_an_index_that_can_be_finished(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, transaction: int
) -> None:
    monkeypatch.setattr(maintenance, "MOST_SEARCHED_REMOVED", 2)
    start(journal)
    for number in range(7):
        _say(journal, "s", f"{NEEDLE} {number}")
    cut = fault_points.arm_fault("journal.before_commit", OSError(5, "cut"), transaction)
    with cut, contextlib.suppress(JournalFailed):
        maintenance.delete_session(journal, "s", USER)
    maintenance.finish_deletions(journal)
    if journal.session("s") is None:
        assert _found(journal, NEEDLE) == {}
    assert_sound(journal)


def _bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_nothing_of_a_deleted_session_is_left_in_any_file(journal: Journal) -> None:
    start(journal, "kept")
    for number in range(40):
        _say(journal, "kept", f"common words {number} " * 30)
    start(journal)
    for number in range(40):
        ref = journal.blobs.record(f"{NEEDLE} whole {number}".encode())
        text = f"{NEEDLE} and {number} words " * 40
        journal.append([journal.event(PromptSubmitted(text=text, text_ref=ref), "s", USER)])
    backup = journal.home.path / "journal.db.schema-1.backup"
    backup.write_bytes(NEEDLE.encode())
    assert NEEDLE.encode() in _bytes_of(journal.home.path)
    maintenance.delete_session(journal, "s", USER)
    assert maintenance.compact_database(journal)
    assert NEEDLE.encode() not in _bytes_of(journal.home.path)
    assert not backup.exists()
    assert _found(journal, "common") == {"kept": 40}
    assert_sound(journal)
