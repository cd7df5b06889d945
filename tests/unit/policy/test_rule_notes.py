"""What is said of patterns before they are saved, and of rules that were saved before."""

import pytest

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import KNOWN, rule
from workbench.policy import pattern_remedies, rule_validation, rules


def said(tool, pattern, effect="allow", kind="regex"):
    return " ".join(
        rule_validation.rule_notes(
            tool=tool, pattern_kind=kind, pattern=pattern, known_tools=KNOWN, effect=effect
        )
    )


@each_row(
    ("tool", "pattern", "effect", "part"),
    [
        ("create_file", "docs/", "allow", 'so it allows nothing; anchor it as "path":"docs/'),
        ("create_file", '"path":"docs', "allow", "also covers every path that starts like this, such as"),
        ("create_file", '"path":"docs/a\\.md', "allow", 'end it with / or "'),
        ("fetch_webpage", "docs", "allow", 'anchor it as "url":"docs'),
        ("run_in_terminal", "git status", "allow", 'such as git status --more; anchor it as "command":"git status"'),
        ("run_in_terminal", "ls", "allow", "is tried from the first word of a command"),
        ("run_in_terminal", "git (status|diff)", "allow", 'anchor it as "command":"git (status|diff)'),
        ("run_in_terminal", '"command":"git status', "allow", "covers whatever follows it"),
        ("create_file", "docs/", "deny", 'contents and later words too; anchor it as "path":"docs/'),
        ("run_in_terminal", "rm", "ask", "later words too"),
        ("grep_search", "x", "deny", "is searched in everything that a call says, contents and later words too"),
        ("read_file", ".*txt$", "allow", "can never match"),
    ],
)  # fmt: skip
def test_an_unanchored_expression_is_named_before_it_is_saved(tool, pattern, effect, part):
    assert part in said(tool, pattern, effect)


@each_row(
    ("tool", "pattern", "effect"),
    [
        ("create_file", '"path":"docs/', "allow"),
        ("create_file", '"path":"docs/a"', "allow"),
        ("read_file", '^{"path":"[^"]*\\.txt"}$', "allow"),
        ("run_in_terminal", '"command":"git status"', "allow"),
        ("run_in_terminal", '^\\{"command":"a"\\}$', "allow"),
        ("grep_search", "todo", "allow"),
        ("create_file", '"path":"docs', "deny"),
        ("nothing", "x", "allow"),
    ],
)
def test_an_anchored_expression_needs_no_word(tool, pattern, effect):
    assert said(tool, pattern, effect) == ""


REMEDIES = (
    ("read_file", r".*\.txt$", "allow", r'"path":"[^"]*\.txt"', "docs/a.txt", "docs/a.txt2"),
    ("read_file", r"\.txt$", "allow", r'"path":"[^"]*\.txt"', ".txt", "txt/a.md"),
    ("read_file", r".*\.txt", "allow", r'"path":"[^"]*\.txt"', "a.txt", "a.txt/b"),
    ("read_file", r".*\.txt$", "deny", r'"path":"(?:[^"\\]|\\.)*\.txt"', 'a"b.txt', "a.md"),
    ("read_file", "^.*secret", "deny", r'"path":"(?:[^"\\]|\\.)*secret', "a/secret.md", "a.md"),
    ("create_file", "^docs/", "allow", '"path":"docs/', "docs/a.md", "src/docs/a.md"),
    ("create_file", "^docs/", "deny", '"path":"docs/', "docs/a.md", "src/docs/a.md"),
    ("create_file", "docs/", "deny", '"path":"docs/', "docs/a.md", "src/docs/a.md"),
    ("create_file", "docs", "allow", '"path":"docs/', "docs/a.md", "docs-2/a.md"),
    ("create_file", r"docs/a\.md", "allow", r'"path":"docs/a\.md"', "docs/a.md", "docs/a.md2"),
    ("create_file", "docs/|src/", "allow", '"path":"(?:docs/|src/)', "src/a", "lib/src/a"),
    ("create_file", "(docs|src)/", "allow", '"path":"(docs|src)/', "src/a", "lib/src/a"),
    ("create_file", r"^docs/.*\.md$", "allow", r'"path":"docs/[^"]*\.md"', "docs/x/a.md", "a.md"),
    ("read_file", "^a.+/b$", "allow", '"path":"a[^"]+/b"', "abc/b", "a/b"),
    ("create_file", '"path":"docs$', "allow", '"path":"docs"', "docs", "docs/a"),
    ("run_in_terminal", "git status", "allow", '"command":"git status"', "git status", "git status -s"),
    ("run_in_terminal", '"command":"git log', "allow", '"command":"git log"', "git log", "git log -p"),
    ("run_in_terminal", "^git status$", "allow", '"command":"git status"', "git status", "git diff"),
    ("run_in_terminal", "^sudo", "deny", '"command":"sudo', "sudo ls", "ls sudo"),
    ("fetch_webpage", "https://a\\.test/", "allow", '"url":"https://a\\.test/', "https://a.test/x", "https://b.test/"),
)  # fmt: skip


