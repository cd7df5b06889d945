"""What was drawn is what an approval is about: `a` goes on from part to part until nothing is unseen."""

import pytest

from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import EDIT, ROUTER, play, staged

pytestmark = pytest.mark.usefixtures("drawn_frames")

LINES = "".join(f"echo {n}\n" for n in range(1, 61)) + "rm -rf build"
TEN = "".join(f"line {n}\n" for n in range(1, 201))
TEN_CHANGED = "".join(f"line {n}{' new' if n % 20 == 10 else ''}\n" for n in range(1, 201))
NEW = "".join(f"row {n}\n" for n in range(1, 301)) + "the end\n"


def command(text_):
    return call("c1", "run_in_terminal", command=text_)


def edit(old, new):
    return call("c1", "replace_string_in_file", path="router.py", old_string=old, new_string=new)


def one(tmp_path, asked, files=None):
    script = recording(exchange(text("I do it."), asked), exchange(text("Done.")))
    return staged(tmp_path, script, files=files)


def waiting(shown):
    return next(action for action in shown.stage.waiting() if action.kind == "tool")


class Watch:
    """Reads which lines of the detail were ever on the screen."""

    def __init__(self, shown, pattern):
        self.shown, self.pattern, self.seen = shown, pattern, set()

    def look(self):
        view = self.shown.approvals.detail_view
        for y in range(view.size.height):
            # The last cell is that of the map.
            line = view.render_line(y).text[:-1].rstrip()
            self.seen |= {
                word for word in self.pattern if word in line.split("  ")[-2:] or line.endswith(word)
            }


async def approved_by_a(shown, words, most=40):
    """Press `a` until it is approved; every word must have been on the screen by then."""
    action, watch = waiting(shown), Watch(shown, words)
    for pressed in range(1, most + 1):
        watch.look()
        await shown.press("a")
        if shown.state(action) == "approved":
            assert set(words) - watch.seen == set()
            return pressed
    raise AssertionError(f"not approved after {most} times: {shown.said}")


