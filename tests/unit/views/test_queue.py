import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.views.making import MINUTE, NOW, SECOND, action, call, session
from workbench.domain.tools import tool_verb
from workbench.domain.values import FilePlan, SelectedHunk
from workbench.tools.registry import every_tool
from workbench.views import approvals
from workbench.views.approvals import QueueRow, QueueSummary

SESSIONS = {"s1": session(), "s2": session("s2", title="a first one")}


def shown(actions, **more):
    return approvals.queue_rows(actions, SESSIONS, NOW, **more)


def ids(rows):
    return [row.id for row in rows]


def test_a_row_says_everything():
    plan = FilePlan(path="x", base=None, after="h", mode=0o644)
    asked = action(
        added=6, removed=3, files=(plan, plan, plan), expires_at=NOW + 292 * SECOND, warnings=("deletes",)
    )
    assert shown([asked], marks={"a1"}) == (
        QueueRow(
            id="a1", sign="waiting", verb="edit", target="src/shop/router.py", added=6, removed=3, more_files=2,
            session_id="s1", session_title="rename handler", state_word="! deletes", left_seconds=292.0,
            urgency="soon", warnings=("deletes",), mark=True, can_batch=False, agent="workbench",
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("more", "word", "sign"),
    [
        ({}, "", "waiting"),
        ({"stale_paths": ("x",), "warnings": ("stale",)}, "stale", "stale"),
        ({"warnings": ("hidden",)}, "! hidden", "waiting"),
        ({"warnings": ("hidden", "deletes", "scrubbed")}, "! 3", "waiting"),
        (
            {
                "state": "approved",
                "decided_at": NOW,
                "selection": (SelectedHunk(hunk=1), SelectedHunk(hunk=3)),
            },
            "2 of 3 hunks",
            "partly",
        ),
        ({"state": "expired", "decided_at": NOW}, "expired", "expired"),
        ({"state": "cancelled", "decided_at": NOW}, "withdrawn", "cancelled"),
    ],
)
def test_state_words(more, word, sign):
    (row,) = shown([action(**more)], hunk_sizes={"a1": (2, 2, 1)})
    assert (row.state_word, row.sign) == (word, sign)


def test_a_partly_approved_one_without_a_total_says_partly():
    (row,) = shown([action(state="approved", decided_at=NOW, selection=())])
    assert row.state_word == "partly"


def test_what_was_taken_back_says_so():
    rows = shown(
        [action(state="approved", decided_at=NOW), action("a2", state="approved", decided_at=NOW)],
        undone={"a1"},
    )
    assert {row.id: (row.sign, row.state_word) for row in rows} == {
        "a1": ("cancelled", "undone"), "a2": ("ok", "approved"),
    }  # fmt: skip


def test_what_became_of_an_approved_one_is_its_sign():
    calls = {"c-a1": call("c-a1", state="interrupted")}
    (row,) = shown([action(state="approved", decided_at=NOW)], calls=calls)
    assert (row.sign, row.state_word) == ("unknown", "outcome unknown")


ASKED = [
    action("late", expires_at=NOW + 9 * MINUTE, created_at=NOW - 3, session_id="s2"),
    action("soon", expires_at=NOW + 1 * MINUTE, created_at=NOW - 9),
    action("never", expires_at=None, created_at=NOW - 1),
    action("done-old", state="approved", decided_at=NOW - 9),
    action("done-new", state="rejected", decided_at=NOW - 1),
    action("gone", state="superseded", decided_at=NOW),
]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("time", ["soon", "late", "never"]),
        ("new", ["never", "late", "soon"]),
        ("session", ["late", "soon", "never"]),
    ],
)
def test_order_of_what_waits(order, expected):
    assert ids(shown(ASKED, order=order)) == [*expected, "done-new", "done-old"]
    assert ids(shown(ASKED, order=order, shows_decided=False)) == expected


