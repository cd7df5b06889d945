"""Patches as changes of a workspace: the gate's word, the answer, undo, and what a death leaves."""

import pytest

from tests.support.stage import USER, recording
from tests.unit.host.test_time_and_loss import dying, reopened
from workbench.changes.unified_diff import PatchUnusable
from workbench.domain.events import ActionOpened, CallProposed, ReplyCompleted, TurnStarted
from workbench.effects.clock import ManualClock
from workbench.host.patch_proposal import check_patch, request_patch, wait_until_proposed
from workbench.host.reopening import request_reopening
from workbench.host.session_requests import request_undo
from workbench.journal.decisions import expire_due_actions

LINES = [f"line {number}\n" for number in range(1, 41)]
OLD = "".join(LINES)
NEW = OLD.replace("line 3\n", "THREE\n").replace("line 30\n", "THIRTY\n")
SECOND = OLD.replace("line 30\n", "THIRTY\n")
EDIT = """--- a/a.txt
+++ b/a.txt
@@ -2,3 +2,3 @@
 line 2
-line 3
+THREE
 line 4
@@ -29,3 +29,3 @@
 line 29
-line 30
+THIRTY
 line 31
"""
MADE = "diff --git a/d/n b/d/n\nnew file mode 100755\n--- /dev/null\n+++ b/d/n\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
GONE = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
MOVED = "diff --git a/m b/d/m\nsimilarity index 100%\nrename from m\nrename to d/m\n"
ALL = EDIT + MADE + GONE + MOVED
FILES = {"a.txt": OLD, "b": "b\n", "m": "m\n"}


def first(levels):
    return levels[0][0]


def ask(stage, patch, strip=None):
    """Ask for a patch in a session of its own, which becomes that of the stage."""
    checked = check_patch(str(stage.workspace), "fix.patch", patch.encode(), strip, first)
    stage.session_id, stage.request = request_patch(
        stage.journal, str(stage.workspace), checked, ("", ""), USER
    )


def proposed(stage, patch=ALL, strip=None):
    """Return the row of a patch."""
    ask(stage, patch, strip)
    stage.drive()
    (row,) = stage.waiting()
    assert wait_until_proposed(stage.journal, stage.request).id == row.id
    return row


@pytest.fixture
def stage(staged):
    return staged(recording(), files=FILES)


def tree(stage):
    files = (file for file in stage.workspace.rglob("*") if file.is_file())
    return {file.relative_to(stage.workspace).as_posix(): file.read_text() for file in files}


def test_nothing_is_written_before_the_answer_and_all_of_it_after(stage):
    row = proposed(stage)
    assert tree(stage) == FILES
    assert (row.tool, row.verb, row.target, row.added, row.removed) == ("apply_patch", "edit", "a.txt", 3, 3)
    assert (row.kind, sorted(row.warnings)) == ("tool", ["deletes", "executable"])
    assert stage.approve(row).ok
    stage.drive()
    assert tree(stage) == {"a.txt": NEW, "d/n": "#!/bin/sh\n", "d/m": "m\n"}
    assert (stage.workspace / "d/n").stat().st_mode & 0o777 == 0o755
    assert not stage.bodies(TurnStarted) and not stage.bodies(ReplyCompleted)
    assert stage.session().status == "ready"


def test_single_hunks_and_an_own_text_are_taken(stage):
    row = proposed(stage)
    assert stage.approve(row, hunks=[2]).ok
    stage.drive()
    assert tree(stage) == {**FILES, "a.txt": SECOND}
    request_reopening(stage.journal, row.id, USER)
    stage.drive()
    (rest,) = stage.waiting()
    assert stage.approve(rest).ok
    stage.drive()
    assert tree(stage) == {"a.txt": NEW, "d/n": "#!/bin/sh\n", "d/m": "m\n"}
    row = proposed(stage, "--- a/a.txt\n+++ b/a.txt\n@@ -4,3 +4,3 @@\n line 4\n-line 5\n+FIVE\n line 6\n")
    assert stage.approve(row, edited={"a.txt": b"mine\n"}).ok
    stage.drive()
    assert stage.read("a.txt") == b"mine\n"


