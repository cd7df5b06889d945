"""Where a command runs: each level, verdict, strength and setting, and that each line of the decision counts."""

import itertools
import types
from pathlib import Path

import pytest
from msgspec.structs import replace

from workbench.domain.values import GateVerdict
from workbench.policy import levels
from workbench.policy.levels import LineFacts, SandboxState

FITS = LineFacts()
LEAVES = LineFacts(leaves="it needs the network")
OBJECTED = LineFacts(objection="a denial may apply")
ASKED = GateVerdict(outcome="ask", step="ask", by="default", reason="no rule allows it")
ASKED_BY_RULE = GateVerdict(outcome="ask", step="grants", by="R1", rule="R1", reason="R1 asks for this")
DOUBTED = GateVerdict(outcome="ask", step="grants", by="deny", reason="the denial may apply")
SOMEBODY_ELSE = GateVerdict(outcome="ask", step="ask", by="R2", reason="held")
ALLOWED = GateVerdict(outcome="allowed", step="grants", by="R1", rule="R1", reason="R1 allows this")
ALLOWED_INSIDE = replace(ALLOWED, place="inside")
ALLOWED_OUTSIDE = replace(ALLOWED, place="outside")
DENIED = GateVerdict(outcome="denied", step="deny", by="config.json:3", reason="no", place="inside")
REFUSED = GateVerdict(outcome="refused", step="schema", by="default", reason="no", place="outside")
VERDICTS = (
    ASKED, ASKED_BY_RULE, DOUBTED, SOMEBODY_ELSE, ALLOWED, ALLOWED_INSIDE, ALLOWED_OUTSIDE, DENIED, REFUSED,
)  # fmt: skip
NO_SANDBOX = "bubblewrap is not installed"


def state(level="workspace", strength="full", *, auto=False, required=False, unsure=False):
    problem = "" if strength == "full" else NO_SANDBOX
    return SandboxState(
        level=level, strength=strength, is_auto=auto, is_required=required, problem=problem, is_unsure=unsure
    )


def states():
    for level, strength, auto, required in itertools.product(
        ("read-only", "workspace", "outside"), ("full", "files", "none"), (False, True), (False, True)
    ):
        yield state(level, strength, auto=auto, required=required)


ROWS = (
    # verdict, line, sandbox -> outcome, place
    (DENIED, FITS, state(auto=True), ("denied", None)),
    (REFUSED, FITS, state("outside"), ("refused", None)),
    (ASKED, FITS, state("outside", auto=True), ("ask", "outside")),
    (ALLOWED, LEAVES, state("outside", "none", required=True), ("allowed", "outside")),
    (ALLOWED_OUTSIDE, FITS, state(), ("allowed", "outside")),
    (ALLOWED_OUTSIDE, LEAVES, state(), ("allowed", "outside")),
    (ALLOWED_OUTSIDE, FITS, state(strength="none", required=True), ("allowed", "outside")),
    (ALLOWED_OUTSIDE, FITS, state("read-only"), ("ask", "outside")),
    (ALLOWED, FITS, state(), ("allowed", "inside")),
    (ALLOWED_INSIDE, FITS, state("read-only"), ("allowed", "inside")),
    (ALLOWED, FITS, state(strength="files"), ("allowed", "inside")),
    (ALLOWED, FITS, state(strength="none"), ("allowed", "outside")),
    (ALLOWED, FITS, state(strength="none", unsure=True), ("ask", "outside")),
    (ALLOWED, FITS, state("read-only", "none"), ("ask", "outside")),
    (ALLOWED_INSIDE, LEAVES, state("read-only", "none"), ("ask", "outside")),
    (ASKED, FITS, state("read-only", "none"), ("ask", "outside")),
    (DENIED, FITS, state("read-only", "none"), ("denied", None)),
    (ALLOWED_OUTSIDE, FITS, state(strength="none", unsure=True), ("allowed", "outside")),
    (ASKED, FITS, state(strength="none", auto=True, unsure=True), ("ask", "outside")),
    (ALLOWED, FITS, state(strength="none", required=True), ("denied", None)),
    (ALLOWED, FITS, state(strength="files", required=True), ("denied", None)),
    (ALLOWED, FITS, state(required=True), ("allowed", "inside")),
    (ALLOWED, LEAVES, state(), ("ask", "outside")),
    (ALLOWED, LEAVES, state(auto=True), ("ask", "outside")),
    (ALLOWED, LEAVES, state(strength="files"), ("ask", "outside")),
    (ALLOWED, LEAVES, state(strength="none"), ("allowed", "outside")),
    (ALLOWED, LEAVES, state(strength="none", required=True), ("ask", "outside")),
    (ASKED, LEAVES, state(auto=True), ("ask", "outside")),
    (ASKED, FITS, state(), ("ask", "inside")),
    (ASKED, FITS, state(auto=True), ("allowed", "inside")),
    (ASKED, FITS, state("read-only", auto=True), ("allowed", "inside")),
    (ASKED, OBJECTED, state(auto=True), ("ask", "inside")),
    (ASKED_BY_RULE, FITS, state(auto=True), ("ask", "inside")),
    (DOUBTED, FITS, state(auto=True), ("ask", "inside")),
    (replace(ASKED, step="grants"), FITS, state(auto=True), ("ask", "inside")),
    (SOMEBODY_ELSE, FITS, state(auto=True), ("ask", "inside")),
    (ASKED, FITS, state(strength="files", auto=True), ("ask", "inside")),
    (ASKED, FITS, state(strength="none", auto=True), ("ask", "outside")),
    (ASKED, FITS, state(strength="none", auto=True, required=True), ("denied", None)),
)  # fmt: skip


