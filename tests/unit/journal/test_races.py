"""Processes that answer, expire and append at once: one winner each, and every loser is told."""

import multiprocessing
import uuid
from collections import Counter
from pathlib import Path

import pytest

from tests.unit.journal.scenes import (
    HOST,
    MINUTE,
    SCREEN,
    USER,
    SettableClock,
    assert_sound,
    open_journal,
    opened,
    reply,
    start,
)
from workbench.domain.events import AnswerRefused, CallProposed, SessionChanged, TextStreamed
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES, Decision
from workbench.effects import fault_points
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal

ACTIONS = 500


class OwnIds(SettableClock):
    """Every process makes its own ids, as with the clock of the system."""

    def new_id(self) -> str:
        return str(uuid.uuid4())


def _fill(journal: Journal) -> None:
    from tests.unit.journal.scenes import ASK

    start(journal)
    calls = [f"c{number}" for number in range(ACTIONS)]
    journal.append([journal.event(reply(*calls), "s", HOST, turn_id="t1")])
    events = []
    for number, call in enumerate(calls):
        events.append(journal.event(CallProposed(tool="t", verdict=ASK), "s", HOST, call_id=call))
        body = opened(journal, digest=f"d{number}")
        events.append(journal.event(body, "s", HOST, call_id=call, action_id=f"a{number}"))
    journal.append(events)


def _answer_all(path: str, name: str) -> list[tuple[int, str | None]]:
    found: list[tuple[int, str | None]] = []
    with open_journal(Path(path), OwnIds()) as journal:
        for number in range(ACTIONS):
            if name == "approve" or number % 2:
                decision = Decision(action_id=f"a{number}", verdict="approve")
            else:
                decision = Decision(action_id=f"a{number}", verdict="reject")
            found.append(
                (
                    number,
                    decide_action(journal, decision, f"d{number}", USER if name == "approve" else SCREEN).why,
                )
            )
    return found


@pytest.mark.spec(209, 215)
@pytest.mark.faults
def test_of_two_processes_that_answer_everything_exactly_one_wins_each(tmp_path: Path) -> None:
    with open_journal(tmp_path, SettableClock()) as journal:
        _fill(journal)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = pool.starmap(
            _answer_all, [(str(tmp_path), "approve"), (str(tmp_path), "mixed")], chunksize=1
        )
    outcomes = [dict(found) for found in answers]
    for number in range(ACTIONS):
        assert sorted(str(outcome[number]) for outcome in outcomes) == ["None", "decided"]
    with open_journal(tmp_path, SettableClock()) as journal:
        kinds = Counter(event.kind for event in journal.events("s"))
        assert kinds["action.approved"] + kinds["action.rejected"] == ACTIONS
        assert kinds["answer.refused"] == ACTIONS
        decided = {action.id: action.decided_by for action in journal.actions()}
        for event in journal.events("s"):
            if isinstance(event.body, AnswerRefused):
                assert event.body.by == decided[event.action_id or ""]
        assert Counter(call.state for call in journal.calls("s")).keys() <= {"approved", "rejected"}
        assert_sound(journal)


def _expire(path: str) -> list[str]:
    clock = OwnIds()
    clock.offset = DEFAULT_APPROVAL_MINUTES * MINUTE
    with open_journal(Path(path), clock) as journal:
        return expire_due_actions(journal)


def test_of_processes_that_expire_at_once_each_action_expires_once(tmp_path: Path) -> None:
    with open_journal(tmp_path, SettableClock()) as journal:
        _fill(journal)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(_expire, [str(tmp_path)] * 2, chunksize=1)
    assert sorted(found[0] + found[1]) == sorted(f"a{number}" for number in range(ACTIONS))
    with open_journal(tmp_path, SettableClock()) as journal:
        assert Counter(event.kind for event in journal.events("s"))["action.expired"] == ACTIONS
        assert_sound(journal)


def test_what_a_writer_has_looked_up_is_forgotten_when_another_one_commits(tmp_path: Path) -> None:
    """Rows are kept between transactions; another process's commit must end that, whichever connection it used."""
    home = Home.open(tmp_path / "home")
    with Journal.open(home) as mine, Journal.open(home) as theirs:
        start(mine, "s")
        for number in range(4):
            here, there = (mine, theirs) if number % 2 else (theirs, mine)
            here.append([here.event(SessionChanged(title=f"title {number}"), "s", USER)])
            there.append([there.event(TextStreamed(block=0, offset=number, text="x"), "s", HOST)])
            there.append([there.event(SessionChanged(tags=(f"tag {number}",)), "s", USER)])
            session = mine.session("s")
            assert (session.title, session.tags) == (f"title {number}", (f"tag {number}",))
        numbers = [event.sequence_number for event in mine.events("s")]
        assert numbers == list(range(1, len(numbers) + 1))
        assert_sound(mine)


def test_what_was_looked_up_in_a_transaction_that_failed_is_not_kept(journal: Journal) -> None:
    start(journal, "s")
    with fault_points.arm_fault("journal.before_commit", "eio"), pytest.raises(JournalError):
        journal.append([journal.event(SessionChanged(title="never"), "s", USER)])
    journal.append([journal.event(SessionChanged(tags=("a",)), "s", USER)])
    assert (journal.session("s").title, journal.session("s").tags) == (start_title(journal), ("a",))
    assert_sound(journal)


def start_title(journal: Journal) -> str:
    return journal.events("s")[0].body.title
