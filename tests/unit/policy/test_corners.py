"""The rare ways through the gate: each is a verdict that nothing else asks for."""

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import DESCRIPTORS, FETCH, READ, SERVED, SHELL, context, rule
from workbench.domain.rows import Trust
from workbench.domain.values import PermissionPattern
from workbench.policy import hooks, permissions, regex, regex_analysis, rule_validation, rules, schemas, trust
from workbench.policy.gate import GateCall, ScreenedCall, judge_screened_call, screen_call
from workbench.policy.paths import PathRefused, ResolvedPath, resolve_path
from workbench.policy.permissions import permission_matches
from workbench.policy.shell.analysis import ShellView, view_command
from workbench.policy.shell.command_risk import assess_command
from workbench.policy.shell.deny_texts import could_contain
from workbench.policy.shell.parser import UnclearCommand, dequoted_pattern, tokenize
from workbench.policy.urls import check_url_hops
from workbench.tools import fetch_webpage


def reasons(command):
    return view_command(command).reasons


@each_row(
    ("command", "passes"),
    [
        ("echo $'\\x41\\101\\u00e9\\U0001F600\\cA\\q\\n'", True),
        ("echo $'\\0'", False),
        ("echo $'\\x00'", False),
        ("echo $'\\ud800'", False),
        ("echo $'\\U00110000'", False),
        ("cat << ; ls", False),
        ("awk -Fx 1 a", True),
        ("awk -F x 1 a", True),
        ("awk -va=1 1 a", True),
        ("awk -v A=1 1 a", False),
        ("awk -- 1 a", True),
        ("awk --", False),
        ("awk", False),
        ("awk '" + "1;" * 1500 + "' a", False),
        ("sed '" + "p;" * 1500 + "' a", False),
        ("sed --expression=p a", True),
        ("sed --version", True),
        ("set", False),
        ("set -e", True),
        ("export A", True),
        ("export -p", False),
        ("export", False),
        ("uv run --version", False),
        ("uv --version", True),
        ("npx --version", True),
        ("npx " * 6 + "x", False),
        ("uv run -c x", False),
        ("curl -w %output{x} http://a.example", False),
        ("curl --json=@x http://a.example", False),
        ("curl file:///etc/passwd", False),
        ("curl -sSo - http://a.example", True),
        ("wget -qO- http://a.example", True),
        ("wget -qO - http://a.example", True),
        ("wget -qOx http://a.example", True),
        ("curl --output /dev/null http://a.example", True),
        ("cat --output x", True),
        ("for x in a; do echo b; done", True),
        ("for LD_PRELOAD in a; do echo b; done", False),
        ("select x in a; do echo b; done", False),
        ('echo $"a"', False),
        ("[[ a == b ]]", False),
        ("((a))", False),
        ("test 'a[$(id)]' -eq 0", False),
        ("dd of=/dev/null if=a", True),
        ("dd of=x", False),
        ("env", True),
        ("sudo --version", True),
        ("exec --version", False),
        ("vim --version", True),
        ("go build -ldflags=-extld=x", False),
        ("go test -count=1", True),
        ("java -version", False),
        ("echo a >&$x", False),
        ("{ ls; } < a.txt", False),
    ],
)
def test_whether_a_command_is_plain(command, passes):
    assert (not reasons(command)) is passes


def test_a_pattern_is_read_as_a_command_is():
    assert dequoted_pattern("a 'b c'") == "a b\x1fc"
    assert dequoted_pattern("a b") is None
    assert dequoted_pattern("a 'b") is None
    assert dequoted_pattern("a; 'b'") is None


def test_a_here_document_has_a_word_for_its_end():
    with pytest.raises(UnclearCommand, match="without a word"):
        tokenize("cat <<\nx")


def test_a_long_chain_of_runners_is_too_much():
    assert assess_command(["npx"] * 7 + ["ls"]).reasons == ("too many programs run one another",)


def test_a_loose_search_keeps_the_order_of_words():
    assert could_contain("git push *", "x git --y push z")
    assert not could_contain("git push *", "push git")
    assert not could_contain("git push", "mygit push")


def test_a_head_that_can_be_no_file_leads_nowhere():
    for head in ("x" * 5000, "'a\0b'", "$(ls)"):
        assert view_command(f"{head} y", folder="/", path="/nowhere").deny_texts


