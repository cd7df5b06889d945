"""Short ids: what a beginning names, how much of an id is shown, and what is said of several."""

import string

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.scenes import SettableClock, open_journal
from workbench.cli.context import find_action, find_session, short_id
from workbench.cli.errors import Refusal
from workbench.domain.events import SessionCreated
from workbench.domain.values import Actor
from workbench.journal.search import SHORTEST_ID, ids_with_prefix, unique_id_prefix

USER = Actor(kind="user", via="cli")
IDS = ("3f2a1111-aa", "3f2a1111-ab", "3f2b3333-00", "77", "ü8-_%")


@pytest.fixture
def journal(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.journal.home.RESERVE_BYTES", 1000)
    with open_journal(tmp_path / "home", SettableClock()) as found:
        body = {
            key: SessionCreated(workspace="/shop", provider="p", model="m", title=f"about {key}")
            for key in IDS
        }
        for key, created in body.items():
            found.append([found.event(created, key, USER)], strict=False)
        yield found


@pytest.mark.parametrize(
    "given, found",
    [
        ("3f2a1111-aa", "3f2a1111-aa"),
        ("3f2a1111-ab", "3f2a1111-ab"),
        ("3f2b", "3f2b3333-00"),
        ("7", "77"),
        ("ü", "ü8-_%"),
        ("ü8-_%", "ü8-_%"),
    ],
)
def test_a_beginning_that_only_one_has(journal, given, found):
    assert find_session(journal, given).id == found


@pytest.mark.parametrize(
    "given, why",
    [
        (
            "3f2",
            "3 match: 3f2a1111-aa “about 3f2a1111-aa”; 3f2a1111-ab “about 3f2a1111-ab”; 3f2b3333 “about",
        ),
        ("3f2a1111", "2 match"),
        ("", "at least a character"),
        ("ffff", "no id starts with that"),
        ("%", "no id starts with that"),
        ("3f2_", "no id starts with that"),
        ("3f2b\udcff", "no id starts with that"),
    ],
)
def test_what_is_refused(journal, given, why):
    with pytest.raises(Refusal) as caught:
        find_session(journal, given)
    assert why in caught.value.why


def test_an_answer_needs_more_of_an_id_than_a_number(journal):
    with pytest.raises(Refusal, match="at least 4 characters"):
        find_action(journal, "3")


def test_as_much_of_an_id_is_shown_as_names_it_alone(journal):
    assert [short_id(journal, key) for key in IDS] == [
        "3f2a1111-aa",
        "3f2a1111-ab",
        "3f2b3333",
        "77",
        "ü8-_%",
    ]


@given(
    st.sets(
        st.text(string.ascii_letters[:3] + "-\U0010ffff", min_size=1, max_size=14), min_size=1, max_size=12
    )
)
def test_what_is_shown_always_names_one(ids):
    database = apsw.Connection(":memory:")
    database.execute("CREATE TABLE session (id TEXT PRIMARY KEY)")
    for key in ids:
        database.execute("INSERT INTO session VALUES (?)", (key,))
    for key in ids:
        shown = unique_id_prefix(database, "session", key)
        named = ids_with_prefix(database, "session", shown, 20)
        assert key.startswith(shown) and set(named) == {one for one in ids if one.startswith(shown)}
        assert named == [key] or shown == key, "a whole id may be the beginning of others"
        assert len(shown) >= min(SHORTEST_ID, len(key))
