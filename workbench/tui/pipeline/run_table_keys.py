"""Keys of the tables of steps: when each worked, and two runs compared."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.keymap import Key

if TYPE_CHECKING:
    from workbench.tui.pipeline.run_comparison import CompareScreen
    from workbench.tui.pipeline.run_times import TimesScreen
    from workbench.tui.widgets.dialog import ListDialog


def _row_keys(scope: str) -> tuple[Key["ListDialog"], ...]:
    """Return the keys that move the cursor over the steps of a table."""
    return (
        Key(id=f"{scope}.row-down", keys=("j", "down"), label="step", tooltip="step after, before",
            shown="j k", group="Move", footer=1, in_palette=False,
            action=lambda screen: screen.move(1)),
        Key(id=f"{scope}.row-up", keys=("k", "up"), label="", tooltip="step before", shown="-", group="Move",
            in_palette=False,
            action=lambda screen: screen.move(-1)),
        Key(id=f"{scope}.row-first", keys=("g", "home"), label="", tooltip="first, last step", shown="g G",
            group="Move", in_palette=False,
            action=lambda screen: screen.move_to_end(is_last=False)),
        Key(id=f"{scope}.row-last", keys=("G", "end"), label="", tooltip="last step", shown="-", group="Move",
            in_palette=False,
            action=lambda screen: screen.move_to_end(is_last=True)),
        Key(id=f"{scope}.page-down", keys=("ctrl+d", "pagedown"), label="", tooltip="ten steps",
            shown="ctrl+d u", group="Move", in_palette=False,
            action=lambda screen: screen.move(10)),
        Key(id=f"{scope}.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="ten steps up", shown="-",
            group="Move", in_palette=False,
            action=lambda screen: screen.move(-10)),
    )  # fmt: skip


TIMES: Final[tuple[Key["TimesScreen"], ...]] = (
    *_row_keys("times"),
    Key(id="times.open", keys=("enter",), label="its step", tooltip="its step in the graph", group="Move",
        footer=5, in_palette=False,
        action=lambda screen: screen.open_step()),
    Key(id="times.leave", keys=("escape", "q", "d"), label="back", shown="esc", tooltip="back",
        group="Move", footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
COMPARE: Final[tuple[Key["CompareScreen"], ...]] = (
    *_row_keys("compare"),
    Key(id="compare.difference-next", keys=("n",), label="difference", tooltip="next, previous that differs",
        shown="n N", group="Move", footer=2, in_palette=False,
        action=lambda screen: screen.move_to_difference(1)),
    Key(id="compare.difference-previous", keys=("N",), label="", tooltip="previous that differs", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.move_to_difference(-1)),
    Key(id="compare.run-older", keys=("{",), label="other run", tooltip="compare with another run",
        shown="{ }", group="Read", footer=3, in_palette=False,
        action=lambda screen: screen.other_run(1)),
    Key(id="compare.run-newer", keys=("}",), label="", tooltip="compare with another run", shown="-",
        group="Read", in_palette=False,
        action=lambda screen: screen.other_run(-1)),
    Key(id="compare.order", keys=("o",), label="order", tooltip="by file, time, tokens", group="Read",
        footer=4, in_palette=False,
        action=lambda screen: screen.next_order()),
    Key(id="compare.open", keys=("enter",), label="its step", tooltip="its step in the graph", group="Move",
        footer=5, in_palette=False,
        action=lambda screen: screen.open_step()),
    Key(id="compare.leave", keys=("escape", "q", "C"), label="back", shown="esc", tooltip="back",
        group="Move", footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