def test_a_ceiling_covers_a_command_that_is_not_there_only_if_it_is_bare():
    for text, covered in (("Bash", True), ("Bash(ls)", False)):
        assert (
            permission_matches(PermissionPattern(text=text), SHELL, {}, {}, None, purpose="ceiling")
            is covered
        )
    assert permission_matches(PermissionPattern(text="Bash(ls)"), SHELL, {}, {}, None, purpose="deny")
    assert not permission_matches(PermissionPattern(text="Bash(ls)"), SHELL, {}, {}, None)


def test_a_parameter_that_is_no_text_matches_no_argument():
    assert not permission_matches(
        PermissionPattern(text="mcp__github__search(x)"), SERVED, {"pattern": 3}, {}, None
    )
    assert permission_matches(
        PermissionPattern(text="mcp__github__search(x)"), SERVED, {"pattern": "x"}, {}, None
    )


@pytest.mark.parametrize(
    ("pattern", "path"), [("Read(~/a)", "a"), ("Read(//x/a)", None), ("Read(src/)", "src/b")]
)
def test_homes_double_slashes_and_folders_in_patterns(pattern, path, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = (
        resolve_path(str(tmp_path), path) if path else ResolvedPath(path="/x/a", relative="a", exists=False)
    )
    assert permission_matches(PermissionPattern(text=pattern), READ, {}, {"path": found}, None)


def test_an_address_that_cannot_be_read_is_denied_and_not_granted():
    for purpose, said in (("deny", True), ("grant", False)):
        glob = PermissionPattern(text="WebFetch(domain:a.example)")
        assert permission_matches(glob, FETCH, {"url": "http://[x"}, {}, None, purpose=purpose) is said


def test_names_that_say_nothing_are_problems():
    assert [permissions.parse_permission(text).problem for text in ("(a)", "Bash(a", "Ba sh", "Bash)", "B" * 501)] == [
        "names no tool", "the parenthesis does not close", "a tool's name has no spaces",
        "a closing parenthesis without an opening one", "longer than 500 characters",
    ]  # fmt: skip


def test_a_command_with_odd_text_says_that_no_rule_covers_it(tmp_path):
    call = GateCall(tool="run_in_terminal", parameters={"command": "echo 'a" + " " * 60 + "b'"})
    passed = screen_call(call, context(tmp_path))
    assert isinstance(passed, ScreenedCall)
    said = judge_screened_call(passed, context(tmp_path, allow=(PermissionPattern(text="Bash(echo *)"),)))
    assert (said.outcome, "hidden or misleading" in said.reason) == ("ask", True)


@pytest.mark.parametrize(
    ("content", "outcome"),
    [("a\r\nb\r\n", "allowed"), ("a\nb\n", "allowed"), ("a\r\nb\n", "ask"), ("a\rb", "ask")],
)
def test_a_grant_covers_a_file_whose_lines_all_end_in_crlf(tmp_path, content, outcome):
    call = GateCall(tool="create_file", parameters={"path": "a.txt", "content": content})
    passed = screen_call(call, context(tmp_path))
    assert isinstance(passed, ScreenedCall)
    assert (
        judge_screened_call(passed, context(tmp_path, allow=(PermissionPattern(text="Write(**)"),))).outcome
        == outcome
    )


def test_no_grant_covers_a_program_of_mixed_alphabets(tmp_path):
    call = GateCall(tool="run_in_terminal", parameters={"command": "g\u0456t status"})
    passed = screen_call(call, context(tmp_path))
    assert isinstance(passed, ScreenedCall)
    assert (
        judge_screened_call(passed, context(tmp_path, allow=(PermissionPattern(text="Bash(g*)"),))).outcome
        == "ask"
    )


@pytest.mark.parametrize(
    ("url", "outcome"), [("https://p\u0430ypal.com/", "ask"), ("https://example.com/", "allowed")]
)
def test_no_grant_covers_a_host_of_mixed_alphabets(tmp_path, url, outcome):
    passed = screen_call(GateCall(tool="fetch_webpage", parameters={"url": url}), context(tmp_path))
    assert isinstance(passed, ScreenedCall), passed
    assert (
        judge_screened_call(passed, context(tmp_path, allow=(PermissionPattern(text="WebFetch"),))).outcome
        == outcome
    )


def test_a_denied_call_without_a_target_is_named_by_its_tool(tmp_path):
    bare = replace(SERVED, target_parameter=None)
    made = context(
        tmp_path, descriptors={**DESCRIPTORS, bare.id: bare}, deny=(PermissionPattern(text=bare.id),)
    )
    said = screen_call(GateCall(tool=bare.id, parameters={"pattern": "x"}), made)
    assert said.reason.startswith(f"{bare.id} matches")


def test_a_line_whose_parts_all_pass_has_nothing_uncovered(tmp_path):
    from workbench.policy.gate import _uncovered_reason

    made = context(tmp_path, allow=(PermissionPattern(text="Bash(ls)"),))
    passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": "ls"}), made)
    assert _uncovered_reason(passed, passed.view, made) == ""


def test_a_path_that_the_system_refuses_is_refused_in_its_words(tmp_path, monkeypatch):
    def denied(_):
        raise PermissionError(13, "no")

    monkeypatch.setattr("os.lstat", denied)
    with pytest.raises(PathRefused, match="Permission denied"):
        resolve_path(str(tmp_path), "a")


def test_a_common_folder_of_git_is_protected_where_it_is_named(tmp_path):
    from workbench.policy.paths import _folders_named_by

    (tmp_path / "real").mkdir()
    (tmp_path / ".git").write_text("gitdir: real\n")
    assert [path.rsplit("/", 1)[-1] for path in _folders_named_by(f"{tmp_path}/.git")] == ["real"]
    (tmp_path / "real/commondir").write_text("../common\n")
    assert [path.rsplit("/", 1)[-1] for path in _folders_named_by(f"{tmp_path}/.git")] == ["real", "common"]


def test_samples_have_every_shape_of_parameters():
    schema = {
        "type": "object", "required": ["a"],
        "properties": {
            "a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "array"}, "d": {"type": "object"},
            "e": {"enum": [1, 2]}, "f": {"type": "integer"},
        },
    }  # fmt: skip
    small, large = rule_validation.sample_calls(replace(SERVED, input_schema=schema))
    assert {tuple(sample) for sample in small} == {("a",)}
    assert {type(value) for value in large[0].values()} == {str, bool, list, dict, int}
    assert {sample["e"] for sample in large} == {1, 2}


def test_a_finder_finds_letters_lines_and_refuses_what_is_none():
    find = regex.LineFinder("a.c", is_literal=False, ignore_case=True)
    assert (find.find(b"x ABC", 0), find.find(b"x ABC", 3)) == (2, None)
    assert regex.LineFinder("a.c", is_literal=True, ignore_case=False).find(b"abc a.c", 0) == 4
    assert find.block(100) > 0 and find.block(10**9) <= regex.MAX_SEARCH_STEPS
    for pattern in ("(", "x" * 20_000):
        with pytest.raises(regex.InvalidRegex):
            regex.LineFinder(pattern, is_literal=False, ignore_case=False)
    with pytest.raises(regex.InvalidRegex):
        regex.Regex("x" * 200_000)


@pytest.mark.parametrize(
    "schema", [3, {"type": "object", "properties": 3}, {"type": "object", "pattern": "("}]
)
def test_a_schema_that_is_none_is_said(schema):
    assert schemas.schema_problems(schema)


def test_a_schema_or_value_that_is_too_deep_is_said():
    deep = {"type": "object"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    assert schemas.schema_problems(deep)
    value: object = {}
    for _ in range(3000):
        value = {"a": value}
    loop = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    assert schemas.parameter_problems(loop, value) == ("parameters: nested too deep to be checked",)


def test_a_schema_that_refers_to_nothing_is_said():
    assert schemas.parameter_problems({"$ref": "#/nowhere"}, {"a": 1})[0].startswith("schema:")


def test_a_text_too_long_for_its_pattern_is_said():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a|b|c|d){900}$"}}}
    assert schemas.parameter_problems(schema, {"a": "a" * 4_000_000})[0].startswith("parameters: too long")


def test_only_so_many_faults_are_said():
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in map(str, range(100))}}
    assert (
        len(schemas.parameter_problems(schema, dict.fromkeys(map(str, range(100)), 1)))
        == schemas.MAX_MESSAGES
    )


