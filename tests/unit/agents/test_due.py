"""The rules of the turn machine, one script of events each: what happened -> what is due."""

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.agents.turn_script import (
    CALLING,
    LIMITS,
    READY,
    again,
    approved,
    asked,
    created,
    done,
    ended,
    executing,
    expired,
    failed_model,
    finished,
    flat,
    go_on,
    interrupt,
    lease,
    opened,
    paused,
    prompt,
    proposed,
    refresh,
    rejected,
    released,
    reopening,
    reply,
    stale,
    started,
    state_of,
    status,
    superseded,
    taken,
    undo,
)
from workbench.agents.planner import (
    CallModel,
    EndTurn,
    Execute,
    Gate,
    Initialize,
    Pause,
    RecoverCall,
    Refresh,
    Reopen,
    Restack,
    StopCall,
    StopModel,
    Undo,
    Withdraw,
    due_effects,
)
from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState

NEW_TURN = CallModel(turn_id=None, round=1)
DONE = EndTurn(outcome="done")
STOPPED = EndTurn(outcome="interrupted")
UNATTENDED = EndTurn(outcome="unattended", detail="nobody answered in time")
LIMIT = EndTurn(outcome="limit", detail="3 model calls in one turn")
LOST = Pause(reason="host lost")


def model(round_, turn="t1"):
    return CallModel(turn_id=turn, round=round_)


def gate(call):
    return Gate(call_id=call)


def run(call):
    return Execute(call_id=call)


def settle(call):
    return RecoverCall(call_id=call)


def stop(call):
    return StopCall(call_id=call)


def withdraw(call):
    return Withdraw(call_id=call)


def restack(call):
    return Restack(call_id=call)


CRASH = lease(2)
TWO = [*CALLING, reply("c1", "c2")]
BOTH = [*TWO, *asked("c1"), *asked("c2")]
STACKED = [*TWO, *asked("c1"), *asked("c2", on=["c1"])]
STACK_OF_3 = [
    *CALLING,
    reply("c1", "c2", "c3"),
    *asked("c1"),
    *asked("c2", on=["c1"]),
    *asked("c3", on=["c1", "c2"]),
]
READS = [*CALLING, reply("r1:read_file", "r2:read_file", "w3", "r4:read_file")]
READS_ALLOWED = [
    *READS,
    proposed("r1", "allowed", "read_file"),
    proposed("r2", "allowed", "read_file"),
    proposed("w3", "allowed"),
    proposed("r4", "allowed", "read_file"),
]
ONE_RUNS = [*CALLING, reply("c1"), proposed("c1", "allowed"), executing("c1")]
APPLIED = [
    *CALLING,
    reply("c1"),
    *asked("c1"),
    approved("c1"),
    *done("c1"),
    started(2),
    reply(round_=2),
    ended(),
]
LAST_ROUND = [
    *CALLING,
    reply("c1"),
    proposed("c1", "denied"),
    started(3),
    reply("c2", round_=3),
    proposed("c2", "denied"),
]
INTERRUPTED = [*CALLING, interrupt(), ended("interrupted"), paused("user")]
UNANSWERED = [*CALLING, reply("c1"), *asked("c1"), expired("c1"), ended("unattended"), paused("unattended")]
AT_LIMIT = [*LAST_ROUND, ended("limit"), paused("limit reached")]

SESSIONS = [
    ("nothing happened", [], []),
    ("created", [created()], [Initialize()]),
    ("died while initializing", [created(), status("initializing"), lease(2)], [Initialize()]),
    ("ready", READY, []),
    ("prompt waits for ready", [created(), prompt()], [Initialize()]),
    ("prompt", [*READY, prompt()], [NEW_TURN]),
    ("prompt without a driver", [*READY[:3], prompt()], [NEW_TURN]),
    ("two prompts make one turn", [*READY, prompt("a"), prompt("b")], [NEW_TURN]),
    ("continue with nothing to say", [*READY, go_on()], []),
    ("terminated", [*READY, prompt(), status("terminated")], []),
    ("completed", [*BOTH, status("completed")], []),
    ("failed in the middle", [*BOTH, approved("c1"), status("failed")], []),
    ("an undo in a session that is over", [*APPLIED, status("completed"), undo("a-c1", "u1")], []),
    ("paused by the user before a prompt", [*READY, paused("user")], []),
    ("paused by the user after a prompt", [*READY, prompt(), paused("user")], []),
    ("a run that ended takes prompts", [*READY, paused("run ended"), prompt()], [NEW_TURN]),
]

