"""Room: empty panes are folded to their title, the queue grows, and what does not fit is said."""

import asyncio
import re
from random import Random

import pytest

from benchmarks import homes
from tests.support import drawn_runs
from tests.support.stage import USER, call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.domain.values import Decision
from workbench.journal.decisions import decide_action
from workbench.tui.main.layout import layout_for_size
from workbench.tui.widgets.list_height import list_height


def many_edits(count, lines=1):
    content = "# part\n" * lines
    calls = [call(f"c{n}", "create_file", path=f"part_{n}.md", content=content) for n in range(count)]
    return recording(exchange(text("I write all parts."), *calls), exchange(text("Done.")))


@pytest.mark.parametrize(
    ("size", "place", "is_zoomed", "rows"),
    [
        ((160, 48), 2, False, (1, 1)),
        ((160, 48), 4, False, (1, 1)),
        ((160, 48), 4, True, (0, 0)),
        ((120, 36), 2, False, (1, 1)),
        ((80, 24), 4, False, (0, 0)),
    ],
)
def test_empty_panes_beside_others_have_their_title_only(size, place, is_zoomed, rows):
    found = layout_for_size(*size, place, is_zoomed=is_zoomed, empty=(3, 4))
    assert (found.tools, found.pipeline) == rows
    full = layout_for_size(*size, place, is_zoomed=is_zoomed)
    assert (full.tools > 1) == (found.tools == 1)


