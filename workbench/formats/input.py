"""Bytes of a file as numbered JSON values: decompression, lines, documents, and repair of damaged ones."""

# Packed sessions are read as they lie. Codex packs older rollouts with zstd, evaluations their entries:
# `backports.zstd` is the standard library's module of Python 3.14 for those before it, without dependencies
# of its own. A file may unpack to 250 times its size, and the rest is left out and said so.

import gzip
import hashlib
import io
import json
import lzma
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, BinaryIO, Final, cast

import orjson
from msgspec import Struct

from workbench.domain.values import Json
from workbench.formats.records import FileProblem

MOST_LINE: Final = 16 << 20
"""Bytes of one line; the largest real ones hold images of some hundred KB."""
MOST_DOCUMENT: Final = 256 << 20
"""Bytes of a document that has to be read whole."""
_READ_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_MOST_OPEN_BRACKETS: Final = 64
_HALF_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BLANK_BYTES: Final = b" \t\r\n\v\f\x1e\0"
"""Around a value: white space, record separators of RFC 7464, and what a crash leaves of a block."""
_NUL_MESSAGE: Final = "{} NUL bytes stand where a crash left nothing; they were left out"
_MOST_DIGITS: Final = 400
"""Digits of a whole number; one that is longer is kept as text, for Python converts it in quadratic time."""


class JsonLine(Struct, frozen=True):
    """One JSON value and the line it began in, from 1."""

    number: int
    value: Json


JsonLines = Iterable[JsonLine | FileProblem]


def raw_lines(stream: BinaryIO, most: int = MOST_LINE) -> Iterator[bytes | int]:
    """Yield lines without their ends; for one that is too long its size instead, read in pieces."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line.rstrip(b"\r\n")
            continue
        size = len(line)
        while piece := stream.readline(_READ_BLOCK):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        yield size


class PrefixChanged(Exception):
    """A file does not begin as it did when it was read last; all of it is to be read."""


Seal = Callable[[bytes], str]
"""Makes of a digest one that says nothing to who does not have the key."""


class LineMeter:
    """Counts the lines of a file that were read and digests them, so that one that grew is known again.

    `between` is called when a line is there and all before it were taken.
    """

    def __init__(self, lines: Iterable[bytes | int]) -> None:
        self._lines, self.count = lines, 0
        self._digest = hashlib.blake2b(digest_size=32)
        self._known = (0, "")
        self._seal: Seal = bytes.hex
        self._between: Callable[[], None] = lambda: None

    def watch(self, seal: Seal, between: Callable[[], None], known: tuple[int, str] = (0, "")) -> None:
        """Begin; `known`: how many lines are passed over, and the digest that they have to have."""
        self._seal, self._between, self._known = seal, between, known

    @property
    def is_known(self) -> bool:
        """Whether the line that was read last is passed over."""
        return self._known[0] > 0 and self.count <= self._known[0]

    @property
    def digest(self) -> str:
        """Of all lines so far."""
        return self._seal(self._digest.copy().digest())

    def __iter__(self) -> Iterator[bytes | int]:
        """Yield the lines. Raises PrefixChanged."""
        most, digest = self._known
        for line in self._lines:
            if most and self.count == most and self.digest != digest:
                raise PrefixChanged
            self._between()
            self.count += 1
            self._digest.update(b"%d\n" % line if isinstance(line, int) else line + b"\n")
            yield line
        if self.count <= most:
            raise PrefixChanged


def json_values(lines: Iterable[bytes | int]) -> Iterator[JsonLine | FileProblem]:
    """Yield the value of every line; blank lines are none, damaged ones are problems."""
    loads = orjson.loads
    for number, line in enumerate(lines, 1):
        if isinstance(line, int):
            yield FileProblem(number, f"the line has {line} bytes, over {MOST_LINE}: it was left out")
            continue
        try:
            yield JsonLine(number, loads(line))
        except ValueError:
            if line.strip(_BLANK_BYTES).removeprefix(_BOM):
                yield from _repaired_line(number, line)
            elif b"\0" in line:
                yield FileProblem(number, _NUL_MESSAGE.format(line.count(b"\0")))


def _repaired_line(number: int, line: bytes) -> Iterator[JsonLine | FileProblem]:
    source, is_utf8 = _decode_json(line.strip(_BLANK_BYTES))
    source = source.strip().removeprefix("\ufeff")
    values, rest = _value_sequence(source)
    if line.startswith(b"\0") or line.endswith(b"\0"):
        yield FileProblem(number, _NUL_MESSAGE.format(line.count(b"\0")))
    if not is_utf8:
        yield FileProblem(number, "it is not UTF-8: what was no character reads as U+FFFD")
    if len(values) > 1:
        yield FileProblem(number, f"{len(values)} values stand in one line; all of them are read")
    yield from (JsonLine(number, value) for value in values)
    if rest:
        yield FileProblem(number, "it is cut off or not JSON" + (" behind what was read" if values else ""))


def _decode_json(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), False


def _value_sequence(source: str) -> tuple[list[Json], str]:
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_bounded_integer)
    values: list[Json] = []
    position, has_halves = 0, bool(_HALF_SURROGATE.search(source))
    while position < len(source):
        try:
            value, end = decoder.raw_decode(source, position)
            values.append(_without_half_surrogates(value) if has_halves else value)
        except (ValueError, RecursionError):
            break
        position = end
        while position < len(source) and source[position] in " \t\r\n,\x1e":
            position += 1
    return values, source[position:]


def _without_half_surrogates(value: Json) -> Json:
    """Return a value whose texts hold no half of a character, which no encoding can write (RFC 8259, 8.2)."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_half_surrogates(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        return {
            str(_without_half_surrogates(key)): _without_half_surrogates(item)
            for key, item in members.items()
        }
    return value


