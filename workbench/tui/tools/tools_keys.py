"""Keys of the tools pane."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.keymap import Key
from workbench.tui.sub_agents import why_no_agent

if TYPE_CHECKING:
    from workbench.tui.tools.tools_pane import ToolsPane

NO_PARTS: Final = "The parts of a call are shown when this pane is large: z."


TOOLS: Final[tuple[Key["ToolsPane"], ...]] = (
    Key(id="tools.failed-only", keys=("f",), label="failed only", tooltip="only what failed",
        aliases="errors", group="Read",
        footer=52,
        action=lambda pane: pane.toggle_failed()),
    Key(id="tools.part-previous", keys=("[",), label="part", tooltip="part before",
        help="output, parameters, gate, changes, raw",
        shown="[ ]", group="Read", footer=49,
        action=lambda pane: pane.call.turn(-1), why_off=lambda pane: "" if pane.has_detail else NO_PARTS),
    Key(id="tools.part-next", keys=("]",), label="", tooltip="part after", shown="-", group="Read",
        action=lambda pane: pane.call.turn(1), why_off=lambda pane: "" if pane.has_detail else NO_PARTS),
    Key(id="tools.all-sessions", keys=("*",), label="all sessions",
        tooltip="the calls of all sessions, or of this one", aliases="every where", group="Read", footer=54,
        action=lambda pane: pane.main.toggle_all_sessions("tools")),
    Key(id="tools.agent", keys=("O",), label="its agent",
        tooltip="the agent that the call started, as it was then",
        help="the agent that the call under the cursor started, at the same moment; esc goes back",
        aliases="subagent task child", group="Read", footer=47,
        action=lambda pane: pane.main.open_sub_agent(pane.agent_id),
        why_off=lambda pane: why_no_agent(pane)),
)  # fmt: skip
