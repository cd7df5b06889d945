"""The page of keys keeps its place while something is looked for, and its columns stand apart."""

import re

import pytest

from tests.tui.screens import play, staged


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 40)])
def test_the_page_stands_still_and_says_at_its_top_what_is_typed(tmp_path, size):
    async def body(shown):
        await shown.press("?")
        before = shown.app.screen.box.region
        await shown.press(*"rej")
        assert shown.app.screen.box.region == before
        assert "rej" in shown.text.splitlines()[before.y]
        assert "reject with a reason" in shown.text
        assert "split or unified" not in shown.text
        await shown.press("escape")
        assert shown.app.screen.box.region == before

    play(staged(tmp_path), body, size=size)


@pytest.mark.parametrize(("columns", "headings"), [(80, 2), (100, 2), (140, 3)])
def test_columns_stand_apart(tmp_path, columns, headings):
    async def body(shown):
        await shown.press("?")
        inside = shown.app.screen.box.content_region
        rows = [line[inside.x : inside.right] for line in shown.text.splitlines()[inside.y : inside.bottom]]
        assert not rows[0].startswith("   ")
        assert len(re.split(r" {2,}", rows[0].strip())) == headings
        (row,) = [row for row in rows if "previous, next hunk" in row]
        assert re.search(r"previous, next hunk( {2,}|$)", row.rstrip())

    play(staged(tmp_path), body, size=(columns, 40))
