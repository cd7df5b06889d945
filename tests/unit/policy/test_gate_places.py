"""Where the gate lets commands run: denials, rules, holds and hooks come before what a sandbox could hold."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.policy.gate_cases import DESCRIPTORS, KNOWN, context, rule
from workbench.domain.values import HELD_BY, GateVerdict, PermissionPattern
from workbench.policy.gate import GateCall, granted_search_path, judge_call, recheck_call, screen_call
from workbench.policy.levels import SandboxState
from workbench.policy.rules import allows_commands
from workbench.policy.trust import TRUST_CHOICES, trust_choices

AUTO = SandboxState(level="workspace", strength="full", is_auto=True)
ASKING = replace(AUTO, is_auto=False)
READ_ONLY = replace(AUTO, level="read-only")
TOOL = replace(
    KNOWN["run_in_terminal"],
    input_schema={
        "type": "object", "required": ["command"], "additionalProperties": False,
        "properties": {
            "command": {"type": "string"}, "outside": {"type": "boolean"}, "reason": {"type": "string"},
        },
    },
)  # fmt: skip
TOOLS = {**DESCRIPTORS, "run_in_terminal": TOOL}


@pytest.fixture
def work(tmp_path):
    (tmp_path / "src").mkdir()
    return tmp_path


def where(work, sandbox=AUTO, **changed):
    return context(work, descriptors=TOOLS, sandbox=sandbox, **changed)


def command(line, **more):
    return GateCall(tool="run_in_terminal", parameters={"command": line, **more})


async def no_hooks(_passed):
    return None


def judged(call, gate, hooks=no_hooks):
    return asyncio.run(judge_call(call, gate, hooks)).verdict


def place(call, gate):
    verdict = judged(call, gate)
    return verdict.outcome, verdict.place


def globs(*texts, **more):
    return tuple(PermissionPattern(text=text, **more) for text in texts)


FITS = command("python3 tool.py --all")


def test_a_command_that_nothing_speaks_about_runs_inside(work):
    verdict = judged(FITS, where(work))
    assert (verdict.outcome, verdict.place, verdict.by) == ("allowed", "inside", "sandbox")
    assert place(FITS, where(work, ASKING)) == ("ask", "inside")


def test_an_agent_that_runs_its_own_commands_has_no_place(work):
    assert place(FITS, where(work, None)) == ("ask", None)
    outside = globs("Bash(git diff *)", place="outside")
    assert place(command("git diff --stat"), where(work, None, allow=outside)) == ("allowed", None)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("rm -r src", {"deny": globs("Bash(rm *)")}),
        ("rm -r src", {"rules": (rule(effect="deny", pattern="Bash(rm *)"),)}),
        ("echo a; rm -r src", {"deny": globs("Bash(rm *)")}),
    ],
)
def test_a_denied_command_is_denied(work, line, changed):
    assert place(command(line), where(work, **changed)) == ("denied", None)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("python3 tool.py", {"rules": (rule(effect="ask", pattern="Bash(python3 *)"),)}),
        ("$(echo rm) src", {"deny": globs("Bash(rm *)")}),
        ("$(echo rm) src", {"rules": (rule(effect="deny", pattern="Bash(rm *)"),)}),
        ("mystery rm src", {"deny": globs("Bash(rm *)")}),
        ("cat $(echo .env)", {"deny": globs("Read(.env)")}),
        ("cat $(echo .env)", {"rules": (rule(effect="deny", tool="read_file", pattern="Read(.env)"),)}),
        ("python3 > $(echo a.txt)", {"deny": globs("Edit(a.txt)")}),
        ("cat .env", {"deny": globs("Read(.env)")}),
        ("cat /etc/hosts", {"deny": globs("Read(.env)")}),
        ("echo x > .workbench.json", {}),
        ("echo x > .envrc", {}),
        ("python3 tool.py \u202e", {}),
        ("python3 tool.py", {"ended": "the trust ended"}),
    ],
)
def test_what_a_human_has_to_see_is_asked_about(work, line, changed):
    (work / ".env").write_text("x")
    verdict = judged(command(line), where(work, **changed))
    assert verdict.outcome in ("ask", "denied")
    assert judged(command(line), where(work, ASKING, **changed)).outcome == verdict.outcome


@pytest.mark.parametrize(
    "line",
    ["x=rm; $x -r src", "mystery rm src", "unknowntool --exec 'rm src'", "r{m,} src", "alias q=rm\nq src"],
)
def test_a_rule_that_asks_is_read_as_widely_as_a_denial(work, line):
    asking = rule(effect="ask", pattern="Bash(rm *)")
    assert place(command(line), where(work, rules=(asking,))) == ("ask", "inside")
    assert place(command(line), where(work)) == ("allowed", "inside")
    assert place(FITS, where(work, rules=(asking,))) == ("allowed", "inside")


def test_a_line_that_cannot_be_read_runs_inside_where_nothing_is_denied(work):
    assert place(command("$(echo ls) src"), where(work)) == ("allowed", "inside")
    assert place(command("$(echo ls) src"), where(work, deny=globs("Read(x)")))[0] == "ask"
    assert place(command("$(echo ls) src"), where(work, deny=globs("WebFetch")))[0] == "allowed"


def test_a_command_that_reads_elsewhere_is_left_to_the_sandbox(work):
    assert place(command("cat /etc/hosts"), where(work)) == ("allowed", "inside")
    assert place(command("cd /etc && cat hosts"), where(work)) == ("allowed", "inside")
    denied = where(work, deny=globs("Read(.env)"))
    assert place(command("cd /etc && cat hosts"), denied)[0] == "ask"


def test_while_agents_are_held_the_sandbox_answers_nothing(work):
    verdict = judged(FITS, where(work, are_agents_held=True))
    assert (verdict.outcome, verdict.by, verdict.place) == ("ask", HELD_BY, "inside")


def test_a_hook_that_blocks_counts_before_the_sandbox(work):
    blocked = GateVerdict(outcome="denied", step="hooks", by="check.sh", reason="no")

    async def hooks(_passed):
        return blocked

    assert judged(FITS, where(work), hooks) == blocked


def test_without_anybody_who_answers_what_fits_still_runs_inside(work):
    alone = where(work, can_ask=False)
    assert place(FITS, alone) == ("allowed", "inside")
    assert judged(command("git commit -m x"), alone).outcome == "denied"
    assert judged(command("git commit -m x", outside=True), alone).outcome == "denied"
    assert judged(FITS, where(work, ASKING, can_ask=False)).outcome == "denied"
    asking = where(work, can_ask=False, rules=(rule(effect="ask", pattern="Bash(python3 *)"),))
    assert judged(FITS, asking).outcome == "denied"


def test_it_is_judged_the_same_before_it_runs(work):
    assert recheck_call(FITS, where(work, can_ask=False)).place == "inside"


# --- leaving -------------------------------------------------------------------------------------------


def test_an_agent_asks_to_leave_with_a_reason(work):
    verdict = judged(command("python3 tool.py", outside=True, reason="it needs\nthe \x1bphone"), where(work))
    assert (verdict.outcome, verdict.place) == ("ask", "outside")
    verdict = judged(command("python3 tool.py", outside=True, reason="it needs the phone"), where(work))
    assert verdict.reason.startswith("the agent asks to run it outside the sandbox: it needs the phone; ")
    bare = judged(command("python3 tool.py", outside=True), where(work))
    assert bare.reason.startswith("the agent asks to run it outside the sandbox: it gives no reason; ")
    assert place(command("python3 tool.py", outside=False, reason="x"), where(work)) == ("allowed", "inside")


def test_what_a_line_needs_is_a_question_to_leave(work):
    verdict = judged(command("git commit -m x"), where(work))
    assert (verdict.outcome, verdict.place) == ("ask", "outside")
    assert verdict.reason.startswith("git commit writes .git")
    files_only = replace(AUTO, strength="files")
    assert place(command("git commit -m x"), where(work, files_only)) == ("ask", "inside")
    assert place(command("sudo make"), where(work, files_only)) == ("ask", "outside")
    assert place(command("npm install left-pad"), where(work, files_only)) == ("ask", "outside")
    no_sandbox = replace(AUTO, strength="none")
    assert place(command("git commit -m x"), where(work, no_sandbox)) == ("ask", "outside")
    off = replace(AUTO, level="outside")
    assert "writes .git" not in judged(command("git commit -m x"), where(work, off)).reason


def test_in_a_session_that_only_reads_writing_is_leaving():
    work = Path("/srv/shop")  # the sandbox lets commands write below /tmp, where other tests work
    assert place(command("touch made.txt"), where(work, READ_ONLY)) == ("ask", "outside")
    assert place(command("touch made.txt"), where(work)) == ("allowed", "inside")


@pytest.mark.parametrize(
    ("tool", "parameters", "outcome"),
    [
        ("create_file", {"path": "a.txt", "content": "x"}, "ask"),
        ("read_file", {"path": "a.txt"}, "allowed"),
        ("fetch_webpage", {"url": "https://example.org/"}, "allowed"),
    ],
)
def test_a_session_that_only_reads_asks_before_tools_that_change(work, tool, parameters, outcome):
    call = GateCall(tool=tool, parameters=parameters)
    everything = globs("Write(*)", "Read(*)", "WebFetch")
    assert judged(call, where(work, READ_ONLY, allow=everything)).outcome == outcome
    assert judged(call, where(work, allow=everything)).outcome == "allowed"
    assert (
        judged(call, where(work, replace(READ_ONLY, level="outside"), allow=everything)).outcome == "allowed"
    )
    asked = judged(call, where(work, READ_ONLY, allow=everything))
    assert ("the sandbox of this session is read-only" in asked.reason) == (outcome == "ask")
    assert asked.place is None


# --- rules that say where ------------------------------------------------------------------------------


DIFF = command("git diff --stat")
OUTSIDE_RULE = rule(id="R2", pattern="Bash(git diff *)", place="outside")


@pytest.mark.parametrize(
    ("changed", "expected", "speaker"),
    [
        ({"allow": globs("Bash(git diff *)")}, "inside", "approvals.allow"),
        ({"allow": globs("Bash(git diff *)", place="outside")}, "outside", "approvals.allow"),
        ({"rules": (rule(),)}, "inside", "R1"),
        ({"rules": (rule(place="inside"),)}, "inside", "R1"),
        ({"rules": (OUTSIDE_RULE,)}, "outside", "R2"),
        ({"rules": (rule(place="inside"), OUTSIDE_RULE)}, "outside", "R2"),
        ({"allow": globs("Bash(git diff *)"), "rules": (OUTSIDE_RULE,)}, "outside", "R2"),
        ({"allow": globs("Bash(git diff *)"), "rules": (rule(),)}, "inside", "approvals.allow"),
    ],
)
def test_a_rule_says_where_its_command_runs_and_outside_counts_first(work, changed, expected, speaker):
    verdict = judged(DIFF, where(work, ASKING, **changed))
    assert (verdict.outcome, verdict.place, verdict.by) == ("allowed", expected, speaker)


def test_a_line_runs_outside_only_if_each_of_its_rules_says_so(work):
    line = command("git diff --stat && git log -1")
    log = rule(id="R3", pattern="Bash(git log *)")
    assert place(line, where(work, ASKING, rules=(OUTSIDE_RULE, log))) == ("allowed", "inside")
    far = replace(log, place="outside")
    assert place(line, where(work, ASKING, rules=(OUTSIDE_RULE, far))) == ("allowed", "outside")
    assert place(line, where(work, ASKING, rules=(OUTSIDE_RULE,)))[0] == "ask"


def test_a_grant_of_every_command_of_a_run_holds_inside(work):
    whole = rule(scope="run", scope_id="r1", pattern="Bash", place="inside")
    run = where(work, ASKING, rules=(whole,), run_id="r1")
    assert place(command("python3 tool.py"), run) == ("allowed", "inside")
    assert place(command("git commit -m x"), run) == ("ask", "outside")
    far = where(work, ASKING, rules=(replace(whole, place="outside"),), run_id="r1")
    assert place(command("git commit -m x"), far) == ("allowed", "outside")


def test_what_an_agent_says_about_leaving_makes_no_rule_apply(work):
    named = rule(pattern_kind="regex", pattern=r'"reason":"git status', tool="run_in_terminal")
    call = command("rm -r src", outside=True, reason="git status")
    assert judged(call, where(work, ASKING, rules=(named,))).outcome == "ask"
    whole = rule(pattern_kind="regex", pattern=r'^\{"command":"git status"\}$', tool="run_in_terminal")
    said = command("git status", outside=True, reason="x")
    assert place(said, where(work, ASKING, rules=(replace(whole, place="outside"),))) == (
        "allowed",
        "outside",
    )
    assert place(said, where(work, ASKING, rules=(whole,))) == ("ask", "outside")


def test_a_required_sandbox_that_is_missing_refuses(work):
    missing = replace(AUTO, strength="none", is_required=True, problem="no bubblewrap")
    verdict = judged(DIFF, where(work, missing, rules=(rule(),)))
    assert (verdict.outcome, verdict.by) == ("denied", "sandbox.required")
    assert place(DIFF, where(work, missing, rules=(OUTSIDE_RULE,))) == ("allowed", "outside")


def test_a_rule_for_outside_asks_about_a_program_that_is_a_file_of_the_workspace(work, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for folder in (work / ".venv/bin", elsewhere):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "deploy").touch(0o755)
    (elsewhere / "release").symlink_to(work / ".venv/bin/deploy")
    patterns = ("deploy *", "release *")
    rules = tuple(rule(id=text, pattern=f"Bash({text})", place="outside") for text in patterns)
    own = where(work, search_path=f"{work}/.venv/bin:/usr/bin", rules=rules)
    asked = judged(command("deploy now"), own)
    assert (asked.outcome, asked.place) == ("ask", "outside")
    assert asked.reason.startswith("deploy is .venv/bin/deploy, a file of the workspace; otherwise: ")
    for path in (f"{work}/.venv/bin:{elsewhere}", f"{elsewhere}:.venv/bin", f"src/../.venv/bin:{elsewhere}"):
        later = replace(own, search_path=path)
        assert place(command("deploy now"), later) == ("allowed", "outside"), path
        assert granted_search_path(screen_call(command("deploy now"), later), later) == str(elsewhere)
    assert place(command("deploy now"), replace(own, search_path=".venv/bin")) == ("ask", "outside")
    assert place(command("release now"), replace(own, search_path=str(elsewhere))) == ("ask", "outside")
    without = replace(own, sandbox=replace(AUTO, strength="none"))
    assert place(command("deploy now"), without) == ("allowed", "outside"), "as without a sandbox"


@pytest.mark.parametrize("sandbox", [None, replace(AUTO, level="outside"), replace(AUTO, strength="none")])
def test_without_a_sandbox_commands_find_their_programs_as_the_user_does(work, sandbox):
    own = where(work, sandbox, search_path=".venv/bin:/usr/bin")
    assert granted_search_path(screen_call(command("deploy"), own), own) == own.search_path


def test_a_grant_of_every_command_of_a_run_leaves_their_search_path(work):
    whole = rule(scope="run", scope_id="r", pattern="Bash", place="outside")
    own = where(work, search_path=".venv/bin:/usr/bin", rules=(whole,), run_id="r")
    assert granted_search_path(screen_call(command("deploy"), own), own) == own.search_path


@pytest.mark.parametrize(
    ("changed", "is_allowing"),
    [
        ({"tool": "run_in_terminal"}, True),
        ({"tool": "Bash"}, True),
        ({"tool": "run_in_terminal", "effect": "deny"}, False),
        ({"tool": "read_file"}, False),
    ],
)
def test_only_of_rules_that_allow_command_lines_it_matters_where_they_run(changed, is_allowing):
    assert allows_commands(rule(**changed), KNOWN.values()) is is_allowing


def test_the_sandbox_is_an_answer_to_the_trust_question_only_where_there_is_one():
    with_sandbox = [choice.key for choice in trust_choices(offers_sandbox=True)]
    assert with_sandbox == ["trust", "trust_and_read", "trust_and_sandbox", "not_now"]
    assert trust_choices(offers_sandbox=False) == TRUST_CHOICES