def test_robots_weigh_rules_of_one_length_and_pieces_in_order():
    text = "User-agent: *\nDisallow: /a*b*c$\nAllow: /x\nDisallow: /y\n"
    assert not fetch_webpage.robots_allow(text, "agent", "/a1b2c")
    assert fetch_webpage.robots_allow(text, "agent", "/a1c2b")
    assert fetch_webpage.robots_allow(text, "agent", "/acb")
    assert fetch_webpage.robots_allow(text, "agent", "/axc")
    assert fetch_webpage.robots_allow("User-agent: *\nDisallow: /x\nAllow: /x\n", "agent", "/x")
    assert not fetch_webpage.robots_allow(
        "User-agent: *\nDisallow: /\nDisallow: /xx\nAllow: /x\n", "agent", "/xx"
    )


@pytest.mark.parametrize(
    "pattern", ["(x)" * 150, "(a|b|c|d|e|f|g)" * 50 + "*", "a*?(?:b|)+", "(?s-i:a+)+$", "x{3}y{2,}"]
)
def test_large_and_odd_patterns_are_judged(pattern):
    assert isinstance(regex_analysis.backtracking_objection(pattern), str | None)
    assert isinstance(regex_analysis.is_specific_regex(pattern), bool)


def test_what_cannot_be_judged_is_objected_to():
    assert "cannot be judged" in regex_analysis.backtracking_objection("(?=a)b")
    assert regex_analysis.is_specific_regex("(?=a)b")
    assert "too large" in regex_analysis.backtracking_objection("a?" * 601)


