"""What would have become of a past question about a command with the sandbox."""

import pytest

from workbench.domain.rows import AskedCommand
from workbench.policy.sandbox_backtest import STAY_NAMES, StayCount, backtest_text, count_questions


def asked(command, *, by="default", rule=None, tool="run_in_terminal", folder="", **more):
    return AskedCommand(
        tool=tool,
        parameters={"command": command, **more},
        workspace="/w",
        folder=folder,
        verdict_by=by,
        rule=rule,
    )


def counted(*commands, level="workspace", imported=False, **more):
    return count_questions(commands, level, imported=imported, **more)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (asked("ls"), None),
        (asked("npm install"), "network"),
        (asked("git pull"), "network"),
        (asked("git add ."), "git"),
        (asked("echo > /etc/x"), "outside"),
        (asked("sudo curl x"), "privilege"),
        (asked("docker ps"), "daemon"),
        (asked("ls\u202e"), "text"),
        (asked("ls" + " " * 300 + "; curl x"), "text"),
        (asked("ls  é"), None),
        (asked("ls " + "x" * 5_000), None),
        (asked("ls", by="hold"), "rule"),
        (asked("ls", by="R3", rule="R3"), "rule"),
        (asked("ls", outside=True), "request"),
        (asked("ls", outside=False), None),
        (asked("touch ../x"), "outside"),
        (asked("touch ../x", folder="/w/sub"), None),
        (AskedCommand(tool="x", parameters={}, workspace="/w", folder="", verdict_by="default"), None),
    ],
)
def test_why_a_question_stays(command, reason):
    found = counted(command)
    assert [stay.reason for stay in found.stays] == [reason] * (reason is not None)
    assert (found.asked, found.spared) == (1, int(reason is None))


def test_another_agent_asked_for_its_own_reasons():
    command = asked(["bash", "-lc", "ls"], by="codex", tool="shell")
    assert counted(command, imported=True).spared == 1
    assert counted(command).spared == 0
    assert counted(asked("ls", by="codex", rule="its own"), imported=True).spared == 0


def test_a_level_without_writing_keeps_more():
    assert counted(asked("touch x"), level="read-only").stays[0].reason == "outside"


def test_reasons_are_sorted_and_have_different_examples_in_the_order_given():
    commands = [asked(f"git tag v{number % 7}") for number in range(14)]
    found = counted(asked("docker ps"), *commands, asked("curl x"))
    assert found.stays == (
        StayCount(reason="git", count=14, examples=tuple(f"git tag v{number}" for number in range(5))),
        StayCount(reason="daemon", count=1, examples=("docker ps",)),
        StayCount(reason="network", count=1, examples=("curl x",)),
    )
    assert {stay.reason for stay in found.stays} <= set(STAY_NAMES)


def test_progress_is_told_now_and_then():
    told = []
    counted(*[asked("ls")] * 1_100, on_progress=told.append)
    assert told == [500, 1_000]


def test_a_sentence_says_how_many_would_not_have_been_asked():
    found = counted(*[asked("ls")] * 1_171, *[asked("curl x")] * 41)
    assert backtest_text(found) == (
        "Of 1,212 questions about commands 1,171 would not have been asked with approvals.sandboxed = auto (97%)."
    )
    assert backtest_text(counted()).startswith("Of 0 questions about commands 0 would")
