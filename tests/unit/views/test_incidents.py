"""Incidents as rows: what events say of each, filter, groups, counts, and what a start would ask."""

import msgspec

from tests.support import golden
from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.incidents import Incident, IncidentOptions
from workbench.domain.rows import Action
from workbench.domain.values import Actor
from workbench.views.incidents import (
    IncidentList,
    count_incidents,
    decode_incidents,
    filter_incidents,
    group_incidents,
    incident_list,
    plan_incidents,
)

USER = Actor(kind="user")


def incident(number, **changes):
    values = {
        "id": f"i{number}", "fingerprint": f"f{number}", "rule": "F401", "path": "src/a.py", "line": number,
        "message": f"`os{number}` imported but unused",
    }  # fmt: skip
    return Incident(**{**values, **changes})


INCIDENTS = (
    incident(1),
    incident(2, rule="E711", severity="error", message="Comparison to None"),
    incident(3, path="src/b.py", severity="info", line=0),
    incident(4, path="gone.py", problem="the file is missing"),
)
COUNT = iter(range(1, 10_000))


def event(body, session_id="list", **about):
    number = next(COUNT)
    return e.Event(
        id=f"e{number}", session_id=session_id, at=number, actor=USER, body=body, position=number, **about
    )


def requested(*ids, **options):
    return event(e.IncidentsRequested(ids=ids, options=IncidentOptions(**options)))


def started(key, child="child", **about):
    return event(e.IncidentStarted(incident=key, child_id=child, **about))


def opened(action_id, session_id="child", kind="tool", **about):
    body = e.ActionOpened(
        action_kind=kind, tool=None, target="src/a.py", digest="d", created_at=1, expires_at=2, **about
    )
    return event(body, session_id, action_id=action_id)


def approved(action_id, session_id="child"):
    return event(e.ActionApproved(digest="d", result_digest="d", approved_until=9), session_id,
                 action_id=action_id)  # fmt: skip


def pending(action_id, session_id="child", kind="tool", **about):
    return Action(id=action_id, session_id=session_id, kind=kind, state="pending", target="a", digest="d",
                  created_at=1, opened_at=1, **about)  # fmt: skip


def ended(key, outcome="fixed", **about):
    return event(e.IncidentEnded(incident=key, outcome=outcome, **about))


def states(events, dismissed=None):
    rows = incident_list("list", INCIDENTS, events, dismissed or {}).rows
    return [row.status[1] for row in rows]