def test_a_rule_of_another_tool_or_scope_covers_nothing(tmp_path):
    from workbench.policy.rules import call_subject

    subject = call_subject(SHELL, {"command": "git diff x"}, "")
    assert not rules.rule_covers(rule(tool="read_file"), subject)
    assert not rules.rule_covers(rule(), replace(subject, view=None))
    run = rules.RuleMoment(session_id="s", workspace="/w", run_id="r1", now=5)
    scopes = {"session": "s", "workspace": "/w", "run": "r1"}
    for scope, name in scopes.items():
        assert rules.is_rule_in_force(rule(scope=scope, scope_id=name), run)
        assert not rules.is_rule_in_force(rule(scope=scope, scope_id="other"), run)
    setting = rule(scope="workspace", scope_id="/project", origin="config")
    step = replace(run, workspace="/home/data/step", settings_of="/project")
    assert rules.is_rule_in_force(setting, step) and not rules.is_rule_in_force(setting, run)
    assert not rules.is_rule_in_force(replace(setting, origin="user"), step)
    assert not rules.is_rule_in_force(rule(revoked_at=1), run)
    assert not rules.is_rule_in_force(rule(expires_at=5), run)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("Bash(", "does not close"), ("Read(x)", "another tool"), ("Bash(FOO=1)", "names no command"),
     ("Bash(PATH=. ls)", "PATH makes"), ("Bash(FOO=1 npm *)", "too wide"), ("Bash(npx *)", "does not name")],
)  # fmt: skip
def test_a_glob_that_may_not_be_saved_says_why(pattern, said):
    found = rule_validation.rule_problems(
        tool="run_in_terminal", pattern_kind="glob", pattern=pattern, description="d", known_tools=DESCRIPTORS
    )
    assert any(said in why for why in found)


def test_hops_end_at_the_first_that_is_denied():
    assert check_url_hops("ftp://a", ["http://b"], lambda _: ()).verdict == "deny"


def test_hooks_are_told_the_outcome_of_what_they_follow(tmp_path):
    call = GateCall(tool="read_file", parameters={"path": "a"})
    passed = screen_call(call, context(tmp_path))
    told = hooks.HookPayload(session_id="s1", passed=passed, outcome="succeeded")
    assert b'"outcome": "succeeded"' in told.stdin("PostToolUse")
    assert b"outcome" not in replace(told, outcome=None).stdin("PreToolUse")


def test_the_trust_question_names_the_first_files_and_counts_the_rest():
    files = tuple(f"f{n}" for n in range(11))
    assert "f7 and 3 more." in trust.trust_question("/w", files)
    assert "It has no agent settings yet" in trust.trust_question("/w", ())
    row = Trust(workspace="/w", content_hash="h", read_grant=False, decided_at=1, decided_by="me")
    assert trust.is_trusted(row, "h")
    assert not trust.is_trusted(row, "other") and not trust.is_trusted(None, "h")


def test_what_governs_and_cannot_be_read_is_no_trust(tmp_path, monkeypatch):
    (tmp_path / ".workbench.json").symlink_to("/etc/hostname")
    with pytest.raises(trust.TrustRefused, match="outside"):
        trust.governing_hash(str(tmp_path))
    assert trust.hook_named_files(str(tmp_path)) == ()


