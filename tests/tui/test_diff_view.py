"""The diff on the screen: its numbers and sides by width, context that fills it, the map at its edge, its files."""

import pytest
from msgspec.structs import replace

from tests.support.sizes import rarely
from tests.support.stage import USER, call
from tests.tui.screens import CREATE, EDIT, ROUTER, play
from tests.tui.test_seen import TEN, TEN_CHANGED, edit, one
from workbench.domain.events import ActionOpened
from workbench.tui.approvals.change_map import MapMark, mark_strip
from workbench.tui.render_context import ink

FILES = {"router.py": ROUTER}
ONE_LINE = edit(ROUTER, ROUTER.replace("line 30\n", "line thirty\n"))
HEADS = "after approval"


def has_heads(shown):
    return HEADS in shown.text


def rows(shown):
    """Return what stands on the rows of the diff."""
    view = shown.approvals.detail_view
    return [view.render_line(y).text for y in range(view.size.height)]


def edge(shown):
    """Return the cells of the map."""
    return "".join(row[-1] for row in rows(shown))


def test_a_wide_screen_splits_the_full_diff_by_itself_and_heads_stand_over_split_lines_only(tmp_path):
    async def body(shown):
        view, seen = shown.approvals.detail_view, []
        for key in (None, "enter", "t", "escape", "enter", "t", "escape", "enter", "z"):
            await shown.press(*filter(None, [key]))
            assert view.is_split == has_heads(shown), key
            seen.append(view.is_split)
        assert seen == [False, True, False, False, False, True, False, True, True]

    play(one(tmp_path, EDIT, FILES), body, size=(160, 48))


@pytest.mark.parametrize(("columns", "is_split"), [(139, False), (140, True)])
def test_below_140_columns_only_t_splits(tmp_path, columns, is_split):
    async def body(shown):
        await shown.press("enter")
        assert has_heads(shown) == is_split
        assert shown.approvals.label_of("approvals.layout") == ("unified" if is_split else "split")
        await shown.press("t")
        assert has_heads(shown) != is_split

    play(one(tmp_path, EDIT, FILES), body, size=(columns, 40))


def test_a_new_file_has_one_side(tmp_path):
    async def body(shown):
        await shown.press("enter")
        assert not has_heads(shown)
        await shown.press("t")
        assert has_heads(shown)

    play(one(tmp_path, CREATE), body, size=(160, 48))


def test_another_width_takes_the_heads_away(tmp_path):
    async def body(shown):
        await shown.press("enter")
        assert has_heads(shown)
        await shown.pilot.resize_terminal(120, 36)
        await shown.settle()
        assert not has_heads(shown)
        await shown.press("t")
        assert "Split needs 100 columns: here are 93." in shown.said

    play(one(tmp_path, EDIT, FILES), body, size=(160, 48))


# --- context ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(120, 36), rarely((160, 48)), (80, 24)], ids=str)
def test_context_fills_the_pane_and_what_changes_counts_as_seen(tmp_path, size):
    async def body(shown):
        view = shown.approvals.detail_view
        assert view.context > 3
        assert view.size.height - 2 <= view.line_count <= view.size.height
        lines = [number for number in range(1, 61) if any(f" line {number} " in row for row in rows(shown))]
        assert lines == [*range(lines[0], 31), *range(31, lines[-1] + 1)]
        await shown.press("a")
        assert not shown.stage.waiting()

    play(one(tmp_path, ONE_LINE, FILES), body, size=size)


def test_fewer_lines_are_shown_exactly_and_more_at_least(tmp_path):
    async def body(shown):
        view = shown.approvals.detail_view
        full = view.context
        await shown.press("left_curly_bracket")
        assert (view.context, view.line_count) == (2, 7)
        await shown.press("right_curly_bracket")
        assert view.context == full
        await shown.press("right_curly_bracket")
        assert view.context > full
        assert shown.approvals.detail_view.position_caption

    play(one(tmp_path, ONE_LINE, FILES), body, size=(120, 36))


def test_a_row_that_comes_to_the_queue_moves_no_line_that_stands(tmp_path):
    async def body(shown):
        view, before = shown.approvals.detail_view, rows(shown)
        height = view.size.height
        for number in range(4):
            waits(shown, f"step {number}")
        shown.hand.waits()
        await shown.look()
        assert view.size.height < height
        assert [row[:-1] for row in rows(shown)] == [row[:-1] for row in before[: view.size.height]]

    play(one(tmp_path, ONE_LINE, FILES), body, size=(120, 36))


def waits(shown, target):
    """Let something else ask."""
    journal = shown.stage.journal
    body = ActionOpened(
        action_kind="question", tool=None, target=target, digest=target, created_at=journal.now(), prompt=target,
        expires_at=journal.now() + 900_000_000, verb="ask",
    )  # fmt: skip
    session = shown.stage.waiting()[0].session_id
    journal.append([journal.event(body, session, USER, action_id=journal.clock.new_id())], strict=False)


# --- the map ------------------------------------------------------------------------------------


def test_the_map_tells_what_was_not_seen_until_it_was(tmp_path):
    async def body(shown):
        view, pane = shown.approvals.detail_view, shown.approvals
        assert set(edge(shown)) >= {"▐", "▒", "│"}
        assert edge(shown).rindex("▐") < edge(shown).index("▒")
        assert f"line {view.size.height} of {view.line_count}" in shown.text
        while "▒" in edge(shown):
            unseen = pane.choosing.unseen(pane.detail)
            assert unseen
            await shown.press("a")
        assert not pane.choosing.unseen(pane.detail)
        assert "line 190 new" in shown.text

    play(one(tmp_path, edit(TEN, TEN_CHANGED), {"router.py": TEN}), body, size=(80, 24))