@pytest.mark.spec(46, 53)
@each_row(("tool", "pattern", "effect", "remedy", "meant", "other"), REMEDIES)
def test_a_remedy_is_one_that_works_and_is_not_noted_itself(tool, pattern, effect, remedy, meant, other):
    (note,) = rule_validation.rule_notes(
        tool=tool, pattern_kind="regex", pattern=pattern, known_tools=KNOWN, effect=effect
    )
    assert note.endswith((f"; write {remedy}", f"; anchor it as {remedy}")), note
    assert said(tool, remedy, effect) == ""
    descriptor = KNOWN[tool]
    key = pattern_remedies.target_parameter(descriptor)
    saved = rule(tool=tool, pattern_kind="regex", pattern=remedy, effect=effect)
    for value, is_covered in ((meant, True), (other, False)):
        call = {"content": meant, key: value} if tool == "create_file" else {key: value}
        assert rules.rule_covers(saved, rules.call_subject(descriptor, call, "/w")) is is_covered, value


@each_row(
    ("tool", "pattern", "effect"),
    [
        ("run_in_terminal", ".*status$", "allow"),
        ("read_file", ".*", "allow"),
        ("read_file", "x" * 81, "allow"),
        ("read_file", "a\x01b  c$", "deny"),
        ("read_file", "^a.+/$", "allow"),
        ("read_file", "((((((a{3}){3}){3}){3}){3}){3})b$", "allow"),
        ("read_file", "[^\\x00-\\U0010ffff]$", "deny"),
        ("create_file", 'a"b', "deny"),
        ("grep_search", "x$", "deny"),
    ],
)
def test_what_cannot_be_tried_is_not_advised(tool, pattern, effect):
    note = said(tool, pattern, effect)
    assert note and not {"write ", "anchor it as "} & {
        part for part in ("write ", "anchor it as ") if part in note
    }


def test_a_glob_has_the_notes_that_it_had():
    assert "did you mean Read" in said("Read", "Raed(x)", kind="glob")


def warned(pattern, tool="run_in_terminal", kind="glob", **more):
    one = rule(tool=tool, pattern=pattern, pattern_kind=kind, **more)
    return " ".join(rule_validation.rule_warnings(one, KNOWN))


@each_row(
    ("tool", "pattern", "part"),
    [
        ("Bash", "Bash(*)", "asks now: Bash(*) would allow everything"),
        ("Bash", "Bash(sudo *)", "asks now: Bash(sudo *) can allow nothing"),
        ("Bash", "Bash(a > b)", "asks now: a > b"),
        ("Bash", "Bash(git log | sh *)", "asks now:"),
        ("create_file", "Write(.envrc)", "asks now: .envrc: runs by itself"),
        ("create_file", "Write(.github/workflows/**)", "asks now: .github/workflows/**: runs by itself"),
        ("create_file", "Write(.agents/**)", "asks now: .agents/** controls the workspace"),
        ("gone", "gone", "asks now: tool: gone is not registered"),
    ],
)
def test_a_rule_that_was_saved_before_says_what_asks_now(tool, pattern, part):
    assert part in warned(pattern, tool)


@each_row(
    ("tool", "pattern"),
    [
        ("Bash", "Bash(git diff *)"), ("Bash", "Bash(git diff:*)"), ("Bash", "Bash(echo * x)"),
        ("create_file", "Write(src/**)"), ("create_file", "Write(x/**)"), ("read_file", "Read(.envrc)"),
        ("fetch_webpage", "WebFetch(domain:docs.python.org)"), ("*", "Read(src/**)"), ("create_file", "Write(xx)"),
    ],
)  # fmt: skip
def test_a_rule_that_holds_as_before_has_no_warning(tool, pattern):
    assert warned(pattern, tool) == ""


def test_warnings_of_expressions_denials_and_rules_taken_back():
    assert "asks now" in warned(".*", "read_file", "regex")
    assert 'anchor it as "path":"docs/' in warned("docs/", "create_file", "regex")
    assert warned("Bash", effect="deny") == ""
    assert warned("Bash(a", effect="deny").startswith("Bash(a: the parenthesis does not close")
    assert warned("Bash(*)", revoked_at=5) == ""
    assert warned("Bash(*)", scope="run", scope_id="r1") == ""


def test_a_line_that_its_own_pattern_no_longer_covers_is_named(monkeypatch):
    from workbench.policy import rules

    monkeypatch.setattr(rules, "rule_covers", lambda *_: False)
    assert "git diff is not covered by Bash(git diff *) any more" in warned("Bash(git diff *)", "Bash")


def test_only_rules_with_warnings_are_listed():
    reading = rule(id="R3", tool="read_file", pattern="Read")
    rows = [rule(id="R1"), rule(id="R2", tool="Bash", pattern="Bash(*)"), reading]
    assert list(rule_validation.warnings_by_rule(rows, KNOWN)) == ["R2"]
    assert rule_validation.warnings_by_rule(rows, {}) == {}


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("*", "* would allow everything"),
        ("Bash(*)", "Bash(*) would allow everything; name what is allowed, for example Bash(git diff *)"),
        ("Write", "Write would allow everything"),
        ("Bash(sudo *)", "can allow nothing"),
        ("Bash(bash *)", "Bash(bash *)"),
    ],
)
def test_a_pattern_of_the_configuration_that_is_too_wide_is_named_in_the_same_words(pattern, part):
    assert part in " ".join(rule_validation.allow_pattern_problems(pattern, KNOWN))


@pytest.mark.parametrize("pattern", ["Bash(git status)", "Read(src/**)", "Bash(a", "nothing", "mcp__x__y"])
def test_a_pattern_that_is_narrow_or_noted_elsewhere_is_not_named(pattern):
    assert rule_validation.allow_pattern_problems(pattern, KNOWN) == ()
