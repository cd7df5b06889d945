"""What has no text of its own: a file that got another name, and an image that is not kept but named."""

import base64

import pytest

from tests.support.tables import each_row
from workbench.formats import json_fields, patches
from workbench.formats.codex import _applied_edits  # pyright: ignore[reportPrivateUsage]

DATA = base64.b64encode(b"\x89PNG" * 30).decode()
BEGIN = "*** Begin Patch\n*** Update File: a/old.py\n*** Move to: b/new.py\n@@\n-x = 1\n+x = 2\n*** End Patch"
GIT = """diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1 +1 @@
-x = 1
+x = 2
"""
PURE = (
    "diff --git a/p.txt b/q r.txt\nsimilarity index 100%\nrename from p.txt\nrename to q r.txt\n"
    "diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-1\n+2\n"
)


def _said(changes):
    return [
        (one.path, one.change, patches.added_and_removed(patches.edits_to_hunks((one,)))) for one in changes
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (patches.parse_begin_patch(BEGIN), [("a/old.py", "delete", (0, 0)), ("b/new.py", "create", (1, 1))]),
        (patches.parse_git_diff(GIT), [("old.py", "delete", (0, 0)), ("new.py", "create", (1, 1))]),
        (
            patches.parse_git_diff(PURE),
            [("p.txt", "delete", (0, 0)), ("q r.txt", "create", (0, 0)), ("z", "modify", (1, 1))],
        ),
        (
            _applied_edits({"o": {"type": "update", "move_path": "n", "unified_diff": "@@ -1 +1 @@\n-1\n+2\n"}}),
            [("o", "delete", (0, 0)), ("n", "create", (1, 1))],
        ),
        (_applied_edits({"o": {"type": "update", "move_path": None, "unified_diff": "@@\n-1\n+2"}}), [("o", "modify", (1, 1))]),
        (patches.parse_git_diff("--- a/k\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"), [("k", "delete", (0, 1))]),
    ],
)  # fmt: skip
def test_a_moved_file_is_gone_there_and_made_here(changes, expected):
    assert _said(changes) == expected


@each_row(
    ("part", "expected"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": DATA}}, "[image/png, 120 bytes, not kept]"),
        ({"inline_data": {"mime_type": "image/jpeg", "data": DATA}}, "[image/jpeg, 120 bytes, not kept]"),
        ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v.mp4"}}, "[video/mp4 gs://b/v.mp4]"),
        ({"executableCode": {"language": "PYTHON", "code": "print(1)"}}, "print(1)"),
        ({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}, "1"),
        ({"type": "input_image", "image_url": f"data:image/webp;base64,{DATA}"}, "[image/webp, 120 bytes, not kept]"),
        ({"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}, "[image https://x.test/a.png]"),
        ({"type": "image", "source": {"type": "url", "url": "https://x.test/b.png"}}, "[image https://x.test/b.png]"),
        ({"type": "image", "mimeType": "image/gif", "data": DATA}, "[image/gif, 120 bytes, not kept]"),
        ({"type": "file", "mime": "image/png", "filename": "shot.png", "url": f"data:image/png;base64,{DATA}"},
         "[image/png shot.png, 120 bytes, not kept]"),
        ({"inlineData": 7, "text": None}, ""),
    ],
)  # fmt: skip
def test_an_image_is_named_and_not_kept(part, expected):
    assert json_fields.content_text([part]) == expected
    assert DATA not in json_fields.content_text([{"text": "see"}, part])
