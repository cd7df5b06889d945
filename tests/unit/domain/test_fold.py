import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies_domain import events

from workbench.domain import events as e
from workbench.domain.fold import MemoryTables, apply_event, describe_actor
from workbench.domain.machines import ACTION_MOVES, CALL_MOVES, SESSION_MOVES, may_move
from workbench.domain.rows import Action, Call, Rule, Session, Trust
from workbench.domain.values import Actor, GateVerdict, ReplyCall, SelectedHunk, Usage

HOST, USER = Actor(kind="host", pid=7), Actor(kind="user", pid=9, via="cli")


class Script:
    """Folds bodies one after another, with positions, sequence numbers and times that rise."""

    def __init__(self):
        self.tables, self.count = MemoryTables(), 0

    def __call__(self, body, actor=HOST, **ids):
        self.count += 1
        event = e.Event(
            id=f"e{self.count}", session_id=ids.pop("session_id", "s"), at=self.count * 10, actor=actor,
            body=body, position=self.count, sequence_number=self.count, **ids,
        )  # fmt: skip
        self.tables.fold([event])
        return event


def opened(digest="d", **more):
    return e.ActionOpened(
        action_kind="tool",
        tool="create_file",
        target="a.py",
        digest=digest,
        created_at=40,
        expires_at=940,
        **more,
    )


def started():
    script = Script()
    script(e.SessionCreated(title="t", workspace="/w", provider="recorded", model="m"))
    script(e.SessionStatusChanged(status="initializing"))
    script(e.SessionStatusChanged(status="ready"))
    return script


def asked():
    script = started()
    script(e.TurnStarted(provider="recorded", model="m"), turn_id="t1")
    call = ReplyCall(call_id="c1", provider_call_id="p1", tool="create_file")
    script(
        e.ReplyCompleted(text="ok", calls=(call,), usage=Usage(input_tokens=3, output_tokens=2)), turn_id="t1"
    )
    ask = GateVerdict(outcome="ask", step="ask", by="default")
    script(e.CallProposed(tool="create_file", verdict=ask, target="a.py"), turn_id="t1", call_id="c1")
    script(opened(), turn_id="t1", call_id="c1", action_id="a1")
    return script


def one_of_each():
    """Return rows of a session, a call, an action and a run that are all called `one`."""
    script = Script()
    script(e.SessionCreated(), session_id="one")
    call = ReplyCall(call_id="one", provider_call_id="p", tool="create_file")
    script(e.ReplyCompleted(calls=(call,)), session_id="one", turn_id="one")
    script(opened(), session_id="one", call_id="one", action_id="one")
    script(e.RunRequested(pipeline="p"), session_id="one")
    return script.tables


@given(st.lists(events(), max_size=12))
def test_any_events_in_any_order_fold_into_rows_under_their_ids(found):
    tables = one_of_each().fold(found)
    for rows in (tables.sessions, tables.calls, tables.actions):
        assert "one" in rows and [key for key, row in rows.items() if row.id != key] == []
    assert [key for key, row in tables.pipeline_states.items() if row.pipeline_id != key] == []


CALL_ENDS = ("succeeded", "failed", "cancelled", "interrupted")
MOVING = (
    ("sessions", "status", SESSION_MOVES, {name: e.SessionStatusChanged(status=name) for name in SESSION_MOVES}),
    ("calls", "state", CALL_MOVES,
     {"executing": e.CallExecuting(), **{name: e.CallFinished(state=name) for name in CALL_ENDS}}),
    ("actions", "state", ACTION_MOVES, {
        "approved": e.ActionApproved(digest="d", approved_until=9, result_digest="d"),
        "rejected": e.ActionRejected(), "expired": e.ActionExpired(),
        "cancelled": e.ActionCancelled(why="x"), "superseded": e.ActionSuperseded(successor="two", why="extended"),
    }),
)  # fmt: skip


@pytest.mark.spec(8, 22, 135, 152, 209)
@pytest.mark.parametrize(("table", "member", "legal", "bodies"), MOVING, ids=[row[0] for row in MOVING])
def test_an_event_makes_the_legal_moves_and_no_other(table, member, legal, bodies):
    for old, (new, body) in itertools.product(legal, bodies.items()):
        tables = one_of_each()
        rows = getattr(tables, table)
        rows["one"] = replace(rows["one"], **{member: old})
        ids = {"session_id": "one", "call_id": "one", "action_id": "one"}
        tables.fold([e.Event(id="x", at=99, actor=USER, body=body, position=9, sequence_number=9, **ids)])
        assert getattr(rows["one"], member) == (new if may_move(legal, old, new) else old), (old, new)


@given(st.lists(events(), max_size=12), st.integers(0, 12))
def test_a_fold_can_be_cut_anywhere(found, at):
    assert MemoryTables().fold(found[:at]).fold(found[at:]) == MemoryTables().fold(found)


@given(events())
def test_what_is_not_durable_changes_no_row(event):
    if not event.body.DURABLE:
        assert apply_event(event, MemoryTables()) == ()