def _bounded_integer(digits: str) -> Json:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def json_rows(data: bytes) -> list[JsonLine | FileProblem]:
    """Return objects in an array or one behind another as lines, numbered by their line or place."""
    source = _decode_json(data.removeprefix(_BOM))[0].lstrip()
    values, rest = _value_sequence(source)
    if len(values) == 1 and isinstance(values[0], list):
        return [JsonLine(number, value) for number, value in enumerate(cast("list[Json]", values[0]), 1)]
    lines: list[JsonLine | FileProblem] = [
        JsonLine(number, value) for number, value in _with_line_numbers(source, values)
    ]
    if rest:
        number = source.count("\n", 0, len(source) - len(rest)) + 1
        lines.append(FileProblem(number, "it is cut off or not JSON behind what was read"))
    return lines


def _with_line_numbers(source: str, values: list[Json]) -> Iterator[tuple[int, Json]]:
    decoder, position, line = json.JSONDecoder(strict=False, parse_int=_bounded_integer), 0, 1
    for number, value in enumerate(values, 1):
        yield line, value
        if number == len(values):
            return
        end = decoder.raw_decode(source, position)[1]
        while end < len(source) and source[end] in " \t\r\n,\x1e":
            end += 1
        line += source.count("\n", position, end)
        position = end


def json_documents(data: bytes) -> tuple[list[JsonLine], list[FileProblem]]:
    """Return the JSON documents of a file, or what can be read of a damaged one, numbered by their lines."""
    try:
        return [JsonLine(1, orjson.loads(data))], []
    except ValueError:
        pass
    source, is_utf8 = _decode_json(data.removeprefix(_BOM))
    problems = [] if is_utf8 else [FileProblem(1, "it is not UTF-8 everywhere")]
    before = len(source) - len(source.lstrip())
    values, rest = _value_sequence(source[before:])
    if not values:
        value, broken = _salvage_document(source)
        return [JsonLine(1, value)] if value is not None else [], [*problems, broken]
    if rest.strip():
        line = source.count("\n", 0, len(source) - len(rest)) + 1
        problems.append(FileProblem(line, "something follows the end of the document"))
    if len(values) > 1:
        problems.append(FileProblem(1, f"{len(values)} documents stand in one file; all of them are read"))
    above = source.count("\n", 0, before)
    return [
        JsonLine(above + line, value) for line, value in _with_line_numbers(source[before:], values)
    ], problems


