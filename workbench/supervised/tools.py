"""Tools of agents that execute their own calls: what a call would change, and the input for another change.

A tool proposes bytes by its agent's own rules and writes nothing. What an agent's tool cannot write exactly
is an error, never an input that would write something else.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from workbench.changes.begin_patch import PatchRefused, read_patch
from workbench.changes.diff import FileChange
from workbench.changes.patch_writer import write_patch
from workbench.changes.patched_files import LineEnds, patched_files
from workbench.config.sections import ToolSettings
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import UNDO_TOOL, JsonObject, ToolDescriptor
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.policy.gate import NAMED_FILES
from workbench.supervised.plain_tools import (
    FLAG,
    PATH,
    PLAIN_TOOLS,
    TEXT,
    OtherTool,
    files_of_reading,
    open_schema,
)
from workbench.text.safe import one_line
from workbench.tools.base import NEW_FILE_MODE, AnyTool, BaseImage, ToolRefused
from workbench.tools.registry import NO_SETTINGS, ToolRegistry, narrowed_tool

MOST_TOOLS: Final = 500
"""Different names of tools that one session may use; calls of further ones are refused."""


class InputNotPossible(Exception):
    """No input makes the agent's tool write exactly the chosen bytes; says why."""


class ForeignTool(Protocol):
    """A tool of an agent, which the agent runs itself."""

    @property
    def descriptor(self) -> ToolDescriptor: ...


@runtime_checkable
class ForeignWriteTool(ForeignTool, Protocol):
    """A tool of an agent that changes files."""

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        """Return what the agent's tool would write. Raises ToolRefused: it would fail."""
        ...

    def input_for(
        self, given: JsonObject, chosen: Sequence[FileChange], names: Mapping[str, str]
    ) -> JsonObject:
        """Return the input by which the tool writes exactly the chosen bytes.

        `given` is the agent's own input; `names` has the agent's name of a path, where it names it elsewhere
        than in a parameter. Raises InputNotPossible.
        """
        ...


def _read_text(base: BaseImage, path: str) -> FileImage | None:
    try:
        return base(path)
    except FileRefused as error:
        raise ToolRefused(f"It cannot be changed: {error}.") from None


