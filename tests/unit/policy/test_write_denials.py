"""A path that may not be written: no command that may write it is covered by a grant."""

import pytest

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import context, rule
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, judge_screened_call, screen_call

GRANTED = tuple(
    PermissionPattern(text=f"Bash({name} *)")
    for name in (
        "cp", "mv", "touch", "rm", "git checkout", "git restore", "cat", "grep", "ls", "gzip", "ruff format",
        "chmod", "git push", "git add", "ln", "git rm",
    )
)  # fmt: skip


@pytest.fixture
def place(tmp_path):
    for name in ("a.txt", "lock.json", "gen/one.py", "src/gen/deep.py", "src/plain.py", "docs/note.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def verdict(place, command, *denied, **changed):
    made = context(
        place, allow=GRANTED, deny=tuple(PermissionPattern(text=text) for text in denied), **changed
    )
    passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": command}), made)
    return judge_screened_call(passed, made)


@each_row(
    ("command", "denied", "outcome"),
    [
        ("cp a.txt lock.json", "Write(lock.json)", "ask"),
        ("cp a.txt lock.json", "Edit(lock.json)", "ask"),
        ("cp a.txt lock.json", "Edit(*.json)", "ask"),
        ("cp a.txt ./docs/../lock.json", "Write(lock.json)", "ask"),
        ("cp a.txt LOCK.JSON", "Write(lock.json)", "ask"),
        ("cp lock.json a.txt", "Write(a.txt)", "ask"),
        ("cp docs/note.md gen", "Write(gen/note.md)", "ask"),
        ("mv gen new", "Write(gen/**)", "ask"),
        ("touch new.json", "Write(*.json)", "ask"),
        ("touch gen/two.py", "Write(gen/**)", "ask"),
        ("gzip lock.json", "Write(lock.json)", "ask"),
        ("rm -r src", "Write(src/gen/**)", "ask"),
        ("chmod -R a-w src", "Write(src/gen/deep.py)", "ask"),
        ("git rm -r src", "Edit(src/gen/deep.py)", "ask"),
        ("git checkout -- src", "Write(src/gen/**)", "ask"),
        ("git restore lock.json", "Write(lock.json)", "ask"),
        ("ruff format gen/one.py", "Write(gen/**)", "ask"),
        ("cd gen && touch one.py", "Write(gen/**)", "ask"),
        ("cat lock.json", "Write(lock.json)", "allowed"),
        ("grep x lock.json", "Write(lock.json)", "allowed"),
        ("git add lock.json", "Write(lock.json)", "allowed"),
        ("cp a.txt docs/b.md", "Write(lock.json)", "allowed"),
        ("rm -r docs", "Write(src/gen/**)", "allowed"),
        ("cp a.txt lock.json", "Read(a.json)", "allowed"),
        ("cp a.txt lock.json", "Bash(mkdir *)", "allowed"),
        ("touch new.json", "Write", "ask"),
        ("git push origin main", "Write", "allowed"),
        ("touch docs/new", "Write", "ask"),
    ],
)
def test_a_command_that_may_write_a_denied_path_asks(place, command, denied, outcome):
    assert verdict(place, command, denied).outcome == outcome


def test_the_reason_names_the_path(place):
    assert (
        "writing lock.json is denied here" in verdict(place, "cp a.txt lock.json", "Write(lock.json)").reason
    )
    assert (
        "src holds files that may not be written" in verdict(place, "rm -r src", "Write(src/gen/**)").reason
    )


def test_a_link_to_a_denied_path_is_followed(place):
    (place / "other").symlink_to("lock.json")
    assert verdict(place, "cp a.txt other", "Write(lock.json)").outcome == "ask"
    assert verdict(place, "cp a.txt lock.json", "Write(other)").outcome == "allowed"


def test_a_rule_that_denies_writing_counts_too(place):
    denial = rule(tool="Write", pattern="Write(lock.json)", effect="deny")
    assert verdict(place, "cp a.txt lock.json", rules=(denial,)).outcome == "ask"
    assert verdict(place, "cp lock.json a.txt", rules=(denial,)).outcome == "ask"  # `cp` may write every word
    assert verdict(place, "cp a.txt docs/b.md", rules=(denial,)).outcome == "allowed"


def test_a_folder_of_too_many_files_asks(place):
    for number in range(2_001):
        (place / "docs" / f"{number}").touch()
    found = verdict(place, "rm -r docs", "Write(src/gen/**)")
    assert (found.outcome, "too many files" in found.reason) == ("ask", True)
