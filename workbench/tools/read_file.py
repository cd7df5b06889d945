"""read_file: a file, or some of its lines, read as a stream so that its size does not matter.

Owns the reading of lines, and the words for what is binary, not UTF-8 or cut. It never writes, and never
holds more of a file than it gives back.
"""

from dataclasses import dataclass
from typing import BinaryIO, Final

from workbench.domain.values import Example, Json, JsonObject, ToolDescriptor
from workbench.effects.files import FileRefused
from workbench.text.human import size
from workbench.tools.base import Output, Place, ToolRefused
from workbench.tools.preview import whole_characters
from workbench.tools.results import COUNT, result_schema

_CHUNK: Final = 65_536
_SNIFFED: Final = 8192
_HEX_BYTES: Final = 1024

DESCRIPTOR: Final = ToolDescriptor(
    id="read_file",
    wire_name="read_file",
    description=(
        "Read a text file of the workspace. start_line and end_line count from 1, both inclusive; "
        "without them the file is read from its beginning to a limit of 100 KB. "
        "Of a binary file the first 1 KB is returned in hexadecimal."
    ),
    capability="read",
    risk_level="read_only",
    verb="read",
    path_parameters=("path",),
    target_parameter="path",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace."},
            "start_line": {"type": "integer", "minimum": 1},
            "end_line": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    output_schema=result_schema(bytes=COUNT),
    examples=(
        Example(description="A whole file", parameters={"path": "src/app.py"}),
        Example(
            description="Lines 10 to 40",
            parameters={"path": "src/app.py", "start_line": 10, "end_line": 40},
        ),
    ),
)


class ReadFile:
    """The tool."""

    descriptor = DESCRIPTOR

    def read(self, parameters: JsonObject, place: Place) -> Output:
        """Read a file; see the descriptor."""
        path, (first, last) = str(parameters["path"]), _range(parameters)
        try:
            total = place.root.stat(path).size
            with place.root.open_read(path) as file:
                beginning = file.read(_SNIFFED)
                if b"\0" in beginning:
                    return _binary(path, beginning[:_HEX_BYTES], total)
                file.seek(0)
                _skip(file, path, first)
                part = _take(file, first, last, place.limits.context_file_bytes)
        except FileRefused as error:
            raise ToolRefused(f"Not read: {error}.") from None
        return _output(path, part, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Lines of a file; `is_cut` if there are more than fit."""

    data: bytes
    first: int
    last: int
    is_cut: bool


def _range(parameters: JsonObject) -> tuple[int, int | None]:
    first = int(parameters.get("start_line") or 1)
    end = parameters.get("end_line")
    if end is not None and int(end) < first:
        raise ToolRefused(f"Not read: end_line {int(end)} is before start_line {first}; exchange them.")
    return first, None if end is None else int(end)


def _skip(file: BinaryIO, path: str, first: int) -> None:
    """Go to the beginning of a line.

    Raises:
        ToolRefused: The file has fewer lines.
    """
    missing, at, ending = first - 1, 0, b"\n"
    while missing and (chunk := file.read(_CHUNK)):
        count = chunk.count(b"\n")
        if count >= missing:
            at += _after(chunk, missing)
            missing = 0
        else:
            missing, at, ending = missing - count, at + len(chunk), chunk[-1:]
    file.seek(at)
    is_there = not missing and file.read(1)
    if first > 1 and not is_there:
        lines = first - 1 - missing + (ending != b"\n")
        raise ToolRefused(f"Not read: {path} has {lines} lines, so there is no line {first}.")
    file.seek(at)


def _after(data: bytes, count: int) -> int:
    """Return the position behind the line end with this number."""
    at = 0
    for _ in range(count):
        at = data.index(b"\n", at) + 1
    return at


def _take(file: BinaryIO, first: int, last: int | None, limit: int) -> _Part:
    data = file.read(limit + 1)
    if last is not None and data.count(b"\n") > last - first:
        data = data[: _after(data, last - first + 1)]
    is_cut = len(data) > limit
    if is_cut:
        data = data[:limit]
        data = data[: data.rfind(b"\n") + 1] or whole_characters(data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return _Part(data=data, first=first, last=first + lines - 1, is_cut=is_cut)


def _output(path: str, part: _Part, total: int) -> Output:
    metadata: dict[str, Json] = {"bytes": total, "start_line": part.first, "end_line": part.last}
    text, is_utf8 = _decoded(part.data)
    if not is_utf8:
        metadata["encoding"] = "latin-1"
        text = f"[{path} is not UTF-8; shown as Latin-1]\n{text}"
    if part.is_cut:
        metadata["truncated"] = True
        text = f"{text.rstrip(chr(10))}\n{_cut_words(path, part, total)}"
    return Output(text=text, metadata=metadata, is_fragment=part.first > 1, is_content=True)


def _decoded(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False


def _cut_words(path: str, part: _Part, total: int) -> str:
    shown = f"{size(len(part.data))} of the {size(total)} of {path}"
    if part.data.endswith(b"\n"):
        return f"[… cut: {shown} are shown, to line {part.last}; read on with start_line {part.last + 1} …]"
    return f"[… cut: {shown} are shown; line {part.last} is longer than that …]"


def _binary(path: str, data: bytes, total: int) -> Output:
    rows = (data[at : at + 16].hex(" ") for at in range(0, len(data), 16))
    head = f"[{path} is binary: {size(total)}; its first {len(data)} bytes in hexadecimal]"
    return Output(text="\n".join((head, *rows)), metadata={"bytes": total, "encoding": "binary"})