TURNS = [
    ("a turn goes on past the end of another", [*CALLING, ended("done", "t0"), reply(text="hi")], [DONE]),
    ("a reply of another turn is not run", [*CALLING, reply("c9", turn="t0")], [withdraw("c9")]),
    (
        "a call that the next reply left behind is not run",
        [*CALLING, reply("c1"), reply("c2", round_=2)],
        [withdraw("c1"), gate("c2")],
    ),
    (
        "... and holds the model",
        [*CALLING, reply("c1"), reply("c2", round_=2), proposed("c2", "denied")],
        [withdraw("c1")],
    ),
    (
        "... until it is withdrawn",
        [*CALLING, reply("c1"), reply("c2", round_=2), proposed("c2", "denied"), finished("c1", "cancelled")],
        [model(3)],
    ),
    ("calling", CALLING, []),
    ("a reply without calls", [*CALLING, reply(text="hi")], [DONE]),
    ("done", [*CALLING, reply(text="hi"), ended()], []),
    ("continue when done", [*CALLING, reply(text="hi"), ended(), status("ready"), go_on()], []),
    ("continue while calling", [*CALLING, go_on()], []),
    ("provider failed", [*CALLING, failed_model(), ended("error"), status("ready")], []),
    (
        "go on after a failure",
        [*CALLING, failed_model(), ended("error"), status("ready"), go_on()],
        [NEW_TURN],
    ),
    ("a prompt waits while calling", [*CALLING, prompt()], []),
    (
        "a prompt waits for the next round too",
        [*CALLING, prompt(), reply("c1"), proposed("c1", "denied")],
        [model(2)],
    ),
    ("a waiting prompt starts the next turn", [*CALLING, prompt(), reply(), ended()], [NEW_TURN]),
    ("a late reply of a turn that is over", [*INTERRUPTED, reply("c1")], [withdraw("c1")]),
    ("an end of another turn is none of this one", [*CALLING, ended("done", "t0")], []),
]

CALLS = [
    ("approved without a gate is not run", [*TWO, opened("a-c1", "c1"), approved("c1")], [gate("c2")]),
    ("the first is gated", TWO, [gate("c1")]),
    ("then the second", [*TWO, *asked("c1")], [gate("c2")]),
    ("all are asked", BOTH, []),
    ("an allowed call runs while the next is gated", [*TWO, proposed("c1", "allowed")], [gate("c2"), run("c1")]),
    ("answered in any order", [*BOTH, approved("c2")], []),
    ("executed in call order", [*BOTH, approved("c2"), approved("c1")], [run("c1")]),
    ("one after another", [*BOTH, approved("c2"), approved("c1"), *done("c1")], [run("c2")]),
    ("a running call is not run again", [*BOTH, approved("c1"), approved("c2"), executing("c1")], []),
    ("a rejected one lets the next run", [*BOTH, approved("c2"), rejected("c1")], [run("c2")]),
    ("an unanswered one as well", [*BOTH, approved("c2"), expired("c1")], [run("c2")]),
    ("denied and refused", [*TWO, proposed("c1", "denied"), proposed("c2", "refused")], [model(2)]),
    ("all settled", [*BOTH, rejected("c1"), approved("c2"), *done("c2")], [model(2)]),
    ("a stopped command", [*ONE_RUNS, finished("c1", "cancelled")], [model(2)]),
    ("the last round", LAST_ROUND, [LIMIT]),
    ("the last round without calls", [*CALLING, reply("c1"), proposed("c1", "denied"), started(3), reply(round_=3)], [DONE]),
    ("one expired", [*BOTH, rejected("c1"), expired("c2")], [UNATTENDED]),
    ("one expired, others open", [*BOTH, expired("c1")], []),
    ("an extended action is answered by its new id", [*BOTH, superseded("a-c1", "a9", "extended"), opened("a9", "c1"), rejected("c1")], []),
    ("... and counts", [*BOTH, superseded("a-c1", "a9", "extended"), opened("a9", "c1"), approved("c1", action="a9")], [run("c1")]),
]  # fmt: skip

