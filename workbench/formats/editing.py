"""What a call would change, read from its arguments: for formats whose results do not say.

Pure. Owns the argument names that tools of the field use for edits. It guesses only where the arguments hold
the texts themselves; a shell command is never read.
"""

from collections.abc import Iterator
from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats.fields import first, objs, text
from workbench.formats.foreign import Asked, Change
from workbench.formats.patches import begin_patch

_PATHS: Final = (
    "file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "filename", "file",
)  # fmt: skip
_OLD: Final = ("old_string", "old_str", "oldString", "oldText", "old_text", "old_content")
_NEW: Final = ("new_string", "new_str", "newString", "newText", "new_text", "new_content")
_WHOLE: Final = ("content", "file_text", "contents", "text", "new_contents")
_WRITES: Final = frozenset({
    "write", "write_file", "writefile", "create", "create_file", "save_file", "write_to_file", "file_write",
    "filewrite", "new_file",
})  # fmt: skip
_DELETES: Final = frozenset({"delete_file", "deletefile", "remove_file"})


def changes(asked: Asked) -> tuple[Change, ...]:
    """Return the changes that a call asks for; none where its arguments do not hold them."""
    given = asked.arguments
    patch = first(given, "patch", "input", "patchText", "diff")
    if "*** Begin Patch" in patch:
        return begin_patch(patch)
    path = first(given, *_PATHS)
    if not path:
        return ()
    if edits := tuple(_edits(path, given)):
        return edits
    name = asked.tool.rpartition(".")[2].rpartition("__")[2].casefold()
    if name in _DELETES:
        return (Change(path=path, change="delete"),)
    if name in _WRITES or given.get("command") == "create":
        content = first(given, *_WHOLE)
        return (Change(path=path, change="create", new=content),) if content else ()
    return ()


def _edits(path: str, given: JsonObject) -> Iterator[Change]:
    for one in objs(given.get("edits")) or [given]:
        old, new = first(one, *_OLD), first(one, *_NEW)
        if old or (new and text(one.get("command")) in ("insert", "str_replace")):
            yield Change(path=first(one, *_PATHS) or path, old=old, new=new)
