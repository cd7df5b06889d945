"""Make the moving picture of agents of other makers in one queue: `python -m screenshots.make bridge`.

Owns the story: what four agents want, which keys answer them, and what the caption says. The frames are the
screen of the program while it answers hooks; the last one is a file as it is on the disk then.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

from screenshots.hero import SIZE, Moment, caption_rows, neutral_folder
from screenshots.hooked import HookedCall, HookedPlace
from screenshots.screen import DARK, OnMain, settings
from tests.support.agent_tools import run_tool
from tests.support.waits import until_true
from tests.tui.screens import Hand, Shown
from workbench.cli.session_film import frame_row
from workbench.domain.values import JsonObject
from workbench.formats.film import Film, FilmFrame, ScreenRow, TextStyle, screen_row
from workbench.formats.film.svg import SvgWriter
from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.render.theme import OWN_THEMES
from workbench.text.human import SECOND_MICROS
from workbench.tui.app import WorkbenchApp
from workbench.tui.approvals import approvals_pane
from workbench.tui.widgets.line_view import RowList
from workbench.tui.widgets.pane_frame import PaneRule

TITLE: Final = "workbench: four agents ask in one queue, and you answer from the keyboard"
FILE: Final = "shop/prices.py"
PRICES: Final = '''"""Prices of the shop, in cents."""

TAX = 19


def tax(net):
    return net * TAX // 100


def total(net):
    return net + tax(net) + shipping(net)


def shipping(net):
    if net >= 5000:
        return 0
    return 490
'''
FILES: Final = {FILE: PRICES, "docs/prices.md": "# Prices\n\nThe tax is rounded down to a cent.\n"}
PATCH: Final = f"""apply_patch <<'EOF'
*** Begin Patch
*** Update File: {FILE}
@@
 def tax(net):
-    return net * TAX // 100
+    return (net * TAX + 50) // 100
@@
 def shipping(net):
-    if net >= 5000:
-        return 0
-    return 490
+    return 0
*** End Patch
EOF"""
NEW_TEST: Final = """from shop.prices import tax


def test_tax_is_rounded():
    assert tax(103) == 20