def test_an_applied_patch_is_undone(stage):
    row = proposed(stage)
    assert stage.approve(row).ok
    stage.drive()
    request_undo(stage.journal, row.id, USER)
    stage.drive()
    assert tree(stage) == FILES


def test_a_rejected_and_an_expired_patch_write_nothing(staged):
    stage = staged(recording(), files=FILES, clock=ManualClock())
    assert stage.reject(proposed(stage)).ok
    stage.drive()
    row = proposed(stage)
    stage.journal.clock.advance(row.expires_at - row.created_at)
    expire_due_actions(stage.journal)
    stage.drive()
    assert stage.journal.action(row.id).state == "expired"
    assert tree(stage) == FILES


def test_no_grant_answers_for_a_human(staged):
    allow = {"allow": ["Edit", "Write", "apply_patch"]}
    stage = staged(recording(), files=FILES, config={"approvals": allow}).trust()
    row = proposed(stage)
    verdict = stage.bodies(CallProposed)[0].verdict
    assert (verdict.outcome, verdict.by, row.state) == ("ask", "request", "pending")


@pytest.mark.parametrize("pattern", ["Edit(b)", "Write(b)", "Edit(d/**)", "apply_patch", "Read(m)"])
def test_what_is_denied_for_one_file_is_denied_for_the_patch(staged, pattern):
    stage = staged(recording(), files=FILES, config={"approvals": {"deny": [pattern]}}).trust()
    ask(stage, ALL)
    stage.drive()
    (call,) = stage.journal.calls(stage.session_id)
    assert (call.state, stage.waiting()) == ("rejected", [])
    assert "in a deny list" in call.error and tree(stage) == FILES


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".git/hooks/pre-commit", "belongs to git"),
        ("d/.git/config", "belongs to git"),
        (".workbench.json", "controls this workspace"),
        (".workbench/hooks/x", "controls this workspace"),
        (".bashrc", "is run or obeyed by your shell"),
        ("x\\ty", "holds a control character"),
    ],
)
def test_protected_places_are_refused(stage, name, reason):
    ask(stage, EDIT + f'--- /dev/null\n+++ "b/{name}"\n@@ -0,0 +1 @@\n+x\n')
    stage.drive()
    (call,) = stage.journal.calls(stage.session_id)
    assert (call.state, stage.waiting()) == ("rejected", [])
    assert reason in call.error and tree(stage) == FILES


