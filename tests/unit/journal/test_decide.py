"""Decisions: which answer counts, what the others are told, expiry, extension, trust."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import (
    HOST,
    SCREEN,
    TRUST_CHOICES,
    USER,
    WINDOW,
    SettableClock,
    ask,
    assert_sound,
    question,
    start,
    status,
)
from workbench.domain.events import (
    ActionApproved,
    ActionBecameStale,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    AnswerRefused,
    Event,
    RuleAdded,
    WorkspaceTrusted,
)
from workbench.domain.rows import Action, Call
from workbench.domain.values import PLACED_RULES, Choice, Decision, FilePlan, SelectedHunk
from workbench.journal.decisions import (
    DecisionResult,
    decide_action,
    decision_of,
    expire_due_actions,
    extend_action,
)
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal


def approve(action: str = "a", **changes: Any) -> Decision:
    return Decision(action_id=action, verdict="approve", **changes)


def reject(action: str = "a", **changes: Any) -> Decision:
    return Decision(action_id=action, verdict="reject", **changes)


def row(journal: Journal, action: str = "a") -> Action:
    found = journal.action(action)
    assert found is not None
    return found


def call(journal: Journal, key: str = "c") -> Call:
    found = journal.call(key)
    assert found is not None
    return found


def last(journal: Journal) -> Event:
    return journal.events()[-1]


@pytest.fixture
def waiting(journal: Journal) -> Journal:
    start(journal)
    ask(journal, "s", "c", "a")
    return journal


def test_an_approval_names_the_bytes_and_until_when(waiting: Journal, clock: SettableClock) -> None:
    clock.advance(60)
    given = approve(
        selection=(SelectedHunk(hunk=1), SelectedHunk(hunk=3, lines=(2,))), reason="fine", result_digest="r",
        edited={"a.py": waiting.blobs.seal(b"x")},
    )  # fmt: skip
    result = decide_action(waiting, given, "d", USER)
    event = last(waiting)
    assert result == DecisionResult(ok=True, event=event)
    assert event.body == ActionApproved(
        digest="d", approved_until=clock.now() + WINDOW, result_digest="r", selection=given.selection,
        edited=dict(given.edited or {}), reason="fine",
    )  # fmt: skip
    assert (event.action_id, event.call_id, event.turn_id, event.at) == ("a", "c", "t1", clock.now())
    action = row(waiting)
    assert (action.state, action.decided_by, action.result_digest) == ("approved", "user (cli, pid 41)", "r")
    assert (call(waiting).state, call(waiting).approved_until) == ("approved", clock.now() + WINDOW)
    assert_sound(waiting)


def test_a_plain_approval_takes_what_was_shown(waiting: Journal) -> None:
    decide_action(waiting, approve(), "d", USER)
    assert row(waiting).result_digest == "d"


@pytest.mark.parametrize("seen", [None, "all", "part", "by_id"])
def test_an_approval_says_how_much_was_seen(waiting: Journal, seen: Any) -> None:
    assert decide_action(waiting, approve(seen=seen), row(waiting).digest, USER).ok
    assert row(waiting).seen == seen
    body = last(waiting).body
    assert isinstance(body, ActionApproved)
    assert body.seen == seen


def test_a_rejection_settles_the_call(waiting: Journal) -> None:
    assert decide_action(waiting, reject(reason="no"), "d", USER).ok
    assert last(waiting).body == ActionRejected(reason="no")
    assert (row(waiting).state, call(waiting).state, call(waiting).error) == ("rejected", "rejected", "no")


@pytest.mark.spec(209)
@pytest.mark.parametrize("first", [approve(), reject()])
@pytest.mark.parametrize("second", [approve(), reject()])
def test_the_second_answer_has_no_effect_and_is_told_who_was_first(
    waiting: Journal, clock: SettableClock, first: Decision, second: Decision
) -> None:
    decide_action(waiting, first, "d", USER)
    before, decided = row(waiting), clock.now()
    clock.advance(1)
    result = decide_action(waiting, second, "d", SCREEN)
    assert (result.ok, result.why, result.by, result.at) == (False, "decided", "user (cli, pid 41)", decided)
    assert result.event == last(waiting)
    expected = AnswerRefused(verdict=second.verdict, why="decided", by="user (cli, pid 41)", at=decided)
    assert last(waiting).body == expected
    assert row(waiting) == before
    assert_sound(waiting)


def test_an_answer_about_other_bytes_is_refused(waiting: Journal) -> None:
    assert decide_action(waiting, approve(), "other", USER).why == "digest"
    assert decide_action(waiting, reject(), "other", USER).why == "digest"
    assert row(waiting).state == "pending"


def test_an_unknown_action_leaves_no_trace(waiting: Journal) -> None:
    before = waiting.last_position()
    assert decide_action(waiting, approve("nothing"), "d", USER) == DecisionResult(ok=False, why="unknown")
    assert waiting.last_position() == before


@pytest.mark.spec(207)
@pytest.mark.parametrize(("after", "ok"), [(-1, True), (0, False), (1, False)])
def test_the_window_closes_to_the_microsecond_even_if_nobody_expired_it(
    waiting: Journal, clock: SettableClock, after: int, ok: bool
) -> None:
    clock.offset = WINDOW + after
    result = decide_action(waiting, approve(), "d", USER)
    assert (result.ok, result.why) == (ok, None if ok else "expired")
    assert result.at == (None if ok else row(waiting).expires_at)


def test_what_was_decided_is_read_back_as_it_was_given(waiting: Journal) -> None:
    given = approve(
        selection=(SelectedHunk(hunk=2),), reason="fine", result_digest="r", seen="part",
        edited={"a.py": waiting.blobs.seal(b"x")},
    )  # fmt: skip
    decide_action(waiting, given, "d", USER)
    assert decision_of(row(waiting)) == given
    ask(waiting, "s", "c2", "b")
    decide_action(waiting, reject("b", reason="no"), row(waiting, "b").digest, USER)
    assert decision_of(row(waiting, "b")) == reject("b", reason="no")


def test_what_nobody_answered_is_read_back_as_a_rejection(waiting: Journal, clock: SettableClock) -> None:
    clock.offset = WINDOW
    expire_due_actions(waiting)
    assert decision_of(row(waiting)) == reject(reason="nobody answered in time")


@pytest.mark.spec(207)
def test_expiry_settles_what_is_due_once_and_writes_nothing_otherwise(
    waiting: Journal, clock: SettableClock
) -> None:
    question(waiting, "open-ended", expires_at=None)
    assert expire_due_actions(waiting) == []
    before = waiting.last_position()
    clock.offset = WINDOW
    assert expire_due_actions(waiting) == ["a"]
    assert expire_due_actions(waiting) == []
    assert [type(event.body) for event in waiting.events(after=before)] == [ActionExpired]
    assert (row(waiting).state, call(waiting).state) == ("expired", "expired")
    assert row(waiting, "open-ended").state == "pending"
    assert decide_action(waiting, approve(), "d", USER).why == "expired"
    assert_sound(waiting)


def test_setting_the_clock_back_revives_nothing(waiting: Journal, clock: SettableClock) -> None:
    question(waiting, "b", expires_at=None)
    clock.offset = WINDOW - 1
    question(waiting, "later")
    clock.offset = WINDOW
    decide_action(waiting, reject("b"), "d", USER)
    clock.offset = 0
    decide_action(waiting, reject("later"), "d", USER)
    assert decide_action(waiting, approve(), "d", USER).why == "expired"
    assert expire_due_actions(waiting) == ["a"]


def test_an_ended_session_decides_nothing_but_its_questions_still_expire(
    waiting: Journal, clock: SettableClock
) -> None:
    waiting.append([waiting.event(status("terminated"), "s", USER)])
    assert decide_action(waiting, approve(), "d", USER).why == "cancelled"
    clock.offset = WINDOW
    assert expire_due_actions(waiting) == ["a"]


def test_a_cancelled_question_takes_no_answer(waiting: Journal) -> None:
    waiting.append([waiting.event(ActionCancelled(why="x"), "s", HOST, action_id="a")])
    assert decide_action(waiting, approve(), "d", USER).why == "cancelled"


@pytest.mark.parametrize("kind", ["agent", "host", "tool", "system"])
def test_only_a_user_approves_or_extends(waiting: Journal, kind: Any) -> None:
    actor = replace(HOST, kind=kind)
    with pytest.raises(GuardFailed):
        decide_action(waiting, approve(), "d", actor)
    with pytest.raises(GuardFailed):
        extend_action(waiting, "a", actor)
    assert decide_action(waiting, reject(), "d", actor).ok


# --- stale ---------------------------------------------------------------------------------------


def _stale(journal: Journal, action: str = "a") -> None:
    body = ActionBecameStale(paths=("a.py",))
    journal.append([journal.event(body, "s", HOST, action_id=action)])


def test_a_stale_action_can_only_be_rejected(waiting: Journal) -> None:
    _stale(waiting)
    result = decide_action(waiting, approve(), "d", USER)
    assert (result.why, result.paths) == ("stale", ("a.py",))
    assert last(waiting).body == AnswerRefused(verdict="approve", why="stale", paths=("a.py",))
    assert decide_action(waiting, reject(), "d", USER).ok


def test_a_stale_action_stays_stale_when_it_is_extended(waiting: Journal) -> None:
    _stale(waiting)
    result = extend_action(waiting, "a", USER)
    assert result.successor is not None
    assert row(waiting, result.successor).stale_paths == ("a.py",)
    assert decide_action(waiting, approve(result.successor), "d", USER).why == "stale"


# --- extending -----------------------------------------------------------------------------------


def test_no_extension_reaches_beyond_the_end_of_an_agents_wait(
    waiting: Journal, clock: SettableClock
) -> None:
    ends_at = clock.now() + WINDOW + WINDOW // 2
    question(waiting, "b", "s", ends_at=ends_at)
    clock.advance(10 * 60)
    result = extend_action(waiting, "b", USER)
    assert row(waiting, result.successor or "").expires_at == ends_at
    assert extend_action(waiting, result.successor or "", USER).why == "limit"


def test_extending_opens_the_same_question_anew(waiting: Journal, clock: SettableClock) -> None:
    seal = waiting.blobs.seal(b"x")
    plan = FilePlan(path="a.py", base=None, after="k", mode=0o644, after_ref=seal)
    question(waiting, "b", "s", files=(plan,), warnings=("secret",), added=3)
    clock.advance(14 * 60)
    result = extend_action(waiting, "b", USER)
    assert result.ok
    successor = result.successor or ""
    old, new = row(waiting, "b"), row(waiting, successor)
    assert (old.state, old.successor, old.reason) == ("superseded", successor, "extended")
    assert replace(
        new, id="b", state="superseded", created_at=old.created_at, expires_at=old.expires_at,
        opened_at=old.opened_at, supersedes=None, extensions=0, successor=successor, reason="extended",
        decided_at=old.decided_at, decided_by=old.decided_by,
    ) == old  # fmt: skip
    assert (new.created_at, new.expires_at) == (clock.now(), clock.now() + WINDOW)
    assert (new.extensions, new.supersedes, new.digest) == (1, "b", "d")
    assert result.event is not None
    assert isinstance(result.event.body, ActionOpened)
    told = decide_action(waiting, approve("b"), "d", SCREEN)
    assert (told.why, told.successor) == ("superseded", successor)
    assert decide_action(waiting, approve(successor), "d", SCREEN).ok
    assert_sound(waiting)


def test_extending_a_call_keeps_the_call_waiting_under_the_new_id(waiting: Journal) -> None:
    successor = extend_action(waiting, "a", USER).successor or ""
    assert (call(waiting).state, call(waiting).action_id) == ("pending", successor)
    assert decide_action(waiting, approve(successor), "d", USER).ok
    assert call(waiting).state == "approved"


def test_extending_four_times_is_the_limit(waiting: Journal) -> None:
    action = "a"
    for number in range(1, 5):
        result = extend_action(waiting, action, USER)
        assert result.ok
        action = result.successor or ""
        assert row(waiting, action).extensions == number
    refused = extend_action(waiting, action, USER)
    assert (refused.ok, refused.why) == (False, "limit")
    assert last(waiting).body == AnswerRefused(verdict="extend", why="limit")
    assert row(waiting, action).state == "pending"


def test_what_is_over_is_not_extended(waiting: Journal, clock: SettableClock) -> None:
    question(waiting, "open-ended", expires_at=None)
    assert extend_action(waiting, "open-ended", USER).why == "limit"
    assert extend_action(waiting, "nothing", USER).why == "unknown"
    clock.offset = WINDOW
    assert extend_action(waiting, "a", USER).why == "expired"


def test_a_superseded_question_is_told_as_such(waiting: Journal) -> None:
    body = ActionSuperseded(successor="z", why="refreshed")
    waiting.append([waiting.event(body, "s", HOST, action_id="a")])
    assert extend_action(waiting, "a", USER).successor == "z"


# --- choices and trust ---------------------------------------------------------------------------

TWO = (Choice(key="ship", label="Ship"), Choice(key="hold", label="Hold"))


@pytest.mark.parametrize(
    ("kind", "choices", "given", "ok"),
    [
        ("gate", TWO, approve(choice="ship"), True),
        ("gate", TWO, approve(choice="sink"), False),
        ("gate", TWO, approve(), False),
        ("gate", TWO, reject(), True),
        ("gate", (), approve(choice="approve"), True),
        ("gate", (), approve(choice="reject"), False),
        ("gate", (), reject(choice="reject"), True),
        ("gate", (), approve(), True),
        ("gate", (), approve(choice="ship"), False),
        ("files", (), approve(choice="approve"), True),
        ("files", (), reject(), True),
        ("files", (), approve(selection=(SelectedHunk(hunk=1),)), False),
        ("files", (), approve(edited={"a": "sealed:x"}), False),
        ("question", TWO, approve(text="something else"), True),
        ("question", TWO, approve(), False),
        ("question", (), approve(text="free"), True),
        ("tool", (), approve(choice="approve"), False),
        ("trust", TRUST_CHOICES, reject(choice="trust"), False),
        ("trust", TRUST_CHOICES, reject(choice="not_now"), True),
    ],
)
def test_a_choice_is_one_of_those_offered(
    journal: Journal, kind: Any, choices: Any, given: Decision, ok: bool
) -> None:
    subject = {"workspace": "/w", "content_hash": "h"}
    question(journal, "a", action_kind=kind, choices=choices, expires_at=None, subject=subject)
    result = decide_action(journal, given, "d", USER)
    assert (result.ok, result.why) == (ok, None if ok else "choice")
    if ok and given.verdict == "approve":
        assert (row(journal).choice, row(journal).text) == (given.choice, given.text)


@pytest.mark.parametrize(
    ("noted", "kept"), [("hooks", "hooks"), ("none", "none"), ("others", None), (3, None), ([], None)]
)
def test_trust_keeps_what_the_question_said_of_guards(
    journal: Journal, noted: object, kept: str | None
) -> None:
    subject = {"workspace": "/w", "content_hash": "h", "guards": noted}
    question(
        journal, "a", action_kind="trust", tool=None, choices=TRUST_CHOICES, expires_at=None, subject=subject
    )
    assert decide_action(journal, approve(choice="trust"), "d", USER).ok
    event = journal.trusted("/w")
    assert event is not None
    assert isinstance(event.body, WorkspaceTrusted)
    assert event.body.guards == kept


@pytest.mark.parametrize(
    ("given", "grant"),
    [
        (approve(choice="trust"), False),
        (approve(choice="trust_and_read"), True),
        (approve(choice="not_now"), None),
        (reject(), None),
    ],
)
def test_trust_is_given_in_the_transaction_of_the_answer(
    journal: Journal, given: Decision, grant: bool | None
) -> None:
    subject = {"workspace": "/w", "content_hash": "h"}
    question(
        journal, "a", action_kind="trust", tool=None, choices=TRUST_CHOICES, expires_at=None, subject=subject
    )
    assert decide_action(journal, given, "d", USER).ok
    trust = journal.trust("/w")
    if grant is None:
        assert trust is None
    else:
        assert trust is not None
        assert journal.trusted("/nowhere") is None
        assert (trust.content_hash, trust.read_grant, trust.decided_by) == ("h", grant, "user (cli, pid 41)")
        assert isinstance(last(journal).body, WorkspaceTrusted)
    assert row(journal).approved_until == (None if given.verdict == "reject" else journal.now() + WINDOW)
    assert_sound(journal)


def test_a_trust_question_says_what_it_is_about(journal: Journal) -> None:
    with pytest.raises(GuardFailed):
        question(journal, "a", action_kind="trust", choices=TRUST_CHOICES, subject={"workspace": "/w"})


@pytest.mark.parametrize(
    ("choice", "places"),
    [
        ("as_proposed", ["inside", "outside"]),
        ("all_inside", ["inside", "inside"]),
        ("all_outside", ["outside", "outside"]),
        ("not_now", [None, None]),
    ],
)
def test_one_answer_says_where_the_commands_of_older_rules_run(
    journal: Journal, choice: str, places: list[str | None]
) -> None:
    older = RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool="run_in_terminal", pattern_kind="glob",
        pattern="ls *", description="list",
    )  # fmt: skip
    journal.append([journal.event(replace(older, rule=number), "system", USER) for number in ("R1", "R2")])
    rows = [{"rule": "R1", "proposed": "inside"}, {"rule": "R2", "proposed": "outside"}]
    keys = ("as_proposed", "all_inside", "all_outside", "not_now")
    question(
        journal, "a", action_kind="question", subject={PLACED_RULES: rows},
        choices=tuple(Choice(key=key, label=key) for key in keys),
    )  # fmt: skip
    assert decide_action(journal, approve(choice=choice), "d", USER).ok
    found = [journal.rule(number) for number in ("R1", "R2")]
    assert [one and one.place for one in found] == places
    assert_sound(journal)