"""
REASON: Final = "Open a pull request instead"


def apply_line(folder: Path, given: JsonObject) -> str:
    """Do what Codex does with a patch in a command line."""
    patch = given["command"].partition("\n")[2].removesuffix("\nEOF")
    return run_tool(folder, "apply_patch", {"patch": patch})


def write_file(folder: Path, given: JsonObject) -> str:
    """Do what OpenCode does to write a file."""
    return run_tool(folder, "Write", {"file_path": given["filePath"], "content": given["content"]})


def edit_file(folder: Path, given: JsonObject) -> str:
    """Do what Claude Code does to edit a file."""
    return run_tool(folder, "Edit", given)


def push(folder: Path, given: JsonObject) -> str:
    """Raise AssertionError: this is refused."""
    raise AssertionError((folder, given))


CALLS: Final = (
    HookedCall(agent="codex", tool="Bash", given={"command": PATCH}, run=apply_line, reports_end=False),
    HookedCall(
        agent="qwen",
        tool="run_shell_command",
        given={"command": "git push --force origin main", "is_background": False},
        run=push,
    ),
    HookedCall(
        agent="opencode",
        tool="write",
        given={"filePath": "tests/test_prices.py", "content": NEW_TEST},
        run=write_file,
    ),
    HookedCall(
        agent="claude",
        tool="Edit",
        given={"file_path": "docs/prices.md", "old_string": "rounded down to", "new_string": "rounded to"},
        run=edit_file,
    ),
)
ZOOM: Final = "z"
"""Shows the queue alone; pressed before the film begins."""
STORY: Final = (
    Moment(
        caption="Four agents work in their own terminals. Their questions are rows of one queue.",
        shows="4 waiting",
        seconds=3.5,
    ),
    Moment(
        keys="l", name="l", shows="hunk 2 of 2", seconds=3.0,
        caption="shows the next hunk: Codex fixes the tax, but also changes shipping",
    ),
    Moment(keys="space", name="space", caption="leaves that hunk out", shows="1 taken, 1 left", seconds=2.5),
    Moment(
        keys="a", name="a a", caption="approves the other hunk: Codex writes only that",
        shows="1 of 2 hunks", seconds=3.5,
    ),
    Moment(keys="R", name="R R", caption="refuses the push of Qwen Code, with a reason", shows="Reject git",
           seconds=1.5),
    Moment(keys=REASON, caption="Its model will read what is typed here.", shows=REASON, seconds=2.0),
    Moment(keys="enter", name="enter", caption="Qwen Code reads: “{qwen}”", shows="rejected", seconds=3.5),
    Moment(keys="a", name="a a", caption="approves the new file of OpenCode", shows="1 waiting", seconds=2.0),
    Moment(keys="a", name="a a", caption="approves the edit of Claude Code: nothing waits",
           shows="nothing waits", seconds=2.5),
)  # fmt: skip
LAST: Final = Moment(
    caption=f"{FILE} on the disk: the tax is fixed, shipping is as it was.", shows="", seconds=1.5
)
POSTER: Final = "1 taken, 1 left"
"""What the picture shows where nothing may move."""


def make() -> str:
    """Return the picture as SVG."""
    # What the screen does by the clock of the machine would be in a frame by chance.
    at_once, never = (
        patch.object(approvals_pane, "LINGER_SECONDS", 0.01),
        patch.object(PaneRule, "SECONDS", 3600),
    )
    with at_once, never, neutral_folder() as folder:
        place = HookedPlace(folder, FILES)
        try:
            return asyncio.run(film(place))
        finally:
            place.stage.close()


async def film(place: HookedPlace) -> str:
    """Play the story, and return it as a moving picture."""
    stage, hand = place.stage, Hand()
    app = WorkbenchApp(
        stage.journal, OnMain(), str(stage.workspace), home=str(stage.root), ui=settings(DARK),
        glyphs=UNICODE_GLYPHS, monotonic=hand,
    )  # fmt: skip
    reel = Reel()
    async with place.served():
        for call in CALLS:
            await place.ask(call)
        async with app.run_test(size=SIZE) as pilot:
            shown = Shown(stage, app, hand, pilot)
            await shown.begin()
            await shown.press(ZOOM)
            for moment in STORY:
                await shown.press(*(moment.keys if moment.keys == REASON else moment.keys.split()))
                await rest(shown, place, moment.shows)
                reel.add(moment, screen_rows(app), told=model_text(place.printed.get("qwen", "{}")))
                place.clock.advance(moment.seconds)
        reel.add(LAST, file_rows(stage.workspace / FILE))
    return reel.end()


async def rest(shown: Shown, place: HookedPlace, words: str) -> None:
    """Wait until agents and screen have done what a key brings, and the screen shows words."""

    def has_come() -> bool:
        flashing = any(view._flashing for view in shown.app.screen.query(RowList))
        is_still = not flashing and not shown.approvals._lingering.ids
        return place.is_settled() and is_still and words in shown.text

    await until_true(has_come, shown.look, lambda: f"{words!r} did not come:\n{shown.text}")
    shown.main.redraw_timer.tick()
    for _ in range(3):  # the keys of a row count after it has been drawn for a while, and look so
        await shown.look()
        shown.hand.waits(0.5)
        shown.app.guarded.commit_due()
    shown.approvals.standing._on_change()
    await shown.settle()


def model_text(printed: str) -> str:
    """Return what the model of an agent reads, by what its hook printed."""
    return json.loads(printed).get("hookSpecificOutput", {}).get("permissionDecisionReason", "")


class Reel:
    """The frames of the story, with their captions."""

    def __init__(self) -> None:
        tokens = OWN_THEMES[DARK]
        self._plain = TextStyle(ink=tokens.foreground, paper=tokens.background)
        self._accent, self._at = tokens.info, 0
        moments = (*STORY, LAST)
        before = next(at for at, moment in enumerate(moments) if moment.shows == POSTER)
        film = Film(
            title=TITLE, width=SIZE[0], height=SIZE[1] + 2, ink=self._plain.ink, paper=self._plain.paper,
            length=_micros(moments),
        )  # fmt: skip
        self._writer = SvgWriter(film, seconds=60, poster=_micros(moments[:before]))

    def add(self, moment: Moment, rows: Sequence[ScreenRow], told: str = "") -> None:
        """Add what stands for a moment."""
        told_moment = replace(moment, caption=moment.caption.format(qwen=told))
        caption = caption_rows(told_moment, self._plain, self._accent)
        self._writer.add(FilmFrame(at=self._at, recorded=0, rows=(*rows, *caption)))
        self._at += _micros([moment])

    def end(self) -> str:
        """Return the picture."""
        return "".join(self._writer.end())


def _micros(moments: Sequence[Moment]) -> int:
    return round(sum(moment.seconds for moment in moments) * SECOND_MICROS)


def screen_rows(app: WorkbenchApp) -> tuple[ScreenRow, ...]:
    """Return what a screen shows."""
    tokens = app.ink.tokens
    strips = app.screen._compositor.render_strips()
    return tuple(frame_row(strip, SIZE[0], tokens.foreground, tokens.background) for strip in strips)


def file_rows(path: Path) -> tuple[ScreenRow, ...]:
    """Return a file as a terminal shows it; lines that it did not have before are coloured."""
    tokens = OWN_THEMES[DARK]
    plain = TextStyle(ink=tokens.foreground, paper=tokens.background)
    changed = TextStyle(ink=tokens.added, paper=tokens.background, bold=True)
    known = PRICES.splitlines()
    lines = [("", plain), (f"~/shop $ cat {FILE}", TextStyle(ink=tokens.muted, paper=tokens.background))]
    lines += [(line, plain if line in known else changed) for line in path.read_text().splitlines()]
    lines += [("", plain)] * (SIZE[1] - len(lines))
    return tuple(screen_row([("  ", plain), (text, look)], SIZE[0]) for text, look in lines)