def test_what_was_decided_a_moment_ago_stays_where_it_was():
    asked = [
        action("a", expires_at=NOW + MINUTE),
        action("b", expires_at=NOW + 2 * MINUTE),
        action("c", expires_at=NOW + 3 * MINUTE),
    ]
    decided = [asked[0], action("b", state="approved", decided_at=NOW, expires_at=NOW + 2 * MINUTE), asked[2]]
    rows = shown(decided, lingering={"b"}, shows_decided=False)
    assert ids(rows) == ["a", "b", "c"]
    assert [row.in_decided for row in rows] == [False, False, False]
    assert ids(shown(decided)) == ["a", "c", "b"]
    assert shown(decided)[-1].in_decided


def test_what_a_rule_let_pass_stands_among_the_decided_and_is_not_yours():
    passed = call("c9", rule="R3", finished_at=NOW - 5, verdict_by="R3")
    rows = shown([*ASKED], ruled=[passed])
    row = next(row for row in rows if row.id == "c9")
    assert (row.sign, row.verb, row.state_word, row.is_action, row.can_batch) == (
        "rule",
        "read",
        "by rule R3",
        False,
        False,
    )
    assert ids(rows)[3:] == ["done-new", "c9", "done-old"]


@pytest.mark.parametrize("text", ["ROUTER", "rename", "edit src", "edit rename"])
def test_filter_finds(text):
    assert ids(shown([action()], text_filter=text)) == ["a1"]


def test_filter_leaves_out():
    assert shown([action()], text_filter="router renmae") == ()


AGENTS = {
    "s1": session(workspace="/src/shop"),
    "s2": session("s2", kind="supervised", provider="claude", workspace="/src/blog"),
    "s3": session("s3", origin="codex", workspace="/src/shop-old"),
}
OF_AGENTS = [
    action("own", warnings=("runs net",), verb="run", target="pip install x"),
    action("claude", session_id="s2", warnings=("deletes", "stale")),
    action("codex", session_id="s3", target="codex.toml"),
    action("trust", session_id="system", kind="trust", subject={"workspace": "/src/blog"}),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("agent:claude", {"claude"}), ('agent:"Claude Code"', {"claude"}), ("agent:claude-code", {"claude"}),
        ("agent:workbench agent:cod", {"own", "codex"}), ("-agent:workbench", {"claude", "codex", "trust"}),
        ("folder:shop", {"own", "codex"}), ("folder:SRC folder:/shop/", {"own", "codex"}),
        ("folder:blog", {"claude", "trust"}), ("-folder:blog -folder:old", {"own"}),
        ("risk:any", {"own", "claude"}), ("risk:del", {"claude"}), ('risk:"runs net"', {"own"}),
        ("risk:any risk:del", {"claude"}), ("risk:stale", set()), ("-risk:any", {"codex", "trust"}),
        ("codex", {"codex"}), ('-"codex"', {"own", "claude", "trust"}), ("folder:shop pip", {"own"}),
        ("status:ready", set()),
    ],
)  # fmt: skip
def test_agent_folder_and_risk_narrow(text, found):
    rows = approvals.queue_rows(OF_AGENTS, AGENTS, NOW, text_filter=text)
    assert set(ids(rows)) == found


def test_what_a_rule_let_pass_is_filtered_by_agent_and_folder():
    ruled = [call("c1"), call("c2", session_id="s2"), call("c3", session_id="gone")]
    rows = approvals.queue_rows([], AGENTS, NOW, ruled=ruled, text_filter="agent:claude folder:blog")
    assert ids(rows) == ["c2"]


def test_hostile_text_is_one_safe_line():
    (row,) = shown([action(target="rm\n\x1b[31m-rf \u202e/", verb="r\x1bn", warnings=("\x1b[2J",))])
    for text in (row.target, row.verb, row.state_word, *row.warnings):
        assert "\x1b" not in text and "\n" not in text and "\u202e" not in text


@each_row(
    ("left", "shown_left", "urgency"),
    [
        (901, 900, "calm"),
        (309.5, 310, "calm"),
        (300, 300, "calm"),
        (299.2, 300, "calm"),
        (298.9, 299, "soon"),
        (60, 60, "soon"),
        (59, 59, "now"),
        (0.2, 1, "now"),
        (-5, 0, "now"),
    ],
)
def test_a_countdown_is_calm_until_it_matters(left, shown_left, urgency):
    (row,) = shown([action(expires_at=NOW + int(left * SECOND))])
    assert (row.left_seconds, row.urgency) == (shown_left, urgency)