def test_links_are_not_followed(stage, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("x\n")
    for name, target in (("out", tmp_path / "outside"), ("inside", "d"), ("l", "a.txt")):
        (stage.workspace / name).symlink_to(target)
    (stage.workspace / "d").mkdir()
    (stage.workspace / "d/x").write_text("x\n")
    for name in ("out/x", "inside/x", "l"):
        patch = f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-x\n+y\n"
        with pytest.raises(PatchUnusable, match="link"):
            check_patch(str(stage.workspace), "", patch.encode(), 1, first)
    made = "--- /dev/null\n+++ b/inside/n\n@@ -0,0 +1 @@\n+n\n"
    with pytest.raises(PatchUnusable, match="link"):
        check_patch(str(stage.workspace), "", made.encode(), 1, first)


def test_a_link_that_comes_later_stops_it_too(stage):
    ask(stage, EDIT)
    (stage.workspace / "a.txt").rename(stage.workspace / "other")
    (stage.workspace / "a.txt").symlink_to("other")
    stage.drive()
    (call,) = stage.journal.calls(stage.session_id)
    assert (call.state, stage.waiting()) == ("rejected", [])
    assert "is a symbolic link" in call.error


def test_a_model_cannot_call_it(staged):
    from tests.support.stage import call, exchange, text

    asked = call("c1", "apply_patch", patch=EDIT, strip=1)
    stage = staged(recording(exchange(asked), exchange(text("ok"))), files=FILES)
    stage.begin().drive()
    (row,) = stage.journal.calls(stage.session_id)
    assert (row.state, row.error) == ("rejected", "apply_patch: no tool is called that")
    assert "apply_patch" not in {tool.id for tool in stage.context().tools.visible("recorded")}


def test_a_base_that_moved_makes_it_stale_and_a_new_diff_is_made(stage):
    row = proposed(stage, EDIT)
    (stage.workspace / "a.txt").write_text(f"top\n{OLD}")
    assert stage.approve(row).ok  # nobody drives who would have noticed
    stage.drive()
    (again,) = stage.waiting()
    assert again.supersedes == row.id and stage.read("a.txt").decode() == f"top\n{OLD}"
    assert stage.approve(again).ok
    stage.drive()
    assert stage.read("a.txt").decode() == f"top\n{NEW}"


def test_a_patch_that_no_longer_fits_is_withdrawn_with_the_reason(stage):
    row = proposed(stage, EDIT)
    (stage.workspace / "a.txt").write_text(OLD.replace("line 30", "thirty"))
    assert stage.approve(row).ok
    stage.drive()
    assert stage.waiting() == []
    assert (
        "hunk 2 (line 8 of the patch) does not fit: line 30 is “thirty” now"
        in stage.journal.call(row.call_id).error
    )


def test_a_patch_that_is_not_utf_8_keeps_its_bytes(staged):
    stage = staged(recording(), files={"a": b"caf\xe9\n"})
    patch = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-caf\xe9\n+caf\xe8\n"
    checked = check_patch(str(stage.workspace), "", patch, None, first)
    stage.session_id, _ = request_patch(stage.journal, str(stage.workspace), checked, ("", ""), USER)
    stage.drive()
    (row,) = stage.waiting()
    assert row.warnings == ("latin-1",) and stage.session().title == "patch"
    assert stage.approve(row).ok
    stage.drive()
    assert stage.read("a") == b"caf\xe8\n"


def test_a_secret_is_written_and_not_recorded(stage):
    secret = "sk-ant-api03-" + "Ab1" * 30
    row = proposed(stage, f"--- /dev/null\n+++ b/key\n@@ -0,0 +1 @@\n+token = '{secret}'\n", strip=1)
    assert "scrubbed" in row.warnings
    assert stage.approve(row).ok
    stage.drive()
    assert secret in stage.read("key").decode()
    assert secret not in "".join(map(repr, stage.journal.events(stage.session_id)))


@pytest.mark.parametrize("point", ["patch.before_propose", "patch.proposed"])
def test_a_driver_that_dies_before_the_answer_leaves_one_row(stage, point):
    ask(stage, EDIT)
    stage.journal.close()
    assert dying(stage, point) == 137
    later = reopened(stage)
    later.drive()
    (row,) = later.waiting()
    assert len(later.bodies(ActionOpened)) == 1
    assert later.approve(row).ok
    later.drive()
    assert later.read("a.txt").decode() == NEW


def test_hooks_judge_a_patch_like_an_edit(staged):
    stage = staged(
        recording(), files=FILES, config={"hooks": {"PreToolUse": [{"matcher": "Edit", "command": "exit 2"}]}}
    )
    ask(stage, EDIT)
    stage.drive()
    assert stage.waiting() == [] and stage.journal.calls(stage.session_id)[0].state == "rejected"


def test_where_nobody_can_answer_it_is_denied(staged):
    stage = staged(recording(), files=FILES, can_ask=False)
    ask(stage, EDIT)
    stage.drive()
    assert stage.waiting() == [] and stage.journal.calls(stage.session_id)[0].state == "rejected"