SIZES = {"small": (80, 24), "usual": (120, 36), "large": (160, 48)}
ASKED = {
    "command of 61 lines": (command(LINES), None, [f"echo {n}" for n in range(1, 61)] + ["rm -rf build"]),
    "new file of 301 lines": (
        call("c1", "create_file", path="new.txt", content=NEW), None, [f"row {n}" for n in (1, 150, 300)] + ["the end"],
    ),
    "10 hunks": (
        edit(TEN, TEN_CHANGED), {"router.py": TEN}, [f"line {n} new" for n in range(10, 200, 20)],
    ),
    "3 hunks": (EDIT, {"router.py": ROUTER}, ["line three", "line fifteen", "line twenty-seven"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ("command of 61 lines", "small"), ("new file of 301 lines", "small"), ("10 hunks", "usual"),
        ("3 hunks", "small"), ("10 hunks", "large"),
    ],
)  # fmt: skip
def test_nothing_is_approved_before_all_of_it_was_on_the_screen(tmp_path, asked, size):
    made, files, words = ASKED[asked]

    async def body(shown):
        assert await approved_by_a(shown, words) > 1 or size != "small"
        (action,) = [action for action in shown.stage.journal.actions() if action.kind == "tool"]
        assert action.seen == "all"

    play(one(tmp_path, made, files), body, size=SIZES[size])


def test_each_a_says_what_is_left(tmp_path):
    async def body(shown):
        label = shown.approvals.label_of("approvals.approve")
        assert label.startswith("see ") and label.endswith(" more lines")
        await shown.press("a")
        assert "more lines, last: rm -rf build. Look, then a again, or ctrl+y unseen." in shown.text
        assert len(shown.stage.waiting()) == 1

    play(one(tmp_path, command(LINES)), body, size=SIZES["small"])


def test_of_many_hunks_a_names_how_many_are_left(tmp_path):
    async def body(shown):
        await shown.press("a")
        assert "more hunks. Look, then a again, or ctrl+y unseen." in shown.said
        assert shown.approvals.choosing.hunk_of(shown.approvals.detail) > 1

    play(one(tmp_path, edit(TEN, TEN_CHANGED), {"router.py": TEN}), body)


def test_rows_that_rush_by_do_not_count(tmp_path):
    async def body(shown):
        shown.hand.waits()
        for _ in range(60):
            await shown.press("J", wait=0.0)
        shown.hand.waits()
        detail = shown.approvals.detail
        assert shown.approvals.choosing.unseen(detail)
        await shown.press("a")
        assert len(shown.stage.waiting()) == 1

    play(one(tmp_path, command(LINES)), body, size=SIZES["small"])


def test_rows_on_which_the_eye_rested_count(tmp_path):
    async def body(shown):
        for _ in range(20):
            await shown.press("ctrl+d")
        assert not shown.approvals.choosing.unseen(shown.approvals.detail)
        await shown.press("a")
        assert not shown.stage.waiting()

    play(one(tmp_path, command(LINES)), body, size=SIZES["small"])


def test_unseen_is_approved_by_a_key_of_its_own_and_the_record_says_so(tmp_path):
    async def body(shown):
        action = waiting(shown)
        assert not shown.approvals.why_off("approvals.approve-unseen")
        await shown.press("ctrl+y", wait=0.1)
        assert "Too quick" in shown.said
        await shown.press("ctrl+y")
        decided = shown.stage.journal.action(action.id)
        assert (decided.state, decided.seen) == ("approved", "part")
        shown.main.look()
        await shown.settle()
        shown.approvals.queue.put_cursor(action.id)
        await shown.settle()
        assert "Not all of it was on the screen." in shown.text

    play(one(tmp_path, edit(TEN, TEN_CHANGED), {"router.py": TEN}), body)


def test_that_key_is_off_where_all_was_seen(tmp_path):
    async def body(shown):
        assert (
            shown.approvals.why_off("approvals.approve-unseen")
            == "all of it was on the screen; a approves it"
        )
        assert "approve unseen" not in shown.text
        await shown.press("ctrl+y")
        assert len(shown.stage.waiting()) == 1
        await shown.press("a")
        assert not shown.stage.waiting()

    play(one(tmp_path, command("true")), body)


def test_what_carries_a_warning_is_never_approved_unseen(tmp_path):
    async def body(shown):
        await shown.press("ctrl+y")
        assert "It deletes or carries a warning: a shows all of it first." in shown.said
        assert len(shown.stage.waiting()) == 1
        shown.approvals.choosing.requires_seen = False
        await shown.press("a")
        assert len(shown.stage.waiting()) == 1

    play(one(tmp_path, command(LINES + "\necho \u202e")), body, size=SIZES["small"])


def test_without_require_seen_a_approves_at_once_and_the_record_says_so(tmp_path):
    async def body(shown):
        action = waiting(shown)
        shown.main.context.tasks.read_asks()
        await shown.settle()
        assert shown.approvals.label_of("approvals.approve").startswith("run outside, ")
        await shown.press("a")
        assert shown.stage.journal.action(action.id).seen == "part"

    play(one(tmp_path, command(LINES)), body, size=SIZES["small"], requires_seen=lambda: False)


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (160, 48)])
def test_another_size_in_between_lets_nothing_unseen_through(tmp_path, size):
    words = [f"echo {n}" for n in range(1, 61)] + ["rm -rf build"]

    async def body(shown):
        action, watch = waiting(shown), Watch(shown, words)
        for pressed in range(40):
            watch.look()
            if pressed == 1:
                await shown.pilot.resize_terminal(*size)
                await shown.settle()
                watch.look()
            await shown.press("a")
            if shown.state(action) == "approved":
                assert set(words) - watch.seen == set()
                return
        raise AssertionError(shown.said)

    play(one(tmp_path, command(LINES)), body, size=(90, 26))


def test_one_key_approves_what_is_on_the_screen_as_a_whole(tmp_path):
    async def body(shown):
        await shown.press("a")
        assert not shown.stage.waiting()

    play(one(tmp_path, edit(ROUTER, ROUTER.replace("line 3\n", "line three\n")), {"router.py": ROUTER}), body)


def test_equal_lines_around_a_change_need_not_be_seen(tmp_path):
    async def body(shown):
        pane = shown.approvals
        for _ in range(5):
            pane.actions.change_context(1)
        await shown.settle()
        assert not pane.choosing.unseen(pane.detail)

    changed = ROUTER.replace("line 3\n", "line three\n")
    play(one(tmp_path, edit(ROUTER, changed), {"router.py": ROUTER}), body, size=SIZES["small"])


def test_a_proposal_that_came_back_from_the_editor_can_still_be_approved(tmp_path):
    async def body(shown):
        shown.hand.waits()
        shown.approvals.choosing.was_edited(waiting(shown).id)
        await shown.press("a", "a")
        assert not shown.stage.waiting()

    play(one(tmp_path, edit(ROUTER, ROUTER.replace("line 3\n", "line three\n")), {"router.py": ROUTER}), body)