@each_row(
    "events, words",
    [
        ([], ["open"] * 4),
        ([requested("i1", "i2")], ["queued", "queued", "open", "open"]),
        ([requested("i1", "i2"), started("i1")], ["working", "queued", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a")], ["waiting", "open", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a"), approved("a")], ["working", "open", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a"), opened("b"), approved("a")],
         ["waiting", "open", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a", "list", "finding", subject={"incident": "i1"})],
         ["waiting", "open", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a", "another session")],
         ["working", "open", "open", "open"]),
        ([requested("i1"), started("i1"), opened("a"), ended("i1")], ["fixed", "open", "open", "open"]),
        ([requested("i1"), started("i1"), ended("i1", "failed"), requested("i1")],
         ["queued", "open", "open", "open"]),
        ([event(e.IncidentDismissed(fingerprint="f2", reason="a test needs it"))],
         ["open", "skipped", "open", "open"]),
        ([event(e.IncidentDismissed(fingerprint="f2", reason="no")),
          event(e.IncidentDismissed(fingerprint="f2", reason=""))], ["open"] * 4),
        ([requested("i1"), started("i1"), ended("i1"),
          event(e.IncidentDismissed(fingerprint="f1", reason="no"))], ["fixed", "open", "open", "open"]),
    ],
)  # fmt: skip
def test_an_incident_is_in_the_state_that_its_events_say(events, words):
    assert states(events) == words


def test_what_was_dismissed_in_another_list_is_skipped_from_the_start():
    rows = IncidentList("list", INCIDENTS, {"f3": "generated"}).rows
    assert (rows[2].state, rows[2].reason, rows[2].is_askable) == ("skipped", "generated", False)


def test_rounds_lines_checks_and_files_are_those_of_the_events():
    folded = incident_list("list", INCIDENTS, [
        requested("i1"),
        started("i1", line=4),
        event(e.IncidentChecked(incident="i1", outcome="still there", detail="still unused", line=5,
                                new=(incident(9),), new_count=1)),
        started("i1", round=2),
        ended("i1", "unchanged", files=("src/a.py",), duration_ms=12),
    ], {})  # fmt: skip
    row = folded.row("i1")
    assert row is not None
    assert (row.rounds, row.line, row.place, row.child_id) == (2, 5, "src/a.py:5", "child")
    assert (row.state, row.reason, row.check) == ("unchanged", "still unused", "still there")
    assert (row.files, row.duration_ms, row.new_count) == (("src/a.py",), 12, 1)
    assert folded.children == ("child",)
    assert list(folded.new) == ["i9"]


def test_a_row_names_the_question_that_waits_and_the_next_one_when_it_is_answered():
    folded = incident_list("list", INCIDENTS, [requested("i1"), started("i1"), opened("a"), opened("b")], {})
    assert folded.row("i1").action_id == "a"
    assert folded.apply(approved("a"))
    assert (folded.row("i1").state, folded.row("i1").action_id) == ("waiting", "b")
    folded.apply(approved("b"))
    assert (folded.row("i1").state, folded.row("i1").action_id) == ("working", "")
    folded.apply(opened("c"))
    folded.apply(ended("i1"))
    assert folded.row("i1").action_id == ""


def test_all_questions_that_wait_take_the_place_of_those_before():
    folded = incident_list("list", INCIDENTS, [requested("i1"), started("i1")], {})
    assert folded.ask([pending("a"), pending("x", session_id="another")])
    assert (folded.row("i1").state, folded.row("i1").action_id) == ("waiting", "a")
    assert not folded.ask([pending("a")])
    assert folded.ask([pending("b", session_id="list", kind="finding", subject={"incident": "i1"})])
    assert folded.row("i1").action_id == "b"
    assert folded.ask([]) and folded.row("i1").state == "working"


def test_a_live_fold_says_whether_a_row_changed_and_rows_that_did_not_stay_the_same():
    folded = IncidentList("list", INCIDENTS)
    before = folded.rows
    assert not folded.apply(event(e.TurnEnded(outcome="done"), "child"))
    assert not folded.apply(event(e.IncidentEnded(incident="i1", outcome="fixed"), "another list"))
    assert folded.rows is before
    assert folded.apply(ended("i2"))
    assert [row is old for row, old in zip(folded.rows, before, strict=True)] == [True, False, True, True]


def test_hostile_text_of_a_file_is_safe_in_a_row():
    (row,) = IncidentList("list", [incident(1, path="a\x1b[2J.py", message="x\u202ey\nz", line=1)]).rows
    assert "\x1b" not in row.place
    assert row.message == "x⟨U+202E⟩y⏎z"


@each_row(
    "text, ids",
    [
        ("", "i1 i2 i3 i4"), ("none", "i2"), ("NONE", "i2"), ("severity:error", "i2"), ("severity:err", ""),
        ("rule:F", "i1 i3 i4"), ("file:src", "i1 i2 i3"), ("path:b.py", "i3"), ("-src", "i4"),
        ("-rule:f4", "i2"), ("missing", "i4"), ("outcome:open", "i1 i2 i3 i4"), ("state:fixed", ""),
        ("src rule:E7", "i2"), ("a.py:2", "i2"), ("-", "i1 i2 i3 i4"), ("severity:", "i1 i2 i3 i4"),
    ],
)  # fmt: skip
def test_a_filter_leaves_what_holds_every_word(text, ids):
    rows = filter_incidents(IncidentList("list", INCIDENTS).rows, text)
    assert " ".join(row.incident.id for row in rows) == ids


@each_row(
    "by, groups",
    [
        ("list", {"": "i1 i2 i3 i4"}),
        ("file", {"gone.py": "i4", "src/a.py": "i1 i2", "src/b.py": "i3"}),
        ("rule", {"E711": "i2", "F401": "i1 i3 i4"}),
        ("severity", {"error": "i2", "warning": "i1 i4", "info": "i3"}),
        ("outcome", {"open": "i2 i3 i4", "fixed": "i1"}),
    ],
)
def test_groups_stand_in_their_order_and_hold_every_row_once(by, groups):
    rows = incident_list("list", INCIDENTS, [ended("i1")], {}).rows
    found = {
        group.name: " ".join(row.incident.id for row in group.rows) for group in group_incidents(rows, by)
    }
    assert list(found.items()) == list(groups.items())


def test_counts_are_those_of_the_rows():
    rows = incident_list("list", INCIDENTS, [requested("i1", "i2"), ended("i1")], {}).rows
    counts = count_incidents(rows)
    assert (counts.total, counts.ended, counts.requested) == (4, 1, 1)
    assert counts.words == "1 fixed, 3 open"
    assert dict(counts.severities) == {"warning": 2, "error": 1, "info": 1}


@each_row(
    "batch, checker, sessions, most",
    [("one", "", 3, 3), ("file", "", 2, 3), ("rule", "ruff check", 2, 9)],
)
def test_a_plan_says_how_many_agents_and_prompts_there_would_be(batch, checker, sessions, most):
    rows = IncidentList("list", INCIDENTS).rows
    plan = plan_incidents(rows, IncidentOptions(batch=batch), checker)
    assert (plan.ids, plan.sessions) == (("i1", "i2", "i3"), sessions)
    assert (plan.least_prompts, plan.most_prompts) == (3, most)
    assert plan.left_out == ("1 cannot be asked about: gone.py:4: the file is missing",)


def test_the_blob_of_a_list_is_decoded_as_what_was_written():
    assert decode_incidents(msgspec.json.encode(INCIDENTS)) == INCIDENTS


# --- a recorded list --------------------------------------------------------------------------------------


def recorded():
    events = list(golden.events("lint-fixes"))
    listed = next(one for one in events if isinstance(one.body, e.IncidentsListed))
    found = decode_incidents(golden.blobs("lint-fixes")[listed.body.incidents_ref])
    return listed.session_id, found, events


def test_a_recorded_list_ends_as_it_was_worked_on():
    list_id, found, events = recorded()
    rows = incident_list(list_id, found, events, {}).rows
    assert [(row.incident.id, row.state, row.line, row.rounds, row.check) for row in rows] == [
        ("shop-1", "fixed", 3, 1, "gone"), ("shop-2", "fixed", 4, 2, "gone"),
        ("shop-3", "rejected", 8, 1, "still there"), ("shop-4", "skipped", 3, 0, None),
        ("shop-5", "skipped", 4, 2, None), ("shop-6", "skipped", 1, 0, None),
    ]  # fmt: skip
    assert [row.is_dismissed for row in rows] == [False, False, False, True, False, False]
    assert count_incidents(rows).words == "2 fixed, 1 rejected, 3 skipped"


def test_every_beginning_of_a_recorded_list_folds_and_nothing_waits_that_nobody_asks_about():
    list_id, found, events = recorded()
    folded, waits = IncidentList(list_id, found), 0
    for one in events:
        folded.apply(one)
        for row in folded.rows:
            assert (row.state == "waiting") == bool(row.action_id), (one.kind, row)
            assert row.state not in ("working", "waiting") or row.is_requested
        waits += any(row.state == "waiting" for row in folded.rows)
    assert waits > 0 and not folded.has_open_request
