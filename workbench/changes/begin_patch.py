"""The reader of Codex's `*** Begin Patch` format: its grammar and its limits.

It reads no file and never guesses: a text that versions of Codex read in different ways is refused.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.text.safe import one_line

MAX_PATCH_BYTES: Final = 2_000_000
MAX_SECTIONS: Final = 500
_LONGEST_PATH: Final = 4_096

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
MOVE_TO: Final = "*** Move to: "
END_OF_FILE: Final = "*** End of File"
SECTION_HEADS: Final[dict[str, Literal["add", "delete", "update"]]] = {
    "*** Add File: ": "add",
    "*** Delete File: ": "delete",
    "*** Update File: ": "update",
}
_KNOWN_MARKERS: Final = (
    BEGIN, END, "*** Move to:", END_OF_FILE, "*** Environment ID:",
    *(head.rstrip() for head in SECTION_HEADS),
)  # fmt: skip
SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000"
)
"""What Codex trims: Unicode's white space, which is not all that `str.strip` takes off."""


class PatchRefused(ValueError):
    """A text is not a patch, or does not fit its files; the message says where and why."""


class PatchUnclear(PatchRefused):
    """A patch goes beyond a limit, or versions of Codex make different files of it."""


class PatchChunk(Struct, frozen=True, kw_only=True):
    """Lines to replace, and the lines above them that say where they are."""

    anchors: tuple[str, ...] = ()
    """Each is looked for behind the one before."""
    lines: tuple[tuple[str, str], ...]
    """A sign, one of ` +-`, and the line without its end."""
    at_end: bool = False
    """The lines are the last ones of the file."""


class PatchSection(Struct, frozen=True, kw_only=True):
    """What a patch does to one file."""

    kind: Literal["add", "delete", "update"]
    path: str
    move_to: str | None = None
    text: str = ""
    """What an added file holds."""
    chunks: tuple[PatchChunk, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if self.move_to is None else (self.path, self.move_to)


def read_patch(data: bytes) -> tuple[PatchSection, ...]:
    """Read one patch, from `*** Begin Patch` to `*** End Patch`. Raises PatchRefused."""
    reader = _SectionReader(_body_lines(data))
    sections = tuple(reader.sections())
    if not sections:
        raise PatchRefused("the patch changes no file")
    return sections


def _body_lines(data: bytes) -> Sequence[str]:
    if len(data) > MAX_PATCH_BYTES:
        raise PatchUnclear(f"the patch has more than {MAX_PATCH_BYTES:,} bytes")
    try:
        text = data.decode("utf-8").strip(SPACES)
    except UnicodeDecodeError:
        raise PatchRefused("the patch is not UTF-8") from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[0].strip(SPACES) != BEGIN:
        raise PatchRefused(f"the first line is not {BEGIN}")
    if lines[-1].strip(SPACES) != END:
        raise PatchRefused(f"the last line is not {END}")
    if any(line.endswith("\r") for line in lines):
        raise PatchUnclear("a line ends in two carriage returns")
    return lines[1:-1]


class _SectionReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._next = 0

    def sections(self) -> Iterator[PatchSection]:
        count = 0
        while (head := self._peek()) is not None:
            count += 1
            if count > MAX_SECTIONS:
                raise PatchUnclear(f"the patch has more than {MAX_SECTIONS} sections")
            kind, path = self._head(head.strip(SPACES))
            self._next += 1
            if kind == "add":
                yield PatchSection(kind=kind, path=path, text=self._added_text())
            elif kind == "delete":
                yield PatchSection(kind=kind, path=path)
            else:
                yield self._update(path)

    def _peek(self) -> str | None:
        return self._lines[self._next] if self._next < len(self._lines) else None

    def _refused(self, why: str) -> PatchRefused:
        return PatchRefused(f"line {self._next + 2} of the patch: {why}")

    def _unclear(self, why: str) -> PatchUnclear:
        return PatchUnclear(f"line {self._next + 2} of the patch: {why}")

    def _head(self, text: str) -> tuple[Literal["add", "delete", "update"], str]:
        for marker, kind in SECTION_HEADS.items():
            if text.startswith(marker):
                return kind, self._path(text.removeprefix(marker))
        shown = one_line(text, 60)
        if text.startswith(_KNOWN_MARKERS):
            raise self._unclear(f"{shown} is not expected here")
        raise self._refused(f"{shown or 'an empty line'} does not start a section")

    def _path(self, path: str) -> str:
        if not path or path != path.strip(SPACES) or "\0" in path or len(path) > _LONGEST_PATH:
            raise self._unclear("its path is empty, too long, or has spaces around it or a NUL in it")
        return path

    def _added_text(self) -> str:
        begin = self._next
        while (line := self._peek()) is not None and line.startswith("+"):
            self._next += 1
        return "".join(f"{line[1:]}\n" for line in self._lines[begin : self._next])

    def _update(self, path: str) -> PatchSection:
        moved = None
        if (line := self._peek()) is not None and line.startswith(MOVE_TO):
            moved = self._path(line.removeprefix(MOVE_TO))
            self._next += 1
        chunks: list[PatchChunk] = []
        while (line := self._peek()) is not None and not line.startswith("*"):
            chunks.append(self._chunk(is_first=not chunks))
        if not chunks:
            raise self._refused(f"the section of {one_line(path, 80)} changes nothing")
        return PatchSection(kind="update", path=path, move_to=moved, chunks=tuple(chunks))

    def _chunk(self, *, is_first: bool) -> PatchChunk:
        anchors = self._anchors(is_first=is_first)
        lines: list[tuple[str, str]] = []
        at_end = False
        while not at_end and (line := self._peek()) is not None:
            at_end = line == END_OF_FILE and bool(lines)
            if not at_end and line and line[0] not in " +-":
                break
            if not at_end:
                lines.append(self._changed_line(line))
            self._next += 1
        if not lines:
            raise self._unclear("a chunk without lines")
        while at_end and (line := self._peek()) is not None and not line.strip(SPACES):
            self._next += 1
        return PatchChunk(anchors=anchors, lines=tuple(lines), at_end=at_end)

    def _anchors(self, *, is_first: bool) -> tuple[str, ...]:
        anchors: list[str] = []
        count = 0
        while (line := self._peek()) is not None and line.startswith("@"):
            anchors += self._anchor(line)
            count += 1
            self._next += 1
        if count > max(1, len(anchors)):
            raise self._unclear("a lone @@ before or after another anchor")
        if not count and not is_first:
            raise self._unclear("it is not in a chunk, which starts with @@")
        if not count and line is not None and not line.strip(SPACES):
            raise self._unclear("an empty line before the first chunk")
        return tuple(anchors)

    def _anchor(self, line: str) -> tuple[str, ...]:
        if line == "@@":
            return ()
        text = line.removeprefix("@@ ")
        if line.rstrip(SPACES) == "@@" or (text != line and text != text.rstrip(SPACES)):
            raise self._unclear("an anchor that ends in spaces")
        if text == line:
            raise self._refused(f"{one_line(line, 60)} is neither an anchor nor a changed line")
        return (text,)

    def _changed_line(self, line: str) -> tuple[str, str]:
        bare = line.strip(SPACES)
        if line[:1] == " " and (bare == "@@" or bare.startswith(("@@ ", *_KNOWN_MARKERS))):
            raise self._unclear(f"{one_line(bare, 60)} may be a context line or a marker")
        return line[:1] or " ", line[1:]
