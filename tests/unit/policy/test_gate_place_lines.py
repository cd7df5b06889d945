"""Each line of the gate that places commands matters: a change of one changes a row of this table."""

import inspect

import pytest
from msgspec.structs import replace

from tests.unit.policy.gate_cases import context, rule
from tests.unit.policy.test_gate_places import ASKING, AUTO, READ_ONLY, TOOLS, command, globs
from workbench.policy import gate
from workbench.policy.gate import GateCall, screen_call

FILES = replace(AUTO, strength="files")
NONE = replace(AUTO, strength="none")
OFF = replace(AUTO, level="outside")
FITS = command("python3 tool.py")
CREATE = GateCall(tool="create_file", parameters={"path": "new.txt", "content": "x"})
READ = GateCall(tool="read_file", parameters={"path": "a.txt"})
DEPLOY = command("deploy now")
FAR = (rule(id="R2", pattern="Bash(deploy *)", place="outside"),)
NEAR = (rule(id="R2", pattern="Bash(deploy *)", place="inside"),)
TRUE = rule(id="R3", pattern="Bash(true)", place="outside")
CD = rule(id="R2", pattern="Bash(cd *)", place="outside")
RUN = rule(id="R2", pattern="Bash(sh run.sh)", place="outside")
ECHO = rule(id="R4", pattern="Bash(echo *)", place="outside")
WHOLE = rule(id="R5", scope="run", scope_id="r1", pattern="Bash", place="outside")
ASKS_RM = rule(id="R6", effect="ask", pattern="Bash(rm *)")
DENIES_RM = rule(id="R7", effect="deny", pattern="Bash(rm *)")
ELSEWHERE = "/srv/shop"
"""A workspace that is not below /tmp, where commands inside may write."""
ASKED, ALLOWED = "ask", "allowed"
NOTHING = None
"""No reason at all."""
PLAIN = "no pattern and no rule allows"
LEAVES = "the agent asks to run it outside"
OWN = "deploy is bin/deploy, a file of the workspace"

