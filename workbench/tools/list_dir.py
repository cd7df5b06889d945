"""list_dir: the names in one folder, folders first.

Owns the listing and its limit. It shows links as links and never looks behind them.
"""

from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.effects.files import Entry, FileRefused
from workbench.text.human import size
from workbench.tools.base import Output, Place, ToolRefused
from workbench.tools.results import COUNT, FLAG, Lines, result_schema

MOST_ENTRIES: Final = 1000
_SIGNS: Final = {"folder": "/", "link": "@", "fifo": "|", "socket": "=", "device": "%", "file": ""}

DESCRIPTOR: Final = ToolDescriptor(
    id="list_dir",
    wire_name="list_dir",
    description=(
        "List the names in a folder of the workspace, folders first, files with their size; hidden ones too. "
        "Folders end in /, links in @. At most 1000 names are given."
    ),
    capability="read",
    risk_level="read_only",
    verb="read",
    path_parameters=("path",),
    target_parameter="path",
    input_schema={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Relative to the workspace; . is the workspace itself.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    output_schema=result_schema(entries=COUNT, truncated=FLAG),
    examples=(
        Example(description="The workspace itself", parameters={"path": "."}),
        Example(description="A folder", parameters={"path": "src"}),
    ),
)


class ListDir:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:
        """List a folder; see the descriptor."""
        path = str(parameters["path"])
        try:
            found = place.root.list(path)
        except FileRefused as error:
            raise ToolRefused(f"Not listed: {error}.") from None
        found = [entry for entry in found if not place.is_closed(_below(path, entry.name))]
        found.sort(key=lambda entry: (entry.kind != "folder", entry.name))
        lines = Lines(place.limits.tool_output_bytes)
        for entry in found[:MOST_ENTRIES]:
            lines.add(_line(entry))
        missing = lines.missing + max(0, len(found) - MOST_ENTRIES)
        words = f"{missing} of {len(found)} names are not shown; name a folder below, or use file_search"
        text = lines.text(words if missing else "" if found else f"{path} is empty")
        return Output(
            text=text,
            metadata={"entries": len(found), "truncated": missing > 0},
            summary=f"{len(found)} {'name' if len(found) == 1 else 'names'}",
        )


def _below(path: str, name: str) -> str:
    return name if path in ("", ".") else f"{path}/{name}"


def _line(entry: Entry) -> str:
    name = entry.name.encode("utf-8", "replace").decode()
    end = f"  {size(entry.size)}" if entry.kind == "file" else ""
    return f"{name}{_SIGNS[entry.kind]}{end}"
