"""replace_string_in_file: one piece of text in a file, replaced by another.

Owns finding the one place. It works on bytes, so that line ends, BOM and whatever else is in the file
stay as they are, and never guesses which of several places was meant.
"""

from typing import Final

from workbench.changes.model import FileChange
from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.effects.files import FileImage, FileRefused
from workbench.tools.base import Base, ToolRefused
from workbench.tools.results import COUNT, result_schema

DESCRIPTOR: Final = ToolDescriptor(
    id="replace_string_in_file",
    wire_name="replace_string_in_file",
    description=(
        "Replace old_string by new_string in a file of the workspace. old_string has to be there exactly "
        "once: give enough lines around it. If it is not, nothing is written and the count is returned."
    ),
    capability="write",
    risk_level="dangerous",
    verb="edit",
    path_parameters=("path",),
    target_parameter="path",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace."},
            "old_string": {"type": "string", "minLength": 1},
            "new_string": {"type": "string"},
        },
        "required": ["path", "old_string", "new_string"],
        "additionalProperties": False,
    },
    output_schema=result_schema(bytes_written=COUNT),
    examples=(
        Example(
            description="Rename a function where it is defined",
            parameters={
                "path": "src/app.py",
                "old_string": "def old(value):",
                "new_string": "def new(value):",
            },
        ),
    ),
)


class ReplaceString:
    """The tool."""

    descriptor = DESCRIPTOR

    def propose(self, parameters: JsonObject, base: Base) -> tuple[FileChange, ...]:
        """Propose the file with the one place replaced; see the descriptor."""
        path = str(parameters["path"])
        image = _image(base, path)
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
        found, replacement = _fitting(before, old, new, path)
        count = _count(before, found)
        if count != 1:
            raise ToolRefused(_count_words(path, count), "ambiguous" if count else "not_found")
        after = before.replace(found, replacement)
        return (FileChange(path=path, before=before, after=after, mode=image.mode),)


def _image(base: Base, path: str) -> FileImage:
    try:
        image = base(path)
    except FileRefused as error:
        raise ToolRefused(f"Not changed: {error}.") from None
    if image is None:
        raise ToolRefused(f"Not changed: {path} does not exist; create_file makes a new file.", "no_file")
    if b"\0" in image.data:
        raise ToolRefused(f"Not changed: {path} is binary; this tool changes text.", "not_text")
    return image


def _fitting(data: bytes, old: str, new: str, path: str) -> tuple[bytes, bytes]:
    """Return both strings in the encoding of the file, and with its line ends where that makes them fit."""
    encoding = _encoding(data)
    try:
        found, replacement = old.encode(encoding), new.encode(encoding)
    except UnicodeEncodeError:
        raise ToolRefused(
            f"Not changed: {path} is not UTF-8 and has no place for some characters of the strings.",
            "not_text",
        ) from None
    if b"\r" not in found and (_has_only_crlf(data) or (found not in data and b"\r\n" in data)):
        found = found.replace(b"\n", b"\r\n")
        replacement = replacement.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return found, replacement


def _has_only_crlf(data: bytes) -> bool:
    """Say whether every line of a file ends in CR LF; then what is written does, too."""
    count = data.count(b"\r\n")
    return count > 0 and count == data.count(b"\n")


def _encoding(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _count(data: bytes, found: bytes) -> int:
    """Count the places where it begins; those that overlap are several places too."""
    count, at = 0, data.find(found)
    while at >= 0:
        count, at = count + 1, data.find(found, at + 1)
    return count


def _count_words(path: str, count: int) -> str:
    if count == 0:
        return (
            f"Not changed: old_string occurs 0 times in {path}; "
            "read the file and copy the text exactly, spaces included."
        )
    return (
        f"Not changed: old_string occurs {count} times in {path}; add lines around it so that it occurs once."
    )
