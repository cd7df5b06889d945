"""Approval rules: which may be saved, and which calls they cover."""

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import CREATE, FIND, GREP, KNOWN, READ, SHELL, rule
from workbench.domain.values import PermissionPattern
from workbench.policy import permissions, rule_validation, rules
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell.analysis import view_command
from workbench.text import canonical


def found_problems(**fields):
    base = {
        "tool": "read_file",
        "pattern_kind": "regex",
        "pattern": '^{"path":".*\\.txt"}$',
        "description": "text files",
        "known_tools": KNOWN,
    }
    return rule_validation.rule_problems(**(base | fields))


def subject(tool, parameters):
    targets = {
        name: ResolvedPath(path=f"/w/{parameters[name]}", relative=parameters[name], exists=True)
        for name in tool.path_parameters
    }
    command = parameters.get(tool.command_parameter or "")
    return rules.RuleSubject(
        descriptor=tool,
        parameters=parameters,
        targets=targets,
        canonical=canonical.dumps(parameters),
        view=view_command(command) if command else None,
    )


HERE = rules.RuleMoment(session_id="s1", workspace="/w", run_id=None, now=1000)


@pytest.mark.spec(53)
def test_the_seeds_own_example_may_be_saved_and_matches_canonical_json():
    assert found_problems() == ()
    seed = rule(tool="read_file", pattern_kind="regex", pattern='^{"path":".*\\.txt"}$')
    assert rules.rule_covers(seed, subject(READ, {"path": "a/b.txt"}))
    assert not rules.rule_covers(seed, subject(READ, {"path": "a/b.py"}))


@pytest.mark.spec(85)
@each_row(
    ("pattern", "effect", "is_covered"),
    [
        ("Read", "deny", True), ("Read(*)", "deny", True), ("Read", "ask", True), ("Read", "allow", False),
        ("Read(src/**)", "deny", False), ("Bash", "deny", False),
    ],
)  # fmt: skip
def test_a_rule_that_denies_reading_covers_what_the_same_word_of_a_deny_list_does(
    pattern, effect, is_covered
):
    saved = rule(tool=pattern.partition("(")[0], pattern=pattern, pattern_kind="glob", effect=effect)
    for tool in (GREP, FIND):
        look = subject(tool, {"pattern": "x", "query": "x"})
        assert rules.rule_covers(saved, look) is is_covered, tool.id
        if effect != "ask":
            purpose = "deny" if effect == "deny" else "grant"
            listed = PermissionPattern(text=pattern)
            matches = permissions.permission_matches(listed, tool, look.parameters, {}, None, purpose=purpose)
            assert matches is is_covered, tool.id


@each_row(
    ("scope_id", "open_turn", "is_in_force"),
    [("t1", "t1", True), ("t1", "t2", False), ("t1", None, False), (None, None, False)],
)
def test_a_rule_for_a_turn_holds_in_that_turn_only(scope_id, open_turn, is_in_force):
    moment = replace(HERE, turn_id=open_turn)
    assert rules.is_rule_in_force(rule(scope="turn", scope_id=scope_id), moment) is is_in_force


def test_key_order_does_not_matter():
    ordered = rule(tool="create_file", pattern_kind="regex", pattern='^{"content":"x","path":"a"}$')
    assert rules.rule_covers(ordered, subject(CREATE, {"path": "a", "content": "x"}))
    assert rules.rule_covers(ordered, subject(CREATE, {"content": "x", "path": "a"}))


@pytest.mark.spec(49, 50, 52)
@each_row(
    ("fields", "part"),
    [
        ({"tool": "nothing"}, "tool: nothing is not registered"),
        ({"tool": "Read"}, "tool: Read is not registered"),
        ({"tool": "*"}, "tool: * is not registered"),
        ({"pattern": "("}, "not a valid regular expression: RE2: missing )"),
        ({"pattern": "(?=a)"}, "not a valid regular expression"),
        ({"description": " "}, "description: empty"),
        ({"pattern_kind": "glob", "pattern": "Read(a"}, "the parenthesis does not close"),
        ({"pattern_kind": "glob", "pattern": "Bash(git diff *)"}, "about another tool"),
    ],
)
def test_a_bad_rule_is_named(fields, part):
    assert part in "; ".join(found_problems(**fields))