def test_a_pane_without_content_is_folded_and_opens_without_moving_cursor_focus_or_armed_keys(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("j")
        pane, queue = shown.main.pipeline, shown.approvals.queue
        cursor, line = queue.cursor, queue.region.y + queue.line_of(queue.cursor) - queue.first_line
        room = shown.approvals.detail_view.size.height
        assert pane.size.height == 1
        assert "4 Pipeline  none runs" in shown.text
        shown.hand.waits()
        assert shown.approvals.standing.is_armed

        await asyncio.to_thread(drawn_runs.nightly, stage.journal, str(stage.workspace))
        await shown.look()
        assert not shown.approvals.standing.is_armed, "what is drawn in less room has to stand first"
        assert pane.size.height == 7
        assert shown.approvals.detail_view.size.height < room - 5
        assert (queue.cursor, queue.region.y + queue.line_of(cursor) - queue.first_line) == (cursor, line)
        assert shown.app.focused is queue

    play(stage, body)


def test_a_folded_pane_takes_the_focus_and_zooms(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("4")
        assert shown.main.pipeline.has_pane_focus
        assert shown.main.pipeline.size.height == 1
        await shown.press("z")
        assert "No pipeline runs." in shown.text
        await shown.press("z", "2")
        assert shown.main.pipeline.size.height == 1

    play(stage, body)


def test_a_list_takes_what_the_detail_leaves_and_at_least_four_rows():
    random = Random(4)
    for _ in range(2_000):
        count, body, detail = random.randint(0, 40), random.randint(0, 60), random.randint(0, 90)
        keeps, up_to = random.randint(0, 12), random.randint(0, 40)
        rows = list_height(count, body, detail, keeps=keeps, up_to_cursor=up_to)
        assert 0 <= rows <= min(count, max(body, 0))
        assert rows == count or rows >= body - 1 - detail, "rows are hidden while other rows are blank"
        assert body < 16 or rows >= min(count, 4)
        assert rows >= min(count, up_to, body // 2), "the row under the cursor moved"
        if body - 1 >= rows + detail or not rows:
            continue
        assert rows <= max(4, body // 3, min(up_to, body // 2)), "a long detail has less than it could have"


@pytest.mark.parametrize(
    ("size", "rows", "cue"),
    [
        ((160, 48), 13, "13 of 14 ↓"),
        ((120, 30), 5, "5 of 14 ↓"),
        ((80, 24), 4, "14 ↓"),
        ((60, 18), 3, "14 ↓"),
    ],
)
def test_above_long_changes_the_queue_has_a_third_at_most_and_says_how_many_more_wait(
    tmp_path, size, rows, cue
):
    stage = staged(tmp_path, many_edits(14, lines=90), files={})

    async def body(shown):
        queue = shown.approvals.queue
        assert queue.size.height == rows
        assert cue in shown.text
        marked = [line for line in shown.text.splitlines() if "┃" in line and "write part_" in line]
        assert bool(marked) == (rows < 14)
        assert len(marked) < rows
        if rows < 14:
            await shown.press("G")
            assert "↑" in shown.text
            assert "↓" not in shown.text.partition("part_13.md")[0]

    play(stage, body, size=size)


@pytest.mark.parametrize("size", [(160, 48), (120, 30)])
def test_above_short_changes_every_row_of_the_queue_is_seen(tmp_path, size):
    stage = staged(tmp_path, many_edits(14), files={})

    async def body(shown):
        assert shown.approvals.queue.size.height == 14
        assert "of 14 ↓" not in shown.text

    play(stage, body, size=size)


@pytest.mark.parametrize("is_on_decided", [False, True])
def test_what_was_decided_takes_no_room_from_a_long_diff(tmp_path, is_on_decided):
    stage = staged(tmp_path, many_edits(16, lines=90), files={})

    async def reject(shown, count):
        for action in stage.waiting()[:count]:
            decision = Decision(action_id=action.id, verdict="reject")
            await asyncio.to_thread(decide_action, stage.journal, decision, action.digest, USER)
        await shown.look()

    async def body(shown):
        queue = shown.approvals.queue
        await reject(shown, 3)
        queue.put_cursor(queue.order[15 if is_on_decided else 12])
        await shown.settle()
        cursor = queue.cursor
        assert (queue.size.height, queue.current.is_pending) == (13, not is_on_decided)
        await reject(shown, 9)
        assert sum(row.is_pending for row in queue.rows.values()) == 4
        assert (queue.cursor, queue.line_of(cursor) in queue.visible_lines) == (cursor, True)
        queue.put_cursor(queue.order[0])
        await shown.settle()
        assert queue.size.height == 6
        await shown.press("z", "z")
        assert queue.size.height == 6

    play(stage, body, size=(160, 48))


def test_a_row_that_comes_while_the_queue_grows_leaves_the_row_under_the_cursor_where_it_is(tmp_path):
    from tests.tui.test_screen import ask_again

    stage = staged(tmp_path, many_edits(9), files={})

    async def body(shown):
        await shown.press("o", "G")
        queue = shown.approvals.queue
        cursor, y = queue.cursor, queue.line_of(queue.cursor) - queue.first_line
        for number in range(3):
            stage.journal.clock.advance(5)
            await asyncio.to_thread(ask_again, stage, number)
            await shown.look()
            assert (queue.cursor, queue.line_of(cursor) - queue.first_line) == (cursor, y)

    play(stage, body, size=(120, 36))


@pytest.mark.parametrize(("size", "cue"), [((160, 48), "200 ↓"), ((80, 24), "200 ↓")])
def test_a_list_of_sessions_says_that_there_are_more(tmp_path, size, cue):
    stage = staged(tmp_path)
    homes.add_sessions(stage.journal, str(stage.workspace), 230)

    async def body(shown):
        await shown.press("0")
        assert cue in shown.text
        await shown.press("G")
        assert cue.replace("↓", "↑") in shown.text

    play(stage, body, size=size)


def test_a_dialog_says_in_its_border_that_its_list_goes_on(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("ctrl+p")
        assert " ↓ ─╯" in shown.text
        await shown.press("escape")
        assert not any(" ↓ ─╯" in line for line in shown.text.splitlines())

    play(stage, body)


def test_the_column_of_sessions_is_there_for_two_sessions_and_as_wide_as_their_titles(tmp_path):
    from tests.tui.test_screen import ask_again

    stage = staged(tmp_path)

    async def body(shown):
        def row():
            return next(line for line in shown.text.splitlines() if "edit  router.py" in line)

        assert row().endswith("+3 −3     15:00 ")
        await asyncio.to_thread(ask_again, stage, 1, "a longer title of one")
        await shown.look()
        assert row().endswith("+3 −3  test                 15:00 ")

    play(stage, body)


@pytest.mark.parametrize("size", [(160, 48), (120, 36), (80, 24)])
def test_commands_stand_beside_their_meanings_over_whole_panes(tmp_path, size):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("i", "/")
        assert " /end       end this session for good " in shown.text
        popup = shown.app.screen.query_one("#composer-offers").region
        divider = shown.app.screen.query_one("#middle-divider")
        assert popup.right == (divider.region.right if divider.display else size[0])

    play(stage, body, size=size)


# --- the board of sessions --------------------------------------------------------------------------


def drawn_sessions(shown):
    return sorted(shown.main.rail.list.board.drawn)


@pytest.mark.parametrize(("size", "keys"), [((160, 48), "0z"), ((120, 36), "0"), ((80, 24), "0")])
def test_zoomed_sessions_say_what_they_do_and_said_last(tmp_path, size, keys):
    stage = staged(tmp_path)
    homes.add_sessions(stage.journal, str(stage.workspace), 20)

    async def body(shown):
        await shown.press(*keys)
        lines = shown.text.splitlines()
        first = next(n for n, line in enumerate(lines) if re.search("waits +edit router.py", line))
        assert "◆ 3" in lines[first]
        assert re.search("◆(╌| +waits)", lines[first]), "the end of its axis"
        assert "“I change the router.”" in lines[first + 1]
        assert "now  does" in shown.text
        if size[0] >= 100:
            assert "what needs you first" in shown.text
            assert "This session" not in shown.text

    play(stage, body, size=size)


@pytest.mark.usefixtures("drawn_frames")
def test_the_board_reads_only_the_sessions_that_are_drawn(tmp_path):
    stage = staged(tmp_path)
    homes.add_sessions(stage.journal, str(stage.workspace), 190)

    async def body(shown):
        await shown.press("0", "z")
        rows = shown.main.rail.list.size.height // 2 + 1
        assert len(drawn_sessions(shown)) <= rows
        await shown.press("G")
        assert len(drawn_sessions(shown)) <= 2 * rows + 1
        assert shown.main.rail.list.cursor in drawn_sessions(shown)
        assert "↑" in shown.text

    play(stage, body, size=(160, 40))


def test_a_session_that_changes_stays_where_it_is_on_the_board_while_the_focus_is_there(tmp_path):
    from tests.tui.test_screen import ask_again

    stage = staged(tmp_path)
    homes.add_sessions(stage.journal, str(stage.workspace), 5)

    async def body(shown):
        await shown.press("0", "z", "j", "j")
        view = shown.main.rail.list
        before = [key for key in view.ids if not key.startswith("-")]
        cursor, y = view.cursor, view.line_of(view.cursor)
        stage.journal.clock.advance(5)
        await asyncio.to_thread(ask_again, stage, 1)
        await shown.look()
        after = [key for key in view.ids if not key.startswith("-")]
        assert after[: len(before)] == before
        assert len(after) == len(before) + 1
        assert (view.cursor, view.line_of(cursor)) == (cursor, y)
        await shown.press("o", "o", "o")
        after = [key for key in view.ids if not key.startswith("-")]
        assert after[1] not in before, "in the order that it says, what waits is above the rest"

    play(stage, body, size=(160, 40))


def test_enter_on_the_board_leads_to_what_waits_or_to_the_conversation(tmp_path):
    stage = staged(tmp_path)
    homes.add_sessions(stage.journal, str(stage.workspace), 3)

    async def body(shown):
        await shown.press("0", "z", "enter")
        assert shown.main.place == 2
        assert not shown.main.places.is_zoomed
        assert shown.approvals.queue.current.target == "router.py"
        await shown.press("0", "z", "j", "enter")
        assert shown.main.place == 1
        assert shown.main.state.current.title == "older work old-0000"
        await shown.press("0", "z", "/", *"0001")
        assert "older work old-0001" in shown.text
        assert "waits edit" not in shown.text

    play(stage, body, size=(160, 40))
