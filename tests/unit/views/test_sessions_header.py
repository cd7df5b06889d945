import pytest

from tests.unit.views.making import MINUTE, NOW, SECOND, action, event, session
from workbench.domain import events
from workbench.domain.values import SelectedHunk, Usage
from workbench.views import sessions
from workbench.views.sessions import ChangedFile, HeaderFacts, SessionRow

ALL = [
    session("old", title="docs pass", updated_at=NOW - 3),
    session("new", title="", kind="import", updated_at=NOW - 1),
    session("busy", title="fix flaky login", status="processing", updated_at=NOW - 9),
    session("asks", title="nightly", number=41, updated_at=NOW - 99),
    session("bad", title="bump deps", status="failed", updated_at=NOW - 2),
    session("system", updated_at=NOW),
    session("step", kind="step"),
    session("away", archived=True),
]
ACTIONS = [action(session_id="asks"), action("a2", session_id="old", state="approved")]


def ids(rows):
    return [row.id for row in rows]


def test_what_waits_first_then_what_runs_then_what_moved_last():
    assert ids(sessions.session_rows(ALL, ACTIONS)) == ["asks", "busy", "new", "bad", "old"]


def test_rows():
    asks, busy, new, *_ = sessions.session_rows(ALL, ACTIONS, current="busy")
    assert asks == SessionRow(id="asks", sign="waiting", word="waiting", title="nightly #41", waiting=1)
    assert busy == SessionRow(
        id="busy", sign="running", word="running", title="fix flaky login", is_current=True
    )
    assert new == SessionRow(
        id="new", sign="ok", word="ready", title="import new", when=NOW - 1, is_muted=True
    )


def test_what_a_step_asks_waits_in_its_run():
    found = [
        *ALL,
        session("inner", kind="step", parent_id="asks"),
        session("deep", kind="step", parent_id="inner"),
    ]
    asked = [action(session_id="deep"), action("a2", session_id="asks"), action("a3", session_id="step")]
    assert [(row.id, row.waiting) for row in sessions.session_rows(found, asked) if row.waiting] == [
        ("asks", 2)
    ]
    loop = [session("one", kind="step", parent_id="two"), session("two", kind="step", parent_id="one")]
    assert sessions.session_rows(loop, [action(session_id="one")]) == ()


def test_a_command_made_of_words_stands_there_only_while_it_is_the_current_one():
    found = [*ALL, session("words", kind="ask", updated_at=NOW)]
    assert ids(sessions.session_rows(found, ACTIONS)) == ids(sessions.session_rows(ALL, ACTIONS))
    assert "words" in ids(sessions.session_rows(found, ACTIONS, current="words"))


def test_a_number_is_said_once():
    assert sessions.session_title(session(title="release #1", number=1)) == "release #1"
    assert sessions.session_title(session(title="release #1", number=2)) == "release #1 #2"


def test_filter():
    assert ids(sessions.session_rows(ALL, [], text_filter="DEPS bump")) == ["bad"]


@pytest.mark.parametrize(
    ("room", "current", "expected"),
    [
        (200, "old", ["asks", "busy", "new", "bad", "old"]),
        (40, "old", ["asks", "old"]),
        (22, "busy", ["busy"]),
        (0, None, []),
    ],
)
def test_the_strip_always_has_the_session_on_show(room, current, expected):
    shown, total = sessions.fitting_strip_rows(sessions.session_rows(ALL, ACTIONS, current=current), room)
    assert (ids(shown), total) == (expected, 5)


def test_changed_files():
    change = [
        event(
            events.FileChanged(path="a", change="modify", before="1", after="2", added=2, removed=1),
            call_id="c-a1",
        ),
        event(events.FileChanged(path="b", change="create", before=None, after="2", added=4), call_id="c-a2"),
        event(events.FileChanged(path="a", change="modify", before="2", after="3", added=1), call_id="c-a3"),
        event(events.CallExecuting(), call_id="c-a1"),
    ]
    actions = {"a1": action("a1"), "a3": action("a3", selection=(SelectedHunk(hunk=1),), state="approved")}
    assert sessions.changed_files(change, actions) == (
        ChangedFile(path="a", sign="partly", added=3, removed=1, action_id="a3"),
        ChangedFile(path="b", sign="ok", added=4),
    )


def test_a_file_that_is_as_it_was_is_no_changed_file():
    steps = [(None, "1"), ("1", "2"), ("2", None)]
    change = [
        event(events.FileChanged(path="a", change="modify", before=b, after=a, added=1)) for b, a in steps
    ]
    assert sessions.changed_files(change, {}) == ()
    assert [one.path for one in sessions.changed_files(change[:2], {})] == ["a"]


def test_session_facts_leave_out_what_nobody_knows():
    row = session(model="qwen3", usage=Usage(input_tokens=41_000, output_tokens=200))
    run = sessions.RunTotals(done=2, total=9, tokens=8_900)
    of_run = dict(sessions.session_facts(row, turns=0, asks="", rules=0, run=run).facts)
    assert (of_run["steps"], of_run["tokens"]) == ("2 of 9 done", "8.9k") and "turns" not in of_run
    facts = sessions.session_facts(row, turns=7, asks="every call", rules=2)
    assert facts.facts == (
        ("model", "qwen3"),
        ("turns", "7"),
        ("tokens", "41.2k"),
        ("asks", "every call"),
        ("rules", "2 on"),
    )


def test_header():
    found = sessions.header_facts(
        ALL, [action(expires_at=NOW + MINUTE - SECOND)], NOW, workspace="/home/me/src/shop", home="/home/me/", branch="main",
        current=session(model="m", usage=Usage(input_tokens=5)), money="$0.18",
    )  # fmt: skip
    assert found == HeaderFacts(
        workspace="~/src/shop", branch="main", waiting=1, first_left=59.0, urgency="now", running=1, failed=1, model="m",
        tokens=5, money="$0.18", clock=NOW - NOW % MINUTE,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("workspace", "home", "short"),
    [
        ("/home/me", "/home/me", "~"),
        ("/home/meg", "/home/me", "/home/meg"),
        ("/srv", "", "/srv"),
        ("/x\x1b", "/", "/x⟨U+001B⟩"),
    ],
)
def test_where(workspace, home, short):
    assert sessions.header_facts([], [], NOW, workspace=workspace, home=home).workspace == short


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        (HeaderFacts(workspace="~/src/shop"), "shop"),
        (HeaderFacts(workspace="~/src/shop", waiting=3, first_left=41.0), "◆ 3 · 0:41 · shop"),
        (HeaderFacts(workspace="/", waiting=1), "◆ 1 · /"),
    ],
)
def test_terminal_title(facts, title):
    assert sessions.terminal_title(facts) == title