def test_every_problem_is_told_at_once():
    assert len(found_problems(tool="x", pattern="(", description="")) == 3


BLANKET = [
    ".*",
    "",
    "^",
    ".",
    "$",
    "[\\s\\S]*",
    "^.*$",
    "(?:)",
    "^.+$",
    "x*",
    "\\{",
    "[^\\x00]",
    ".{3}",
    "(a|.)",
    "path",
    '"path"',
    '"path":"',
    '^{"path":',
    '"path":"[^"]',
    '"path":".*"',
    "(?i)PATH",
    "^[^;]*$",
    "\\w",
    "[a-z]+",
]


@pytest.mark.spec(51)
@each_row("pattern", BLANKET)
def test_a_pattern_that_matches_whatever_comes_is_refused(pattern):
    assert "nearly every call of read_file" in " ".join(found_problems(pattern=pattern))


@pytest.mark.parametrize(
    ("tool", "pattern"),
    [
        ("read_file", '"path":"src/'),
        ("read_file", '\\.txt"}$'),
        ("read_file", '^{"path":"README\\.md"}$'),
        ("run_in_terminal", '^{"command":"git status"}$'),
        ("run_in_terminal", '"command":"npm (test|run lint)"'),
        ("create_file", '"path":"docs/[^"]*\\.md"'),
        ("fetch_webpage", '"url":"https://docs\\.python\\.org/'),
    ],
)
def test_a_pattern_that_says_what_it_allows_may_be_saved(tool, pattern):
    assert found_problems(tool=tool, pattern=pattern) == ()


@pytest.mark.parametrize("pattern", ['"command":"', "^[^;&|]*$", '"command":"[a-z./-]', " "])
def test_a_blanket_for_commands_is_refused(pattern):
    assert found_problems(tool="run_in_terminal", pattern=pattern)


@each_row(
    ("tool", "pattern", "part"),
    [
        ("run_in_terminal", "Bash(*)", "everything"),
        ("run_in_terminal", "Bash", "everything"),
        ("run_in_terminal", "*", "everything"),
        ("run_in_terminal", "Bash(git *)", "aliases run programs"),
        ("run_in_terminal", "Bash(git*)", "aliases run programs"),
        ("run_in_terminal", "Bash(git:*)", "aliases run programs"),
        ("run_in_terminal", "Bash(npx *)", "does not name what npx may run"),
        ("run_in_terminal", "Bash(python *)", "allow nothing"),
        ("run_in_terminal", "Bash(sudo apt *)", "allow nothing"),
        ("run_in_terminal", "Bash(bash -c *)", "allow nothing"),
        ("run_in_terminal", "Bash(git merge-index *)", "merge-index is not known to be harmless"),
        ("run_in_terminal", "Bash(sort -o *)", "-o is not known to be harmless"),
        ("run_in_terminal", "Bash(uv run pytest --weird *)", "--weird is not known to be harmless"),
        ("run_in_terminal", "Bash(foo --x=* y)", "does not spell out the options of foo"),
        ("run_in_terminal", "Bash(FOO=* ls)", "does not spell out what FOO is set to"),
        ("read_file", "Read", "everything"),
        ("read_file", "Read(**)", "everything"),
        ("read_file", "Read(**/*)", "everything"),
        ("create_file", "Write(*)", "everything"),
    ],
)
def test_a_glob_that_is_too_wide_is_refused(tool, pattern, part):
    assert part in " ".join(found_problems(tool=tool, pattern_kind="glob", pattern=pattern))


