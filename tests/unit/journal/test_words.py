"""The list of words: letters within words are found, and nothing of a deleted session stays in it."""

import contextlib
from pathlib import Path

import pytest

from tests.unit.journal.scenes import USER, assert_sound, open_journal, start
from workbench.domain.events import PromptSubmitted, SessionChanged
from workbench.journal import database as journal_database
from workbench.journal import maintenance, search
from workbench.journal.database import MIGRATIONS, prepare_database
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences, rebuild_index_tables
from workbench.journal.journal import Journal
from workbench.views import library


def _say(journal: Journal, session: str, text: str) -> None:
    journal.append([journal.event(PromptSubmitted(text=text), session, USER)])


def _found(journal: Journal, typed: str) -> set[str]:
    with journal.snapshot() as database:
        expression = library.fts_expression(library.parse_query(typed), search.word_finder(database))
        return {one.session_id for one in search.matching_sessions(database, expression)}


def _holding(journal: Journal, letters: str, *, is_end: bool = False) -> list[str]:
    with journal.snapshot() as database:
        return list(journal_database.words_containing(database, letters, is_end=is_end))


@pytest.mark.spec(179)
@pytest.mark.parametrize(
    "typed",
    [
        "handler", "andler", "ANDLER", "estHandlerFac", "parse_", "arse_fi", "arser.py", "src/app/par", "pfad",
        "schönes", "önes", "京东京",
    ],
)  # fmt: skip
def test_letters_within_words_are_found(journal: Journal, typed: str) -> None:
    start(journal)
    start(journal, "other")
    _say(
        journal,
        "s",
        "requestHandlerFactory in src/app/parser.py and parse_file, Dateipfad, wunderschönes 北京东京市",
    )
    _say(journal, "other", "nothing of that is here, not even fac or hand")
    assert _found(journal, typed) == {"s"}
    assert_sound(journal)


def test_several_words_are_found_where_each_stands_inside_another(journal: Journal) -> None:
    start(journal)
    start(journal, "other")
    _say(journal, "s", "git push to the digital pushover, rename the handler as prerenamed requestHandler")
    _say(journal, "other", "git pull and a legitimate pushback")
    for typed, sessions in (
        ("git push", {"s", "other"}),
        ("rename handler", {"s"}),
        ('git push rename -"handler"', set()),
        ('"git push" handler', {"s"}),
        ("gital ush(", {"s"}),
        ('git pull -"rename"', {"other"}),
    ):
        assert _found(journal, typed) == sessions, typed
    assert_sound(journal)


def test_phrases_exclusions_and_short_words_mean_beginnings(journal: Journal) -> None:
    start(journal)
    _say(journal, "s", "rehandle the files")
    assert _found(journal, "handle") == {"s"}
    assert _found(journal, '"handle the"') == set()
    assert _found(journal, 'files -"handle"') == {"s"}
    assert _found(journal, "le") == set()


def test_words_are_shortest_first_and_bounded(journal: Journal) -> None:
    start(journal)
    made = [f"{first}{second}needle" for first in "abcdefghi" for second in "abcdefghi"]
    _say(journal, "s", " ".join(("zneedle", *reversed(made), "needles")))
    assert _holding(journal, "needle") == ["zneedle", *made[: journal_database.MOST_MATCHING_WORDS - 1]]
    assert _holding(journal, "dle", is_end=True)[0] == "zneedle"
    assert _holding(journal, "needles") == [], "a beginning is what the index finds itself"


def test_numbers_digests_and_endless_words_are_not_listed(journal: Journal) -> None:
    start(journal)
    _say(journal, "s", f"1234567 d41d8cd98f00b204 {'z' * 65} sha256 utf8text abc")
    assert _holding(journal, "256", is_end=True) == ["sha256"]
    assert [_holding(journal, one) for one in ("345", "8cd9", "zzz", "bc")] == [[], [], [], []]


def test_a_word_goes_with_the_last_session_that_holds_it(journal: Journal) -> None:
    for session in ("a", "b"):
        start(journal, session)
        _say(journal, session, f"xylophone only{session * 4}")
    maintenance.delete_session(journal, "a", USER)
    assert _holding(journal, "lophone") == ["xylophone"]
    assert _holding(journal, "nlyaaaa") == []
    _say(journal, "b", "onlyaaaa again")
    assert _holding(journal, "nlyaaaa") == ["onlyaaaa"], "what was known before the delete is stored anew"
    maintenance.delete_session(journal, "b", USER)
    assert _holding(journal, "lophone") == []
    assert_sound(journal)


def test_titles_and_what_a_null_cuts_are_listed_as_the_index_has_them(journal: Journal) -> None:
    start(journal)
    journal.append([journal.event(SessionChanged(title="Umbenennen", tags=("freigabe",)), "s", USER)])
    _say(journal, "s", "vorher\0nachher")
    assert _holding(journal, "benenn") == ["umbenennen"]
    assert (_holding(journal, "orher"), _holding(journal, "achher")) == (["vorher"], [])
    assert_sound(journal)


def test_a_list_that_lost_or_kept_something_is_named_and_mended(journal: Journal) -> None:
    start(journal)
    _say(journal, "s", "xylophone")
    journal.change(
        lambda live: live.database.execute(
            "UPDATE search_word SET word = 'leftover' WHERE word = 'xylophone'"
        )
    )
    assert index_table_differences(journal) == [
        "1 words of the search are in no event", "1 words of events are not among those of the search",
    ]  # fmt: skip
    rebuild_index_tables(journal)
    assert _holding(journal, "lophone") == ["xylophone"]
    assert_sound(journal)


def test_an_older_journal_gets_its_list_when_it_is_migrated(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home, MIGRATIONS[:5])
    with contextlib.closing(journal_database.connect(home.database)) as database:
        database.execute(
            "INSERT INTO event (id, session_id, sequence_number, at, actor, kind, body) VALUES"
            " ('e1', 's', 1, 1, '{\"kind\":\"user\"}', 'session.created', '{\"title\":\"Xylophonist\"}');"
            "INSERT INTO search_session (session_id) VALUES ('s');"
            "INSERT INTO search (search) VALUES ('rebuild')"
        )
    with open_journal(tmp_path) as journal:
        assert _holding(journal, "lophon") == ["xylophonist"]
        assert _found(journal, "phonist") == {"s"}


def test_a_count_of_the_index_that_fell_behind_does_not_end_a_delete(journal: Journal) -> None:
    start(journal)
    for number in range(5):
        _say(journal, "s", f"xylophone {number}")
    journal.change(
        lambda live: live.database.execute("UPDATE search_data SET block = x'0101' WHERE id = 1") and None
    )
    maintenance.delete_session(journal, "s", USER)
    assert journal.session("s") is None
    assert _found(journal, "xylophone") == set()
    assert_sound(journal)


def test_events_without_words_do_not_spoil_the_count_of_the_index(journal: Journal) -> None:
    for session in ("kept", "s"):
        start(journal, session)
        _say(journal, session, "xylophone")
        for _ in range(3):
            _say(journal, session, "")
    maintenance.delete_session(journal, "s", USER)
    with journal.snapshot() as database:
        counted = database.execute("SELECT block FROM search_data WHERE id = 1").get[0]
        there = database.execute("SELECT count(*) FROM search_text WHERE words != ''").get
    assert counted == there
    assert_sound(journal)