def test_a_folder_that_cannot_be_listed_is_no_trust(tmp_path, monkeypatch):
    import os

    (tmp_path / ".workbench").mkdir()
    real = os.scandir

    def refuse(path):
        if str(path).endswith(".workbench"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(trust.TrustRefused, match="cannot be listed"):
        trust.governing_hash(str(tmp_path))


def test_words_of_a_hook_with_an_open_quote_and_words_that_are_no_files(tmp_path):
    from workbench.policy.trust import _command_words, _path_in_workspace

    assert set(_command_words("sh 'a b")) == {"sh", "'a", "b"}
    assert [
        _path_in_workspace(str(tmp_path), word) for word in ("", "a\0b", "-x", "x" * 5000, "nothing")
    ] == [None] * 5


def test_a_view_without_reach_is_searched_loosely():
    seen = ShellView(plain=False, reasons=("r",), segments=(), raw="x git y push", has_all_deny_texts=False)
    assert permission_matches(PermissionPattern(text="Bash(git push)"), SHELL, {}, {}, seen, purpose="deny")
    assert not permission_matches(PermissionPattern(text="Bash(rm x)"), SHELL, {}, {}, seen, purpose="deny")


def test_a_path_parameter_that_is_not_given_is_no_target(tmp_path):
    both = replace(READ, path_parameters=("path", "other"))
    made = context(tmp_path, descriptors={**DESCRIPTORS, READ.id: both})
    passed = screen_call(GateCall(tool=READ.id, parameters={"path": "a"}), made)
    assert list(passed.targets) == ["path"]


def test_a_pattern_that_names_nothing_is_told_both_faults():
    found = rule_validation.rule_problems(
        tool="read_file", pattern_kind="regex", pattern=".*.*", description="d", known_tools=DESCRIPTORS
    )
    assert ["nearly every call" in why for why in found] == [True, False]
    assert "extremely slow" in found[1]


@pytest.mark.parametrize(
    ("pattern", "said"), [('"command":"python -m pytest', True), ('"command":"python', False)]
)
def test_a_regular_expression_spells_out_what_an_interpreter_runs(pattern, said):
    from workbench.policy.rules import call_subject

    subject = call_subject(SHELL, {"command": "python -m pytest -q"}, "")
    assert rules.rule_covers(rule(pattern_kind="regex", pattern=pattern), subject) is said


def test_an_asking_rule_stands_in_the_way_of_tools_without_a_command(tmp_path):
    from workbench.policy.rules import call_subject

    subject = call_subject(READ, {"path": "a"}, str(tmp_path))
    asking = rule(tool="read_file", pattern_kind="regex", pattern='"path":"a"', effect="ask")
    assert rules.rule_covers(asking, subject)
    assert not rules.rule_covers(replace(asking, pattern='"path":"b"'), subject)


def test_too_many_ways_through_a_loop_are_not_followed(monkeypatch):
    monkeypatch.setattr(regex_analysis, "_MAX_PAIRS", 1)
    assert "too large" in regex_analysis.backtracking_objection("([ab]c|[ad]e)*x")


def test_a_system_that_folds_case_denies_other_spellings(monkeypatch):
    from workbench.policy.shell import analysis

    analysis._view_without_links.cache_clear()
    monkeypatch.setattr("sys.platform", "darwin")
    assert permission_matches(
        PermissionPattern(text="Bash(rm *)"), SHELL, {}, {}, view_command("RM x"), purpose="deny"
    )
    analysis._view_without_links.cache_clear()


def test_a_circle_of_links_to_programs_ends(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert {"a x", "b x"} <= set(view_command("./a x", folder=str(tmp_path)).deny_texts)


def test_a_governing_file_that_cannot_be_read_is_no_trust_and_names_nothing(tmp_path, monkeypatch):
    (tmp_path / ".workbench.json").write_text("{}")
    (tmp_path / "workbench.yaml").write_text("x")

    def fails(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(trust, "_read_regular_file", fails)
    with pytest.raises(trust.TrustRefused, match="cannot be read"):
        trust.governing_hash(str(tmp_path))
    assert trust.hook_named_files(str(tmp_path)) == ()


def test_more_brackets_or_quotes_than_anybody_writes_are_not_looked_into():
    assert "too many brackets and redirects to check" in reasons("ls " + "a}{ " * 400)
    assert "too many quotes to check" in reasons("ls " + "'' " * 4000)


@pytest.mark.parametrize("name", trust.PIPELINE_MANIFESTS)
def test_a_manifest_that_leads_outside_names_nothing(name, tmp_path):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).symlink_to("/etc/passwd")
    assert list(trust._manifest_commands(str(tmp_path))) == []


@pytest.mark.parametrize("name", trust.PIPELINE_MANIFESTS)
def test_what_a_manifest_names_governs_too(name, tmp_path):
    (tmp_path / "check.sh").write_text("true")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("hooks:\n  - command: ./check.sh\n    prompt: ./check.sh\n")
    before = trust.governing_hash(str(tmp_path))
    (tmp_path / "check.sh").write_text("false")
    assert trust.hook_named_files(str(tmp_path)) == ("check.sh",)
    assert trust.governing_hash(str(tmp_path)) != before