@each_row(
    ("tool", "pattern"),
    [
        ("run_in_terminal", "Bash(git diff *)"),
        ("run_in_terminal", "Bash(git diff --stat main)"),
        ("run_in_terminal", "Bash(git)"),
        ("run_in_terminal", "Bash(npm test*)"),
        ("run_in_terminal", "Bash(sort -o x a)"),
        ("run_in_terminal", "Bash(git log --form* x)"),
        ("run_in_terminal", "Bash(pytest -W *)"),
        ("run_in_terminal", "Bash(foo --x=1 *)"),
        ("run_in_terminal", "Bash(FOO=1 ls *)"),
        ("run_in_terminal", "Bash(docker frobnicate *)"),
        ("Bash", "Bash(pytest *)"),
        ("read_file", "Read(src/**)"),
        ("Read", "Read(docs/*.md)"),
        ("create_file", "Write(out/**)"),
    ],
)
def test_a_narrow_glob_may_be_saved(tool, pattern):
    assert found_problems(tool=tool, pattern_kind="glob", pattern=pattern) == ()


def test_only_what_allows_has_to_be_narrow():
    for effect in ("deny", "ask"):
        assert found_problems(pattern=".*", effect=effect) == ()
        assert found_problems(tool="Bash", pattern_kind="glob", pattern="Bash", effect=effect) == ()
    assert found_problems(pattern_kind="glob", pattern="Read", scope="run") == ()


def test_a_pattern_that_can_never_match_is_noted():
    def notes(pattern, kind="regex"):
        return rule_validation.never_matching_notes(
            tool="read_file", pattern_kind=kind, pattern=pattern, known_tools=KNOWN
        )

    for never in (".*\\.txt$", "^docs/", "\\Adocs", "^[a-z]+/", "x[^}]$"):
        assert len(notes(never)) == 1, never
    for fine in (
        '^{"path":".*\\.txt"}$', ".*\\.txt", "x\\$", '\\.txt"}$', '"path":"docs/.*$', "^.docs", "^docs|x",
        "^(docs/)?{", "^$", "docs|x$", "(", "x" * 3000, "^" + "a" * 700,
    ):  # fmt: skip
        assert notes(fine) == (), fine[:40]
    assert "did you mean Read" in notes("Raed(x)", "glob")[0]


@pytest.mark.spec(55)
def test_a_rule_for_one_tool_never_covers_another():
    for kind, pattern in (("regex", '"path":"a"'), ("glob", "Read(a)"), ("glob", "*")):
        for effect in ("allow", "deny", "ask"):
            other = rule(tool="read_file", pattern_kind=kind, pattern=pattern, effect=effect)
            assert not rules.rule_covers(other, subject(CREATE, {"path": "a", "content": ""}))
            assert rules.rule_covers(other, subject(READ, {"path": "a"}))
    for kind, tool, is_about in (("glob", "Read", True), ("glob", "Write", False), ("regex", "Read", False)):
        pattern = "Read(a)" if kind == "glob" else '"path":"a"'
        about = rule(tool=tool, pattern_kind=kind, pattern=pattern)
        assert rules.rule_covers(about, subject(READ, {"path": "a"})) is is_about
    named = rule(tool="run_in_terminal", pattern_kind="regex", pattern='"command":"git status"')
    assert rules.rule_covers(named, subject(SHELL, {"command": "git status"}))
    assert not rules.rule_covers(named, subject(SHELL, {"command": "git status; git push"}))
    denying = replace(named, effect="deny")
    assert rules.rule_covers(denying, subject(SHELL, {"command": "git status; git push"}))


@pytest.mark.parametrize(
    ("command", "expected"),
    [("git diff x", True), ("git diff 'x'", True), ("git diff x; rm y", False), ("git diff $X", False)],
)
def test_no_rule_covers_a_command_that_is_not_plain(command, expected):
    for kind, pattern in (("glob", "Bash(git diff *)"), ("regex", '"command":"git diff')):
        assert (
            rules.rule_covers(rule(pattern_kind=kind, pattern=pattern), subject(SHELL, {"command": command}))
            is expected
        )