def test_the_hunk_under_the_cursor_is_bright_and_the_map_of_what_fits_has_no_thumb(tmp_path):
    async def body(shown):
        view = shown.approvals.detail_view
        colours = ink(view).tokens
        for hunk in (1, 2, 3):
            bright = {
                view._diff.hunk_at(y)
                for y in range(view.size.height)
                if list(view.render_line(y))[-1].style.color.name == colours.info
            }
            assert bright == {hunk}
            await shown.press("l")
        assert set(edge(shown)) == {" ", "▐"}
        assert "line " not in shown.approvals.detail_title.render().plain

    play(one(tmp_path, EDIT, FILES), body, size=(160, 60))


def test_text_never_stands_in_the_cell_of_the_map(tmp_path):
    async def body(shown):
        for keys in ((), ("enter",), ("t",)):
            await shown.press(*keys)
            assert all(row[-2] in " │" or row[-2] == "─" for row in rows(shown))

    long = edit(ROUTER, ROUTER.replace("line 30\n", "word " * 400 + "\n" + "x" * 900 + "\n"))
    play(one(tmp_path, long, FILES), body, size=(160, 48))


def test_a_mark_is_the_same_strip_as_long_as_it_says_the_same(tmp_path):
    """By that the terminal is seen to scroll."""

    async def body(shown):
        draw = ink(shown.approvals), shown.app.glyphs
        assert mark_strip(MapMark("seen"), *draw) is mark_strip(MapMark("seen"), *draw)
        assert mark_strip(MapMark("seen"), *draw).text != mark_strip(MapMark("unseen"), *draw).text

    play(one(tmp_path, EDIT, FILES), body)


# --- files and title ----------------------------------------------------------------------------


def several(detail):
    """Return an action on four files of three folders, of the hunks of one."""
    first, second, third = detail.hunks
    named = [
        ("src/shop/router.py", (first,)), ("src/shop/app.py", (second, third)), ("tests/test_app.py", (first,)), ("a.md", ())
    ]  # fmt: skip
    files, hunks = [], []
    for path, its in named:
        numbered = [replace(hunk, path=path, index=len(hunks) + n) for n, hunk in enumerate(its, 1)]
        hunks += numbered
        files.append(
            replace(detail.files[0], path=path, hunks=tuple(numbered), added=2 * len(its), removed=len(its))
        )
    files[-1] = replace(files[-1], change="create", note="new and empty")
    return replace(detail, id="several", files=tuple(files), hunks=tuple(hunks))


def test_files_stand_below_their_folders_with_signs_and_counts(tmp_path):
    async def body(shown):
        pane = shown.approvals
        await shown.press("enter")
        pane.show_detail(several(pane.detail))
        pane.choosing.hunks["several"] = 3
        pane.actions.toggle_hunk()
        await shown.settle()
        column = [pane.files.render_line(y).text.rstrip() for y in range(9)]
        assert column == [
            " files 4",
            " src/shop/",
            "  ■ router.py       +2 −1",
            "▌ ◧ app.py          +4 −2",
            " tests/",
            "  ■ test_app.py     +2 −1",
            " ■ a.md               new",
            "",
            " [ ]   other file",
        ]
        pane.actions.move_to_file(1)
        await shown.settle()
        assert pane.files.render_line(5).text.startswith("▌")

    play(one(tmp_path, EDIT, FILES), body)


def test_the_file_under_the_cursor_is_in_view(tmp_path):
    async def body(shown):
        pane = shown.approvals
        await shown.press("enter")
        detail = pane.detail
        hunks = tuple(replace(detail.hunks[0], path=f"src/{n}.py", index=n) for n in range(1, 61))
        files = tuple(replace(detail.files[0], path=hunk.path, hunks=(hunk,)) for hunk in hunks)
        pane.show_detail(replace(detail, id="many", files=files, hunks=hunks))
        pane.choosing.hunks["many"] = 60
        pane.draw_detail()
        await shown.settle()
        assert any(
            pane.files.render_line(y).text.startswith("▌ ■ 60.py") for y in range(pane.files.size.height)
        )

    play(one(tmp_path, EDIT, FILES), body)


def test_the_title_of_a_full_diff_shows_the_focus_as_every_pane_does(tmp_path):
    async def body(shown):
        title = shown.approvals.detail_title
        assert (title.is_focused, title.render().plain[:2]) == (False, "─ ")
        await shown.press("enter")
        assert (title.is_focused, title.render().plain[:7]) == (True, "─ edit ")
        await shown.press("i")
        assert not title.is_focused
        await shown.press("escape", "escape")
        assert (title.is_focused, "edit" in title.render().plain) == (False, False)

    play(one(tmp_path, EDIT, FILES), body)


def test_a_command_has_no_map_and_says_where_in_it_the_screen_is(tmp_path):
    async def body(shown):
        view = shown.approvals.detail_view
        assert view.edge_strip(0) is None
        assert f"line {view.size.height} of {view.line_count}" in shown.text

    long = "".join(f"echo {n}\n" for n in range(1, 61))
    play(one(tmp_path, call("c1", "run_in_terminal", command=long)), body, size=(80, 24))
