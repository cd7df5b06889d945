"""The folder a call runs in, and the files that it names elsewhere than in its path parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.policy.gate_cases import KNOWN, REPLACE, SHELL, context, rule
from workbench.domain.values import GateVerdict, PermissionPattern, ToolDescriptor
from workbench.policy.gate import OUTSIDE_MARK, GateCall, judge_screened_call, screen_call

PATCH = ToolDescriptor(
    id="apply_patch", wire_name="apply_patch", description="d", capability="write", risk_level="dangerous",
    input_schema={"type": "object", "properties": {"patch": {"type": "string"}}},
)  # fmt: skip
TOOLS = {**KNOWN, "apply_patch": PATCH}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    top = tmp_path_factory.mktemp("folders")
    root = top / "work"
    for folder in ("work/sub/deep", "work/src", "work/.git", "other/build", "data"):
        (top / folder).mkdir(parents=True)
    for name in ("work/.env", "work/src/a.py", "work/sub/note.txt", "other/build/x", "work/notes.md"):
        (top / name).write_text("x\n")
    return root


def where(place, **changed):
    changed.setdefault("descriptors", TOOLS)
    return context(place, protected=(str(place.parent / "data"),), **changed)


def verdict(call, gate):
    screened = screen_call(call, gate)
    return screened if isinstance(screened, GateVerdict) else judge_screened_call(screened, gate)


def command(line, cwd, **more):
    return GateCall(tool=SHELL.id, parameters={"command": line}, cwd=str(cwd), **more)


def patch(*paths, cwd=""):
    return GateCall(tool="apply_patch", parameters={"patch": "any"}, cwd=str(cwd), paths=paths)


EVERY_COMMAND = (PermissionPattern(text="Bash(*)"),)
LINES = ("cat note.txt", "rm build/x", "ls ../other", "cat ../.env", "cat .env", "cat deep/../../src/a.py")


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("folder", ["", "sub", "sub/deep"])
def test_a_line_is_judged_as_behind_a_cd_to_the_folder_it_runs_in(place, line, folder):
    gate = where(place, allow=EVERY_COMMAND, deny=(PermissionPattern(text="Read(.env)", origin="d"),))
    said = verdict(command(line, place / folder), gate)
    written = verdict(command(f"cd {folder} && {line}" if folder else line, place), gate)
    assert (said.outcome, said.step) == (written.outcome, written.step)


def test_a_grant_has_to_cover_the_change_of_folder_too(place):
    gate = where(place, allow=(PermissionPattern(text="Bash(cat *)"),))
    assert verdict(command("cat note.txt", place), gate).outcome == "allowed"
    asked = verdict(command("cat note.txt", place / "sub"), gate)
    assert (asked.outcome, "cd sub" in asked.reason) == ("ask", True)


@pytest.mark.parametrize("line", LINES)
def test_no_grant_covers_a_line_that_runs_outside_the_workspace(place, line):
    outside = place.parent / "other"
    assert verdict(command(line, outside), where(place, allow=EVERY_COMMAND)).outcome == "refused"
    gate = where(place, allow=EVERY_COMMAND, outside="ask", rules=(rule(pattern="Bash(*)"),))
    screened = screen_call(command(line, outside), gate)
    assert OUTSIDE_MARK in screened.marks
    assert judge_screened_call(screened, gate).outcome == "ask"


def test_a_grant_of_a_whole_run_names_its_closed_places_from_the_folder(place):
    granted = rule(scope="run", scope_id="r1", pattern_kind="glob", pattern="Bash", id="R9")
    gate = where(place, rules=(granted,), run_id="r1", deny=(PermissionPattern(text="Read(.env)"),))
    assert verdict(command("sort note.txt", place / "sub"), gate).outcome == "allowed"
    assert verdict(command("sort ../.env", place / "sub"), gate).outcome in ("ask", "denied")


@pytest.mark.parametrize("cwd", ["missing", "src/a.py", "relative"])
def test_a_folder_that_is_none_refuses_the_call(place, cwd):
    given = cwd if cwd == "relative" else str(place / cwd)
    refused = verdict(command("cat note.txt", given), where(place))
    assert (refused.outcome, refused.step) == ("refused", "paths")


def test_the_data_folder_is_no_place_to_run_in(place):
    gate = where(place, outside="ask", allow=EVERY_COMMAND)
    assert verdict(command("ls", place.parent / "data"), gate).outcome == "refused"


def test_a_path_parameter_begins_in_the_folder(place):
    gate = where(place, allow=(PermissionPattern(text="Edit(sub/**)"),))
    call = GateCall(tool=REPLACE.id, parameters={"path": "note.txt", "new": "y"}, cwd=str(place / "sub"))
    screened = screen_call(call, gate)
    assert screened.grounded["path"] == "sub/note.txt"
    assert judge_screened_call(screened, gate).outcome == "allowed"
    assert verdict(GateCall(tool=REPLACE.id, parameters=call.parameters), gate).outcome == "ask"


ALLOWED = ("src/a.py", "src/b.py", "src/deep/c.py")
CLOSED = (".git/hooks/pre-commit", ".env", "notes.md", "../other/build/x", "sub/../.env", ".workbench/x")


@given(good=st.lists(st.sampled_from(ALLOWED), min_size=1, max_size=4, unique=True),
       bad=st.sampled_from(CLOSED), at=st.integers(0, 4), kind=st.sampled_from(["glob", "regex", "setting"]),
       outside=st.sampled_from(["ask", "refuse"]))  # fmt: skip
def test_a_grant_covers_a_call_only_with_all_of_its_files(place, good, bad, at, kind, outside):
    rules = {
        "glob": (rule(tool="apply_patch", pattern="apply_patch(src/**)"),),
        "regex": (rule(tool="apply_patch", pattern_kind="regex", pattern='"path":"src/'),),
    }.get(kind, ())
    allow = (PermissionPattern(text="apply_patch(src/**)"),) if kind == "setting" else ()
    deny = (PermissionPattern(text="Edit(.env)"), PermissionPattern(text="apply_patch(.env)"))
    gate = where(place, rules=rules, allow=allow, deny=deny, outside=outside)
    assert verdict(patch(*good), gate).outcome == "allowed"
    mixed = [*good[:at], bad, *good[at:]]
    assert verdict(patch(*mixed), gate).outcome in ("ask", "denied", "refused")
    if bad.endswith(".env"):
        assert verdict(patch(*mixed), gate).outcome == "denied"


def test_one_file_that_a_rule_denies_denies_the_call(place):
    denial = rule(effect="deny", tool="apply_patch", pattern_kind="regex", pattern=r"src/secret\.py")
    gate = where(place, rules=(denial,))
    assert verdict(patch("src/a.py", "src/secret.py"), gate).outcome == "denied"
    assert verdict(patch("src/a.py"), gate).outcome == "ask"


@pytest.mark.parametrize("allow", ["Bash", "Bash(*)", "Bash(apply_patch)", "Bash(apply_patch *)"])
@pytest.mark.parametrize(
    ("paths", "outcome"),
    [(("src/a.py",), "ask"), (("src/a.py", ".env"), "denied"), ((".git/hooks/pre-commit",), "refused")],
)
def test_a_command_that_names_further_files_is_judged_by_them(place, allow, paths, outcome):
    gate = where(place, allow=(PermissionPattern(text=allow),), deny=(PermissionPattern(text="Edit(.env)"),))
    assert verdict(command("apply_patch", place, paths=paths), gate).outcome == outcome
    assert (
        verdict(command("apply_patch", place / "sub", paths=[f"../{path}" for path in paths]), gate).outcome
        == outcome
    )


def test_a_patch_in_a_line_is_applied_in_the_folder_that_the_line_runs_in(place):
    line = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {}\n@@\n-x\n+y\n*** End Patch\nEOF"
    gate = where(place, allow=(PermissionPattern(text="Edit(sub/**)"),), applies_patches=True)
    assert verdict(command(line.format("note.txt"), place / "sub"), gate).outcome == "allowed"
    assert verdict(command(line.format("note.txt"), place), gate).outcome == "ask"
    assert verdict(command(line.format("../src/a.py"), place / "sub"), gate).outcome == "ask"
    assert verdict(command(line.format("../.git/config"), place / "sub"), gate).outcome == "refused"
