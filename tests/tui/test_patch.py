"""A patch on the screen: its row, its hunks, the answer by keys, and what a replay shows of it."""

import asyncio

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.host.patch_proposal import check_patch, request_patch

PATCH = b"""--- a/router.py
+++ b/router.py
@@ -2,3 +2,3 @@
 line 2
-line 3
+line three
 line 4
@@ -26,3 +26,3 @@
 line 26
-line 27
+line twenty-seven
 line 28
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+# New
"""


def patched_stage(tmp_path):
    """Return a stage on which nothing but a patch waits."""
    made = staged(tmp_path)
    for action in made.waiting():
        assert made.reject(action).ok
    made.drive()
    patch = check_patch(str(made.workspace), "fix.patch", PATCH, 1, lambda levels: levels[0][0])
    made.session_id, _ = request_patch(made.journal, str(made.workspace), patch, ("", ""), USER)
    made.drive()
    return made


def test_a_patch_is_answered_by_keys_like_any_edit(tmp_path):
    stage = patched_stage(tmp_path)
    (row,) = stage.waiting()

    async def body(shown):
        shown.approvals.queue.focus()
        shown.approvals.queue.put_cursor(row.id)
        await shown.look()
        assert "router.py  and 1 more file" in shown.text and "hunk 1 of 3" in shown.text
        assert "+ line three" in shown.text and "+ # New" in shown.text
        await shown.press("A")
        assert "No rule is made of a patch" in shown.text
        await shown.press("space")
        await shown.press("a")
        assert shown.state(row) == "approved"
        await asyncio.to_thread(shown.stage.drive)

    play(stage, body, size=(160, 48))
    text = stage.read("router.py").decode()
    assert "line 3\n" in text and "line twenty-seven\n" in text
    assert stage.read("docs/new.md") == b"# New\n"
