"""What came of a list of incidents (S2 ProcessingResult): a fold of events; nothing is stored.

Each number can be counted again in the events. Files are those whose digests differ between before the first
incident and after the last one that touched them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

from msgspec import DecodeError, Struct, field, json

from workbench import __version__
from workbench.domain.events import (
    ActionOpened,
    CallFinished,
    ConversationCompacted,
    ErrorRaised,
    Event,
    IncidentChecked,
    IncidentEnded,
    IncidentsCancelRequested,
    IncidentsRequested,
    IncidentStarted,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.incidents import CheckOutcome, IncidentOutcome
from workbench.domain.values import BlobRef, Usage

ProcessingStatus = Literal["InProgress", "Completed", "Failed", "Cancelled"]
ErrorType = Literal[
    "IncidentProcessing", "ToolExecution", "AgentCommunication", "TimeoutExpired", "SystemError"
]
_ERROR_TYPES: Mapping[str, ErrorType] = {
    "agent": "AgentCommunication", "timeout": "TimeoutExpired", "system": "SystemError",
}  # fmt: skip
FILES_NOT_LOOKED_AT: Final = "files_not_looked_at"
"""Code of the error of a list whose folder has more files than are compared."""
ReadBlob = Callable[[BlobRef], bytes | None]


class ProcessingError(Struct, frozen=True, kw_only=True):
    """S2 ProcessingError; nothing here has a stack trace."""

    error_type: ErrorType
    message: str
    incident_id: str | None = None
    tool_call_id: str | None = None
    stack_trace: str | None = None
    recoverable: bool = True


class ProcessingMetadata(Struct, kw_only=True):
    """S2 ProcessingMetadata; `version`, and `goose_version` as S2 calls it, are this program's."""

    total_processing_time_ms: int = 0
    """What the incidents took, from the first question about each to its end."""
    token_usage: Usage = Usage()
    tool_calls_count: int = 0
    approval_requests_count: int = 0
    files_changed_count: int = 0
    version: str = __version__
    goose_version: str = __version__
    model_used: str = ""
    provider_used: str = ""


class IncidentResult(Struct, kw_only=True):
    """What came of one incident."""

    incident_id: str
    outcome: IncidentOutcome | Literal["open"] = "open"
    detail: str = ""
    session_id: str = ""
    prompts: int = 0
    check: CheckOutcome | None = None
    new_incidents: int = 0
    files: tuple[str, ...] = ()
    files_while_ran: tuple[str, ...] = ()
    files_by_others: tuple[str, ...] = ()
    duration_ms: int = 0


class ProcessingResult(Struct, kw_only=True):
    """S2 ProcessingResult of the newest request, with each incident's own."""

    id: str = ""
    session_id: str = ""
    incident_ids: tuple[str, ...] = ()
    status: ProcessingStatus = "InProgress"
    created_at: int = 0
    """Microseconds."""
    completed_at: int | None = None
    errors: list[ProcessingError] = field(default_factory=list[ProcessingError])
    metadata: ProcessingMetadata = field(default_factory=ProcessingMetadata)
    files_modified: tuple[str, ...] = ()
    files_while_ran: tuple[str, ...] = ()
    """Those of them that no call wrote, but that changed while a command ran."""
    files_by_others: tuple[str, ...] = ()
    """Files that changed meanwhile and are not among them."""
    incidents: list[IncidentResult] = field(default_factory=list[IncidentResult])
    session_ids: tuple[str, ...] = ()
    """The sessions of agents that worked on it."""

    @property
    def counts(self) -> dict[str, int]:
        """Return how many incidents ended each way."""
        counted: dict[str, int] = {}
        for incident in self.incidents:
            counted[incident.outcome] = counted.get(incident.outcome, 0) + 1
        return counted


def processing_result(
    list_id: str, events: Iterable[Event], children: Callable[[str], Iterable[Event]], read: ReadBlob
) -> ProcessingResult:
    """Return what came of the newest request of a list.

    `events`: of the list's session. `children`: returns the events of an agent's session. `read`: of a blob.
    """
    fold = _ResultFold(list_id)
    for event in events:
        fold.take(event)
    for child_id in fold.result.session_ids:
        fold.take_child(children(child_id))
    return fold.finished(read)