PARALLEL = [
    ("reads run beside each other", READS_ALLOWED, [run("r1"), run("r2")]),
    ("a read is not held up by an earlier read", [*READS_ALLOWED, executing("r1")], [run("r2")]),
    ("nor by a read that waits for its human", [*READS, *asked("r1", tool="read_file"), proposed("r2", "allowed", "read_file")], [gate("w3"), run("r2")]),
    ("a write waits for every read", [*READS_ALLOWED, *done("r1"), executing("r2")], []),
    ("a write runs alone", [*READS_ALLOWED, *done("r1"), *done("r2")], [run("w3")]),
    ("a read waits for an earlier write", [*READS_ALLOWED, *done("r1"), *done("r2"), executing("w3")], []),
    ("a read runs after it", [*READS_ALLOWED, *done("r1"), *done("r2"), *done("w3")], [run("r4")]),
]  # fmt: skip

REPLACED = [
    *BOTH,
    approved("c1"),
    approved("c2"),
    finished("c1", "cancelled", detail="stale"),
    *asked("c3", replaces="c1"),
]

STACKS = [
    ("the base was proposed anew", [*STACKED, proposed("c1")], [restack("c2")]),
    ("an extension of the base changes no bytes", [*STACKED, superseded("a-c1", "a9", "extended"), opened("a9", "c1")], []),
    ("an extension forgets no base", [*STACKED, rejected("c1"), superseded("a-c2", "a9", "extended"), opened("a9", "c2")], [restack("c2")]),
    ("opened before superseded", [*STACKED, rejected("c1"), opened("a9", "c2"), superseded("a-c2", "a9", "restacked", "c2")], []),
    ("a refresh is not needed as well", [*STACKED, stale("a-c2"), refresh("a-c2"), rejected("c1")], [restack("c2")]),
    ("nothing moved", STACKED, []),
    ("the base is taken as shown", [*STACKED, approved("c1"), approved("c2"), *done("c1")], [run("c2")]),
    ("the base is rejected", [*STACKED, rejected("c1")], [restack("c2")]),
    ("the base is rejected after both were approved", [*STACKED, approved("c2"), rejected("c1")], [restack("c2")]),
    ("the base expired", [*STACKED, expired("c1")], [restack("c2")]),
    ("the base failed", [*STACKED, approved("c2"), approved("c1"), executing("c1"), finished("c1", "failed")], [restack("c2")]),
    ("the base was withdrawn", [*STACKED, finished("c1", "cancelled")], [restack("c2")]),
    ("not before the base is settled", [*STACKED, approved("c1", [taken(1)]), approved("c2")], [run("c1")]),
    ("hunks of the base are left", [*STACKED, approved("c1"), executing("c1"), finished("c1", hunks_taken=(1,), hunks_left=(2,))], [restack("c2")]),
    ("lines of the base are left", [*STACKED, approved("c1", [taken(1, 2)]), *done("c1")], [restack("c2")]),
    ("the base was edited", [*STACKED, approved("c1", edited={"x": "sealed:1"}), *done("c1")], [restack("c2")]),
    ("every hunk was chosen by hand", [*STACKED, approved("c1", [taken(1)]), executing("c1"), finished("c1", hunks_taken=(1,))], []),
    ("restacked by a new action", [*STACKED, rejected("c1"), superseded("a-c2", "a9", "restacked"), opened("a9", "c2")], []),
    ("restacked by a new proposal", [*STACKED, rejected("c1"), superseded("a-c2", "a9", "restacked"), proposed("c2"), opened("a9", "c2")], []),
    ("an extension is no restack", [*STACKED, superseded("a-c2", "a9", "extended"), opened("a9", "c2"), rejected("c1")], [restack("c2")]),
    ("an approved one is replaced", [*STACKED, approved("c2"), rejected("c1"), finished("c2", "cancelled", detail="stale"), *asked("c9", replaces="c2")], []),
    ("the base was replaced", [*STACKED, approved("c1"), finished("c1", "cancelled"), *asked("c9", replaces="c1")], [restack("c2")]),
    ("the base was refreshed", [*STACKED, stale("a-c1"), superseded("a-c1", "a9"), opened("a9", "c1")], [restack("c2")]),
    ("one at a time", [*STACK_OF_3, rejected("c1")], [restack("c2")]),
    ("then what lies on top", [*STACK_OF_3, rejected("c1"), superseded("a-c2", "a9", "restacked"), opened("a9", "c2")], [restack("c3")]),
    ("gates come first", [*CALLING, reply("c1", "c2", "c3"), *asked("c1"), *asked("c2", on=["c1"]), rejected("c1")], [gate("c3")]),
    ("decided while it was being proposed", [*TWO, *asked("c1"), rejected("c1"), *asked("c2", on=["c1"])], [restack("c2")]),
    ("a replaced call keeps its place", REPLACED, []),
    ("... and runs in it", [*REPLACED, approved("c3")], [run("c3")]),
    ("... and is settled in it", [*REPLACED, approved("c3"), *done("c3"), *done("c2")], [model(2)]),
    ("told in the other order", [*TWO, *asked("c1"), *asked("c2"), approved("c1"), *asked("c3", replaces="c1"), finished("c1", "cancelled")], []),
]  # fmt: skip