@pytest.mark.spec(1, 132, 187)
def test_a_session_row_has_what_was_created():
    row = started().tables.sessions["s"]
    assert row == Session(
        id="s", kind="chat", status="ready", created_at=10, updated_at=30, title="t", workspace="/w",
        provider="recorded", model="m",
    )  # fmt: skip


@pytest.mark.spec(13)
def test_every_durable_event_moves_updated_at_and_none_moves_created_at():
    script = asked()
    before = script.tables.sessions["s"]
    script(e.MarkAdded(label="here"), USER)
    after = script.tables.sessions["s"]
    assert (after.created_at, after.updated_at) == (before.created_at, script.count * 10)


@pytest.mark.spec(188)
def test_a_second_creation_changes_nothing():
    script = started()
    before = script.tables.sessions["s"]
    script(e.SessionCreated(title="other", system_prompt="other"))
    assert replace(script.tables.sessions["s"], updated_at=0) == replace(before, updated_at=0)


@pytest.mark.spec(54)
def test_a_second_addition_of_a_rule_changes_nothing():
    script, facts = (
        Script(),
        {"effect": "allow", "origin": "user", "tool": "read_file", "pattern_kind": "glob"},
    )
    script(e.RuleAdded(rule="R1", scope="always", pattern="Read(a)", description="reads", **facts))
    script(e.RuleUsed(rule="R1"))
    before = script.tables.rules["R1"]
    assert (before.use_count, before.last_used_at) == (1, 20)
    script(e.RuleAdded(rule="R1", scope="always", pattern="*", description="other", **facts))
    assert script.tables.rules["R1"] == before


@pytest.mark.spec(135)
def test_an_illegal_move_leaves_the_status_as_it_was():
    script = started()
    script(e.SessionStatusChanged(status="failed"))
    assert script.tables.sessions["s"].status == "ready"


@pytest.mark.spec(138)
def test_usage_only_grows():
    script = asked()
    script(e.ReplyCompleted(usage=Usage(input_tokens=1, output_tokens=1), round=2), turn_id="t1")
    usage = script.tables.sessions["s"].usage
    assert (usage, usage.total_tokens) == (Usage(input_tokens=4, output_tokens=3), 7)


@pytest.mark.spec(138)
def test_no_count_of_tokens_is_negative():
    less, more = Usage(input_tokens=3, output_tokens=1), Usage(input_tokens=3, output_tokens=5)
    assert more.beyond(less) == Usage(output_tokens=4)
    assert less.beyond(more) == Usage()
    assert less.plus(more) == Usage(input_tokens=6, output_tokens=6)
    cached = Usage(input_tokens=9, cache_read_tokens=5, cache_write_tokens=3)
    assert (cached.new_input_tokens, cached.total_tokens) == (1, 9)
    assert [replace(cached, input_tokens=sent).new_input_tokens for sent in (8, 7)] == [0, 0]


@pytest.mark.spec(20, 199, 205)
def test_an_asked_call_waits_with_its_action():
    tables = asked().tables
    assert tables.calls["c1"] == Call(
        id="c1", session_id="s", turn_id="t1", ordinal=1000, provider_call_id="p1", tool="create_file",
        state="pending", requested_at=50, proposed=True, target="a.py", verdict_by="default", action_id="a1",
    )  # fmt: skip
    assert tables.actions["a1"] == Action(
        id="a1", session_id="s", kind="tool", state="pending", target="a.py", digest="d", created_at=40,
        opened_at=7, expires_at=940, call_id="c1", turn_id="t1", tool="create_file",
    )  # fmt: skip


@pytest.mark.spec(23, 29)
def test_approval_by_a_human_then_execution():
    script = asked()
    script(
        e.ActionApproved(digest="d", approved_until=99, result_digest="r", selection=(SelectedHunk(hunk=1),)),
        USER,
        action_id="a1",
        call_id="c1",
    )
    call, action = script.tables.calls["c1"], script.tables.actions["a1"]
    assert (call.state, call.approval_method, call.approved_until, call.started_at) == (
        "approved",
        "manual",
        99,
        None,
    )
    assert (action.state, action.decided_by, action.selection) == (
        "approved",
        "user (cli, pid 9)",
        (SelectedHunk(hunk=1),),
    )
    script(e.CallExecuting(digest="d"), call_id="c1")
    script(e.CallFinished(state="succeeded", summary="1 file"), call_id="c1")
    call = script.tables.calls["c1"]
    assert (call.state, call.summary, call.started_at, call.finished_at) == ("succeeded", "1 file", 90, 100)


def test_a_call_that_ended_holds_what_its_end_told():
    script = asked()
    facts = {
        "detail": "timeout", "summary": "3 lines", "error": "it took too long", "exit_code": 124,
        "duration_ms": 1_500, "output_bytes": 77,
    }  # fmt: skip
    approved = e.ActionApproved(digest="d", approved_until=10_000, result_digest="d")
    script(approved, USER, action_id="a1", call_id="c1", turn_id="t1")
    script(e.CallExecuting(digest="d"), call_id="c1")
    script(e.CallFinished(state="failed", **facts), call_id="c1")
    call = script.tables.calls["c1"]
    assert {name: getattr(call, name) for name in facts} == facts


