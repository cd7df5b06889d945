"""The gate on moving and deleting: like a write of every path, and of no link."""

import pytest

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import context, rule
from tests.unit.policy.test_gate import call, globs, spoken
from workbench.config.types import ApprovalSettings, ApprovalWindow, Origin
from workbench.config.windows import approval_window_minutes
from workbench.policy.gate import screen_call
from workbench.policy.permissions import parse_permission, permission_names_tool
from workbench.policy.rule_suggestions import suggest_rules
from workbench.tools.registry import tool_registry

TOOLS = tool_registry().descriptors()


def at(work, **changed):
    return context(work, descriptors=TOOLS, **changed)


def move(path="src/a.py", new_path="src/b.py"):
    return call("move_file", path=path, new_path=new_path)


def delete(path="src/a.py"):
    return call("delete_file", path=path)


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "src/a.py").write_text("a\n")
    return root


DENIALS = ("Edit", "MultiEdit", "NotebookEdit", "Write")


@pytest.mark.spec(201)
@pytest.mark.parametrize("name", DENIALS)
@pytest.mark.parametrize("made", [move("src/a.py", "docs/b.py"), move("docs/b.py", "src/a.py"), delete()])
@pytest.mark.parametrize("as_rule", [False, True])
def test_a_denial_of_either_path_stops_it_before_any_grant(work, name, made, as_rule):
    pattern = f"{name}(src/**)"
    denied = (
        {"rules": (rule(effect="deny", tool=name, pattern=pattern),)} if as_rule else {"deny": globs(pattern)}
    )
    assert spoken(made, at(work, allow=globs("*"), **denied))[:2] == ("denied", "deny")
    assert spoken(made, at(work, allow=globs("*")))[0] == "allowed"


@pytest.mark.parametrize("name", DENIALS)
def test_a_rule_that_asks_holds_for_both_tools(work, name):
    asks = {"rules": (rule(effect="ask", tool=name, pattern=f"{name}(src/**)"),), "allow": globs("*")}
    assert spoken(move(), at(work, **asks))[0] == "ask"
    assert spoken(delete(), at(work, **asks))[0] == "ask"


@each_row(
    ("grant", "made", "outcome"),
    [
        ("Write(src/**)", move(), "allowed"),
        ("Write(src/**)", move("src/a.py", "docs/a.py"), "ask"),
        ("Write(src/**)", move("docs/a.py", "src/a.py"), "ask"),
        ("move_file(src/**)", move(), "allowed"),
        ("move_file(src/**)", delete(), "ask"),
        ("Write(src/**)", delete(), "allowed"),
        ("delete_file(src/a.py)", delete(), "allowed"),
        ("Write(docs/**)", delete(), "ask"),
        ("Edit(src/**)", move(), "ask"),
        ("Edit", delete(), "ask"),
        ("MultiEdit", delete(), "ask"),
    ],
)
def test_a_grant_covers_every_path_or_nothing(tmp_path, grant, made, outcome):
    root = tmp_path / "granted"
    (root / "src").mkdir(parents=True, exist_ok=True)
    (root / "docs").mkdir(exist_ok=True)
    assert spoken(made, at(root, allow=globs(grant)))[0] == outcome
    tool = grant.partition("(")[0]
    assert spoken(made, at(root, rules=(rule(tool=tool, pattern=grant),)))[0] == outcome


def test_a_ceiling_of_edits_holds_neither_tool(work):
    for made in (move(), delete()):
        assert spoken(made, at(work, ceiling=globs("Edit")))[:2] == ("denied", "ceiling")
        assert spoken(made, at(work, ceiling=globs("Write")))[0] == "ask"


