"""Keys of the list of providers and of the form that adds one."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keymap import Key

if TYPE_CHECKING:
    from workbench.tui.providers.provider_dialog import ProviderDialog
    from workbench.tui.providers.provider_list import ProviderScreen

PROVIDERS: Final[tuple[Key["ProviderScreen"], ...]] = (
    Key(id="providers.take", keys=("enter",), label="use it", tooltip="add it, use it, or open the form",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.take()),
    Key(id="providers.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", footer=9, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="providers.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="providers.test", keys=("t",), label="test", tooltip="ask its model for two short replies",
        group="Decide", footer=4, in_palette=False, decides=True,
        action=lambda screen: screen.test()),
    Key(id="providers.model", keys=("m",), label="its models",
        tooltip="choose one of its models for this session", group="Decide", footer=5, in_palette=False,
        opens_field=True,
        action=lambda screen: screen.choose_model()),
    Key(id="providers.add", keys=("A",), label="add one", tooltip="add a provider by a form", group="Decide",
        footer=6, in_palette=False, opens_field=True,
        action=lambda screen: screen.add()),
    Key(id="providers.change", keys=("e",), label="edit", tooltip="change it in the form", group="Decide",
        footer=7, in_palette=False, opens_field=True,
        action=lambda screen: screen.change_provider()),
    Key(id="providers.remove", keys=("D",), label="remove…", tooltip="take it out of config.json",
        group="Decide", footer=8, in_palette=False, decides=True, aliases="delete remove",
        action=lambda screen: screen.remove_provider()),
    Key(id="providers.undo", keys=("u",), label="undo", tooltip="undo what was changed here last",
        group="Decide", footer=3, in_palette=False, decides=True,
        action=lambda screen: screen.undo()),
    Key(id="providers.look", keys=("r",), label="ask again",
        tooltip="ask every server and look for models on this machine again",
        group="Many", footer=10, in_palette=False,
        action=lambda screen: screen.look()),
    Key(id="providers.file", keys=("f",), label="set-up page", tooltip="how config.json is written by hand",
        group="Read", footer=11, in_palette=False,
        action=lambda screen: screen.show_file()),
    Key(id="providers.leave", keys=("escape", "q"), label="back", tooltip="back", shown="esc",
        group="Decide", footer=2, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
# In the form what acts is no letter, so it need not come alone: it is pressed right behind what was typed.
PROVIDER: Final[tuple[Key["ProviderDialog"], ...]] = (
    Key(id="provider.next", keys=("tab",), label="field", tooltip="field after, before", shown="tab",
        group="Move", footer=4, in_palette=False,
        action=lambda dialog: dialog.to_field(1)),
    Key(id="provider.previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.to_field(-1)),
    Key(id="provider.choice-next", keys=("down",), label="choose", tooltip="choice after, before; else field",
        shown="↑ ↓", group="Move", footer=5, in_palette=False,
        action=lambda dialog: dialog.choose(1)),
    Key(id="provider.choice-previous", keys=("up",), label="", tooltip="choice before", shown="-",
        group="Move", in_palette=False,
        action=lambda dialog: dialog.choose(-1)),
    Key(id="provider.try", keys=("ctrl+r",), label="try it",
        tooltip="ask for its models, and make one small request with a tool", group="Decide", footer=2,
        in_palette=False,
        action=lambda dialog: dialog.try_it()),
    Key(id="provider.save", keys=("f2",), label="save", tooltip="write it into config.json",
        group="Decide", footer=1, in_palette=False,
        action=lambda dialog: dialog.save()),
    Key(id="provider.leave", keys=("escape",), label="back", tooltip="back; what is written is kept",
        group="Decide", footer=3, in_palette=False,
        action=lambda dialog: dialog.leave()),
)  # fmt: skip
