"""The tools read_file and context.read. Files are read as a stream."""

# `context.read` asks like every read. Seed S4 lets it pass without approval, S0 asks for every tool; the
# stricter holds, and `approvals.read_only: auto` or trust with reading lifts both. Otherwise it would be
# the way around `read_file`.

from typing import BinaryIO, Final

from msgspec import Struct

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import Json, JsonObject, ToolDescriptor, ToolExample
from workbench.effects.file_primitives import FileRefused
from workbench.text.human import size_text
from workbench.tools.base import (
    COUNT_SCHEMA,
    PATH_SCHEMA,
    CallContext,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)
from workbench.tools.output_preview import without_cut_character

_CHUNK_BYTES: Final = 65_536
_SNIFFED_BYTES: Final = 8192
_HEX_BYTES: Final = 1024
_LINE_SCHEMA: Final[JsonObject] = {"type": "integer", "minimum": 1}


class ReadFile:
    """The tool read_file."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.READ_FILE.id, wire_name=BuiltInTool.READ_FILE.wire_name,
        description="Read a text file of the workspace. start_line and end_line count from 1, both "
        "inclusive; without them the file is read from its beginning to a limit of 100 KB. "
        "Of a binary file the first 1 KB is returned in hexadecimal.",
        capability="read", risk_level="read_only", verb=BuiltInTool.READ_FILE.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema(
            "path", path=PATH_SCHEMA, start_line=_LINE_SCHEMA, end_line=_LINE_SCHEMA
        ),
        output_schema=result_schema(bytes=COUNT_SCHEMA),
        examples=(
            ToolExample(description="A whole file", parameters={"path": "src/app.py"}),
            ToolExample(description="Lines 10 to 40",
                        parameters={"path": "src/app.py", "start_line": 10, "end_line": 40}),
        ),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        path, (first, last) = str(parameters["path"]), _line_range(parameters)
        try:
            total = context.root.stat(path).size
            with context.root.open_read(path) as file:
                beginning = file.read(_SNIFFED_BYTES)
                if b"\0" in beginning:
                    return _binary_output(path, beginning[:_HEX_BYTES], total)
                file.seek(0)
                _skip_to_line(file, path, first)
                part = _take_lines(file, first, last, context.limits.context_file_bytes)
        except FileRefused as error:
            raise ToolRefused(f"Not read: {error}.") from None
        return _file_output(path, part, total)


class _FilePart(Struct, frozen=True, kw_only=True):
    """Lines of a file; `is_cut` if there are more than fit."""

    data: bytes
    first: int
    last: int
    is_cut: bool


def _line_range(parameters: JsonObject) -> tuple[int, int | None]:
    first = int(parameters.get("start_line") or 1)
    end = parameters.get("end_line")
    if end is not None and int(end) < first:
        raise ToolRefused(f"Not read: end_line {int(end)} is before start_line {first}; exchange them.")
    return first, None if end is None else int(end)


def _skip_to_line(file: BinaryIO, path: str, first: int) -> None:
    """Go to the beginning of a line. Raises ToolRefused: the file has fewer lines."""
    missing, position, ending = first - 1, 0, b"\n"
    while missing and (chunk := file.read(_CHUNK_BYTES)):
        count = chunk.count(b"\n")
        if count >= missing:
            position += _position_after(chunk, missing)
            missing = 0
        else:
            missing, position, ending = missing - count, position + len(chunk), chunk[-1:]
    file.seek(position)
    is_there = not missing and file.read(1)
    if first > 1 and not is_there:
        lines = first - 1 - missing + (ending != b"\n")
        raise ToolRefused(f"Not read: {path} has {lines} lines, so there is no line {first}.")
    file.seek(position)


def _position_after(data: bytes, count: int) -> int:
    position = 0
    for _ in range(count):
        position = data.index(b"\n", position) + 1
    return position


def _take_lines(file: BinaryIO, first: int, last: int | None, limit: int) -> _FilePart:
    data = file.read(limit + 1)
    if last is not None and data.count(b"\n") > last - first:
        data = data[: _position_after(data, last - first + 1)]
    is_cut = len(data) > limit
    if is_cut:
        data = data[:limit]
        data = data[: data.rfind(b"\n") + 1] or without_cut_character(data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return _FilePart(data=data, first=first, last=first + lines - 1, is_cut=is_cut)


def _file_output(path: str, part: _FilePart, total: int) -> ToolOutput:
    metadata: dict[str, Json] = {"bytes": total, "start_line": part.first, "end_line": part.last}
    text, is_utf8 = _decoded_text(part.data)
    if not is_utf8:
        metadata["encoding"] = "latin-1"
        text = f"[{path} is not UTF-8; shown as Latin-1]\n{text}"
    if part.is_cut:
        metadata["truncated"] = True
        text = f"{text.rstrip(chr(10))}\n{_cut_notice(path, part, total)}"
    return ToolOutput(text=text, metadata=metadata, is_fragment=part.first > 1, is_content=True)


def _decoded_text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False


def _cut_notice(path: str, part: _FilePart, total: int) -> str:
    amount = f"{size_text(len(part.data))} of the {size_text(total)} of {path}"
    if part.data.endswith(b"\n"):
        return f"[… cut: {amount} are shown, to line {part.last}; read on with start_line {part.last + 1} …]"
    return f"[… cut: {amount} are shown; line {part.last} is longer than that …]"


def _binary_output(path: str, data: bytes, total: int) -> ToolOutput:
    rows = (data[offset : offset + 16].hex(" ") for offset in range(0, len(data), 16))
    head = f"[{path} is binary: {size_text(total)}; its first {len(data)} bytes in hexadecimal]"
    return ToolOutput(text="\n".join((head, *rows)), metadata={"bytes": total, "encoding": "binary"})


class ContextRead:
    """The tool context.read."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.CONTEXT_READ.id, wire_name=BuiltInTool.CONTEXT_READ.wire_name,
        description="Return a file of the workspace, to a limit of 100 KB, as context for the work.",
        capability="read", risk_level="read_only", verb=BuiltInTool.CONTEXT_READ.verb,
        path_parameters=("path",), target_parameter="path",
        input_schema=parameters_schema("path", path=PATH_SCHEMA),
        output_schema=result_schema(bytes=COUNT_SCHEMA),
        examples=(ToolExample(description="The project's own words", parameters={"path": "README.md"}),),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        return ReadFile().read({"path": parameters["path"]}, context)