# A call; the sandbox; what else the gate knows; then outcome, place, and how its reason begins.
ROWS = (
    (FITS, None, {}, ASKED, None, PLAIN),
    (DEPLOY, None, {"rules": FAR}, ALLOWED, None, "R2"),
    (FITS, AUTO, {}, ALLOWED, "inside", "it runs inside"),
    (FITS, ASKING, {}, ASKED, "inside", PLAIN),
    (FITS, NONE, {}, ASKED, "outside", PLAIN),
    # What is no command has no place.
    (CREATE, AUTO, {"allow": globs("Write(*)")}, ALLOWED, None, "Write(*)"),
    (CREATE, READ_ONLY, {"allow": globs("Write(*)")}, ASKED, None, "the sandbox of this session is read-only"),
    (CREATE, READ_ONLY, {}, ASKED, None, NOTHING),
    (READ, READ_ONLY, {"allow": globs("Read(*)")}, ALLOWED, None, "Read(*)"),
    # What its words or its agent say makes it leave.
    (command("git commit -m x"), AUTO, {}, ASKED, "outside", "git commit writes .git"),
    (command("git commit -m x"), FILES, {}, ASKED, "inside", PLAIN),
    (command("curl https://example.org"), FILES, {}, ASKED, "outside", "curl needs the network"),
    (command("sudo make"), FILES, {}, ASKED, "outside", "sudo"),
    (command("touch made.txt"), READ_ONLY, {"workspace": ELSEWHERE}, ASKED, "outside", ""),
    (command("touch made.txt"), AUTO, {"workspace": ELSEWHERE}, ALLOWED, "inside", "it runs inside"),
    (command("python3 tool.py", outside=True), ASKING, {}, ASKED, "outside", LEAVES),
    (command("python3 tool.py", outside=False), AUTO, {}, ALLOWED, "inside", "it runs inside"),
    (command("git commit -m x"), OFF, {}, ASKED, "outside", PLAIN),
    # A rule for outside asks where the program is a file of the workspace.
    (DEPLOY, ASKING, {"rules": FAR}, ASKED, "outside", OWN),
    (DEPLOY, FILES, {"rules": FAR}, ASKED, "outside", OWN),
    (DEPLOY, NONE, {"rules": FAR}, ALLOWED, "outside", "R2"),
    (DEPLOY, OFF, {"rules": FAR}, ALLOWED, "outside", "R2"),
    (DEPLOY, ASKING, {"rules": NEAR}, ALLOWED, "inside", "R2"),
    (DEPLOY, ASKING, {"rules": FAR, "path": "{0.parent}/elsewhere"}, ALLOWED, "outside", "R2"),
    (DEPLOY, ASKING, {"rules": FAR, "path": "{0}/bin:{0.parent}/elsewhere"}, ALLOWED, "outside", "R2"),
    (command("sh run.sh"), ASKING, {"rules": (RUN,)}, ASKED, "outside", "sh runs run.sh, a file of the workspace"),
    (DEPLOY, ASKING, {"rules": FAR, "path": "bin"}, ASKED, "outside", OWN),
    (DEPLOY, ASKING, {"rules": (CD, *FAR), "path": "bin", "cwd": "{}/src"}, ALLOWED, "outside", "R2"),
    (command("deploy now", outside=True), ASKING, {}, ASKED, "outside", LEAVES),
    (command("true && deploy now"), ASKING, {"rules": (TRUE, *FAR)}, ASKED, "outside", OWN),
    (command("echo deploy"), ASKING, {"rules": (ECHO,)}, ALLOWED, "outside", "R4"),
    (DEPLOY, ASKING, {"rules": (WHOLE,), "run_id": "r1"}, ALLOWED, "outside", "R5"),
    # What a human has to see is not answered by the sandbox.
    (FITS, AUTO, {"ended": "trust ended"}, ASKED, "inside", "trust ended"),
    (command("python3 tool.py \u202e"), AUTO, {}, ASKED, "inside", ""),
    (command("rm -r src"), AUTO, {"rules": (ASKS_RM,)}, ASKED, "inside", ""),
    (command("mystery rm src"), AUTO, {"rules": (ASKS_RM,)}, ASKED, "inside", ""),
    (command("mystery rm src"), AUTO, {}, ALLOWED, "inside", "it runs inside"),
    (FITS, AUTO, {"deny": globs("Bash(rm *)")}, ALLOWED, "inside", "it runs inside"),
    (command("$(echo ls) src"), AUTO, {"deny": globs("Bash(nothing)")}, ASKED, "inside", ""),
    (command("$(echo ls) src"), AUTO, {"rules": (DENIES_RM,)}, ASKED, "inside", ""),
    (command("$(echo ls) src"), AUTO, {"rules": (ASKS_RM,)}, ASKED, "inside", ""),
    (command("$(echo ls) src"), AUTO, {"rules": (rule(),)}, ALLOWED, "inside", "it runs inside"),
    (command("$(echo ls) src"), AUTO, {"deny": globs("Read(x)")}, ASKED, "inside", ""),
    (command("$(echo ls) src"), AUTO, {"deny": globs("WebFetch")}, ALLOWED, "inside", "it runs inside"),
    (command("cd /etc && cat hosts"), AUTO, {"deny": globs("Read(.env)")}, ASKED, "inside", ""),
    (command("cd /etc && cat hosts"), AUTO, {}, ALLOWED, "inside", "it runs inside"),
)  # fmt: skip


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A workspace with a program in it, and another program of the same name elsewhere."""
    base = tmp_path_factory.mktemp("base")
    for folder in ("work/src", "work/bin", "elsewhere"):
        (base / folder).mkdir(parents=True)
    for program in ("work/bin/deploy", "elsewhere/deploy"):
        (base / program).touch(0o755)
    return base / "work"


def differing_rows(judge, work):
    """Yield the rows whose verdict is another one than the table says."""
    return (row for row in ROWS if found(judge, work, row) != (*row[3:5], True))


def found(judge, work, row):
    call, sandbox, changed, *_, reason = row
    facts = {"workspace": str(work), "path": "{}/bin", "cwd": "", **changed}
    path, cwd = facts.pop("path").format(work), facts.pop("cwd").format(work)
    known = context(work, descriptors=TOOLS, sandbox=sandbox, search_path=path)
    known = replace(known, **facts)
    verdict = judge(screen_call(replace(call, cwd=cwd), known), known)
    is_said = verdict.reason == "" if reason is NOTHING else verdict.reason.startswith(reason)
    return verdict.outcome, verdict.place, is_said


def test_the_gate_places_calls_as_the_table_says(work):
    assert list(differing_rows(gate.judge_screened_call, work)) == []


PLACING = (
    gate.judge_screened_call, gate._placed_verdict, gate._ask_about_own_program, gate._own_program_reason,
    gate._own_file_reason, gate._path_outside, gate._leaving_reason, gate._sandbox_objection,
    gate._with_asking_as_denying, gate._denies_commands,
)  # fmt: skip
MUTATIONS = (
    ("_own_program_reason(passed, context), _own", "_own"),
    (", _own_file_reason(passed, context)))", ",))"),
    ("    if not why:", "    if True:"),
    ('reason=reason, place="outside")', "reason=reason)"),
    ("for simple in commands for", "for simple in commands[:1] for"),
    ("simple.words[:1]", "simple.words"),
    (" if shutil.which(name, path=kept) is None else kept", ""),
    ("context.search_path if shutil.which(name, path=kept) is None else kept", "kept"),
    ("program_in_workspace(name, path, passed.folder, root)", "program_in_workspace(name, path, root, root)"),
    ("search_path_outside(context.search_path, (os.path.realpath(context.workspace),))", "context.search_path"),
    ('[need for need in needs if need.kind != "git"]', "needs"),
    ('[need for need in needs if need.kind != "git"]', "[]"),
    ("verdict = replace(verdict, place=None)", "pass"),
    ("if passed.descriptor.command_parameter is None:", "if False:"),
    ('verdict.outcome == "allowed" and passed.descriptor', "passed.descriptor"),
    (" and passed.descriptor.capability in _CHANGING_CAPABILITIES", ""),
    ('if is_allowed and sandbox.level == "read-only" else verdict', "if is_allowed else verdict"),
    ('if is_allowed and sandbox.level == "read-only" else verdict', "if False else verdict"),
    ('if sandbox.level == "outside":', "if False:"),
    ("leaves=_leaving_reason(passed, context, sandbox), ", ""),
    (", objection=_sandbox_objection(passed, context)", ""),
    ('if placed.outcome == "allowed" and placed.place', "if placed.place"),
    (' and placed.place == "outside" and', " and"),
    (' and sandbox.strength != "none":', ":"),
    (' and sandbox.strength != "none":', ' and sandbox.strength == "full":'),
    ("return _ask_about_own_program(placed, passed, context)", "return placed"),
    (" or _whole_tool_verdict(passed, context, allowing):", ":"),
    ('GateVerdict(outcome="ask", step="ask", by=granted.by', 'GateVerdict(outcome="allowed", step="ask", by="x"'),
    ("passed.parameters.get(OUTSIDE_PARAMETER) is True", "OUTSIDE_PARAMETER in passed.parameters"),
    ("passed.parameters.get(OUTSIDE_PARAMETER) is True", "False"),
    ('"" if sandbox.level == "read-only" else os', "os"),
    ('"" if sandbox.level == "read-only" else os', "'' and os"),
    ('needs if sandbox.strength == "full" else', "needs if True else"),
    ('needs if sandbox.strength == "full" else', "needs if False else"),
    ("return needs_text(kept)", 'return ""'),
    ("if passed.marks or passed.view is None", "if passed.view is None"),
    (" or _text_oddity(passed) is not None:", ":"),
    ("strict = _with_asking_as_denying(context)", "strict = context"),
    ("if deny_verdict(passed, strict) or _possible", "if _possible"),
    ("deny_verdict(passed, strict) or _possible_deny_verdict(passed, strict):", "deny_verdict(passed, strict):"),
    ("if not passed.view.plain and (", "if ("),
    ("_denies_commands(passed.descriptor, strict) or boundary.has_denials", "boundary.has_denials"),
    (" or boundary.has_denials)", ")"),
    ("return objection_inside(passed.view.commands, boundary)", 'return ""'),
    ('if rule.effect == "ask")', 'if rule.effect != "ask")'),
    ("rules=(*denying, *asking)", "rules=(*denying,)"),
    ("rules=(*denying, *asking)", "rules=(*asking,)"),
    ('for glob in context.deny\n    )', "for glob in ()\n    )"),
    ('"deny") for rule in denying)', '"deny") for rule in ())'),
)  # fmt: skip

EQUIVALENT = {
    "if deny_verdict(passed, strict) or _possible": "a rule that asks about a line for certain has spoken"
    " already, so the sandbox does not answer"
}


@pytest.mark.parametrize(("old", "new"), MUTATIONS)
def test_each_change_of_a_line_changes_a_row(work, old, new):
    source = "\n\n".join(map(inspect.getsource, PLACING))
    assert source.count(old) == 1
    changed = dict(vars(gate))
    exec(compile(source.replace(old, new), "gate.py", "exec"), changed)
    assert any(differing_rows(changed["judge_screened_call"], work)) != (old in EQUIVALENT)