@each_row("effect", ["deny", "ask"])
@each_row(
    "command", ["git push", "cd x && git push", "sudo git push", "/usr/bin/git push", "bash -c 'git push'"]
)
def test_what_stands_in_the_way_sees_hidden_commands(effect, command):
    for kind, pattern in (("glob", "Bash(git push*)"), ("regex", '"command":"git push')):
        found = rule(effect=effect, pattern_kind=kind, pattern=pattern)
        assert rules.rule_covers(found, subject(SHELL, {"command": command}))


@pytest.mark.parametrize("pattern", ["(", "(?:a|b)*a(?:a|b){900}x"])
def test_what_cannot_be_checked_counts_against_the_call(pattern):
    big = subject(CREATE, {"path": "a", "content": "ab" * 200_000})
    for effect, expected in (("allow", False), ("ask", True), ("deny", True)):
        assert (
            rules.rule_covers(
                rule(tool="create_file", pattern_kind="regex", pattern=pattern, effect=effect), big
            )
            is expected
        )


@each_row(
    ("changed", "expected"),
    [
        ({}, True),
        ({"revoked_at": 1}, False),
        ({"expires_at": 1000}, False),
        ({"expires_at": 1001}, True),
        ({"scope": "session", "scope_id": "s1"}, True),
        ({"scope": "session", "scope_id": "s2"}, False),
        ({"scope": "session"}, False),
        ({"scope": "workspace", "scope_id": "/w"}, True),
        ({"scope": "workspace", "scope_id": "/w/sub"}, False),
        ({"scope": "run", "scope_id": "r1"}, False),
        ({"scope": "run"}, False),
    ],
)
def test_a_rule_holds_in_its_scope_and_time(changed, expected):
    assert rules.is_rule_in_force(rule(**changed), HERE) is expected


def test_a_grant_for_a_run_holds_in_that_run():
    in_run = rules.RuleMoment(session_id="s1", workspace="/w", run_id="r1", now=1)
    assert rules.is_rule_in_force(rule(scope="run", scope_id="r1"), in_run)
    assert not rules.is_rule_in_force(rule(scope="run", scope_id="r2"), in_run)


@each_row(
    ("pattern", "command", "passes"),
    [
        ('"command":"foo --x( |")', "foo --x", True),
        ('"command":"foo --x( |")', "foo --x a b", True),
        ('"command":"foo', "foo --x", False),
        ('"command":"foo -', "foo --x", False),
        ('"command":"foo --x', "foo --x", False),
        ('"command":"foo --x', "foo --xy", False),
        ('--x"', "foo --x", False),
        ('"command":"foo [a-z]*"', "foo a", True),
        ('"command":"ls', "ls -la", True),
        ('"command":"ls', "FOO=1 ls -la", False),
        ('"command":"FOO=1 ls( |")', "FOO=1 ls -la", True),
        ('"command":"FOO=[0-9] ls', "FOO=1 ls -la", True),
        ('"command":"(CI=1 )?ls', "CI=1 ls -la", True),
        ('^{"command":"sort -o x a"}$', "sort -o x a", True),
        ('"command":"sort -o x ', "sort -o x a", False),
        ('"command":"foo', "foo " + " ".join(f"--x{n}" for n in range(101)), False),
        ('"command":"node a\\.js', "node a.js b", True),
        ('"command":"node a\\.js', "node a.js --b", False),
        ('"command":"node ', "node a.js b", False),
    ],
)
def test_an_expression_spells_out_what_is_not_known(pattern, command, passes):
    one = rule(pattern_kind="regex", pattern=pattern)
    assert rules.rule_covers(one, subject(SHELL, {"command": command})) is passes
