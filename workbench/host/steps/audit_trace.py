"""The audit trace of a run: a line for each event of its manifest's `audit`, and for each file of a command.

It never holds the value of a variable or a credential: events are scrubbed before they come here, and only
the path of a file is written.
"""

# A command does not report what it writes. With `log_all_file_operations`, digests of its workspace before
# and after it are compared; others may have written there meanwhile, which is why a line says no more.

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from workbench.domain.codec import event_to_object
from workbench.domain.events import (
    ArtifactStored,
    CallExecuting,
    CallFinished,
    CallProposed,
    ContractChecked,
    Event,
    FileChanged,
    RunChanged,
    RunStarted,
    StepChanged,
)
from workbench.domain.step_messages import StepSpec
from workbench.domain.values import Json
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.folders import make_folder
from workbench.effects.path_files import open_append
from workbench.host.workspace_digests import WorkspaceDigests
from workbench.journal.journal import Journal
from workbench.pipelines.executor import StepWorkspaces
from workbench.pipelines.model import Manifest
from workbench.secrets.scrubber import scrub
from workbench.text.human import iso_time
from workbench.text.safe import escape_json

_STEP_EVENTS: Final = (StepChanged, ContractChecked, ArtifactStored, RunChanged, RunStarted)
_CALL_EVENTS: Final = (CallProposed, CallExecuting, CallFinished)


class AuditTrace:
    """The trace of one run; without a path it writes nothing."""

    def __init__(self, path: str, manifest: Manifest | None, journal: Journal, run_id: str) -> None:
        self.path = path
        self._journal, self._run_id = journal, run_id
        runtime = manifest.runtime if manifest else None
        self._logs_files = bool(path and runtime and runtime.log_files)
        self._kinds = (
            *_STEP_EVENTS, *(_CALL_EVENTS if runtime and runtime.log_calls else ()),
            *((FileChanged,) if self._logs_files else ()),
        )  # fmt: skip
        self._telemetry_ids: dict[str, str] = {}

    def see(self, events: Sequence[Event]) -> None:
        """Write the events that belong to the trace; a trace that cannot be written stops nothing."""
        if self.path:
            self._write(_event_fields(event) for event in events if isinstance(event.body, self._kinds))

    @contextlib.asynccontextmanager
    async def command_files(self, spec: StepSpec, workspaces: StepWorkspaces) -> AsyncGenerator[None]:
        """Write a line for each file of a step's workspace that changed while its command ran."""
        folder = workspaces.local_folder(spec) if self._logs_files else None
        if folder is None:
            yield
            return
        before = await asyncio.to_thread(self._digests, folder)
        try:
            yield
        finally:
            after = await asyncio.to_thread(self._digests, folder)
            self._write(self._file_fields(spec, path, kind) for path, kind in _changes(before, after))

    def _digests(self, workspace: str) -> Mapping[str, str]:
        own = os.path.relpath(os.path.realpath(self.path), os.path.realpath(workspace))
        try:
            with Root(workspace) as root:
                digests = WorkspaceDigests(root, self._journal.blobs.keyed).take()
        except (FileRefused, OSError):
            return {}
        return {path: digest for path, digest in digests.items() if path != own}

    def _file_fields(self, spec: StepSpec, path: str, change: str) -> dict[str, Json]:
        return {
            "session_id": self._run_id, "at": iso_time(self._journal.now()), "step": str(spec.id.step),
            "kind": FileChanged.KIND,
            "body": {"path": scrub(path).text, "change": change, "detail": "changed while the command ran"},
        }  # fmt: skip

    def _write(self, rows: Iterable[dict[str, Json]]) -> None:
        lines = [self._line(fields) for fields in rows]
        if not lines:
            return
        with contextlib.suppress(FileRefused, OSError):
            make_folder(str(Path(self.path).parent))
            with open_append(Path(self.path)) as file:
                file.write("".join(lines).encode())

    def _line(self, fields: dict[str, Json]) -> str:
        telemetry_id = self._telemetry_id(str(fields["session_id"]))
        line = {"telemetry_id": telemetry_id, **fields}
        return escape_json(json.dumps(line, ensure_ascii=False, separators=(",", ":"))) + "\n"

    def _telemetry_id(self, session_id: str) -> str:
        if session_id not in self._telemetry_ids:
            row = self._journal.session(session_id)
            self._telemetry_ids[session_id] = row.telemetry_id if row else ""
        return self._telemetry_ids[session_id]


def _event_fields(event: Event) -> dict[str, Json]:
    line = event_to_object(event)
    body = line.get("body")
    if isinstance(body, dict):
        members = cast("dict[str, Json]", body).items()
        line["body"] = {key: value for key, value in members if not key.endswith(("_ref", "_refs"))}
    return line


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Yield the paths whose digests differ, with what happened to each file."""
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            yield path, "create"
        elif path not in after:
            yield path, "delete"
        elif before[path] != after[path]:
            yield path, "modify"
