"""Read the output of a Claude Code agent that is running as progress of a step."""

from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r

_KINDS: Final = {
    "bash_progress": "output", "powershell_progress": "output", "agent_progress": "agent",
    "hook_progress": "hook", "mcp_progress": "output",
}  # fmt: skip
_MOST_LINE: Final = 300
"""Characters of one step of an agent; its own session holds it whole."""


class ProgressReader:
    """Reads the progress records of one session."""

    def __init__(self) -> None:
        self._outputs: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        """The agent that works for a call, by the call's id, once it is known."""

    def read(self, row: JsonObject, number: int) -> r.CallProgress | None:
        """Return what a record tells of a call, None if it is about none."""
        data = j.object_of(row, "data")
        call = j.first_text(row, "parentToolUseID", "toolUseID")
        if not call:
            return None
        kind = j.text_of(data, "type")
        if agent := j.text_of(data, "agentId"):
            self.agents[call] = agent
        return r.CallProgress(
            call=call, kind=_KINDS.get(kind, "other"), text=self._text(call, kind, data), content=row,
            at=j.time_of(row, "timestamp"), line=number,
        )  # fmt: skip

    def _text(self, call: str, kind: str, data: JsonObject) -> str:
        if kind == "agent_progress":
            return _agent_step(j.object_of(data, "message", "message"))
        output = j.first_text(data, "fullOutput", "output") if _KINDS.get(kind) == "output" else ""
        if not output:
            return ""
        before = self._outputs.get(call, "")
        self._outputs[call] = output
        return output[len(before) :] if output.startswith(before) else output


def _agent_step(message: JsonObject) -> str:
    steps: list[str] = []
    for block in j.objects_of(message, "content"):
        match j.text_of(block, "type"):
            case "text" if message.get("role") == "assistant":
                steps.append(j.text_of(block, "text"))
            case "tool_use":
                about = next(
                    (
                        value
                        for value in j.object_of(block, "input").values()
                        if isinstance(value, str) and value.strip()
                    ),
                    "",
                )
                steps.append(f"{j.text_of(block, 'name')} {about}".strip())
            case _:
                pass
    lines = [" ".join(step[: 4 * _MOST_LINE].split())[:_MOST_LINE] for step in steps]
    return "".join(f"{line}\n" for line in lines if line)
