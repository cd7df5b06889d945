"""Regular expressions of rules that allow: about the path, the address or the command, not about any text."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.policy.gate_cases import CREATE, FETCH, READ, SERVED, SHELL, context, rule
from workbench.domain.values import ToolDescriptor
from workbench.policy import regex, rules
from workbench.policy.gate import GateCall, judge_call
from workbench.policy.paths import ResolvedPath
from workbench.policy.rules import call_subject
from workbench.text import canonical


async def no_hooks(_passed):
    return None


@pytest.fixture
def work(tmp_path):
    for name in ("docs", "src"):
        (tmp_path / name).mkdir()
    (tmp_path / ".env").write_text("A=b")
    (tmp_path / "docs/link").symlink_to("../src")
    return tmp_path


def outcome(work, tool, pattern, effect="allow", /, **parameters):
    one = rule(tool=tool, pattern_kind="regex", pattern=pattern, effect=effect)
    made = GateCall(tool=tool, parameters=parameters)
    return asyncio.run(judge_call(made, context(work, rules=(one,)), no_hooks)).verdict.outcome


DOCS = r'"path":"docs/[^"]*\.md"'


@pytest.mark.parametrize(
    ("pattern", "path", "content", "wanted"),
    [
        (DOCS, "docs/a.md", "x", "allowed"),
        (DOCS, "./docs//a.md", "x", "allowed"),
        (DOCS, "src/../docs/a.md", "x", "allowed"),
        (DOCS, "docs/../src/a.md", "x", "ask"),
        (DOCS, "docs/link/a.md", "x", "ask"),
        ('"path":"docs/', "docs/../src/evil3.py", "x", "ask"),
        ('"path":"docs/', "docs/a", "x", "allowed"),
        ("docs/", "src/evil.py", "docs/", "ask"),
        ("docs/", "docs/a", "x", "ask"),
        ('path.{1,9}docs/', "src/evil.py", '"path":"docs/', "ask"),
        ('"path":"docs/', "src/evil.py", '"path":"docs/a"', "ask"),
        ('"path":"docs/', "src/evil.py", '","path":"docs/', "ask"),
        ('"path":"docs/|x', "src/x.py", "x", "ask"),
        ('x|"path":"docs/', "docs/x.py", "x", "allowed"),
        ('"content":"x"', "src/evil.py", "x", "ask"),
        ('^{"content":"x"', "src/evil.py", "x", "ask"),
        ('^{.*docs/', "src/evil.py", "docs/", "ask"),
        ('^{.*docs/', "docs/a", "x", "allowed"),
        ('^{.*docs/.*md"}$', "src/evil.md", "docs/", "ask"),
        ('^{"content":".*","path":"docs/', "docs/a", "x", "allowed"),
        ('^{"content":".*","path":"docs/', "src/a", '","path":"docs/', "ask"),
        ('^{"content":"x","path":"docs/a"}$', "docs/a", "x", "allowed"),
        ('^{"content":"x","path":"docs/a"}$', "docs/a", "y", "ask"),
        ('^{"content":"x","path":"docs/a"}$', "docs/b", "x", "ask"),
        (r'^\{"content":"x","path":"docs/a"\}$', "docs/a", "x", "allowed"),
        ('^"path":"docs/', "docs/a", "x", "ask"),
        ('(?i)"PATH":"DOCS/', "docs/a", "x", "allowed"),
        ('(', "docs/a", "x", "ask"),
    ],
)  # fmt: skip
def test_a_file_is_judged_by_its_own_path(work, pattern, path, content, wanted):
    assert outcome(work, "create_file", pattern, path=path, content=content) == wanted


@pytest.mark.parametrize("path", ["docs/../.env", "docs/../docs/../.env"])
def test_reading_is_judged_by_where_a_path_leads(work, path):
    assert outcome(work, "read_file", '"path":"docs/', path=path) == "ask"


def test_an_absolute_path_is_the_real_one(work):
    assert outcome(work, "read_file", f'"path":"{work}/docs/', path=f"{work}/docs/a") == "allowed"
    assert outcome(work, "read_file", f'"path":"{work}/docs/', path="docs/a") == "allowed"
    assert outcome(work, "read_file", f'"path":"{work}/docs/', path=f"{work}/docs/../.env") == "ask"


def test_other_parameters_count_only_where_the_expression_names_them(work):
    lines = '^{"path":"docs/a","start_line":7}$'
    assert outcome(work, "read_file", lines, path="docs/a", start_line=7) == "allowed"
    assert outcome(work, "read_file", lines, path="docs/a", start_line=8) == "ask"


def test_a_path_that_leaves_the_workspace_is_no_target_and_not_allowed():
    outside = call_subject(READ, {"path": "../x"}, "/w")
    assert not rules.rule_covers(rule(tool="read_file", pattern_kind="regex", pattern='"path":"'), outside)


MOVE = ToolDescriptor(
    id="move", wire_name="move", description="d", capability="write", risk_level="dangerous", input_schema={},
    path_parameters=("source", "target"),
)  # fmt: skip


def moving(pattern, source, target):
    targets = {
        name: ResolvedPath(path=f"/w/{path}", relative=path, exists=True)
        for name, path in (("source", source), ("target", target))
    }
    return rules.regex_allows(pattern, MOVE, {"source": source, "target": target}, targets)


def test_each_path_of_a_call_has_to_be_named():
    assert not moving('"source":"docs/', "docs/a", "src/b")
    assert not moving('"target":"docs/', "src/a", "docs/b")
    assert moving('"(source|target)":"docs/', "docs/a", "docs/b")
    assert not moving('"(source|target)":"docs/', "docs/a", "src/b")
    assert moving('^{"source":"docs/[^"]*","target":"docs/', "docs/a", "docs/b")
    assert not moving('^{"source":"docs/', "docs/a", "docs/b")


def test_a_rule_that_denies_or_asks_sees_the_path_as_given_and_as_it_is(work):
    for path in ("docs/../src/a", "src/../docs/a"):
        for pattern in ('"path":"docs/', '"path":"src/', "docs/"):
            assert outcome(work, "read_file", pattern, "deny", path=path) == "denied"
    assert outcome(work, "create_file", "secret", "deny", path="a", content="secret") == "denied"


# --- addresses and other tools ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "url", "wanted"),
    [
        ('"url":"https://docs\\.python\\.org/', "https://docs.python.org/3", "allowed"),
        ("docs\\.python\\.org", "https://evil.test/docs.python.org", "ask"),
        ('"url":"https://docs\\.python\\.org/', 'https://evil.test/?"url":"https://docs.python.org/', "ask"),
    ],
)
def test_an_address_is_judged_by_its_own_beginning(work, pattern, url, wanted):
    assert outcome(work, FETCH.id, pattern, url=url) == wanted


def test_what_has_neither_path_nor_address_is_judged_by_the_beginning_of_a_member(work):
    assert outcome(work, SERVED.id, '"pattern":"todo', pattern="todo list") == "allowed"
    assert outcome(work, SERVED.id, '^{"pattern":"todo', pattern="todo list") == "allowed"
    assert outcome(work, SERVED.id, "todo", pattern="my todo") == "ask"
    assert outcome(work, SERVED.id, rules.exact_regex({"pattern": "a*"}), pattern="a*") == "allowed"


# --- commands --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "command", "wanted"),
    [
        ("git status", "git status", "allowed"),
        ("git status", "git status --short", "allowed"),
        ("git status", "touch 'x git status'", "ask"),
        ("git status", "touch x git status", "ask"),
        ("ls", "ls -l", "allowed"),
        ("ls", "touch T-false", "ask"),
        ("ls", "lsof", "ask"),
        ("ls", "cp a T-rx-ls", "ask"),
        ('"command":"git status', "git status", "allowed"),
        ('"command":"git', "git status", "allowed"),
        ('"command":"git', "gitk", "ask"),
        ('^{"command":"git diff( |")', "git diff a", "allowed"),
        ('^{"command":"git diff( |")', "git diffs", "ask"),
        ("^{.*git status", "touch 'git status'", "ask"),
        ("git (status|diff)", "git diff && git status", "allowed"),
        ("git (status|diff)", "git diff && touch git-status", "ask"),
        ("git status|x", "touch x", "ask"),
        (rules.exact_regex({"command": "touch 'a b' [x]"}), "touch 'a b' [x]", "ask"),
        (rules.exact_regex({"command": "grep 'a*b' x"}), "grep 'a*b' x", "allowed"),
        ("git l", "git log", "allowed"),
    ],
)
def test_a_command_is_judged_from_its_first_word(work, pattern, command, wanted):
    assert outcome(work, SHELL.id, pattern, command=command) == wanted


def test_a_parameter_beside_the_command_does_not_speak_for_it():
    told = replace(SHELL, input_schema={})
    one = rule(pattern_kind="regex", pattern="git status")
    asked = call_subject(told, {"command": "touch x", "goal": "git status"}, "")
    assert not rules.rule_covers(one, asked)
    assert rules.rule_covers(one, call_subject(told, {"command": "git status", "goal": "look"}, ""))
    whole = rule(pattern_kind="regex", pattern='^{.*"goal":"git status')
    assert not rules.rule_covers(whole, asked)


def test_a_text_that_is_too_long_to_be_searched_is_not_allowed(monkeypatch):
    monkeypatch.setattr(regex, "MAX_SEARCH_STEPS", 10)
    one = rule(tool="read_file", pattern_kind="regex", pattern='"path":"docs/')
    assert not rules.rule_covers(one, call_subject(READ, {"path": "docs/a"}, "/w"))


@given(
    content=st.text(max_size=40) | st.sampled_from(['"path":"docs/', '","path":"docs/a', "docs/", "\\"]),
    path=st.text('abs/.\\"dock', min_size=1, max_size=12),
)
def test_no_content_makes_another_path_allowed(content, path):
    given_path = path.replace("\0", "")
    subject = call_subject(CREATE, {"path": given_path, "content": content}, "/nowhere")
    for pattern in ('"path":"docs/', '^{"content":".*","path":"docs/', '^{"content":"[^"]*","path":"docs/'):
        one = rule(tool="create_file", pattern_kind="regex", pattern=pattern)
        if rules.rule_covers(one, subject):
            assert subject.targets["path"].relative.startswith("docs/")


def test_an_exact_expression_matches_what_it_was_made_of():
    parameters = {"command": 'a \\ "b" {c} [d] (e) $f ^g .h *i +j ?k |l\n'}
    made = rules.exact_regex(parameters)
    assert regex.compile_regex(made).is_in(canonical.dumps(parameters))
    assert not regex.compile_regex(made).is_in(canonical.dumps({"command": "a"}))