def differing_rows(place_command):
    """Return the rows of the table of which a function says something else."""
    placed = [place_command(verdict, line, sandbox) for verdict, line, sandbox, _ in ROWS]
    return [row for row, now in zip(ROWS, placed, strict=True) if (now.outcome, now.place) != row[3]]


def test_the_table():
    assert differing_rows(levels.place_command) == []


@pytest.mark.parametrize("line", [FITS, LEAVES, OBJECTED, replace(LEAVES, objection="both")])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_laws_of_every_verdict_and_sandbox(verdict, line):
    for sandbox in states():
        now = levels.place_command(verdict, line, sandbox)
        if verdict.outcome in ("denied", "refused"):
            assert now == replace(verdict, place=None)
            continue
        if now.place == "inside":
            assert sandbox.level != "outside"
            assert sandbox.strength != "none"
            assert not line.leaves
        if now.outcome == "allowed" and verdict.outcome != "allowed":
            assert verdict == ASKED
            assert (now.place, now.by, now.step, now.rule) == ("inside", "sandbox", "grants", None)
            assert sandbox.is_auto
            assert sandbox.strength == "full"
            assert line == FITS
        if now.outcome == "allowed" and now.place == "outside":
            said = verdict.place == "outside" or sandbox.level == "outside"
            assert said or (sandbox.strength == "none" and not sandbox.is_required)
        if sandbox.strength == "none" and not sandbox.is_required and verdict.place != "outside":
            is_kept = sandbox.level != "read-only" or verdict.outcome != "allowed"
            assert now.place == "outside"
            assert now == replace(verdict, place="outside") if is_kept else now.outcome == "ask"
        if sandbox.is_required and sandbox.strength != "full" and sandbox.level != "outside":
            assert now.place != "inside"
        if now.outcome == "denied":
            assert NO_SANDBOX in now.reason
            assert "sandbox.required" in now.reason


def test_a_question_to_leave_says_why_and_what_else_was_said():
    asked = levels.place_command(ASKED, LEAVES, state())
    assert asked == replace(ASKED, place="outside", reason="it needs the network; no rule allows it")
    bare = levels.place_command(replace(ASKED, reason=""), LEAVES, state())
    assert bare.reason == "it needs the network"
    granted = levels.place_command(ALLOWED, LEAVES, state())
    assert granted.reason == "it needs the network; R1 allows this, but only inside the sandbox"
    assert (granted.by, granted.rule, granted.step) == ("R1", None, "ask")


def test_what_a_rule_allows_is_asked_while_the_sandbox_could_not_be_tried():
    asked = levels.place_command(ALLOWED, FITS, state(strength="none", unsure=True))
    assert asked.reason == f"{NO_SANDBOX}; R1 allows this, but only inside the sandbox"
    waiting = levels.place_command(ASKED, FITS, state(strength="none", unsure=True))
    assert waiting == replace(ASKED, place="outside")


def test_what_is_said_of_a_command_that_the_sandbox_allows():
    reasons = {
        level: levels.place_command(ASKED, FITS, state(level, auto=True)).reason
        for level in ("read-only", "workspace")
    }
    assert reasons == {
        "read-only": "it runs inside the sandbox: it can write nothing, and has no network",
        "workspace": "it runs inside the sandbox: it can write only in the workspace, and has no network",
    }


