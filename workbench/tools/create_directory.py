"""The tool create_directory."""

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.tools.base import (
    PATH_SCHEMA,
    TEXT_SCHEMA,
    CallContext,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)


class CreateDirectory:
    """The tool create_directory."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.CREATE_DIRECTORY.id, wire_name=BuiltInTool.CREATE_DIRECTORY.wire_name,
        description="Create a folder in the workspace, and the folders on the way to it. create_file makes "
        "its folders by itself, so this is needed only for empty ones.",
        capability="write", risk_level="safe_write", verb=BuiltInTool.CREATE_DIRECTORY.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema("path", path=PATH_SCHEMA),
        output_schema=result_schema(created={"type": "array", "items": TEXT_SCHEMA}),
        examples=(ToolExample(description="A folder in another", parameters={"path": "build/reports"}),),
    )  # fmt: skip

    def check(self, parameters: JsonObject, context: CallContext) -> None:
        path = str(parameters["path"])
        try:
            kind = context.root.stat(path).kind
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        if kind == "folder":
            raise ToolRefused(f"Not created: the folder {path} is there already, so there is nothing to do.")
        if kind is not None:
            raise ToolRefused(f"Not created: there is a {kind} of the name {path}; choose another name.")

    def act(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        try:
            created = context.root.make_directory(str(parameters["path"]))
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        return _created_output(str(parameters["path"]), created)

    def settle(self, parameters: JsonObject, context: CallContext) -> ToolOutput | None:
        path = str(parameters["path"])
        try:
            is_there = context.root.stat(path).kind == "folder"
        except FileRefused:
            return None
        return _created_output(path, [path]) if is_there else None


def _created_output(path: str, created: list[str]) -> ToolOutput:
    words = f"created the folder {', '.join(created)}" if created else f"the folder {path} was there"
    return ToolOutput(text=words, summary=words, metadata={"created": list(created)}, affected=tuple(created))