def test_only_what_waits_counts_down():
    assert shown([action(state="approved", decided_at=NOW)])[0].left_seconds is None
    assert shown([action(expires_at=None)])[0].left_seconds is None


def test_only_calm_tools_go_into_a_batch():
    kinds = {
        kind: shown([action(kind=kind)])[0].can_batch
        for kind in ("tool", "gate", "question", "trust", "finding")
    }
    assert kinds == {"tool": True, "gate": False, "question": False, "trust": False, "finding": False}
    assert not shown([action(stale_paths=("x",), warnings=("stale",))])[0].can_batch


def test_summary():
    assert approvals.queue_summary(ASKED, NOW) == QueueSummary(
        waiting=3, first_left=60.0, first_id="soon", urgency="soon", sessions=2
    )
    assert approvals.queue_summary(ASKED[3:], NOW) == QueueSummary()


@pytest.mark.parametrize(
    ("after", "step", "expected"),
    [
        (None, 1, "soon"),
        ("soon", 1, "late"),
        ("never", 1, "soon"),
        ("soon", -1, "never"),
        ("done-old", -1, "never"),
        (None, -1, "never"),
        ("not there", 1, "soon"),
    ],
)
def test_next_waiting(after, step, expected):
    assert approvals.next_waiting_id(shown(ASKED), after, step=step) == expected


def test_next_waiting_of_nothing():
    assert approvals.next_waiting_id(shown(ASKED[3:]), None) is None
    assert approvals.next_waiting_id((), "x") is None


names = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(names, names, st.randoms())
def test_nothing_on_screen_changes_places(now_there, before, random):
    actions = [action(name, expires_at=NOW + random.randrange(9) * MINUTE) for name in now_there]
    rows = shown(actions)
    held = approvals.keep_shown_order(rows, before)
    assert sorted(ids(held)) == sorted(now_there)
    stayed = [key for key in before if key in now_there]
    assert [row.id for row in held if row.id in before] == stayed
    assert approvals.keep_shown_order(rows, []) == rows
    assert approvals.keep_shown_order(rows, ids(rows)) == rows


def test_a_new_row_stands_at_its_place():
    actions = [action(name, expires_at=NOW + n * MINUTE) for n, name in enumerate("abcd", 1)]
    assert ids(approvals.keep_shown_order(shown(actions), ["d", "b"])) == ["a", "d", "b", "c"]


def test_decided_rows_are_not_held():
    assert ids(approvals.keep_shown_order(shown(ASKED), ["done-old", "late", "soon"])) == [
        "late",
        "never",
        "soon",
        "done-new",
        "done-old",
    ]


def test_only_rows_of_what_changed_are_made_again():
    one, other = action("a", expires_at=NOW + 20 * MINUTE), action("b", expires_at=NOW + 20 * MINUTE)
    made = {}
    first = shown([one, other], cache=made)
    again = shown([one, action("b", expires_at=NOW + 20 * MINUTE, target="other.py")], cache=made)
    assert again[0] is first[0]
    assert [row.target for row in again] == [first[0].target, "other.py"]
    marked = shown([one, other], cache=made, marks={"a"})
    assert [row.mark for row in marked] == [True, False]
    later = approvals.queue_rows([one], SESSIONS, NOW + MINUTE, cache=made)
    assert later == approvals.queue_rows([one], SESSIONS, NOW + MINUTE) and later[0].left_seconds == 19 * 60
    assert list(made) == ["a"]


def test_a_call_has_the_verb_of_its_tool():
    verbs = {tool.descriptor.id: tool.descriptor.verb for tool in every_tool()}
    assert {tool: tool_verb(tool) for tool in verbs} == verbs
    assert set(verbs.values()) == {"edit", "write", "move", "del", "run", "fetch", "read"}
    assert tool_verb("mcp__tracker__search") == "run"