INTERRUPTS = [
    ("no turn is open", [*READY, interrupt()], []),
    ("calling", [*CALLING, interrupt()], [StopModel(), STOPPED]),
    ("between two rounds", [*CALLING, reply("c1"), proposed("c1", "denied"), interrupt()], [STOPPED]),
    ("before the gate", [*TWO, interrupt()], [withdraw("c1"), withdraw("c2")]),
    ("pending, approved and running", [*CALLING, reply("c1", "c2", "c3"), *asked("c1"), *asked("c2"), *asked("c3"), approved("c1"), executing("c1"), approved("c2"), interrupt()], [stop("c1"), withdraw("c2"), withdraw("c3")]),
    ("all of it stopped", [*ONE_RUNS, interrupt(), finished("c1", "cancelled")], [STOPPED]),
    ("a reply came all the same", [*CALLING, interrupt(), reply("c1")], [withdraw("c1")]),
    ("the reply was the last", [*CALLING, interrupt(), reply(text="hi")], [STOPPED]),
    ("a call expired meanwhile", [*CALLING, reply("c1"), *asked("c1"), interrupt(), expired("c1")], [STOPPED]),
    ("ended", INTERRUPTED, []),
    ("ended, before the pause is there", INTERRUPTED[:-1], []),
    ("continue says the prompt again", [*INTERRUPTED, go_on()], [NEW_TURN]),
    ("a prompt goes on", [*INTERRUPTED, prompt()], [NEW_TURN]),
    ("a prompt from before the interrupt waits", [*CALLING, prompt(), interrupt(), ended("interrupted"), paused("user")], []),
    ("a prompt after the interrupt is the human going on", [*CALLING, interrupt(), prompt(), ended("interrupted"), paused("user")], [NEW_TURN]),
    ("continue after the interrupt too", [*CALLING, interrupt(), go_on(), ended("interrupted"), paused("user")], [NEW_TURN]),
    ("interrupted twice", [*CALLING, interrupt(), prompt(), interrupt(), ended("interrupted"), paused("user")], []),
    ("nothing unsent after the interrupt", [*CALLING, interrupt(), reply(text="hi"), ended("interrupted"), paused("user"), go_on()], []),
]  # fmt: skip

