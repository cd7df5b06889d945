"""Hooks: their order, what blocks, what they are told."""

import asyncio
import json
from dataclasses import dataclass

import pytest

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import READ, SHELL
from workbench.domain.events import HookRan
from workbench.domain.values import HookRule
from workbench.policy.gate import ScreenedCall
from workbench.policy.hooks import (
    HookPayload,
    hooks_already_run,
    matching_hooks,
    run_post_tool_hooks,
    run_pre_tool_hooks,
)
from workbench.policy.shell.analysis import view_command


@dataclass(frozen=True)
class End:
    code: int | None = 0
    output: bytes = b""
    timed_out: bool = False


def hook(command, matcher="Bash", event="PreToolUse"):
    return HookRule(event=event, matcher=matcher, command=command, origin="config.json:4")


def payload(command="git push", **parameters):
    given = {"command": command, **parameters}
    passed = ScreenedCall(
        descriptor=SHELL, parameters=given, targets={}, folder="/w", view=view_command(command)
    )
    return HookPayload(passed=passed, session_id="s1")


class World:
    def __init__(self, ends):
        self.ends, self.asked, self.ran, self.levels = ends, [], [], []

    async def run(self, command, stdin, level):
        self.levels.append(level)
        self.asked.append((command, json.loads(stdin)))
        end = self.ends.get(command, End())
        if isinstance(end, Exception):
            raise end
        return end

    def pre(self, hooks, told=None, already=None):
        return asyncio.run(
            run_pre_tool_hooks(hooks, told or payload(), already or {}, self.run, self.ran.append)
        )

    @property
    def commands(self):
        return [command for command, _ in self.asked]


@pytest.mark.spec(91)
def test_hooks_run_in_order_and_the_first_that_fails_stops_the_rest():
    world = World({"b": End(code=3, output=b"not on friday\n")})
    verdict = world.pre([hook("a"), hook("b"), hook("c")])
    assert world.commands == ["a", "b"]
    assert [(ran.command, ran.blocked, ran.exit_code) for ran in world.ran] == [
        ("a", False, 0),
        ("b", True, 3),
    ]
    assert (verdict.outcome, verdict.step, verdict.by) == ("denied", "hooks", "b (config.json:4)")


@pytest.mark.spec(88, 89, 91)
def test_hooks_of_another_moment_or_another_tool_are_left_out_and_the_order_is_kept():
    hooks = [hook("a"), hook("after", event="PostToolUse"), hook("reads", "Read"), hook("b")]
    chosen = [
        [one.command for one in matching_hooks(hooks, event, payload().passed)]
        for event in ("PreToolUse", "PostToolUse")
    ]
    assert chosen == [["a", "b"], ["after"]]


@pytest.mark.spec(88)
@pytest.mark.parametrize(
    ("end", "how"),
    [
        (End(code=3, output=b"no"), "the hook ended with 3: no"),
        (End(code=None), "the hook failed: it printed nothing"),
    ],
)
def test_the_reason_says_how_a_hook_ended(end, how):
    assert World({"a": end}).pre([hook("a")]).reason == how


@pytest.mark.spec(88)
@pytest.mark.parametrize(
    ("end", "said"),
    [
        (End(code=1, output=b"not on friday"), "not on friday"),
        (End(code=None, output=b"half", timed_out=True), "30 s"),
        (End(code=0, timed_out=True), "30 s"),
        (End(code=None), "it printed nothing"),
        (FileNotFoundError("no such hook"), "no such hook"),
        (RuntimeError("odd"), "odd"),
    ],
)
def test_a_hook_that_fails_in_any_way_blocks_with_its_output(end, said):
    world = World({"a": end})
    verdict = world.pre([hook("a")])
    assert verdict is not None
    assert verdict.outcome == "denied"
    assert said in verdict.reason
    assert world.ran[0].blocked


def test_hooks_that_succeed_let_the_call_go_on():
    world = World({})
    assert world.pre([hook("a"), hook("b")]) is None
    assert world.commands == ["a", "b"]


@each_row(
    ("matcher", "runs"),
    [
        ("Bash", True),
        ("*", True),
        ("Bash(git push*)", True),
        ("Bash(git pull*)", False),
        ("Read", False),
        ("Read|Bash", True),
        ("Read | Write(a|b)", False),
        ("Read|Bash(git pu*)", True),
        ("Bash(", True),
    ],
)
@pytest.mark.spec(88)
def test_a_matcher_chooses_calls(matcher, runs):
    told = payload("cd x && git push")
    assert bool(matching_hooks([hook("a", matcher)], "PreToolUse", told.passed)) is runs


def test_a_hook_that_ran_before_a_crash_is_not_run_again_and_still_counts():
    ran = [
        HookRan(event="PreToolUse", command="a", matcher="Bash", exit_code=0),
        HookRan(event="PreToolUse", command="b", matcher="Bash", exit_code=1, output="no", blocked=True),
    ]
    world = World({})
    assert world.pre([hook("a"), hook("c")], already=hooks_already_run(ran)) is None
    assert world.commands == ["c"]
    assert "no" in world.pre([hook("b")], already=hooks_already_run(ran)).reason
    assert world.commands == ["c"]


def test_a_hook_is_told_the_call_without_secrets():
    world = World({})
    world.pre(
        [hook("a")],
        payload("curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345'", api_key="hunter2"),
    )
    told = world.asked[0][1]
    assert {key: told[key] for key in ("event", "session_id", "tool", "cwd")} == {
        "event": "PreToolUse",
        "session_id": "s1",
        "tool": "run_in_terminal",
        "cwd": "/w",
    }
    assert "hunter2" not in json.dumps(told)
    assert "abcdefghijklmnop" not in json.dumps(told)


def test_output_is_scrubbed_made_safe_and_bounded():
    secret = b"AKIAIOSFODNN7EXAMPLE"
    world = World({"a": End(code=1, output=b"x\x1b[2J" + secret + b"y" * 60_000 + b"\xff")})
    verdict = world.pre([hook("a")])
    assert secret.decode() not in world.ran[0].output + verdict.reason
    assert "\x1b" not in world.ran[0].output + verdict.reason
    assert len(world.ran[0].output) < 9000
    assert len(verdict.reason) < 1000


@pytest.mark.spec(89)
def test_hooks_after_the_call_never_block_and_all_run():
    world = World({"a": End(code=1), "b": OSError("gone")})
    hooks = [hook(name, event="PostToolUse") for name in "abc"] + [hook("d")]
    assert asyncio.run(run_post_tool_hooks(hooks, payload(), world.run, world.ran.append)) is None
    assert world.commands == ["a", "b", "c"]
    assert [(ran.event, ran.blocked) for ran in world.ran] == [("PostToolUse", False)] * 3


def test_how_long_a_hook_took_is_recorded():
    ticks = iter([10.0, 10.25])
    ran = []
    asyncio.run(
        run_pre_tool_hooks([hook("a")], payload(), {}, World({}).run, ran.append, lambda: next(ticks))
    )
    assert ran[0].duration_ms == 250


def test_the_exit_of_a_real_hook_process_fits():
    from workbench.effects.child_processes import HookExit

    world = World({"a": HookExit(code=1, output=b"no", timed_out=False)})
    told = HookPayload(
        passed=ScreenedCall(descriptor=READ, parameters={"path": "a"}, targets={}, folder="/w"),
        session_id="s",
    )
    assert world.pre([hook("a", "Read")], told).reason == "the hook ended with 1: no"
