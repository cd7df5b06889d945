"""create_file: a new file with this content.

Owns the proposal. It never replaces a file that is there.
"""

from typing import Final

from workbench.changes.model import FileChange
from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.effects.files import FileRefused
from workbench.tools.base import NEW_FILE_MODE, Base, ToolRefused
from workbench.tools.results import COUNT, result_schema

DESCRIPTOR: Final = ToolDescriptor(
    id="create_file",
    wire_name="create_file",
    description=(
        "Create a new file in the workspace with this content; missing folders are made. "
        "Fails if there is a file of that name: change it with replace_string_in_file."
    ),
    capability="write",
    risk_level="safe_write",
    verb="write",
    path_parameters=("path",),
    target_parameter="path",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace."},
            "content": {"type": "string"},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    output_schema=result_schema(bytes_written=COUNT),
    examples=(
        Example(
            description="A module with one line", parameters={"path": "src/new.py", "content": "VALUE = 1\n"}
        ),
    ),
)


class CreateFile:
    """The tool."""

    descriptor = DESCRIPTOR

    def propose(self, parameters: JsonObject, base: Base) -> tuple[FileChange, ...]:
        """Propose the file; see the descriptor."""
        path = str(parameters["path"])
        try:
            found = base(path)
            content = str(parameters["content"]).encode()
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        except UnicodeEncodeError:
            raise ToolRefused(f"Not created: the content for {path} is not valid text; send UTF-8.") from None
        if found is not None:
            raise ToolRefused(f"Not created: {path} already exists; change it with replace_string_in_file.")
        return (FileChange(path=path, before=None, after=content, mode=NEW_FILE_MODE),)