def _utf8(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolRefused(f"The text for {path} is not valid Unicode.") from None


def _decoded(data: bytes | None, path: str) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise InputNotPossible(f"{path} is not UTF-8") from None


class _Replacement(Struct, frozen=True):
    """One replacement of a string, as an agent asks for it."""

    old: str
    new: str
    is_everywhere: bool = False

    def applied(self, data: bytes | None, path: str) -> bytes:
        """Return the bytes of a file after it; `data` is None where there is no file. Raises ToolRefused."""
        old, new = _utf8(self.old, path), _utf8(self.new, path)
        if not old and not data:
            return new
        if data is None:
            raise ToolRefused(f"{path} does not exist.", "no_file")
        is_crlf = _has_crlf_only(data)
        if is_crlf:
            data, old, new = map(_without_crlf, (data, old, new))
        count = data.count(old) if old else 0
        if count == 0 or (count > 1 and not self.is_everywhere):
            raise ToolRefused(f"old_string occurs {count} times in {path}.", "ambiguous" if count else "")
        after = data.replace(old, new)
        return _with_crlf(after) if is_crlf else after


def _replacement(given: JsonObject) -> _Replacement:
    is_everywhere = given.get("replace_all") is True
    return _Replacement(str(given["old_string"]), str(given["new_string"]), is_everywhere)


def _has_crlf_only(data: bytes) -> bool:
    """Return whether every line ends with CR and LF: agents edit such a file without its CRs."""
    return b"\r\n" in data and data.count(b"\n") == data.count(b"\r\n") == data.count(b"\r")


def _without_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _with_crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def _edit_file(path: str, base: BaseImage, replacements: Sequence[_Replacement]) -> tuple[FileChange, ...]:
    image = _read_text(base, path)
    before, mode = (image.data, image.mode) if image else (None, NEW_FILE_MODE)
    after = before
    for each in replacements:
        after = each.applied(after, path)
    if after is None or after == before:
        raise ToolRefused(f"Nothing of {path} would change.", "no_change")
    return (FileChange(path=path, before=before, after=after, mode=mode),)


def _replacement_for(change: FileChange) -> JsonObject:
    """Return the members of one replacement that makes the chosen bytes. Raises InputNotPossible."""
    if change.after is None:
        raise InputNotPossible(f"{change.path} would be deleted")
    before, after = change.before or b"", change.after
    if _has_crlf_only(before):
        before, after = _without_crlf(before), _without_crlf(after)
        if _with_crlf(after) != change.after:
            raise InputNotPossible(f"{change.path} would have line ends of two kinds")
    old, new = _unique_part(before, after) if before else (b"", after)
    return {"old_string": _decoded(old, change.path), "new_string": _decoded(new, change.path)}


class EditTool:
    """Replaces a string of a file that occurs once, or every time it occurs."""

    descriptor = ToolDescriptor(
        id="Edit", wire_name="Edit", description="Replaces a string in a file.", capability="write",
        risk_level="dangerous", verb="edit", path_parameters=("file_path",), target_parameter="file_path",
        input_schema=open_schema(
            "file_path", "old_string", "new_string",
            file_path=PATH, old_string=TEXT, new_string=TEXT, replace_all=FLAG,
        ),
        acts_as=(BuiltInTool.REPLACE_STRING.id,),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        return _edit_file(str(parameters["file_path"]), base, [_replacement(parameters)])

    def input_for(
        self, given: JsonObject, chosen: Sequence[FileChange], names: Mapping[str, str]
    ) -> JsonObject:
        del names
        (change,) = chosen
        # Said and not left out: an agent may keep what its own input had.
        once = {"replace_all": False} if "replace_all" in given else {}
        return {**given, **_replacement_for(change), **once}


class MultiEditTool:
    """Replaces several strings of a file, one after the other."""

    descriptor = ToolDescriptor(
        id="MultiEdit", wire_name="MultiEdit", description="Replaces strings in a file.", capability="write",
        risk_level="dangerous", verb="edit", path_parameters=("file_path",), target_parameter="file_path",
        input_schema=open_schema(
            "file_path", "edits", file_path=PATH,
            edits={
                "type": "array", "minItems": 1,
                "items": open_schema(
                    "old_string", "new_string", old_string=TEXT, new_string=TEXT, replace_all=FLAG
                ),
            },
        ),
        acts_as=(BuiltInTool.REPLACE_STRING.id,),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        edits = cast("Sequence[JsonObject]", parameters["edits"])
        return _edit_file(str(parameters["file_path"]), base, [_replacement(each) for each in edits])

    def input_for(
        self, given: JsonObject, chosen: Sequence[FileChange], names: Mapping[str, str]
    ) -> JsonObject:
        del names
        (change,) = chosen
        return {**given, "edits": [_replacement_for(change)]}


def _unique_part(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Return the shortest run of lines around a change that occurs once in a file, and what it becomes."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    tail = next(
        (
            i
            for i, (a, b) in enumerate(zip(reversed(old[start:]), reversed(new[start:]), strict=False))
            if a != b
        ),
        min(len(old), len(new)) - start,
    )
    end = len(old) - tail
    while True:
        part = b"".join(old[start:end])
        if part and before.find(part) == before.rfind(part):  # `count` would miss one that overlaps
            return part, b"".join(new[start : len(new) - (len(old) - end)])
        if start == 0 and end == len(old):
            raise InputNotPossible("the file is empty, or no part of it occurs once")
        start, end = max(0, start - 1), min(len(old), end + 1)


class WriteFileTool:
    """Writes a whole file."""

    descriptor = ToolDescriptor(
        id="Write", wire_name="Write", description="Writes a whole file.", capability="write",
        risk_level="dangerous", verb="write", path_parameters=("file_path",), target_parameter="file_path",
        input_schema=open_schema("file_path", "content", file_path=PATH, content=TEXT),
        acts_as=(BuiltInTool.CREATE_FILE.id, BuiltInTool.REPLACE_STRING.id),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        path = str(parameters["file_path"])
        image = _read_text(base, path)
        after = _utf8(str(parameters["content"]), path)
        before, mode = (image.data, image.mode) if image else (None, NEW_FILE_MODE)
        return (FileChange(path=path, before=before, after=after, mode=mode),)

    def input_for(
        self, given: JsonObject, chosen: Sequence[FileChange], names: Mapping[str, str]
    ) -> JsonObject:
        del names
        (change,) = chosen
        if change.after is None:
            raise InputNotPossible(f"{change.path} would be deleted")
        return {**given, "content": _decoded(change.after, change.path)}


_LINE_ENDS: Final[LineEnds] = "preserved"
"""How Codex 0.171 puts a patched file together, tried with files whose lines end with CR and LF."""


class PatchTool:
    """Applies a patch in the `*** Begin Patch` format to several files."""

    descriptor = ToolDescriptor(
        id="apply_patch", wire_name="apply_patch", description="Applies a patch to files.",
        capability="write", risk_level="dangerous", verb="edit",
        input_schema=open_schema("patch", patch=TEXT),
        acts_as=(
            BuiltInTool.CREATE_FILE.id, BuiltInTool.REPLACE_STRING.id, BuiltInTool.MOVE_FILE.id,
            BuiltInTool.DELETE_FILE.id,
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        names = cast("Mapping[str, str]", parameters.get(NAMED_FILES, {}))
        images: dict[str, FileImage | None] = {}

        def read(path: str) -> bytes | None:
            image = images[path] = _read_text(base, path)
            return image.data if image else None

        try:
            sections = read_patch(str(parameters["patch"]).encode())
            files = patched_files(
                sections, read, line_ends=_LINE_ENDS, resolve=lambda path: names.get(path, path)
            )
        except (PatchRefused, UnicodeEncodeError) as error:
            raise ToolRefused(f"The patch cannot be applied: {error}.") from None
        return tuple(
            FileChange(
                path=file.path, before=file.before, after=file.after, moved_from=file.moved_from,
                mode=_mode(images, file.moved_from or file.path),
            )
            for file in files
        )  # fmt: skip

    def input_for(
        self, given: JsonObject, chosen: Sequence[FileChange], names: Mapping[str, str]
    ) -> JsonObject:
        named = [
            replace(
                change, path=names.get(change.path, change.path),
                moved_from=names.get(change.moved_from or "", change.moved_from),
            )
            for change in chosen
        ]  # fmt: skip
        try:
            return {**given, "patch": write_patch(named, (_LINE_ENDS,)).decode()}
        except (PatchRefused, UnicodeDecodeError) as error:
            raise InputNotPossible(str(error)) from None


def _mode(images: Mapping[str, FileImage | None], path: str) -> int:
    image = images.get(path)
    return image.mode if image else NEW_FILE_MODE


def patch_paths(given: JsonObject) -> tuple[str, ...]:
    """Return the paths that a patch names, as it names them; none where it cannot be read."""
    try:
        sections = read_patch(str(given.get("patch", "")).encode())
    except (PatchRefused, UnicodeEncodeError):
        return ()
    return tuple(dict.fromkeys(path for section in sections for path in section.paths))


FOREIGN_TOOLS: Final = (EditTool(), MultiEditTool(), WriteFileTool(), PatchTool(), *PLAIN_TOOLS)


def named_files(tool: str, given: JsonObject) -> tuple[str, ...]:
    """Return the paths that a call names elsewhere than in its path parameters, as it names them."""
    return patch_paths(given) if tool == PatchTool.descriptor.id else files_of_reading(tool, given)


class SessionTools(ToolRegistry):
    """The tools of one agent above those of this program, which only permissions name."""

    def __init__(self, base: ToolRegistry, tools: Sequence[ForeignTool] = FOREIGN_TOOLS) -> None:
        """Keep the tools that are known; others are admitted when they are first used."""
        super().__init__(())
        self._base = base
        self._own: dict[str, ForeignTool] = {tool.descriptor.id: tool for tool in tools}

    def admit(self, name: str) -> bool:
        """Let calls of a tool be judged, whatever it is; False where they are not.

        That is where there are too many tools, or where one has the name of a built-in tool: it would replace
        the descriptor by which denials of that tool are read, or be run here as an undo.
        """
        is_free = self._base.get(name) is None and name != UNDO_TOOL and name == one_line(name, 80)
        if name not in self._own and is_free and len(self._own) < MOST_TOOLS:
            self._own[name] = OtherTool(name)
        return name in self._own

    def get(self, name: str) -> AnyTool | None:
        return cast("AnyTool | None", self._own.get(name)) or self._base.get(name)

    def descriptors(self, settings: Mapping[str, ToolSettings] = NO_SETTINGS) -> Mapping[str, ToolDescriptor]:
        own = {name: narrowed_tool(tool.descriptor, settings) for name, tool in self._own.items()}
        return {**self._base.descriptors(settings), **own}

    def read_only_names(self) -> frozenset[str]:
        return frozenset(name for name, tool in self._own.items() if tool.descriptor.capability == "read")
