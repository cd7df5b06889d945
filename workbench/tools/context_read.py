"""context.read: a file of the workspace as context; seed S4's name for reading.

Owns its descriptor only. What it may read, how much, and the words are those of `read_file`.
"""

from typing import Final

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.tools.base import Output, Place
from workbench.tools.read_file import ReadFile
from workbench.tools.results import COUNT, result_schema

DESCRIPTOR: Final = ToolDescriptor(
    id="context.read",
    wire_name="context_read",
    description="Return a file of the workspace, to a limit of 100 KB, as context for the work.",
    capability="read",
    risk_level="read_only",
    verb="read",
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
    output_schema=result_schema(bytes=COUNT),
    examples=(Example(description="The project's own words", parameters={"path": "README.md"}),),
)


class ContextRead:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:
        """Read a file; see the descriptor."""
        return ReadFile().read({"path": parameters["path"]}, place)
