"""Permission patterns: which tools and which calls they match, and which way they err."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from tests.unit.policy.gate_cases import (
    CONTEXT,
    CREATE,
    FETCH,
    FIND,
    FOLDER,
    GREP,
    LIST,
    READ,
    REPLACE,
    SERVED,
    SHELL,
    TOOLS,
)
from workbench.domain.values import PermissionPattern
from workbench.policy.paths import ResolvedPath
from workbench.policy.permissions import (
    is_within_ceiling,
    parse_permission,
    permission_matches,
    permission_names_tool,
    wildcard_matches,
)
from workbench.policy.shell.analysis import view_command
from workbench.tools.registry import tool_descriptors


def path_target(relative):
    return {"path": ResolvedPath(path=f"/w/{relative}", relative=relative, exists=True, given=relative)}


def is_path_matched(pattern, relative, tool=READ, purpose="grant"):
    return permission_matches(
        PermissionPattern(text=pattern),
        tool,
        {"path": relative},
        path_target(relative),
        None,
        purpose=purpose,
    )


def is_command_matched(pattern, command, purpose="grant"):
    return permission_matches(
        PermissionPattern(text=pattern),
        SHELL,
        {"command": command},
        {},
        view_command(command),
        purpose=purpose,
    )


@each_row(
    ("name", "covered"),
    [
        ("Read", [READ, CONTEXT]),
        ("Grep", [GREP]),
        ("Glob", [FIND]),
        ("LS", [LIST]),
        ("Edit", [REPLACE]),
        ("MultiEdit", [REPLACE]),
        ("NotebookEdit", [REPLACE]),
        ("Write", [CREATE, FOLDER, REPLACE]),
        ("Bash", [SHELL]),
        ("WebFetch", [FETCH]),
        ("read_file", [READ]),
        ("context.read", [CONTEXT]),
        ("context_read", [CONTEXT]),
        ("mcp__github__search", [SERVED]),
        ("mcp__github__*", [SERVED]),
        ("mcp__github", [SERVED]),
        ("mcp__git", []),
        ("*", TOOLS),
        ("create_*", [CREATE, FOLDER]),
        ("WebSearch", []),
        ("bash", []),
    ],
)
@pytest.mark.spec(85)
def test_a_name_covers_tools(name, covered):
    assert {tool.id for tool in TOOLS if permission_names_tool(parse_permission(name), tool)} == {
        tool.id for tool in covered
    }


@pytest.mark.spec(85)
def test_a_file_closed_to_edits_is_closed_to_moves_and_edits_grant_none():
    def covered(purpose):
        edit = parse_permission("Edit")
        return {tool.id for tool in tool_descriptors() if permission_names_tool(edit, tool, purpose)}

    assert covered("grant") == covered("ceiling") == {"replace_string_in_file"}
    assert covered("deny") > covered("grant") and "move_file" in covered("deny")


def test_a_bare_read_in_a_deny_list_covers_looking_too():
    for pattern in ("Read", "Read(*)"):
        covered = {
            tool.id for tool in TOOLS if permission_names_tool(parse_permission(pattern), tool, "deny")
        }
        assert covered == {"read_file", "context.read", "grep_search", "file_search", "list_dir"}
    assert not permission_names_tool(parse_permission("Read(src/**)"), GREP, "deny")


def test_a_bare_denial_of_reading_covers_every_tool_that_reads_paths():
    reading = [tool for tool in tool_descriptors() if tool.capability == "read" and tool.path_parameters]
    denied = [tool for tool in reading if permission_names_tool(parse_permission("Read"), tool, "deny")]
    assert reading and denied == reading


@each_row(
    ("pattern", "relative", "expected"),
    [
        ("Read", "a/b.py", True),
        ("Read(*)", "a/b.py", True),
        ("Read(**)", "a/b.py", True),
        ("Read(src/*)", "src/a.py", True),
        ("Read(src/*)", "src/b/a.py", False),
        ("Read(src/**)", "src/b/a.py", True),
        ("Read(src/**)", "srcs/a.py", False),
        ("Read(src/**/a.py)", "src/a.py", True),
        ("Read(src/**/a.py)", "src/x/y/a.py", True),
        ("Read(src/**/a.py)", "src/xa.py", False),
        ("Read(**/*.py)", "a.py", True),
        ("Read(**/*.py)", "x/y/a.py", True),
        ("Read(*.py)", "a.py", True),
        ("Read(*.py)", "x/a.py", False),
        ("Read(./src/a.py)", "src/a.py", True),
        ("Read(src/)", "src/a/b", True),
        ("Read(a?.py)", "ab.py", True),
        ("Read(a?.py)", "a/.py", False),
        ("Read([id].ts)", "[id].ts", True),
        ("Read([id].ts)", "i.ts", False),
        ("Read(a.py)", "axpy", False),
        ("Read(a$b)", "a$b", True),
        ("Read(/w/src/*)", "src/a.py", True),
        ("Read(/src/*)", "src/a.py", False),
        ("Read(SRC/*)", "src/a.py", False),
        ("Read(src/a.py)", "src/a.py\n", False),
    ],
)
def test_a_path_pattern_grants_exactly_what_it_says(pattern, relative, expected):
    assert is_path_matched(pattern, relative) is expected


@each_row(
    ("pattern", "relative", "expected"),
    [
        ("Read(.env)", ".env", True),
        ("Read(.env)", "sub/.env", True),
        ("Read(.env)", "sub/.ENV", True),
        ("Read(.env)", ".env/x", True),
        ("Read(.env)", ".environment", False),
        ("Read(.env*)", "sub/.env.local", True),
        ("Read(secret/)", "secret/a/b", True),
        ("Read(secret)", "secret/a/b", True),
        ("Read(src/*)", "src/deep/a.py", False),
        ("Read(src/*)", "src/A.py", True),
        ("Read(src/deep)", "src/deep/a.py", True),
        ("Read(*)", "src/a", True),
        ("Read(src/*.py)", "src/deep/a.py", False),
        ("Write(*.ts)", "src/a.ts", False),
        ("Read(*.ts)", "src/a.ts", True),
        ("Read(*.ts)", "src/a.tsx", False),
        ("Read(/w/x)", "x", True),
        ("Read(caf\u00e9)", "cafe\u0301", True),
    ],
)
def test_a_denied_path_is_denied_in_every_spelling(pattern, relative, expected):
    assert is_path_matched(pattern, relative, purpose="deny") is expected


def test_of_several_paths_a_grant_covers_all_and_a_deny_any():
    both = path_target("src/a.py") | {"other": path_target("lib/b.py")["path"]}
    for purpose, expected in (("grant", False), ("ceiling", False), ("deny", True)):
        assert (
            permission_matches(PermissionPattern(text="Read(src/**)"), READ, {}, both, None, purpose=purpose)
            is expected
        )


def test_a_denied_link_and_its_target_are_both_denied():
    target = {"path": ResolvedPath(path="/w/real", relative="real", exists=True, given="./x/../link")}
    for pattern, expected in (("Read(link)", True), ("Read(real)", True), ("Read(x)", False)):
        assert (
            permission_matches(
                PermissionPattern(text=pattern), READ, {"path": "link"}, target, None, purpose="deny"
            )
            is expected
        )
    assert not permission_matches(PermissionPattern(text="Read(link)"), READ, {"path": "link"}, target, None)


@each_row(
    ("pattern", "command", "expected"),
    [
        ("Bash(git diff *)", "git diff --stat main", True),
        ("Bash(git diff *)", "git diff", True),
        ("Bash(git diff *)", "git difftool", False),
        ("Bash(git diff*)", "git diff-tree HEAD", True),
        ("Bash(git diff:*)", "git diff x", True),
        ("Bash(git diff:*)", "git difftool", False),
        ("Bash(pytest *)", "pytest -q tests/test_a.py", True),
        ("Bash(pytest)", "pytest -q", False),
        ("Bash(npm test)", "npm  test", True),
        ("Bash(git diff *)", "git diff; rm x", False),
        ("Bash(git diff *)", "git diff $(rm x)", False),
        ("Bash(git diff *)", "git diff > x", False),
        ("Bash(git diff *)", "git diff\nrm x", False),
        ("Bash(git diff *)", "/tmp/git diff x", False),
        ("Bash(git diff *)", "sudo git diff x", False),
        ("Bash(git diff *)", "git diff --output=x", False),
        ("Bash", "rm x; ls", True),
        ("Bash", "rm $x; ls", False),
        ("Bash(*)", "rm x | sh", False),
        ("*", "rm x | sh", False),
        ("Bash", "ls -l", True),
        ("run_in_terminal(ls *)", "ls -l", True),
        ("Bash(python *)", "python x.py", False),
    ],
)
def test_a_command_pattern_grants_plain_commands_only(pattern, command, expected):
    assert is_command_matched(pattern, command) is expected


@pytest.mark.spec(85)
@each_row(
    ("pattern", "command", "expected"),
    [
        ("Bash(git push*)", "cd x; /usr/bin/git push", True),
        ("Bash(git push *)", "sudo git push", True),
        ("Bash(git push *)", "git pushx", False),
        ("Bash(sudo *)", "ls && sudo rm x", True),
        ("Bash(rm -rf /*)", "rm -rf /", True),
        ("Bash(rm -rf /*)", "echo a; rm -rf /etc", True),
        ("Bash(*--force*)", "git push --force origin", True),
        ("Bash", "anything | at all", True),
        ("Bash(*)", "anything", True),
        ("*", "anything", True),
        ("Bash(curl * | sh)", "curl x | sh", True),
        ("Bash(git push)", "git pull", False),
    ],
)
def test_a_command_pattern_denies_wherever_the_command_stands(pattern, command, expected):
    assert is_command_matched(pattern, command, "deny") is expected


@pytest.mark.spec(86)
@pytest.mark.parametrize(
    ("ceiling", "command", "expected"),
    [
        (["Bash(git log*)"], "git log --format='%h'", True),
        (["Bash(git log*)"], "git log; rm x", False),
        (["Bash(git log*)", "Bash(wc *)"], "git log | wc -l", True),
        (["Bash(git log*)"], "git log $(rm x)", False),
        (["Bash(git log*)"], "git log 'unclosed; rm x", False),
        (["Bash"], "rm x | sh", True),
        (["Read"], "ls", False),
    ],
)
def test_a_ceiling_has_to_cover_every_command(ceiling, command, expected):
    globs = [PermissionPattern(text=text) for text in ceiling]
    assert is_within_ceiling(globs, SHELL, {"command": command}, {}, view_command(command)) is expected


@each_row(
    ("pattern", "url", "purpose", "expected"),
    [
        ("WebFetch(domain:example.com)", "https://example.com/x", "grant", True),
        ("WebFetch(domain:example.com)", "https://a.example.com/", "grant", False),
        ("WebFetch(domain:example.com)", "https://a.EXAMPLE.com./", "deny", True),
        ("WebFetch(domain:example.com)", "https://example.com.evil.test/", "grant", False),
        ("WebFetch(domain:example.com)", "https://example.com@evil.test/", "grant", False),
        ("WebFetch(https://example.com/*)", "https://example.com/a/b", "grant", True),
        ("WebFetch(domain:x)", "http://[bad", "deny", True),
        ("WebFetch(domain:x)", "http://[bad", "grant", False),
    ],
)
def test_a_url_pattern(pattern, url, purpose, expected):
    assert (
        permission_matches(PermissionPattern(text=pattern), FETCH, {"url": url}, {}, None, purpose=purpose)
        is expected
    )


@pytest.mark.parametrize("text", ["Bash(rm", "Bash)", "(x)", "", "Ba sh(x)", "Bash(" + "x" * 600 + ")"])
def test_a_pattern_that_cannot_be_read_is_an_error_and_grants_nothing(text):
    assert [note.level for note in parse_permission(text).notes] == ["error"]
    assert not is_command_matched(text, "rm")


def test_a_deny_pattern_that_cannot_be_read_denies_the_tool_it_names():
    assert is_command_matched("Bash(rm", "ls", "deny")
    assert not is_path_matched("Bash(rm", "a", purpose="deny")


@pytest.mark.parametrize(
    ("name", "level", "part"),
    [
        ("WebSearch", "note", "no such tool here"),
        ("Raed", "warning", "did you mean Read"),
        ("Zzzz(x)", "warning", "no tool is called that"),
        ("Read(*.[ch])", "note", "match only themselves"),
    ],
)
def test_a_name_that_matches_nothing_is_said(name, level, part):
    (note,) = parse_permission(name).notes
    assert note.level == level
    assert part in note.text


@pytest.mark.parametrize("name", ["Read", "Bash(x [a])", "read_file", "mcp__a__b", "*", "pipeline.run"])
def test_a_known_name_needs_no_note(name):
    assert parse_permission(name).notes == ()


@given(st.lists(st.text("ab", max_size=3), min_size=1, max_size=5), st.data())
def test_a_star_is_any_text(parts, data):
    text = parts[0] + "".join(data.draw(st.text("abc", max_size=3)) + part for part in parts[1:])
    assert wildcard_matches("*".join(parts), text)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_spans_agrees_with_a_regular_expression(pattern, text):
    import re

    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None
    assert wildcard_matches(pattern, text) is expected


@each_row(
    ("pattern", "command", "passes"),
    [
        ("foo *", "foo a b", True),
        ("foo *", "foo a --x", False),
        ("foo * --x", "foo a --x", True),
        ("foo --x *", "foo --x a", True),
        ("foo --x *", "foo --x", True),
        ("foo --*", "foo --x", False),
        ("foo *x", "foo --x", False),
        ("foo --x*", "foo --x", True),
        ("foo --x*", "foo --x a", True),
        ("foo --x*", "foo --xy", False),
        ("foo * --x *", "foo a --x b", True),
        ("foo * --x *", "foo a --x b --y", False),
        ("foo * --x * --y *", "foo a --x b --y c", True),
        ("foo * --x*--y *", "foo a --x b --y c", True),
        ("foo*--x*--y", "foo --x --y", True),
        ("foo *a* --x", "foo aaba --x", True),
        ("foo *-x* --x", "foo --x --x", False),
        ("*foo --x", "foo --x", True),
        ("foo --x", "foo  --x", True),
        ("foo '--x' *", "foo --x a", True),
        ("foo --x *", "foo '--x' a", True),
        ("foo 'a b' *", "foo 'a b' --x", False),
        ("foo '--x=a b'", "foo '--x=a b'", True),
        ("foo --x=a *", "foo '--x=a b'", False),
        ("foo" + "*" * 20 + " --x", "foo a --x", False),
    ],
)
def test_no_star_takes_a_part_of_a_word_that_has_to_be_spelled_out(pattern, command, passes):
    assert is_command_matched(f"Bash({pattern})", command) is passes


def test_many_stars_and_many_words_take_no_time():
    command = "foo " + " ".join(f"a{n} --x{n}" for n in range(1500))
    with bounded_work():
        assert not is_command_matched("Bash(foo *a*a*a*a*a*a*a*a*a*a*a*a*a*a*)", command)
