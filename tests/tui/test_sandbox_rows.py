"""Answering where a command runs: what a row says of its place, and which place an answer carries."""

import pytest

from tests.support import boxed_commands
from tests.support.stage import USER
from tests.tui.screens import play, staged
from tests.tui.test_typing import typed
from workbench.domain.events import RuleAdded
from workbench.domain.values import SYSTEM_SESSION, Decision, SandboxRefusal
from workbench.journal.decisions import decide_action
from workbench.tui.main.notifications import ask_to_leave


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def on(shown, words):
    shown.approvals.queue.put_cursor(shown.row(words).id)


def session_of(stage):
    return stage.waiting()[0].session_id


def line_with(shown, words):
    return next(line for line in shown.text.split("\n") if words in line)


def test_an_approval_carries_the_place_of_its_row(stage):
    inside = boxed_commands.asks(stage.journal, session_of(stage), "make check")

    async def body(shown):
        on(shown, "make check")
        await shown.settle()
        assert "[inside]" in line_with(shown, "◆ run   make check")
        assert "a a run inside" in shown.text
        await shown.press("a")
        assert (shown.stage.journal.action(inside).state, shown.stage.journal.action(inside).place) == (
            "approved", "inside",
        )  # fmt: skip

    play(stage, body)


@pytest.mark.parametrize(("place", "other"), [("inside", "outside"), ("outside", "inside")])
def test_one_key_moves_a_command_and_the_answer_goes_with_it(stage, place, other):
    action = boxed_commands.asks(stage.journal, session_of(stage), "make check", place=place)

    async def body(shown):
        on(shown, "make check")
        await shown.settle()
        assert f"s {other} instead" in shown.text
        await shown.press("s")
        assert (shown.state(shown.stage.journal.action(action)), f"a a run {other}" in shown.text) == (
            "pending",
            True,
        )
        await shown.press("a")
        assert shown.stage.journal.action(action).place == other

    play(stage, body)


def test_a_command_that_was_moved_can_be_answered_only_after_a_look(stage):
    boxed_commands.asks(stage.journal, session_of(stage), "make check")

    async def body(shown):
        on(shown, "make check")
        await shown.settle()
        shown.hand.waits(1.0)
        assert shown.approvals.is_armed
        await shown.press_once("s", wait=0.0)
        assert not shown.approvals.is_armed
        shown.hand.waits(1.0)
        assert shown.approvals.is_armed

    play(stage, body)


def test_typing_moves_no_command(stage):
    action = boxed_commands.asks(stage.journal, session_of(stage), "make check")

    async def body(shown):
        on(shown, "make check")
        await shown.settle()
        await typed(shown, "so run it", 0.12, ends_line=False)
        assert shown.main.composer.text == "so run it"
        detail = shown.approvals.detail
        assert (detail.id, shown.approvals.choosing.place_of(detail)) == (action, "inside")

    play(stage, body)


def test_a_command_that_only_runs_outside_is_not_moved(stage):
    boxed_commands.asks(stage.journal, session_of(stage), "docker compose up", place="outside", level=None)

    async def body(shown):
        on(shown, "docker compose up")
        await shown.settle()
        assert "instead" not in shown.text
        await shown.press("s")
        assert shown.said == "It can only run outside the sandbox."
        assert shown.approvals.choosing.places == {}

    play(stage, body)


def test_a_row_without_a_place_says_nothing_of_the_sandbox(stage):
    async def body(shown):
        on(shown, "router.py")
        await shown.settle()
        assert not {"[inside]", "outside"} & set(line_with(shown, "◆ edit  router.py").split())
        await shown.press("s")
        assert shown.said == "Only commands run inside or outside the sandbox."

    play(stage, body)


def test_why_a_command_leaves_stands_below_it(stage):
    boxed_commands.asks(
        stage.journal,
        session_of(stage),
        "pip install requests",
        place="outside",
        reason=boxed_commands.NEEDS_NETWORK,
    )

    async def body(shown):
        on(shown, "pip install")
        await shown.settle()
        assert "where        outside the sandbox: it can do all that you can" in shown.text
        assert "why it asks  it needs the network (pypi.org)" in shown.text

    play(stage, body)


def test_several_are_answered_together_each_where_its_row_says(stage):
    session = session_of(stage)
    inside = boxed_commands.asks(stage.journal, session, "make check")
    moved = boxed_commands.asks(stage.journal, session, "make lint")
    leaves = boxed_commands.asks(stage.journal, session, "pip install requests", place="outside")

    async def body(shown):
        on(shown, "make lint")
        await shown.settle()
        await shown.press("s")
        for words in ("make check", "make lint", "pip install"):
            on(shown, words)
            await shown.settle()
            await shown.press("m")
        await shown.press("a")
        assert "[inside]" in line_with(shown, "make check")
        assert "outside" in line_with(shown, "make lint")
        await shown.press("j", "j", "j", "a")
        places = [shown.stage.journal.action(key).place for key in (inside, moved, leaves)]
        assert places == ["inside", "outside", "outside"]
        assert not {inside, moved, leaves} & {one.id for one in shown.stage.waiting()}

    play(stage, body, size=(120, 40))


def test_what_the_sandbox_refused_stands_under_the_call(stage):
    refusals = (SandboxRefusal(kind="write", target="/etc/hosts"),)
    boxed_commands.ran(stage.journal, session_of(stage), "make install", refusals=refusals, failed=True)

    async def body(shown):
        assert "∅ the sandbox refused to write /etc/hosts" in shown.text
        assert "[in]" in line_with(shown, "× run_in_terminal make install")

    play(stage, body)


def old_rules(stage):
    """Four rules of an older version, and the question about them; return what asks the journal for their places."""
    for number, pattern in (("R1", "grep *"), ("R3", "npm ci"), ("R4", "git commit *"), ("R7", "pytest *")):
        body = RuleAdded(
            rule=number, effect="allow", origin="user", scope="always", tool="Bash", pattern_kind="glob",
            pattern=f"Bash({pattern})", description="of an older version",
        )  # fmt: skip
        stage.journal.append([stage.journal.event(body, SYSTEM_SESSION, USER)], strict=False)
    boxed_commands.asks_about_rules(stage.journal)
    return lambda: {rule.id: rule.place for rule in stage.journal.rules()}


@pytest.mark.parametrize(
    ("keys", "places"),
    [
        (("a",), ["inside", "outside", "outside", "inside"]),
        (("l", "a"), ["inside"] * 4),
        (("l", "l", "a"), ["outside"] * 4),
        (("l", "l", "l", "a"), [None] * 4),
        (("r",), [None] * 4),
    ],
)
def test_the_question_about_old_rules_places_each(stage, keys, places):
    placed = old_rules(stage)

    async def body(shown):
        on(shown, "rules and the sandbox")
        await shown.settle()
        assert "R3 outside  Bash(npm ci)" in shown.text
        assert "needs the network" in shown.text and "2 inside, 2 outside" in shown.text
        await shown.press(*keys)
        assert list(placed().values()) == places
        assert "rules and the sandbox" not in [action.target for action in shown.stage.waiting()]

    play(stage, body, size=(160, 48))


def test_leaving_is_not_held_up_by_the_question_about_old_rules(tmp_path):
    stage = staged(tmp_path)
    old_rules(stage)

    async def body(shown):
        for action in stage.waiting():
            if action.session_id != SYSTEM_SESSION:
                decide_action(
                    stage.journal, Decision(action_id=action.id, verdict="reject"), action.digest, USER
                )
        await shown.look()
        assert ask_to_leave(shown.main.context)

    play(stage, body)