class _ResultFold:
    def __init__(self, list_id: str) -> None:
        self.result = ProcessingResult(session_id=list_id)
        self._rows: dict[str, IncidentResult] = {}
        self._digests: dict[str, list[BlobRef | None]] = {}
        """Of each incident: before its first turn, after its end."""
        self._is_cancelled = self._has_failed = False

    def take(self, event: Event) -> None:
        body = event.body
        if isinstance(body, IncidentsRequested):
            self._begin(event, body)
        elif isinstance(body, IncidentsCancelRequested):
            self._is_cancelled = True
        elif isinstance(body, SessionStatusChanged):
            self._has_failed = (body.status, body.reason) == ("paused", "failed")
        elif isinstance(body, ActionOpened):
            self.result.metadata.approval_requests_count += body.supersedes is None
        elif isinstance(body, ErrorRaised):
            self._take_error(body)
        elif isinstance(body, IncidentStarted | IncidentChecked | IncidentEnded):
            row = self._rows.get(body.incident)
            if row is not None:
                self._move(row, event, body)

    def _take_error(self, body: ErrorRaised) -> None:
        """Say once what makes the result itself uncertain."""
        error = ProcessingError(error_type="SystemError", message=body.message)
        if body.code == FILES_NOT_LOOKED_AT and error not in self.result.errors:
            self.result.errors.append(error)

    def _begin(self, event: Event, body: IncidentsRequested) -> None:
        open_rows = {key: row for key, row in self._rows.items() if row.outcome == "open"}
        self._rows = {**open_rows, **{key: IncidentResult(incident_id=key) for key in body.ids}}
        self._digests, self._is_cancelled = {}, False
        self.result = ProcessingResult(
            id=event.id, session_id=self.result.session_id, incident_ids=tuple(self._rows),
            created_at=event.at,
        )  # fmt: skip

    def _move(
        self, row: IncidentResult, event: Event, body: IncidentStarted | IncidentChecked | IncidentEnded
    ) -> None:
        if isinstance(body, IncidentStarted):
            row.session_id, row.prompts = body.child_id, row.prompts + 1
            self.result.session_ids = tuple(dict.fromkeys((*self.result.session_ids, body.child_id)))
            if body.before_ref is not None:
                self._digests[row.incident_id] = [body.before_ref, None]
        elif isinstance(body, IncidentChecked):
            row.check, row.new_incidents = body.outcome, row.new_incidents + body.new_count
        else:
            self._end(row, event, body)

    def _end(self, row: IncidentResult, event: Event, body: IncidentEnded) -> None:
        row.outcome, row.detail, row.files = body.outcome, body.detail, body.files
        row.files_while_ran, row.files_by_others = body.files_while_ran, body.files_by_others
        row.duration_ms = body.duration_ms
        self._digests.setdefault(row.incident_id, [None, None])[1] = body.after_ref
        self.result.completed_at = event.at
        self.result.metadata.total_processing_time_ms += body.duration_ms
        if body.outcome == "failed" or (body.outcome == "skipped" and not row.prompts):
            self._fail(row, body)

    def _fail(self, row: IncidentResult, body: IncidentEnded) -> None:
        self.result.errors.append(
            ProcessingError(
                error_type=_ERROR_TYPES.get(body.error, "IncidentProcessing"), message=body.detail,
                incident_id=row.incident_id, recoverable=body.error != "system",
            )
        )  # fmt: skip

    def take_child(self, events: Iterable[Event]) -> None:
        incident_id, metadata = "", self.result.metadata
        for event in events:
            body = event.body
            if isinstance(body, SessionCreated):
                metadata.provider_used, metadata.model_used = body.provider, body.model
            elif isinstance(body, PromptSubmitted):
                incident_id = body.incident or incident_id
            elif isinstance(body, ReplyCompleted | ConversationCompacted):
                metadata.token_usage = metadata.token_usage.plus(body.usage)
                metadata.tool_calls_count += len(body.calls) if isinstance(body, ReplyCompleted) else 0
            elif isinstance(body, ActionOpened):
                metadata.approval_requests_count += body.supersedes is None
            elif isinstance(body, CallFinished) and body.state in ("failed", "interrupted"):
                self._fail_call(event.call_id, incident_id, body)

    def _fail_call(self, call_id: str | None, about: str, body: CallFinished) -> None:
        self.result.errors.append(
            ProcessingError(
                error_type="ToolExecution", message=body.error or body.detail, incident_id=about or None,
                tool_call_id=call_id,
            )
        )  # fmt: skip

    def finished(self, read: ReadBlob) -> ProcessingResult:
        result = self.result
        result.incidents = [self._rows[key] for key in result.incident_ids]
        result.files_modified = self._files(read)
        result.files_while_ran = self._only_while_ran(result.files_modified)
        others = {path for row in result.incidents for path in row.files_by_others}
        result.files_by_others = tuple(sorted(others.difference(result.files_modified)))
        result.metadata.files_changed_count = len(result.files_modified)
        is_open = any(row.outcome == "open" for row in result.incidents)
        prompted = [row for row in result.incidents if row.prompts]
        is_failed = bool(prompted) and all(row.outcome == "failed" for row in prompted)
        if self._is_cancelled:
            result.status = "Cancelled"
        elif (is_open and self._has_failed) or (not is_open and is_failed):
            result.status = "Failed"
        else:
            result.status = "InProgress" if is_open or not result.incidents else "Completed"
        result.completed_at = None if result.status == "InProgress" else result.completed_at
        return result

    def _only_while_ran(self, modified: Iterable[str]) -> tuple[str, ...]:
        rows = self._rows.values()
        written = {path for row in rows for path in set(row.files).difference(row.files_while_ran)}
        while_ran = {path for row in rows for path in row.files_while_ran}
        return tuple(path for path in modified if path in while_ran and path not in written)

    def _files(self, read: ReadBlob) -> tuple[str, ...]:
        """Return the files that incidents changed and that are not as they were before the first of them."""
        touched = {path for row in self._rows.values() for path in row.files}
        first: dict[str, str | None] = {}
        last: dict[str, str | None] = {}
        for key in self._digests:
            before, after = (_digests(read, ref) for ref in self._digests[key])
            paths = touched.intersection(self._rows[key].files)
            for path in paths:
                first.setdefault(path, before.get(path))
                last[path] = after.get(path)
        return tuple(sorted(path for path in touched if path not in first or first[path] != last[path]))


def _digests(read: ReadBlob, ref: BlobRef | None) -> dict[str, str]:
    data = read(ref) if ref else None
    try:
        return json.decode(data, type=dict[str, str]) if data else {}
    except DecodeError:
        return {}
