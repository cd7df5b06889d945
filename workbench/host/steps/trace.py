"""The audit trace of a run: one file of JSON lines, scrubbed, when the manifest asks for it.

Owns what goes into it: steps always, calls and files as the manifest says. Never a value of the environment,
never exact bytes; it is written from what the journal recorded.
"""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from workbench.domain.codec import to_object
from workbench.domain.events import CallExecuting, CallFinished, CallProposed, Event, FileChanged
from workbench.domain.runs import ArtifactStored, ContractChecked, RunChanged, RunStarted, StepChanged
from workbench.domain.values import Json
from workbench.effects.files import FileRefused, open_append
from workbench.effects.trees import make_folder
from workbench.pipelines.model import Manifest
from workbench.text.safe import escaped_json

_STEPS = (StepChanged, ContractChecked, ArtifactStored, RunChanged, RunStarted)
_CALLS = (CallProposed, CallExecuting, CallFinished)


class Trace:
    """The trace of one run; without a path it writes nothing."""

    def __init__(self, path: str, manifest: Manifest | None) -> None:
        self.path = path
        runtime = manifest.runtime if manifest else None
        self._kinds = (
            *_STEPS, *(_CALLS if runtime and runtime.log_calls else ()),
            *((FileChanged,) if runtime and runtime.log_files else ()),
        )  # fmt: skip

    def see(self, events: Sequence[Event]) -> None:
        """Write what the trace is to hold of some events; a trace that cannot be written stops nothing."""
        if not self.path:
            return
        lines = [_line(event) for event in events if isinstance(event.body, self._kinds)]
        if not lines:
            return
        with contextlib.suppress(FileRefused, OSError):
            make_folder(str(Path(self.path).parent))
            with open_append(Path(self.path)) as file:
                file.write("".join(lines).encode())


def _line(event: Event) -> str:
    found = to_object(event)
    body = found.get("body")
    if isinstance(body, dict):
        kept = cast("dict[str, Json]", body).items()
        found["body"] = {key: value for key, value in kept if not key.endswith(("_ref", "_refs"))}
    return escaped_json(json.dumps(found, ensure_ascii=False, separators=(",", ":"))) + "\n"