@pytest.mark.spec(23)
@pytest.mark.parametrize(("rule", "method"), [(None, "auto"), ("R3", "config_rule")])
def test_an_allowed_call_says_by_what(rule, method):
    script = started()
    verdict = GateVerdict(outcome="allowed", step="grants", by=rule or "read grant", rule=rule)
    script(e.CallProposed(tool="read_file", verdict=verdict, provider_call_id="p"), call_id="c9")
    call = script.tables.calls["c9"]
    assert (call.state, call.approval_method, call.rule) == ("approved", method, rule)


@pytest.mark.spec(203)
@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_a_denied_or_refused_call_is_rejected_with_the_reason(outcome):
    script = started()
    verdict = GateVerdict(outcome=outcome, step="deny", by="config.json:3", reason="no")
    script(e.CallProposed(tool="read_file", verdict=verdict), call_id="c9")
    call = script.tables.calls["c9"]
    assert (call.state, call.detail, call.error) == ("rejected", outcome, "no")


@pytest.mark.spec(209)
def test_what_comes_after_an_answer_changes_nothing():
    script = asked()
    script(e.ActionRejected(reason="too wide"), USER, action_id="a1")
    before = (script.tables.calls["c1"], script.tables.actions["a1"])
    script(e.ActionApproved(digest="d", approved_until=9, result_digest="r"), USER, action_id="a1")
    script(e.ActionExpired(), HOST, action_id="a1")
    script(e.ActionBecameStale(paths=("a.py",)), HOST, action_id="a1")
    assert (script.tables.calls["c1"], script.tables.actions["a1"]) == before
    assert (before[0].state, before[0].error) == ("rejected", "too wide")


@pytest.mark.spec(156, 207)
def test_expiry_ends_action_and_call():
    script = asked()
    script(e.ActionExpired(), HOST, action_id="a1")
    assert script.tables.actions["a1"].state == "expired"
    assert script.tables.calls["c1"].state == "expired"


def test_a_superseded_action_names_its_successor_and_the_call_goes_on_waiting():
    script = asked()
    script(e.ActionSuperseded(successor="a2", why="extended"), USER, action_id="a1")
    script(opened(supersedes="a1"), call_id="c1", action_id="a2")
    assert script.tables.actions["a1"].successor == "a2"
    assert (script.tables.calls["c1"].state, script.tables.calls["c1"].action_id) == ("pending", "a2")


def test_a_stale_base_warns_once():
    script = asked()
    for paths in (("a.py",), ("a.py", "b.py")):
        script(e.ActionBecameStale(paths=paths), action_id="a1")
    action = script.tables.actions["a1"]
    assert (action.warnings, action.stale_paths, action.state) == (("stale",), ("a.py", "b.py"), "pending")


def test_a_call_that_replaces_a_stale_one_keeps_its_place_and_its_provider_id():
    script = asked()
    script(e.CallFinished(state="cancelled", detail="stale"), call_id="c1")
    ask = GateVerdict(outcome="ask", step="ask", by="default")
    script(e.CallProposed(tool="create_file", verdict=ask, replaces="c1"), call_id="c2")
    old, new = script.tables.calls["c1"], script.tables.calls["c2"]
    assert (old.state, old.replaced_by) == ("cancelled", "c2")
    assert (new.provider_call_id, new.ordinal, new.turn_id, new.state) == ("p1", 1000, "t1", "pending")


@pytest.mark.spec(48, 54, 56)
def test_a_rule_counts_its_uses_and_keeps_its_history_after_it_is_revoked():
    script = Script()
    script(
        e.RuleAdded(
            rule="R1",
            effect="allow",
            origin="user",
            scope="always",
            tool="read_file",
            pattern_kind="glob",
            pattern="Read(*)",
            description="reads",
        ),
        session_id="system",
    )
    script(e.RuleUsed(rule="R1"), session_id="s")
    script(e.RuleUsed(rule="R1"), session_id="s")
    script(e.RuleRevoked(rule="R1"), session_id="system")
    assert script.tables.rules["R1"] == Rule(
        id="R1", effect="allow", origin="user", scope="always", tool="read_file", pattern_kind="glob",
        pattern="Read(*)", description="reads", created_at=10, use_count=2, last_used_at=30, revoked_at=40,
    )  # fmt: skip


def test_the_last_word_on_trust_counts():
    script = Script()
    script(e.WorkspaceTrusted(workspace="/w", content_hash="h", read_grant=True), USER, session_id="system")
    assert script.tables.trusts["/w"] == Trust(
        workspace="/w", content_hash="h", read_grant=True, decided_at=10, decided_by="user (cli, pid 9)"
    )
    script(e.WorkspaceTrustRevoked(workspace="/w"), USER, session_id="system")
    assert script.tables.trusts["/w"].revoked_at == 20


def test_actors_in_words():
    assert [describe_actor(a) for a in (USER, HOST, Actor(kind="system"))] == [
        "user (cli, pid 9)",
        "host (pid 7)",
        "system",
    ]
