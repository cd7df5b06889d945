"""A line that holds a patch is judged by the files in it: denials, protected places and grants of each."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import CREATE, DESCRIPTORS, REPLACE, context, rule
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, judge_screened_call, recheck_call, screen_call

MOVE = replace(CREATE, id="move_file", wire_name="move_file", path_parameters=("path", "new_path"))
DELETE = replace(CREATE, id="delete_file", wire_name="delete_file")
TOOLS = {**DESCRIPTORS, "move_file": MOVE, "delete_file": DELETE}
UPDATE = "*** Update File: {}\n@@\n-a\n+b\n"
ADD = "*** Add File: {}\n+b\n"
REMOVE = "*** Delete File: {}\n"
MOVED = "*** Update File: {}\n*** Move to: {}\n@@\n-a\n+b\n"


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "sub").mkdir()
    (root / ".git").mkdir()
    (root / "src" / "a.py").write_text("a\n")
    return root


def line(*sections, before=""):
    return f"{before}apply_patch <<'EOF'\n*** Begin Patch\n{''.join(sections)}*** End Patch\nEOF"


def verdict(work, command, *allow, **more):
    where = context(
        work,
        **{
            "descriptors": TOOLS,
            "applies_patches": True,
            "allow": tuple(PermissionPattern(text=each) for each in allow),
            **more,
        },
    )
    return recheck_call(GateCall(tool="run_in_terminal", parameters={"command": command}), where)


WIDE = ("Bash", "Bash(*)", "Bash(apply_patch)", "Bash(apply_patch *)", "Bash(cd *)")


def test_no_grant_of_commands_covers_a_patch(work):
    for command in (
        line(ADD.format("src/b")),
        line(ADD.format("b"), before="cd src && "),
        "apply''_patch x",
        line(ADD.format("src/b")) + "\nls",
    ):
        for applies in (True, False):
            assert verdict(work, command, *WIDE, applies_patches=applies).outcome == "ask"
    run = rule(scope="run", scope_id="r", pattern="Bash")
    for command in (line(ADD.format("src/b")), "apply''_patch x"):
        assert verdict(work, command, rules=(run,), run_id="r").outcome == "ask"
    assert verdict(work, "frobnicate x", rules=(run,), run_id="r").outcome == "allowed"


@each_row(
    ("sections", "allow", "outcome"),
    [
        ([UPDATE.format("src/a.py")], ["Edit(src/**)"], "allowed"),
        ([UPDATE.format("src/a.py"), UPDATE.format("src/c.py")], ["Edit(src/a.py)", "Edit(src/c.py)"], "allowed"),
        ([UPDATE.format("src/a.py"), UPDATE.format("src/c.py")], ["Edit(src/a.py)"], "ask"),
        ([ADD.format("src/b")], ["Edit(src/**)"], "ask"),
        ([ADD.format("src/b")], ["create_file(src/**)"], "allowed"),
        ([ADD.format("src/a.py")], ["create_file(src/**)"], "ask"),
        ([ADD.format("src/a.py")], ["Write(src/**)"], "allowed"),
        ([REMOVE.format("src/a.py")], ["Edit(src/**)", "create_file(src/**)"], "ask"),
        ([REMOVE.format("src/a.py")], ["Write(src/**)"], "allowed"),
        ([MOVED.format("src/a.py", "src/d/b.py")], ["Write(src/**)"], "allowed"),
        ([MOVED.format("src/a.py", "b.py")], ["Write(src/**)"], "ask"),
        ([MOVED.format("a.py", "src/b.py")], ["Write(src/**)"], "ask"),
        ([UPDATE.format("src/../a.py")], ["Edit(src/**)"], "ask"),
        ([UPDATE.format("../work/src/a.py")], ["Edit(src/**)"], "allowed"),
    ],
)  # fmt: skip
def test_every_file_of_a_patch_has_to_be_granted(work, sections, allow, outcome):
    assert verdict(work, line(*sections), *allow).outcome == outcome


def test_only_an_agent_that_applies_patches_itself_is_granted_them(work):
    command = line(UPDATE.format("src/a.py"))
    assert verdict(work, command, "Edit(src/**)").outcome == "allowed"
    assert verdict(work, command, "Edit(src/**)", applies_patches=False).outcome == "ask"


def test_paths_are_those_of_the_folder_that_the_line_changes_to(work):
    assert (
        verdict(work, line(UPDATE.format("a.py"), before="cd src && "), "Edit(src/**)").outcome == "allowed"
    )
    assert verdict(work, line(UPDATE.format("a.py"), before="cd sub && "), "Edit(src/**)").outcome == "ask"
    assert (
        verdict(work, line(UPDATE.format(f"{work}/src/a.py"), before="cd sub && "), "Edit(src/**)").outcome
        == "allowed"
    )


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (ADD.format(".git/hooks/pre-commit"), {"refused"}), (MOVED.format("src/a.py", ".git/config"), {"refused"}),
        (UPDATE.format(".claude/settings.json"), {"ask"}), (REMOVE.format("src/secret"), {"denied"}), (UPDATE.format("src/secret"), {"denied"}),
        (MOVED.format("src/a.py", "src/secret"), {"denied"}), (UPDATE.format("src/private"), {"denied"}), (ADD.format("/etc/x"), {"ask"}),
        (ADD.format("../x"), {"ask"}), (ADD.format("lib/.envrc"), {"ask"}), (UPDATE.format("~/x"), {"refused"}),
    ],
)  # fmt: skip
def test_one_bad_file_in_any_place_keeps_a_patch_from_being_allowed(work, bad, expected):
    deny = tuple(
        PermissionPattern(text=text)
        for text in ("Edit(src/secret)", "Read(src/private)", "delete_file(src/secret)")
    )
    (work / "src" / "private").write_text("a\n")
    sections = (UPDATE.format("src/a.py"), UPDATE.format("src/b.py"), bad)
    for order in permutations(sections):
        judged = verdict(work, line(*order), "Edit", "Write", *WIDE, deny=deny)
        assert judged.outcome in expected, judged
        assert (
            verdict(work, line(*order), "Edit", "Write", deny=deny, applies_patches=False).outcome in expected
        )


def test_the_places_of_workbench_are_refused_also_outside_of_the_workspace(work, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    judged = verdict(work, line(ADD.format(f"{home}/x")), protected=(str(home),))
    assert (judged.outcome, judged.step) == ("refused", "paths")
    assert "belongs to workbench" in judged.reason


def test_a_link_is_followed_and_is_not_removed_unasked(work, tmp_path):
    (work / "src" / "link").symlink_to(work / ".git")
    (work / "src" / "name").symlink_to(work / "src" / "a.py")
    assert verdict(work, line(ADD.format("src/link/x")), "Write").outcome == "refused"
    assert verdict(work, line(UPDATE.format("src/name")), "Edit(src/a.py)").outcome == "allowed"
    judged = verdict(work, line(REMOVE.format("src/name")), "Write")
    assert (judged.outcome, "is a symbolic link" in judged.reason) == ("ask", True)


def test_a_path_with_dots_is_judged_as_text_and_as_the_kernel_follows_it(work):
    (work / "far" / "deep").mkdir(parents=True)
    (work / "src" / "jump").symlink_to(work / "far" / "deep")
    judged = verdict(work, line(UPDATE.format("src/jump/../a.py")), "Edit(src/**)")
    assert judged.outcome == "ask"
    assert verdict(work, line(UPDATE.format("src/jump/../a.py")), "Edit(far/**)").outcome == "ask"
    assert (
        verdict(work, line(UPDATE.format("src/jump/../a.py")), "Edit(src/**)", "Edit(far/**)").outcome
        == "allowed"
    )


@each_row(
    ("sections", "more", "reason"),
    [
        ([UPDATE.format("src/a.py"), UPDATE.format("b.py")], {}, "no pattern and no rule allows replace_string_in_file(b.py)"),
        (["*** Frobnicate\n"], {}, "the patch cannot be read: line 2"),
        ([ADD.format("/x/y")], {}, "leads outside the workspace"),
        ([UPDATE.format("src/a.py")], {"descriptors": {"run_in_terminal": DESCRIPTORS["run_in_terminal"]}}, "this agent has no replace_string_in_file"),
        ([UPDATE.format("src/a.py")], {"applies_patches": False}, "apply_patch writes the files that its patch names"),
        ([UPDATE.format("src/a.py")], {"ended": "it ended"}, "it ended"),
        ([UPDATE.format("src/a.py").replace("+b", "+\u202eb")], {}, "characters that cannot be seen"),
    ],
)  # fmt: skip
def test_a_question_says_why_no_grant_covers_the_patch(work, sections, more, reason):
    judged = verdict(work, line(*sections), "Edit(src/**)", **more)
    assert (judged.outcome, judged.step) == ("ask", "ask")
    assert reason in judged.reason


def test_a_rule_that_asks_about_one_file_asks_about_the_patch(work):
    asks = rule(effect="ask", tool="replace_string_in_file", pattern="Edit(src/b.py)")
    judged = verdict(
        work, line(UPDATE.format("src/a.py"), UPDATE.format("src/b.py")), "Edit(src/**)", rules=(asks,)
    )
    assert (judged.outcome, judged.rule) == ("ask", "R1")


def test_who_grants_each_file_is_named_once(work):
    judged = verdict(
        work,
        line(UPDATE.format("src/a.py"), UPDATE.format("src/b.py"), UPDATE.format("sub/c")),
        "Edit(src/**)",
        "Edit(sub/**)",
    )
    assert judged.outcome == "allowed"
    assert (judged.reason.count("Edit(src/**)"), judged.reason.count("Edit(sub/**)")) == (1, 1)


def test_what_may_be_asked_again_is_asked_the_same(work):
    where = context(work, descriptors=TOOLS, applies_patches=True)
    passed = screen_call(
        GateCall(tool="run_in_terminal", parameters={"command": line(UPDATE.format("src/a.py"))}), where
    )
    assert [each.descriptor.id for each in passed.patched] == [REPLACE.id]
    assert judge_screened_call(passed, where).outcome == "ask"