CRASHES = [
    ("calling, and a call is named twice", [*CALLING, reply("c1", "c1"), interrupt()], [Withdraw(call_id="c1")]),
    ("calling", [*CALLING, CRASH], [LOST]),
    ("calling, paused", [*CALLING, CRASH, paused("host lost")], []),
    ("calling, continued", [*CALLING, CRASH, paused("host lost"), go_on()], [model(1)]),
    ("calling, a prompt instead", [*CALLING, CRASH, paused("host lost"), prompt()], [model(1)]),
    ("calling, continued and started", [*CALLING, CRASH, paused("host lost"), go_on(), started()], []),
    ("continued before the pause was written", [*CALLING, CRASH, go_on(), paused("host lost")], [model(1)]),
    ("a later pause holds again", [*CALLING, CRASH, paused("host lost"), go_on(), paused("host lost")], []),
    ("lost twice, nothing said by the driver in between", [*CALLING, CRASH, paused("host lost"), go_on(), lease(3)], [model(1)]),
    ("lost twice, after it had begun again", [*CALLING, CRASH, paused("host lost"), go_on(), started(), status("processing"), lease(3)], [LOST]),
    ("a prompt from before the crash does not go on", [*CALLING, prompt(), CRASH, paused("host lost")], []),
    ("a continue from before the crash neither", [*CALLING, go_on(), CRASH, paused("host lost")], []),
    ("no turn is open", [*READY, CRASH], []),
    ("a prompt that no turn took up", [*READY, prompt(), CRASH], [NEW_TURN]),
    ("the reply was the last", [*CALLING, reply(text="hi"), CRASH], [DONE]),
    ("... and a prompt waited", [*CALLING, prompt(), reply(text="hi"), CRASH, ended(), status("ready")], [LOST]),
    ("before the gate", [*TWO, CRASH], [gate("c1"), LOST]),
    ("pending", [*BOTH, CRASH], [LOST]),
    ("pending, answered while paused", [*BOTH, CRASH, paused("host lost"), approved("c1")], [run("c1")]),
    ("approved", [*BOTH, approved("c1"), CRASH], [run("c1"), LOST]),
    ("executing", [*ONE_RUNS, CRASH], [settle("c1"), LOST]),
    ("executing, interrupted by the human", [*ONE_RUNS, CRASH, paused("host lost"), interrupt()], [settle("c1")]),
    ("settled", [*ONE_RUNS, CRASH, paused("host lost"), finished("c1", "interrupted")], []),
    ("settled before the pause", [*ONE_RUNS, CRASH, finished("c1", "interrupted")], [LOST]),
    ("settled and continued", [*ONE_RUNS, CRASH, paused("host lost"), finished("c1", "interrupted"), go_on()], [model(2)]),
    ("continued, then settled", [*ONE_RUNS, CRASH, paused("host lost"), go_on(), finished("c1", "interrupted")], [model(2)]),
    ("a call begun after the crash is not settled", [*BOTH, CRASH, approved("c1"), executing("c1")], [LOST]),
    ("parked and lost is told as lost", [*BOTH, paused("parked"), CRASH], [LOST]),
    ("lost and expired", [*BOTH, CRASH, paused("host lost"), expired("c1"), rejected("c2")], [UNATTENDED]),
    ("lost and interrupted", [*CALLING, CRASH, paused("host lost"), interrupt()], [STOPPED]),
    ("lost before StopModel was done", [*CALLING, interrupt(), CRASH], [STOPPED]),
    ("what was said to a dead driver is a word", [*CALLING, interrupt(), prompt(), CRASH, ended("interrupted"), paused("user")], [NEW_TURN]),
    ("a prompt to a dead driver goes on", [*CALLING, prompt(), CRASH], [model(1)]),
    ("a continue to a dead driver goes on when all is settled", [*BOTH, go_on(), CRASH, rejected("c1"), rejected("c2")], [model(2)]),
    ("given back in order", [*BOTH, released(1), CRASH], []),
    ("given back in order, answered", [*BOTH, released(1), CRASH, rejected("c1"), rejected("c2")], [model(2)]),
    ("given back while calling is no order", [*CALLING, released(1), CRASH], [LOST]),
    ("given back while executing neither", [*ONE_RUNS, released(1), CRASH], [settle("c1"), LOST]),
    ("given back by another", [*BOTH, released(1, "old"), CRASH], [LOST]),
    ("given back by an earlier self", [*READY, lease(2), *CALLING[4:], reply("c1"), *asked("c1"), released(1), lease(3)], [LOST]),
    ("given back, taken, lost", [*BOTH, released(1), lease(2), lease(3)], [LOST]),
]  # fmt: skip

