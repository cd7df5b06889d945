"""While all agents are held nothing is allowed, whatever else is true."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.policy.gate_cases import context, rule
from workbench.domain.values import HELD_BY, PermissionPattern
from workbench.policy.gate import GateCall, judge_call, recheck_call

CALLS = (
    GateCall(tool="read_file", parameters={"path": "a.py"}),
    GateCall(tool="context.read", parameters={"path": "a.py"}),
    GateCall(tool="grep_search", parameters={"pattern": "x"}),
    GateCall(tool="create_file", parameters={"path": "new.py", "content": "x"}),
    GateCall(tool="run_in_terminal", parameters={"command": "git diff main"}),
    GateCall(tool="run_in_terminal", parameters={"command": "ls"}),
    GateCall(tool="fetch_webpage", parameters={"url": "https://example.org/"}),
    GateCall(tool="no_such_tool", parameters={}),
)
PATTERNS = ("Read(*)", "Write(*)", "Bash(git diff *)", "Bash(ls)", "Fetch(*)")
TOOLS = ("read_file", "create_file", "run_in_terminal", "run_in_terminal", "fetch_webpage")
WHOLE_RUN = rule(
    id="R9", origin="user", scope="run", scope_id="r1", pattern_kind="glob", pattern="Bash"
)  # every command of a run
RULES = st.one_of(
    st.just(WHOLE_RUN),
    st.builds(
        lambda effect, named: rule(effect=effect, tool=named[0], pattern=named[1]),
        st.sampled_from(("allow", "allow", "allow", "ask", "deny")),
        st.sampled_from(tuple(zip(TOOLS, PATTERNS, strict=True))),
    ),
)
GLOBS = st.lists(st.sampled_from(PATTERNS).map(lambda text: PermissionPattern(text=text)), max_size=3)
SETTINGS = st.fixed_dictionaries({
    "rules": st.lists(RULES, max_size=3).map(tuple), "allow": GLOBS.map(tuple),
    "deny": st.sampled_from((*[()] * 4, (PermissionPattern(text="Write(*)"),))),
    "read_only": st.sampled_from(("ask", "auto")), "read_grant": st.booleans(),
    "reads": st.sampled_from((None, None, "every", "reads")),
    "ended": st.sampled_from((*[""] * 4, "the trust ended")),
    "can_ask": st.booleans(), "run_id": st.sampled_from((None, "r1")),
})  # fmt: skip


async def no_hooks(_passed):
    return None


def judged(call, where):
    return asyncio.run(judge_call(call, where, no_hooks)).verdict


def test_while_agents_are_held_no_grant_allows_a_call(tmp_path):
    (tmp_path / "a.py").write_text("x")
    allowed = set()

    @settings(max_examples=400)
    @given(call=st.sampled_from(CALLS), facts=SETTINGS)
    def check(call, facts):
        free = context(tmp_path, **facts)
        held = replace(free, are_agents_held=True)
        usual, now = judged(call, free), judged(call, held)
        if usual.outcome != "allowed":
            assert now == usual  # denials, refusals and questions are what they are without it
            return
        allowed.add(usual.by)
        assert now.outcome == ("ask" if facts["can_ask"] else "denied")
        assert (now.by, now.rule) == (HELD_BY, None)
        assert usual.reason in now.reason
        assert recheck_call(call, held).outcome == "ask"

    check()
    assert {"R1", "R9", "trust", "approvals.read_only", "session", "context.read"} <= allowed


def test_a_patch_whose_changes_are_allowed_asks_while_agents_are_held(tmp_path):
    patch = "*** Begin Patch\n*** Add File: n.txt\n+x\n*** End Patch"
    line = f"apply_patch <<'EOF'\n{patch}\nEOF"
    allow = (PermissionPattern(text="Write(n.txt)"),)
    call = GateCall(tool="run_in_terminal", parameters={"command": line})
    free = context(tmp_path, allow=allow, applies_patches=True)
    assert judged(call, free).outcome == "allowed"
    assert judged(call, replace(free, are_agents_held=True)).outcome == "ask"
