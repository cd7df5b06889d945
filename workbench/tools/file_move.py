"""The tools move_file and delete_file.

A move is a new file with the same bytes and a deletion, written in this order: at every moment the bytes are
in at least one of the two places. What exists at the new path is never replaced.
"""

from workbench.changes.diff import FileChange
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.tools.base import (
    COUNT_SCHEMA,
    PATH_SCHEMA,
    BaseImage,
    ToolRefused,
    parameters_schema,
    result_schema,
)


class MoveFile:
    """The tool move_file."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.MOVE_FILE.id, wire_name=BuiltInTool.MOVE_FILE.wire_name,
        description="Move or rename one file of the workspace; missing folders are made. Fails if there is "
        "anything of the new name: delete that first. Folders are not moved.",
        capability="write", risk_level="dangerous", verb=BuiltInTool.MOVE_FILE.verb,
        path_parameters=("path", "new_path"), target_parameter="path",
        input_schema=parameters_schema("path", "new_path", path=PATH_SCHEMA, new_path=PATH_SCHEMA),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(description="Rename a module",
                        parameters={"path": "src/old.py", "new_path": "src/new.py"}),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        path, new_path = str(parameters["path"]), str(parameters["new_path"])
        if path == new_path:
            raise ToolRefused(f"Not moved: {path} is the new path as well.", "no_change")
        image = _existing_file(base, path, "Not moved")
        try:
            is_taken = base(new_path) is not None
        except FileRefused as error:
            raise ToolRefused(f"Not moved: {error}.") from None
        if is_taken:
            raise ToolRefused(f"Not moved: {new_path} already exists; delete it first, or name another path.")
        return (
            FileChange(path=new_path, before=None, after=image.data, mode=image.mode, moved_from=path),
            FileChange(path=path, before=image.data, after=None, mode=image.mode),
        )


class DeleteFile:
    """The tool delete_file."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.DELETE_FILE.id, wire_name=BuiltInTool.DELETE_FILE.wire_name,
        description="Delete one file of the workspace. Folders are not deleted.",
        capability="write", risk_level="dangerous", verb=BuiltInTool.DELETE_FILE.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema("path", path=PATH_SCHEMA),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(description="A module that nothing imports", parameters={"path": "src/old.py"}),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        path = str(parameters["path"])
        image = _existing_file(base, path, "Not deleted")
        return (FileChange(path=path, before=image.data, after=None, mode=image.mode),)


def _existing_file(base: BaseImage, path: str, what: str) -> FileImage:
    try:
        image = base(path)
    except FileRefused as error:
        raise ToolRefused(f"{what}: {error}.") from None
    if image is None:
        raise ToolRefused(f"{what}: {path} does not exist.", "no_file")
    return image