PAUSES = [
    ("unattended", UNANSWERED, []),
    ("unattended, continued", [*UNANSWERED, go_on()], [NEW_TURN]),
    ("unattended, a prompt", [*UNANSWERED, prompt()], [NEW_TURN]),
    ("unattended, a prompt had been waiting", [*CALLING, prompt(), reply("c1"), *asked("c1"), expired("c1"), ended("unattended"), paused("unattended")], []),
    ("a prompt between the end and the pause", [*UNANSWERED[:-1], prompt(), UNANSWERED[-1]], [NEW_TURN]),
    ("unattended, taken over", [*UNANSWERED, CRASH], []),
    ("limit reached", AT_LIMIT, []),
    ("limit reached, continued", [*AT_LIMIT, go_on()], [NEW_TURN]),
    ("another pause after continuing", [*UNANSWERED, go_on(), paused("user")], []),
    ("parked", [*BOTH, paused("parked")], []),
    ("parked goes on by itself", [*BOTH, paused("parked"), rejected("c1"), rejected("c2")], [model(2)]),
    ("parked, executed by whoever drives", [*BOTH, paused("parked"), released(1), lease(2), approved("c1")], [run("c1")]),
]  # fmt: skip

ASKED_UNDO = [*APPLIED, status("ready"), undo("a-c1", "u1")]
PROPOSED_UNDO = [*ASKED_UNDO, proposed("k1", "allowed", "undo", by="u1", turn=None)]
ASKED_AGAIN = [*APPLIED, status("ready"), again("a-c1", "q1")]
REOPENED = [*ASKED_AGAIN, *reopening("q1")]

REQUESTS = [
    ("an action that is not stale", [*BOTH, refresh("a-c1")], []),
    ("stale, not asked for", [*BOTH, stale("a-c1")], []),
    ("stale and asked for", [*BOTH, stale("a-c1"), refresh("a-c1")], [Refresh(action_id="a-c1")]),
    ("asked for before anyone had seen it", [*BOTH, refresh("a-c1"), stale("a-c1")], [Refresh(action_id="a-c1")]),
    ("asked for twice", [*BOTH, stale("a-c1"), refresh("a-c1"), refresh("a-c1")], [Refresh(action_id="a-c1")]),
    ("refreshed", [*BOTH, stale("a-c1"), refresh("a-c1"), superseded("a-c1", "a9"), opened("a9", "c1")], []),
    ("refreshed, then answered", [*BOTH, stale("a-c1"), refresh("a-c1"), superseded("a-c1", "a9"), opened("a9", "c1"), approved("c1", action="a9")], [run("c1")]),
    ("rejected instead", [*BOTH, stale("a-c1"), refresh("a-c1"), rejected("c1")], []),
    ("a stale one that was extended is still stale", [*BOTH, stale("a-c1"), superseded("a-c1", "a9", "extended"), opened("a9", "c1", warnings=("stale",)), refresh("a9")], [Refresh(action_id="a9")]),
    ("being withdrawn", [*BOTH, stale("a-c1"), refresh("a-c1"), interrupt()], [withdraw("c1"), withdraw("c2")]),
    ("taken up again", ASKED_AGAIN, [Reopen(action_id="a-c1", request_id="q1")]),
    ("taken up again by two screens", [*ASKED_AGAIN, again("a-c1", "q2")], [Reopen(action_id="a-c1", request_id="q1")]),
    ("another one after it", [*REOPENED, again("a0", "q2")], [Reopen(action_id="a0", request_id="q2")]),
    ("taken up again, refused", [*ASKED_AGAIN, proposed("q1", "refused", turn=None)], []),
    ("taken up again, waits", REOPENED, []),
    ("asked for once more while it waits", [*REOPENED, again("a-c1", "q2")], []),
    ("asked for once more after it expired", [*REOPENED, expired("q1"), again("a-c1", "q2")], []),
    ("a prompt does not wait for its answer", [*REOPENED, prompt()], [NEW_TURN]),
    ("an undo does not either", [*REOPENED, undo("a-c1", "u1")], [Undo(action_id="a-c1", request_id="u1")]),
    ("its answer is carried out", [*REOPENED, approved("q1", action="r1")], [run("q1")]),
    ("the model is asked after it", [*REOPENED, approved("q1", action="r1"), prompt()], [run("q1")]),
    ("an undo after it", [*REOPENED, approved("q1", action="r1"), undo("a-c1", "u1")], [run("q1")]),
    ("stale, in a session without a turn", [*REOPENED, stale("r1"), refresh("r1")], [Refresh(action_id="r1")]),
    ("stale, asked for by nobody", [*REOPENED, stale("r1")], []),
    ("an interrupt does not withdraw it", [*REOPENED, interrupt()], []),
    ("undo", ASKED_UNDO, [Undo(action_id="a-c1", request_id="u1")]),
    ("undo while paused by the user", [*INTERRUPTED, undo("a1", "u1")], [Undo(action_id="a1", request_id="u1")]),
    ("undo proposed", PROPOSED_UNDO, [run("k1")]),
    ("undo refused", [*ASKED_UNDO, proposed("k1", "refused", "undo", by="u1", turn=None)], []),
    ("undo runs", [*PROPOSED_UNDO, executing("k1")], []),
    ("undo done", [*PROPOSED_UNDO, *done("k1")], []),
    ("undo lost", [*PROPOSED_UNDO, executing("k1"), CRASH], [settle("k1")]),
    ("undo lost and settled", [*PROPOSED_UNDO, executing("k1"), CRASH, finished("k1", "interrupted")], []),
    ("one undo after another", [*PROPOSED_UNDO, undo("a0", "u2"), executing("k1")], []),
    ("the next one", [*PROPOSED_UNDO, undo("a0", "u2"), *done("k1")], [Undo(action_id="a0", request_id="u2")]),
    ("an undo goes before a write that has not begun", [*BOTH, approved("c1"), undo("a0", "u2"), proposed("k1", "allowed", "undo", by="u2", turn=None)], [run("k1")]),
    ("the model is asked after an undo, to be told of it", [*PROPOSED_UNDO, prompt()], [run("k1")]),
    ("... and then at once", [*PROPOSED_UNDO, prompt(), *done("k1")], [NEW_TURN]),
    ("... also within a turn", [*APPLIED[:-2], undo("a-c1", "u1")], [Undo(action_id="a-c1", request_id="u1")]),
    ("an interrupt does not stop an undo", [*BOTH, undo("a0", "u2"), proposed("k1", "allowed", "undo", by="u2", turn=None), interrupt()], [withdraw("c1"), withdraw("c2"), run("k1")]),
    ("a stale undo is proposed anew", [*PROPOSED_UNDO, finished("k1", "cancelled", detail="stale"), proposed("k2", "allowed", "undo", replaces="k1", by="u1", turn=None)], [run("k2")]),
]  # fmt: skip

