"""The facts of a step or a call in full: next to its parts, or in its title where they have no room there."""

import asyncio

import pytest

from tests.support.pane_host import Host
from workbench.tui.tools.call_detail import StepView
from workbench.views.detail_pages import DetailPage, PageSection

PARTS = ("Log", "Contract", "Artifacts", "Attempts", "Prompt", "Tools", "Workspace")


def rows_of(width, *facts, sign="ok", keys=()):
    """Return the first two rows of a step in full."""
    detail = DetailPage(
        id="r/tests", sign=sign, title="tests completed, 301 ms", facts=facts, keys=keys,
        sections=tuple(PageSection(name=name, lines=("x",)) for name in PARTS),
    )  # fmt: skip
    view = StepView()
    app = Host(view)

    async def go():
        async with app.run((width, 12)) as pilot:
            view.show(detail)
            await pilot.pause()
            return app.lines()[:2]

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("width", "facts", "in_title", "next_to_parts"),
    [
        (158, ("runs inside (workspace)", "writer"), "", "runs inside (workspace)   writer"),
        (112, ("runs inside (workspace)", "writer"), "", "runs inside (workspace)   writer"),
        (80, ("runs outside", "writer"), "runs outside", ""),
        (80, ("runs inside (workspace)", "writer"), "runs inside (workspace)   writer", ""),
        (66, ("runs inside (workspace)", "writer", "1,234 tok"), "runs inside (workspace)", ""),
        (40, ("runs inside (workspace)", "writer"), "", ""),
    ],
)
def test_facts_have_the_room_that_is_left(width, facts, in_title, next_to_parts):
    title, parts = rows_of(width, *facts)
    assert in_title in title and next_to_parts in parts
    assert ("runs" in title, "runs" in parts) == (bool(in_title), bool(next_to_parts))


def test_the_keys_that_answer_come_before_facts():
    title, _ = rows_of(80, "runs inside (workspace)", sign="waiting", keys=(("a", "answer it here"),))
    assert "answer it here" in title and "runs inside" not in title
