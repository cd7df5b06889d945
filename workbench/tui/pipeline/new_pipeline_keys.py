"""Keys of the dialog that makes a pipeline."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.keymap import Key

if TYPE_CHECKING:
    from workbench.tui.pipeline.new_pipeline import NewPipelineScreen

NEW_PIPELINE: Final[tuple[Key["NewPipelineScreen"], ...]] = (
    Key(id="new-pipeline.show", keys=("enter",), label="show the file", tooltip="show the file as a diff",
        group="Decide", footer=1, in_palette=False,
        action=lambda screen: screen.show_file()),
    Key(id="new-pipeline.write", keys=("a",), label="write it", tooltip="write the file as it is shown",
        group="Decide", footer=2, in_palette=False, decides=True,
        action=lambda screen: screen.write()),
    Key(id="new-pipeline.keep", keys=("space",), label="leave out", tooltip="leave a step out, or keep it",
        group="Decide", footer=3, in_palette=False,
        action=lambda screen: screen.toggle()),
    Key(id="new-pipeline.rename", keys=("e",), label="rename", tooltip="rename the step, or the pipeline",
        group="Decide", footer=4, in_palette=False, opens_field=True,
        action=lambda screen: screen.edit_name()),
    Key(id="new-pipeline.row-down", keys=("j", "down"), label="row", tooltip="next, previous row",
        shown="j k", group="Move", footer=5, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="new-pipeline.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="new-pipeline.row-first", keys=("g", "home"), label="", tooltip="first, last", shown="g G",
        group="Move", in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=False)),
    Key(id="new-pipeline.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=True)),
    Key(id="new-pipeline.scroll-down", keys=("J", "ctrl+d", "pagedown"), label="", tooltip="scroll",
        shown="J K", group="Move", in_palette=False,
        action=lambda screen: screen.scroll(5)),
    Key(id="new-pipeline.scroll-up", keys=("K", "ctrl+u", "pageup"), label="", tooltip="scroll up",
        shown="-", group="Move", in_palette=False,
        action=lambda screen: screen.scroll(-5)),
    Key(id="new-pipeline.leave", keys=("escape", "q"), label="back", shown="esc",
        tooltip="back, nothing is written", group="Decide", footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
