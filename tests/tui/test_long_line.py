"""A change inside a very long line on the screen: its parts are found, seen and approved like hunks."""

import pytest

from tests.tui.screens import play
from tests.tui.test_diff_view import rows
from tests.tui.test_seen import edit, one, waiting

pytestmark = pytest.mark.usefixtures("drawn_frames")

LINE = "".join(f"item{number}=value;" for number in range(3_000))
EDITED = (
    LINE.replace("item50=value", "item50=VALUE")
    .replace("item900=value", "item900=v")
    .replace("item2999=", "last=")
)
FILES = {"router.py": f"one\n{LINE}\nend\n"}
ASKED = edit(f"one\n{LINE}\n", f"one\n{EDITED}\n")


def part(shown):
    """Return the rows of the part under the cursor, without bar and map."""
    return " ".join(row[1:-1].strip() for row in rows(shown) if row.startswith("▌") and "…" not in row)


def test_h_and_l_go_through_the_parts_and_a_approves_what_was_seen(tmp_path):
    async def body(shown):
        await shown.press("enter")
        assert "hunk 1 of 1, part 1 of 3" in shown.text
        assert "item50=VALUE" in part(shown) and "item900=" not in part(shown)
        await shown.press("l")
        assert "part 2 of 3" in shown.text and "item900=v;" in part(shown)
        await shown.press("l", "l")
        assert "part 3 of 3" in shown.text and "last=value" in part(shown)
        await shown.press("h")
        assert "part 2 of 3" in shown.text and "item900=v;" in part(shown)
        action, pressed = waiting(shown), 0
        while shown.state(action) == "pending" and pressed < 5:
            await shown.press("a")
            pressed += 1
        assert shown.state(action) == "approved" and pressed < 3

    play(one(tmp_path, ASKED, FILES), body, size=(80, 24))


def test_a_line_whose_versions_are_not_both_taken_is_shown_whole_and_has_to_be_seen(tmp_path):
    async def body(shown):
        await shown.press("enter")
        for layout in ("t", "t"):
            shown.hand.waits()
            assert shown.approvals.label_of("approvals.approve") == "approve"
            await shown.press("v", "j", "space")
            assert "1 of 2 lines" in shown.text
            assert not any("unchanged characters" in row for row in rows(shown))
            label = shown.approvals.label_of("approvals.approve")
            assert label.startswith("see ") and label.endswith(", then 1 of 2 lines")
            await shown.press("space", "escape", layout)
            assert "part 1 of 3" in shown.text
        view = shown.approvals.detail_view
        counts = {y + view.first_line for y, row in enumerate(rows(shown)) if "unchanged characters" in row}
        assert counts and counts <= set(view._drawing.rows.of(1)), "the counts have to be seen too"

    play(one(tmp_path, ASKED, FILES), body, size=(160, 48))