TABLES = {
    "session": SESSIONS,
    "turn": TURNS,
    "calls": CALLS,
    "reads": PARALLEL,
    "stack": STACKS,
    "interrupt": INTERRUPTS,
    "crash": CRASHES,
    "pause": PAUSES,
    "request": REQUESTS,
}
ROWS = [
    pytest.param(script, due, id=f"{group}: {name}")
    for group, rows in TABLES.items()
    for name, script, due in rows
]


@each_row(("script", "due"), ROWS)
def test_what_is_due(script, due):
    assert list(due_effects(state_of(script), LIMITS)) == due


@pytest.mark.spec(28)
@pytest.mark.parametrize("end", [[rejected("c1")], [expired("c1")], [finished("c1", "cancelled")]])
def test_a_call_that_was_not_approved_is_never_run(end):
    script = flat(CALLING, reply("c1"), asked("c1"), end, approved("c1"), executing("c1"), lease(2))
    state = TurnState()
    for event in script:
        state = apply_event(state, event)
        due = due_effects(state, LIMITS)
        assert not any(isinstance(effect, Execute | RecoverCall) for effect in due)


def test_an_expiry_may_be_configured_to_go_on():
    state = state_of(BOTH, rejected("c1"), expired("c2"))
    assert due_effects(state, replace(LIMITS, on_expiry="continue")) == (model(2),)


def test_used_exchanges_are_those_of_replies_and_failures():
    state = state_of(
        CALLING, failed_model(0), ended("error"), prompt(), started(turn="t2"), reply(turn="t2", exchange=3)
    )
    assert state.used_exchanges == {0, 3}


@pytest.mark.spec(188)
def test_the_system_prompt_never_changes():
    state = state_of(READY, created(title="again"))
    assert state.created.title == ""
