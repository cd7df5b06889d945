"""Compressed files, read within limits."""

# Packed sessions are read as they lie. Codex packs older rollouts with zstd, evaluations their entries:
# `backports.zstd` is the standard library's module of Python 3.14 for those before it, without dependencies
# of its own. A file may unpack to 250 times its size, and the rest is left out and said so.

import gzip
import io
import lzma
import struct
import sys
import zlib
from types import ModuleType
from typing import Any, BinaryIO, Final, cast

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
