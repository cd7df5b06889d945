"""The tool list_dir."""

from typing import Final

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FolderEntry
from workbench.text.human import size_text
from workbench.tools.base import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    CallContext,
    OutputLines,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)

MAX_ENTRIES: Final = 1000
_KIND_SIGNS: Final = {"folder": "/", "link": "@", "fifo": "|", "socket": "=", "device": "%", "file": ""}


class ListDir:
    """The tool list_dir."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.LIST_DIR.id, wire_name=BuiltInTool.LIST_DIR.wire_name,
        description="List the names in a folder of the workspace, folders first, files with their size; "
        "hidden ones too. Folders end in /, links in @. At most 1000 names are given.",
        capability="read", risk_level="read_only", verb=BuiltInTool.LIST_DIR.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema(
            "path",
            path={
                "type": "string", "minLength": 1,
                "description": "Relative to the workspace; . is the workspace itself.",
            },
        ),
        output_schema=result_schema(entries=COUNT_SCHEMA, truncated=FLAG_SCHEMA),
        examples=(
            ToolExample(description="The workspace itself", parameters={"path": "."}),
            ToolExample(description="A folder", parameters={"path": "src"}),
        ),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        path = str(parameters["path"])
        try:
            entries = context.root.list(path)
        except FileRefused as error:
            raise ToolRefused(f"Not listed: {error}.") from None
        entries = [entry for entry in entries if not context.is_closed(_entry_path(path, entry.name))]
        entries.sort(key=lambda entry: (entry.kind != "folder", entry.name))
        lines = OutputLines(context.limits.tool_output_bytes)
        for entry in entries[:MAX_ENTRIES]:
            lines.add(_entry_line(entry))
        missing = lines.missing + max(0, len(entries) - MAX_ENTRIES)
        words = f"{missing} of {len(entries)} names are not shown; name a folder below, or use file_search"
        text = lines.text(words if missing else "" if entries else f"{path} is empty")
        return ToolOutput(
            text=text,
            metadata={"entries": len(entries), "truncated": missing > 0},
            summary=f"{len(entries)} {'name' if len(entries) == 1 else 'names'}",
        )


def _entry_path(path: str, name: str) -> str:
    return name if path in ("", ".") else f"{path}/{name}"


def _entry_line(entry: FolderEntry) -> str:
    name = entry.name.encode("utf-8", "replace").decode()
    end = f"  {size_text(entry.size)}" if entry.kind == "file" else ""
    return f"{name}{_KIND_SIGNS[entry.kind]}{end}"