@each_row(
    "path",
    [".git/config", ".workbench.json", "../x", "/etc/passwd", "CLAUDE.md/../.git/HEAD", ""],
)
def test_neither_end_may_be_protected(tmp_path, path):
    root = tmp_path / "protected"
    (root / "src").mkdir(parents=True, exist_ok=True)
    for made in (move(path, "src/b.py"), move("src/a.py", path), delete(path)):
        verdict = screen_call(made, at(root, allow=globs("*")))
        assert getattr(verdict, "outcome", "passed") == "refused", (path, made)


def test_a_denial_of_reading_keeps_a_file_from_a_readable_place(work):
    (work / ".env").write_text("x")
    where = at(work, deny=globs("Read(.env)"), allow=globs("*"))
    assert spoken(move(".env", "src/b.py"), where)[0] == "denied"
    assert spoken(delete(".env"), where)[0] == "denied"


@pytest.mark.parametrize("target", ["a.py", "missing", "../docs"])
def test_a_link_is_named_and_never_what_it_leads_to(work, target):
    (work / "src/link").symlink_to(target)
    for made in (
        move("src/link", "src/b.py"),
        move("src/a.py", "src/link"),
        delete("src/link"),
        delete("src/link/"),
    ):
        verdict = screen_call(made, at(work, allow=globs("*")))
        assert (verdict.outcome, verdict.step) == ("refused", "paths")
        assert "is a symbolic link" in verdict.reason
    assert spoken(call("read_file", path="src/link"), at(work))[0] in ("ask", "refused")


def test_a_folder_that_is_a_link_leads_to_the_real_file(work):
    (work / "also").symlink_to("src")
    passed = screen_call(delete("also/a.py"), at(work))
    assert passed.grounded["path"] == "src/a.py"
    assert spoken(delete("also/a.py"), at(work, deny=globs("Edit(src/**)"), allow=globs("*")))[0] == "denied"


def test_programs_obeyed_by_others_are_moved_by_no_grant(work):
    assert spoken(move("src/a.py", ".envrc"), at(work, allow=globs("*")))[0] == "ask"
    (work / ".envrc").write_text("true\n")
    assert spoken(move(".envrc", "src/b.py"), at(work, allow=globs("*")))[0] == "ask"
    assert spoken(delete(".envrc"), at(work, allow=globs("*")))[0] == "ask"


def test_a_suggested_rule_covers_both_paths(work):
    found = suggest_rules(TOOLS["move_file"], {"path": "src/a.py", "new_path": "src/sub/b.py"}, str(work))
    assert found.about == "src/a.py -> src/sub/b.py"
    saved = [each.pattern for each in found.candidates if not each.refused]
    assert saved[1:] == ["Write(src/**)"]
    assert "src/sub/b" in saved[0]
    apart = suggest_rules(TOOLS["move_file"], {"path": "src/a.py", "new_path": "b.py"}, str(work))
    assert [each.pattern for each in apart.candidates][1:] == ["Write"]
    stars = suggest_rules(TOOLS["move_file"], {"path": "s*/a", "new_path": "s*/b"}, str(work))
    assert [each.pattern for each in stars.candidates][1:] == ["Write"]
    alone = suggest_rules(TOOLS["delete_file"], {"path": "src/a.py"}, str(work))
    assert next(each.pattern for each in alone.candidates) == "Write(src/a.py)"


def test_a_name_denies_more_than_it_grants():
    edit = parse_permission("Edit(a)")
    for tool in ("move_file", "delete_file"):
        assert permission_names_tool(edit, TOOLS[tool], "deny")
        assert not permission_names_tool(edit, TOOLS[tool], "grant")
        assert not permission_names_tool(edit, TOOLS[tool], "ceiling")
    assert not permission_names_tool(edit, TOOLS["create_file"], "deny")


def test_they_wait_as_long_as_edits():
    window = ApprovalWindow(minutes=3, kind="edit", origin=Origin(layer="user"))
    settings = ApprovalSettings(windows=(window,))
    assert {approval_window_minutes(settings, verb, "/tmp") for verb in ("edit", "move", "del")} == {3}
