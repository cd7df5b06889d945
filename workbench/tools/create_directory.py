"""create_directory: a folder, and those on the way to it.

Owns what is said of it. It never touches a folder that is there.
"""

from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.effects.files import FileRefused
from workbench.tools.base import Output, Place, ToolRefused
from workbench.tools.results import result_schema

DESCRIPTOR: Final = ToolDescriptor(
    id="create_directory",
    wire_name="create_directory",
    description=(
        "Create a folder in the workspace, and the folders on the way to it. create_file makes its folders "
        "by itself, so this is needed only for empty ones."
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
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    output_schema=result_schema(created={"type": "array", "items": {"type": "string"}}),
    examples=(Example(description="A folder in another", parameters={"path": "build/reports"}),),
)


class CreateDirectory:
    """The tool."""

    descriptor = DESCRIPTOR

    def check(self, parameters: JsonObject, place: Place) -> None:
        """Refuse what cannot be made, and what is there already; see the descriptor."""
        path = str(parameters["path"])
        try:
            kind = place.root.stat(path).kind
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        if kind == "folder":
            raise ToolRefused(f"Not created: the folder {path} is there already, so there is nothing to do.")
        if kind is not None:
            raise ToolRefused(f"Not created: there is a {kind} of the name {path}; choose another name.")

    def act(self, parameters: JsonObject, place: Place) -> Output:
        """Create the folder; see the descriptor."""
        try:
            made = place.root.make_directory(str(parameters["path"]))
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        return _output(str(parameters["path"]), made)

    def settle(self, parameters: JsonObject, place: Place) -> Output | None:
        """Look whether the folder is there."""
        path = str(parameters["path"])
        try:
            is_there = place.root.stat(path).kind == "folder"
        except FileRefused:
            return None
        return _output(path, [path]) if is_there else None


def _output(path: str, made: list[str]) -> Output:
    words = f"created the folder {', '.join(made)}" if made else f"the folder {path} was there"
    return Output(text=words, summary=words, metadata={"created": list(made)}, affected=tuple(made))
