"""The tools create_file and replace_string_in_file."""

from workbench.changes.diff import FileChange
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.tools.base import (
    COUNT_SCHEMA,
    FILLED_SCHEMA,
    NEW_FILE_MODE,
    PATH_SCHEMA,
    TEXT_SCHEMA,
    BaseImage,
    ToolRefused,
    parameters_schema,
    result_schema,
)


class CreateFile:
    """The tool create_file."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.CREATE_FILE.id, wire_name=BuiltInTool.CREATE_FILE.wire_name,
        description="Create a new file in the workspace with this content; missing folders are made. "
        "Fails if there is a file of that name: change it with replace_string_in_file.",
        capability="write", risk_level="safe_write", verb=BuiltInTool.CREATE_FILE.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema("path", "content", path=PATH_SCHEMA, content=TEXT_SCHEMA),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(description="A module with one line",
                        parameters={"path": "src/new.py", "content": "VALUE = 1\n"}),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        path = str(parameters["path"])
        try:
            existing = base(path)
            content = str(parameters["content"]).encode()
        except FileRefused as error:
            raise ToolRefused(f"Not created: {error}.") from None
        except UnicodeEncodeError:
            raise ToolRefused(f"Not created: the content for {path} is not valid text; send UTF-8.") from None
        if existing is not None:
            raise ToolRefused(f"Not created: {path} already exists; change it with replace_string_in_file.")
        return (FileChange(path=path, before=None, after=content, mode=NEW_FILE_MODE),)


class ReplaceString:
    """The tool replace_string_in_file."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.REPLACE_STRING.id, wire_name=BuiltInTool.REPLACE_STRING.wire_name,
        description="Replace old_string by new_string in a file of the workspace. old_string has to be there "
        "exactly once: give enough lines around it. If it is not, nothing is written and the count is "
        "returned.",
        capability="write", risk_level="dangerous", verb=BuiltInTool.REPLACE_STRING.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema(
            "path", "old_string", "new_string",
            path=PATH_SCHEMA, old_string=FILLED_SCHEMA, new_string=TEXT_SCHEMA,
        ),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(
                description="Rename a function where it is defined",
                parameters={
                    "path": "src/app.py", "old_string": "def old(value):", "new_string": "def new(value):",
                },
            ),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        path = str(parameters["path"])
        image = _base_image(base, path)
        old, new = str(parameters["old_string"]), str(parameters["new_string"])
        if not old:
            raise ToolRefused(
                f"Not changed: old_string is empty; name the text to replace in {path}.", "empty_old"
            )
        if old == new:
            raise ToolRefused(f"Not changed: old_string and new_string are the same in {path}.", "no_change")
        if "\0" in new:
            raise ToolRefused(f"Not changed: with a NUL {path} would be no text any more.", "not_text")
        before = image.data
        target, replacement = _in_file_encoding(before, old, new, path)
        count = _occurrences(before, target)
        if count != 1:
            raise ToolRefused(_occurrence_refusal(path, count), "ambiguous" if count else "not_found")
        after = before.replace(target, replacement)
        return (FileChange(path=path, before=before, after=after, mode=image.mode),)


def _base_image(base: BaseImage, path: str) -> FileImage:
    try:
        image = base(path)
    except FileRefused as error:
        raise ToolRefused(f"Not changed: {error}.") from None
    if image is None:
        raise ToolRefused(f"Not changed: {path} does not exist; create_file makes a new file.", "no_file")
    if b"\0" in image.data:
        raise ToolRefused(f"Not changed: {path} is binary; this tool changes text.", "not_text")
    return image


def _in_file_encoding(data: bytes, old: str, new: str, path: str) -> tuple[bytes, bytes]:
    """Return both strings in the encoding of the file, and with its line ends where that makes them fit."""
    encoding = _encoding(data)
    try:
        target, replacement = old.encode(encoding), new.encode(encoding)
    except UnicodeEncodeError:
        raise ToolRefused(
            f"Not changed: {path} is not UTF-8 and has no place for some characters of the strings.",
            "not_text",
        ) from None
    if b"\r" not in target and (_has_only_crlf(data) or (target not in data and b"\r\n" in data)):
        target = target.replace(b"\n", b"\r\n")
        replacement = replacement.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return target, replacement


def _has_only_crlf(data: bytes) -> bool:
    """Return whether every line of a file ends in CR LF; new lines then do, too."""
    count = data.count(b"\r\n")
    return count > 0 and count == data.count(b"\n")


def _encoding(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _occurrences(data: bytes, target: bytes) -> int:
    """Count the places where a target starts, overlapping ones too."""
    count, position = 0, data.find(target)
    while position >= 0:
        count, position = count + 1, data.find(target, position + 1)
    return count


def _occurrence_refusal(path: str, count: int) -> str:
    if count == 0:
        return (
            f"Not changed: old_string occurs 0 times in {path}; "
            "read the file and copy the text exactly, spaces included."
        )
    return (
        f"Not changed: old_string occurs {count} times in {path}; add lines around it so that it occurs once."
    )