def _salvage_document(source: str) -> tuple[Json, FileProblem]:
    for end, closing in reversed(_last_value_ends(source)):
        try:
            value = _without_half_surrogates(
                json.loads(source[:end] + closing, strict=False, parse_int=_bounded_integer)
            )
        except (ValueError, RecursionError):
            continue
        line = source.count("\n", 0, end) + 1
        return value, FileProblem(line, "the document breaks off here; the rest is read")
    return None, FileProblem(1, "it is not JSON")


def _last_value_ends(source: str) -> list[tuple[int, str]]:
    stack: list[str] = []
    cuts: list[tuple[int, str]] = []
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', source, re.DOTALL):
        sign = match.group()
        if sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        elif sign == "," and len(stack) < _MOST_OPEN_BRACKETS:
            cuts.append((match.start(), "".join(reversed(stack))))
            del cuts[:-200]
    return cuts


COMPRESSION_MAGIC: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
UNSUPPORTED_MAGIC: Final = {b"BZh": "bunzip2", b"\xfd7zXZ\0": "unxz", b"7z\xbc\xaf\x27\x1c": "7z x"}
"""What is not unpacked here, and the command that does it."""
MOST_DECOMPRESSED: Final = 8 << 30
"""Bytes that a file may unpack to."""
ALWAYS_DECOMPRESSED: Final = 64 << 20
"""Bytes that are unpacked whatever the file's size is."""
MOST_RATIO: Final = 250
"""How many times its size a larger one may unpack to; conversations come to 5 to 40."""
WINDOW_LOG_MAX: Final = 27
"""Of zstd: at most 128 MB are held to look back in, its own bound for what it reads unasked."""


class DecompressedStream(io.RawIOBase):
    """The bytes of a compressed stream, within bounds of size."""

    def __init__(self, packed: BinaryIO, kind: str) -> None:
        self._packed = _MeteredStream(packed)
        self._from = _open_compressed(cast("BinaryIO", self._packed), kind)
        self._kind, self._size = kind, 0
        self._lines = 1
        self.why = ""
        """Why the stream ended before its end; empty while nothing is wrong."""

    @property
    def line(self) -> int:
        """Return the number of the line that comes next."""
        return self._lines

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """Fill a buffer with what comes next; nothing at the end, and where something is wrong."""
        if self.why:
            return 0
        try:
            data = self._from.read(len(buffer)) or b""
        except EOFError:
            self.why = f"the {self._kind} file breaks off here"
            return 0
        except decompression_errors() as error:
            self.why = f"the {self._kind} file is damaged here: {error}"
            return 0
        self._size += len(data)
        self._lines += data.count(b"\n")
        if (
            self._size > MOST_DECOMPRESSED
            or self._size > ALWAYS_DECOMPRESSED + MOST_RATIO * self._packed.size
        ):
            self.why = f"it unpacks to over {MOST_RATIO} times its size: the rest was left out"
        buffer[: len(data)] = data
        return len(data)


class _MeteredStream(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.size = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer)) or b""
        self.size += len(data)
        buffer[: len(data)] = data
        return len(data)


def _open_compressed(packed: BinaryIO, kind: str) -> BinaryIO:
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=packed, mode="rb"))
    zstd = _zstd_module()
    options = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG_MAX}
    return cast("BinaryIO", zstd.ZstdFile(packed, "rb", options=options))


def decompression_errors() -> tuple[type[Exception], ...]:
    """Return what reading damaged bytes raises, however they are compressed."""
    bad_zip: type[Exception] = zip_module().BadZipFile
    packing = (zlib.error, lzma.LZMAError, _zstd_module().ZstdError)
    return OSError, ValueError, RuntimeError, struct.error, bad_zip, *packing


def zip_module() -> ModuleType:
    """Return `zipfile`, one that also reads entries that are compressed with zstd."""
    if sys.version_info >= (3, 14):
        import zipfile
    else:
        from backports.zstd import zipfile
    return zipfile


def _zstd_module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    else:
        from backports import zstd
    return zstd  # pyright: ignore[reportUnknownVariableType]