def test_a_read_only_session_asks_about_what_is_allowed_elsewhere():
    asked = levels.place_command(ALLOWED_OUTSIDE, FITS, state("read-only"))
    assert asked.reason == "the sandbox of this session is read-only; otherwise: R1 allows this"
    assert (asked.by, asked.rule, asked.place) == ("R1", None, "outside")


@pytest.mark.parametrize(
    ("one", "other", "lower"),
    [
        ("read-only", "workspace", "read-only"),
        ("workspace", "read-only", "read-only"),
        ("workspace", "outside", "workspace"),
        ("outside", "outside", "outside"),
    ],
)
def test_of_two_levels_the_one_counts_that_allows_less(one, other, lower):
    assert levels.lower_level(one, other) == lower


MUTATIONS = (
    ('verdict.outcome in ("denied", "refused")', 'verdict.outcome in ("denied",)'),
    ('verdict.outcome in ("denied", "refused")', 'verdict.outcome in ("refused",)'),
    ("return replace(verdict, place=None)", "return verdict"),
    ('if sandbox.level == "outside":', "if False:"),
    ('if verdict.outcome == "allowed" and verdict.place == "outside":', 'if verdict.outcome == "allowed":'),
    ('if verdict.outcome == "allowed" and verdict.place == "outside":', "if False:"),
    ('if sandbox.level == "read-only" else verdict', "if False else verdict"),
    ('if sandbox.level == "read-only" else verdict', "if True else verdict"),
    ('if line.leaves and (sandbox.strength != "none" or sandbox.is_required):', "if False:"),
    ('if line.leaves and (sandbox.strength != "none" or sandbox.is_required):', "if line.leaves:"),
    (
        'if line.leaves and (sandbox.strength != "none" or sandbox.is_required):',
        'if line.leaves and sandbox.strength != "none":',
    ),
    (
        'if line.leaves and (sandbox.strength != "none" or sandbox.is_required):',
        'if line.leaves and (sandbox.strength == "full" or sandbox.is_required):',
    ),
    ('if sandbox.strength != "full" and sandbox.is_required:', "if sandbox.is_required:"),
    ('if sandbox.strength != "full" and sandbox.is_required:', 'if sandbox.strength != "full":'),
    (
        'if sandbox.strength != "full" and sandbox.is_required:',
        'if sandbox.strength == "none" and sandbox.is_required:',
    ),
    ('if sandbox.strength == "none":', "if False:"),
    ('verdict.outcome == "allowed" and sandbox.is_unsure', 'verdict.outcome == "allowed"'),
    ('verdict.outcome == "allowed" and sandbox.level == "read-only"', "False"),
    ('verdict.outcome == "allowed" and sandbox.level == "read-only"', 'verdict.outcome == "allowed"'),
    ('if sandbox.strength == "none":', 'if sandbox.strength != "full":'),
    ("return sandbox.is_auto and ", "return "),
    ('sandbox.is_auto and sandbox.strength == "full" and', "sandbox.is_auto and"),
    ("nobody_spoke and not line.objection", "nobody_spoke"),
    ("nobody_spoke and not line.objection", "not line.objection"),
    (' and verdict.step == "ask" and', " and"),
    (' and verdict.by == "default"', ""),
    ('verdict.outcome == "ask" and verdict.step', "verdict.step"),
    ('    return replace(verdict, place="inside")\n', '    return replace(verdict, place="outside")\n'),
    ('step="ask", by=verdict.by, reason=why, place="outside"', 'step="ask", by=verdict.by, reason=why'),
    ('GateVerdict(outcome="ask", step="ask", by=verdict.by', 'GateVerdict(outcome="allowed", step="ask", by="x"'),
    ('outcome="denied", step="ask", by="sandbox.required"', 'outcome="ask", step="ask", by="sandbox.required"'),
    ('by=SANDBOX_SPEAKER, place="inside"', 'by=SANDBOX_SPEAKER, place="outside"'),
    ('outcome="ask", step="ask", by=granted.by', 'outcome="allowed", step="ask", by=granted.by'),
    ("place=granted.place", "place=None"),
)  # fmt: skip
EQUIVALENT = {
    'verdict.outcome == "ask" and verdict.step': "only questions have the step ask and nobody's name"
}


@pytest.mark.parametrize(("old", "new"), MUTATIONS)
def test_each_change_of_a_line_changes_a_row(old, new):
    source = Path(levels.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    changed = types.ModuleType("changed_levels")
    exec(compile(source.replace(old, new), "levels.py", "exec"), vars(changed))
    assert bool(differing_rows(changed.place_command)) != (old in EQUIVALENT)
