"""The tool apply_patch: the call by which a human's patch is proposed. No model is offered it.

The gate judges each file that the patch names: they are the paths of the call.
"""

from typing import Final

from workbench.changes.diff import FileChange
from workbench.changes.unified_diff import PatchUnusable, all_paths, patched_changes
from workbench.domain.tools import PATCH_TOOL, tool_verb
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.formats.unified_diff_reader import PatchBroken, read_unified_diff
from workbench.tools.base import (
    COUNT_SCHEMA,
    FILLED_SCHEMA,
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
        input_schema=parameters_schema(
            "patch", "strip", patch=FILLED_SCHEMA,
            strip={"type": "integer", "minimum": 0, "maximum": MAX_STRIP},
            encoding={"type": "string", "enum": list(_ENCODINGS)},
        ),
        output_schema=result_schema(bytes_written=COUNT_SCHEMA),
        examples=(
            ToolExample(description="One line of a file",
                        parameters={"patch": _EXAMPLE, "strip": 1}),
        ),
    )  # fmt: skip

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        try:
            return patched_changes(
                read_unified_diff(_patch_bytes(parameters)), int(parameters["strip"]), base
            )
        except (PatchUnusable, PatchBroken) as error:
            raise ToolRefused(f"Not applied: {error}.") from None


def patch_parameters(data: bytes, strip: int) -> JsonObject:
    """Return the parameters of the call that proposes a patch."""
    try:
        return {"patch": data.decode(), "strip": strip}
    except UnicodeDecodeError:
        return {"patch": data.decode("latin-1"), "strip": strip, "encoding": "latin-1"}


def patch_call_paths(parameters: JsonObject) -> tuple[str, ...]:
    """Return every path that the patch of a call names; raises PatchUnusable or PatchBroken."""
    return all_paths(read_unified_diff(_patch_bytes(parameters)), int(parameters["strip"]))


def _patch_bytes(parameters: JsonObject) -> bytes:
    return str(parameters["patch"]).encode(str(parameters.get("encoding", _ENCODINGS[0])))
