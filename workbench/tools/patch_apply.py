"""The tool apply_patch: the call by which a human's patch is proposed. No model is offered it.

Its parameters name every path that the patch touches, so that the gate judges each of them; what the patch
says of any other path is refused here.
"""

from collections.abc import Sequence
from typing import Final, cast

from workbench.changes.diff import FileChange
from workbench.changes.patch import PatchUnusable, all_paths, patched_changes
from workbench.domain.tools import PATCH_TOOL, tool_verb
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.formats.patch_file import PatchBroken, read_patch
from workbench.tools.base import (
    COUNT_SCHEMA,
    FILLED_SCHEMA,
    PATH_SCHEMA,
    BaseImage,
    ToolRefused,
    parameters_schema,
    result_schema,
)

_ENCODINGS: Final = ("utf-8", "latin-1")
MAX_STRIP: Final = 20
_EXAMPLE: Final = "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-VALUE = 1\n+VALUE = 2\n"


class ApplyPatch:
    """The tool apply_patch."""

    descriptor = ToolDescriptor(
        id=PATCH_TOOL, wire_name=PATCH_TOOL,
        description="Apply a unified diff to files of the workspace, all of it or nothing.",
        capability="write", risk_level="dangerous", verb=tool_verb(PATCH_TOOL),
        path_parameters=("paths",), target_parameter="paths",
        input_schema=parameters_schema(
            "patch", "strip", "paths", patch=FILLED_SCHEMA,
            strip={"type": "integer", "minimum": 0, "maximum": MAX_STRIP},
            paths={"type": "array", "minItems": 1, "items": PATH_SCHEMA},
            encoding={"type": "string", "enum": list(_ENCODINGS)},
        ),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(description="One line of a file",
                        parameters={"patch": _EXAMPLE, "strip": 1, "paths": ["app.py"]}),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        data = str(parameters["patch"]).encode(str(parameters.get("encoding", _ENCODINGS[0])))
        strip, paths = int(parameters["strip"]), cast("Sequence[str]", parameters["paths"])
        for number, path in enumerate(paths):
            if (real := parameters.get(f"paths[{number}]", path)) != path:
                raise ToolRefused(f"Not applied: {path} leads to {real}; a patch follows no link.")
        try:
            files = read_patch(data)
            if unnamed := [path for path in all_paths(files, strip) if path not in paths]:
                raise ToolRefused(f"Not applied: the patch changes {unnamed[0]} too.")
            return patched_changes(files, strip, base)
        except (PatchUnusable, PatchBroken) as error:
            raise ToolRefused(f"Not applied: {error}.") from None


def patch_parameters(data: bytes, strip: int, paths: Sequence[str]) -> JsonObject:
    """Return the parameters of the call that proposes a patch."""
    try:
        return {"patch": data.decode(), "strip": strip, "paths": list(paths)}
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        return {"patch": text, "strip": strip, "paths": list(paths), "encoding": "latin-1"}
