"""The gate: its seven steps, their order, and that nobody who grants beats anybody who denies."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.policy.gate_cases import DESCRIPTORS, KNOWN, context, rule
from workbench.domain.values import GateVerdict, PermissionPattern
from workbench.policy.gate import (
    GateCall,
    judge_call,
    judge_screened_call,
    may_hear_reason,
    recheck_call,
    screen_call,
)


def globs(*texts, origin=""):
    return tuple(PermissionPattern(text=text, origin=origin) for text in texts)


def call(tool="run_in_terminal", malformed=None, **parameters):
    return GateCall(tool=tool, parameters=parameters, malformed=malformed)


async def no_hooks(_passed):
    return None


def judged(made, where, hooks=no_hooks):
    return asyncio.run(judge_call(made, where, hooks))


def spoken(made, where, hooks=no_hooks):
    verdict = judged(made, where, hooks).verdict
    return verdict.outcome, verdict.step, verdict.by


PUSH = call(command="git push")
DIFF = call(command="git diff --stat main")
READING = call("read_file", path="src/a.py")


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    return root


# --- step 1 ------------------------------------------------------------------------------------------


@pytest.mark.spec(25, 26, 203)
@pytest.mark.parametrize(
    ("made", "changed", "reason"),
    [
        (call("rm_rf", path="x"), {}, "rm_rf: no tool is called that"),
        (call("read_file"), {}, "path: missing"),
        (call("read_file", path=3), {}, "path: must be string"),
        (call("read_file", path="a", extra=1), {}, "extra: not known"),
        (call("read_file", malformed="not JSON at 3"), {}, "not JSON at 3"),
        (call("read_file", path="a", start_line=float("nan")), {}, "not JSON"),
        (call(command="ls\0"), {}, "command: holds a NUL character"),
        (READING, {"active_tools": ("create_file",)}, "read_file: not active in this session"),
    ],
)
def test_a_call_that_is_not_well_formed_is_refused(work, made, changed, reason):
    judgement = judged(made, context(work, **changed))
    assert (judgement.verdict.outcome, judgement.verdict.step) == ("refused", "schema")
    assert reason in judgement.verdict.reason
    assert judgement.passed is None


@pytest.mark.spec(193)
def test_a_tool_is_refused_to_a_provider_that_is_not_listed(work):
    only = {"read_file": replace(KNOWN["read_file"], allowed_providers=("ollama",))}
    assert spoken(READING, context(work, descriptors=only)) == ("refused", "schema", "default")
    assert spoken(READING, context(work, descriptors=only, provider="ollama"))[0] == "ask"
    mine = context(work, descriptors=only, provider="mine", provider_kind="ollama")
    assert spoken(READING, mine)[0] == "ask", "S4 names kinds"
    other = context(work, descriptors=only, provider="mine", provider_kind="anthropic")
    assert spoken(READING, other) == ("refused", "schema", "default")


def test_a_tool_is_known_by_id_and_wire_name(work):
    for name in ("context.read", "context_read"):
        assert spoken(call(name, path="a"), context(work)) == ("allowed", "grants", "context.read")


# --- step 2 ------------------------------------------------------------------------------------------


@pytest.mark.spec(27, 65, 66)
def test_a_path_that_leads_out_or_is_protected_is_refused(work, tmp_path):
    (work / "out").symlink_to(tmp_path)
    for made in (
        call("read_file", path="../x"),
        call("read_file", path="out/x"),
        call("create_file", path=".git/hooks/x", content=""),
        call("create_file", path=".workbench.json", content=""),
        call("read_file", path="data/journal"),
    ):
        where = context(work, protected=(str(work / "data"),), allow=globs("*"))
        assert spoken(made, where) == ("refused", "paths", "default")
    assert spoken(call("read_file", path=".git/config"), context(work, allow=globs("*")))[0] == "allowed"


@pytest.mark.spec(27)
@pytest.mark.parametrize(
    "url", ["ftp://example.test/", "http://127.0.0.1/x", "http://user:word@example.test/"]
)
def test_an_address_that_may_not_be_fetched_is_refused_before_anybody_is_asked(work, url):
    verdict = judged(call("fetch_webpage", url=url), context(work, allow=globs("*"))).verdict
    assert (verdict.outcome, verdict.step) == ("refused", "paths")
    assert spoken(call("fetch_webpage", url="https://example.test/x"), context(work)) == (
        "ask",
        "ask",
        "default",
    )


def test_a_hook_script_cannot_be_written(work):
    (work / "check.sh").write_text("exit 1")
    (work / ".workbench.json").write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "*", "command": "sh check.sh"}]}}'
    )
    assert spoken(call("create_file", path="check.sh", content=""), context(work))[:2] == ("refused", "paths")
    assert spoken(call("read_file", path="check.sh"), context(work))[0] == "ask"


def test_what_passed_carries_real_relative_paths(work):
    (work / "link").symlink_to("src")
    passed = screen_call(call("read_file", path="link/../src/a.py", start_line=1), context(work))
    assert passed.grounded == {"path": "src/a.py", "start_line": 1}


# --- steps 3 and 4 -----------------------------------------------------------------------------------


@pytest.mark.spec(84, 87, 217)
def test_a_deny_names_the_pattern_the_place_and_the_argument(work):
    where = context(work, deny=globs("Read", "Bash(git push*)", origin="persona reviewer"), allow=globs("*"))
    verdict = judged(call(command="cd x && git push origin"), where).verdict
    assert (verdict.outcome, verdict.step, verdict.by) == ("denied", "deny", "persona reviewer")
    assert verdict.pattern == "Bash(git push*)"
    assert "run_in_terminal(cd x && git push origin)" in verdict.reason


def test_a_reason_holds_no_secret(work):
    verdict = judged(call(command="curl -u AKIAIOSFODNN7EXAMPLE"), context(work, deny=globs("Bash"))).verdict
    assert "AKIA" not in verdict.reason


def test_a_deny_rule_names_itself(work):
    where = context(work, rules=(rule(id="R9", effect="deny", pattern="Bash(git push*)"),))
    verdict = judged(PUSH, where).verdict
    assert (verdict.outcome, verdict.step, verdict.by, verdict.rule) == ("denied", "deny", "R9", "R9")


@pytest.mark.spec(86)
@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("git push && make lint", "ask"), ("make lint", "ask"), ("git push && make all", "denied"),
        ("ls | git log", "denied"), ("git $(cat x)", "denied"),
    ],
)  # fmt: skip
def test_each_command_of_a_line_has_to_be_within_the_ceiling(work, command, outcome):
    call = GateCall(tool="run_in_terminal", parameters={"command": command})
    ceiling = globs("Bash(git push)", "Bash(make lint)")
    assert judged(call, context(work, ceiling=ceiling)).verdict.outcome == outcome


@pytest.mark.spec(86)
@pytest.mark.parametrize(
    ("ceiling", "outcome"),
    [(None, "ask"), ((), "ask"), (globs("Bash(git *)"), "ask"), (globs("Read"), "denied")],
)
def test_a_ceiling_denies_the_rest_and_grants_nothing(work, ceiling, outcome):
    verdict = judged(PUSH, context(work, ceiling=ceiling)).verdict
    assert verdict.outcome == outcome
    if outcome == "denied":
        assert verdict.step == "ceiling"
        assert "Read" in verdict.reason


# --- step 5 ------------------------------------------------------------------------------------------


BLOCK = GateVerdict(outcome="denied", step="hooks", by="check.sh", reason="no")


async def blocking(_passed):
    return BLOCK


@pytest.mark.spec(88, 217)
def test_a_hook_that_blocks_beats_every_grant(work):
    assert judged(DIFF, context(work, allow=globs("*")), blocking).verdict == BLOCK


def test_hooks_are_not_run_for_what_is_refused_or_denied(work):
    seen = []

    async def watching(passed):
        seen.append(passed.descriptor.id)

    for where in (
        context(work, active_tools=("x",)),
        context(work, deny=globs("Bash")),
        context(work, ceiling=globs("Read")),
    ):
        judged(DIFF, where, watching)
    assert seen == []
    judged(DIFF, context(work, allow=globs("*")), watching)
    assert seen == ["run_in_terminal"]


# --- steps 6 and 7 -----------------------------------------------------------------------------------


def test_all_tools_ask_by_default_reads_too(work):
    for made in (DIFF, READING, call("create_file", path="a", content=""), call("grep_search", pattern="x")):
        assert spoken(made, context(work)) == ("ask", "ask", "default")
        assert spoken(made, context(work, can_ask=False)) == ("denied", "ask", "default")


def test_who_grants_is_named(work):
    allow = globs("Bash(git diff *)", origin="config.json:12")
    assert spoken(DIFF, context(work, allow=allow)) == ("allowed", "grants", "config.json:12")
    assert spoken(DIFF, context(work, rules=(rule(),))) == ("allowed", "grants", "R1")
    assert judged(DIFF, context(work, rules=(rule(),))).verdict.rule == "R1"
    assert spoken(READING, context(work, read_only="auto")) == ("allowed", "grants", "approvals.read_only")
    assert spoken(READING, context(work, read_grant=True)) == ("allowed", "grants", "trust")
    assert spoken(DIFF, context(work, read_only="auto", read_grant=True)) == ("ask", "ask", "default")
    assert spoken(call("create_file", path="a", content=""), context(work, read_grant=True))[0] == "ask"


@pytest.mark.spec(155)
@pytest.mark.parametrize("granted", [{}, {"read_only": "auto"}, {"read_grant": True}, {"reads": "reads"}])
@pytest.mark.parametrize(
    "made", [call("create_file", path="a", content=""), call("create_directory", path="a")]
)
def test_what_writes_files_is_asked_about_whatever_reads_may(work, made, granted):
    assert spoken(made, context(work, **granted)) == ("ask", "ask", "default")


@pytest.mark.parametrize("granted", [{}, {"read_only": "auto"}, {"read_grant": True}])
def test_what_is_said_for_a_session_goes_before_settings_and_trust(work, granted):
    assert spoken(READING, context(work, reads="every", **granted)) == ("ask", "ask", "default")
    assert spoken(READING, context(work, reads="reads", **granted)) == ("allowed", "grants", "session")
    assert spoken(DIFF, context(work, reads="reads", **granted)) == ("ask", "ask", "default")


@pytest.mark.spec(155)
def test_only_a_tool_that_reads_and_is_harmless_is_granted_reading(work):
    for changed in ({"capability": "write"}, {"capability": "network"}, {"risk_level": "dangerous"}):
        some = {"read_file": replace(KNOWN["read_file"], **changed)}
        where = context(work, descriptors=some, read_only="auto", read_grant=True)
        assert spoken(READING, where) == ("ask", "ask", "default")


ENDED = "trust in this folder ended"


@pytest.mark.parametrize(
    ("made", "granted"),
    [
        (DIFF, {"allow": globs("Bash(git *)", "*")}),
        (DIFF, {"rules": (rule(),)}),
        (DIFF, {"rules": (rule(scope="run", scope_id="r1"),), "run_id": "r1"}),
        (READING, {"read_grant": True}),
        (READING, {"read_only": "auto"}),
        (READING, {"reads": "reads"}),
        (READING, {"rules": (rule(tool="read_file", pattern="Read(**)"),)}),
        (call("context.read", path="src/a.py"), {}),
    ],
)
def test_no_grant_counts_while_trust_has_ended_and_nobody_looked(work, made, granted):
    where = context(work, **granted)
    assert judged(made, where).verdict.outcome == "allowed"
    judgement = judged(made, replace(where, ended=ENDED))
    assert (judgement.verdict.outcome, judgement.verdict.reason) == ("ask", ENDED)
    assert judgement.passed.marks == ("trust ended",)
    assert recheck_call(made, replace(where, ended=ENDED)).outcome == "ask"


def test_denials_and_ask_rules_go_on_while_trust_has_ended(work):
    where = context(work, ended=ENDED, allow=globs("*"), deny=globs("Bash(git push*)"))
    assert spoken(PUSH, where) == ("denied", "deny", "deny")
    asks = replace(where, rules=(rule(effect="ask"),))
    assert spoken(DIFF, asks) == ("ask", "grants", "R1")
    assert judged(DIFF, replace(where, can_ask=False)).verdict.outcome == "denied"


def test_an_ask_rule_comes_before_every_grant(work):
    asking = rule(id="R2", effect="ask", pattern="Bash(git diff*)")
    where = context(work, allow=globs("*"), rules=(rule(), asking))
    assert spoken(DIFF, where) == ("ask", "grants", "R2")
    assert spoken(DIFF, replace(where, can_ask=False)) == ("denied", "ask", "R2")
    reading = rule(id="R3", effect="ask", tool="read_file", pattern="Read(src/**)")
    assert spoken(READING, context(work, read_grant=True, rules=(reading,))) == ("ask", "grants", "R3")


def test_a_command_that_is_not_plain_says_why_no_rule_covers_it(work):
    verdict = judged(call(command="git diff > x"), context(work, allow=globs("Bash"))).verdict
    assert verdict.outcome == "ask"
    assert "no rule can cover it: a redirect" in verdict.reason


# --- the order ---------------------------------------------------------------------------------------

OBJECTIONS = {
    "schema": {"active_tools": ("create_file",)},
    "paths": {},
    "deny": {"deny": globs("Read", origin="d")},
    "ceiling": {"ceiling": globs("Bash", origin="c")},
    "hooks": {},
    "ask": {},
}


@pytest.mark.spec(217)
@pytest.mark.parametrize("first", range(len(OBJECTIONS)))
def test_the_earliest_step_that_objects_speaks(work, first):
    names = list(OBJECTIONS)[first:]
    changed = {key: value for name in names for key, value in OBJECTIONS[name].items()}
    made = call("read_file", path="../x" if "paths" in names else "src/a.py")
    verdict = judged(made, context(work, **changed), blocking if "hooks" in names else no_hooks).verdict
    assert verdict.step == names[0]
    assert verdict.outcome != "allowed"


@pytest.mark.spec(217)
@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, "ask"),
        ({"allow": globs("Bash(git *)")}, "allowed"),
        ({"rules": (rule(effect="allow", pattern="Bash(git *)"),)}, "allowed"),
        ({"rules": (rule(effect="ask", pattern="Bash(git *)"),)}, "ask"),
        ({"allow": globs("Bash(git *)"), "rules": (rule(effect="ask", pattern="Bash(git *)"),)}, "ask"),
        ({"allow": globs("Bash(git *)"), "ceiling": globs("Read")}, "denied"),
        ({"allow": globs("Bash(git *)"), "deny": globs("Bash(git diff*)")}, "denied"),
        ({"can_ask": False}, "denied"),
    ],
)
def test_a_grant_or_a_rule_answers_before_the_user_and_after_all_else(work, changed, outcome):
    assert judged(DIFF, context(work, **changed)).verdict.outcome == outcome


COMMANDS = st.sampled_from(
    ["git push", "git diff x", "ls; git push", "sudo git push", "pytest -q", "git diff 'x'"]
)
PATTERNS = st.sampled_from(
    ["*", "Bash", "Bash(*)", "Bash(git *)", "Bash(git push*)", "Bash(git diff *)", "Bash(pytest *)", "Read"]
)
KINDS = st.sampled_from(["allow", "ask", "deny"])
RULES = st.lists(
    st.builds(
        lambda effect, pattern, regex: rule(
            effect=effect,
            pattern_kind="regex" if regex else "glob",
            pattern='"command":"git push' if regex else pattern,
        ),
        KINDS,
        PATTERNS,
        st.booleans(),
    ),
    max_size=4,
).map(tuple)
SOME_GLOBS = st.lists(PATTERNS, max_size=3).map(lambda texts: globs(*texts))
CONTEXTS = st.builds(
    lambda deny, allow, ceiling, rules, auto, grant, ask: context(
        "/nonexistent/w", deny=deny, allow=allow, ceiling=ceiling, rules=rules,
        read_only="auto" if auto else "ask", read_grant=grant, can_ask=ask,
    ),
    SOME_GLOBS, SOME_GLOBS, st.none() | SOME_GLOBS, RULES, st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip


def without_grants(where):
    kept = tuple(found for found in where.rules if found.effect != "allow")
    return replace(where, allow=(), rules=kept, read_only="ask", read_grant=False)


@pytest.mark.spec(84, 217)
@given(CONTEXTS, COMMANDS)
def test_a_grant_never_beats_a_deny(where, command):
    """Whatever is denied or asked by a rule without any grant stays so with all of them."""
    bare = judged(call(command=command), without_grants(where)).verdict
    full = judged(call(command=command), where).verdict
    if (bare.outcome, bare.step) not in (("ask", "ask"), ("denied", "ask")) or bare.by != "default":
        assert full == bare


@given(CONTEXTS, COMMANDS, PATTERNS)
def test_one_more_deny_never_lets_more_pass(where, command, pattern):
    before = judged(call(command=command), where).verdict
    after = judged(
        call(command=command), replace(where, deny=(*where.deny, PermissionPattern(text=pattern)))
    ).verdict
    assert after == before or after.outcome == "denied"


@given(CONTEXTS, COMMANDS, SOME_GLOBS)
def test_one_more_ceiling_never_lets_more_pass(where, command, more):
    rank = {"allowed": 0, "ask": 1, "denied": 2, "refused": 3}
    free = judged(call(command=command), replace(where, ceiling=None)).verdict
    under = judged(call(command=command), replace(where, ceiling=more)).verdict
    assert rank[under.outcome] >= rank[free.outcome]


# --- at execution ------------------------------------------------------------------------------------


def test_at_execution_stricter_wins_and_looser_changes_nothing(work):
    asked = context(work)
    assert recheck_call(DIFF, asked).outcome == "ask"
    assert recheck_call(DIFF, replace(asked, can_ask=False)).outcome == "ask"
    assert recheck_call(DIFF, replace(asked, allow=globs("Bash"))).outcome == "allowed"
    for changed, outcome in (
        ({"deny": globs("Bash")}, "denied"),
        ({"ceiling": globs("Read")}, "denied"),
        ({"rules": (rule(effect="deny"),)}, "denied"),
        ({"active_tools": ("read_file",)}, "refused"),
        ({"deny": globs("Bash"), "allow": globs("*")}, "denied"),
    ):
        assert recheck_call(DIFF, replace(asked, **changed)).outcome == outcome


def test_at_execution_a_link_that_was_made_since_is_seen(work, tmp_path):
    made = call("create_file", path="src/new/a", content="")
    assert recheck_call(made, context(work)).outcome == "ask"
    (work / "src/new").symlink_to(tmp_path)
    assert recheck_call(made, context(work)).outcome == "refused"


@given(CONTEXTS, COMMANDS)
def test_the_recheck_agrees_with_the_gate_but_for_who_can_be_asked(where, command):
    full = judged(call(command=command), replace(where, can_ask=True)).verdict
    assert recheck_call(call(command=command), where) == full


def test_the_steps_can_be_taken_apart(work):
    passed = screen_call(DIFF, context(work))
    assert judge_screened_call(passed, context(work, allow=globs("Bash"))).outcome == "allowed"
    assert set(DESCRIPTORS) >= {"context.read", "context_read"}


def test_reasons_are_safe_to_draw(work):
    made = call("read_file", path="../\u202eevil\x1b[2J")
    assert not set("\u202e\x1b") & set(judged(made, context(work)).verdict.reason)
    assert "\x1b" not in judged(call("x\x1b"), context(work)).verdict.reason


EDIT = call("replace_string_in_file", path=".env", new="x")
LISTING = call("list_dir", path="secrets")


@pytest.mark.parametrize("made", [EDIT, call("context.read", path=".env")])
@pytest.mark.parametrize(
    "denial",
    [{"deny": globs("Read(.env*)")}, {"deny": globs("read_file")}, {"rules": (rule(effect="deny", tool="read_file", pattern="Read(.env)"),)}],
)  # fmt: skip
def test_a_denial_of_reading_covers_every_tool_that_would_answer(work, made, denial):
    (work / ".env").write_text("x")
    assert spoken(made, context(work, allow=globs("*"), **denial))[:2] == ("denied", "deny")
    assert spoken(made, context(work, allow=globs("*")))[0] == "allowed"


def test_a_denial_of_reading_does_not_hinder_making_something_new(work):
    where = context(work, deny=globs("Read(.env*)"), allow=globs("*"))
    assert spoken(call("create_file", path=".env", content=""), where)[0] == "allowed"
    assert spoken(call("create_directory", path=".env"), where)[0] == "allowed"
    assert spoken(LISTING, context(work, deny=globs("Read(secrets/**)"), allow=globs("*")))[0] == "denied"


def test_an_agent_without_a_tool_for_reading_has_no_denial_of_it(work):
    few = {name: tool for name, tool in DESCRIPTORS.items() if name != "read_file"}
    assert (
        spoken(EDIT, context(work, descriptors=few, deny=globs("Read(.env*)"), allow=globs("*")))[0]
        == "allowed"
    )


@pytest.mark.parametrize(
    ("made", "changed", "knows"),
    [
        (EDIT, {}, False), (EDIT, {"read_only": "auto"}, True), (EDIT, {"read_grant": True}, True), (EDIT, {"reads": "every"}, False),
        (EDIT, {"allow": globs("Read(src/**)")}, False), (EDIT, {"allow": globs("Read(.env)")}, True),
        (EDIT, {"allow": globs("Edit")}, False), (EDIT, {"read_grant": True, "ceiling": globs("Edit")}, False),
        (call("create_file", path="a", content=""), {}, True),
        (call("create_file", path=".env", content=""), {"deny": globs("Read(.env)"), "read_grant": True}, False),
    ],
)  # fmt: skip
def test_why_a_change_cannot_be_made_is_for_who_may_read_without_asking(work, made, changed, knows):
    where = context(work, **changed)
    passed = screen_call(made, replace(where, ceiling=None, deny=()))
    assert may_hear_reason(passed, where) is knows
