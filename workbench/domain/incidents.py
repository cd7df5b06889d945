"""Incidents (S2 Incident): what a linter or an analyzer found, and the events of working it off.

A list is a session of kind `incidents`; the sessions of agents that work on it are its children. Results are
folds of these events and of the children's.
"""

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, Struct, field

from workbench.domain.values import BlobRef, Body, Count, Json, JsonObject, Milliseconds

IncidentSeverity = Literal["critical", "error", "warning", "info"]
SEVERITIES: Final[tuple[IncidentSeverity, ...]] = ("critical", "error", "warning", "info")
"""Worst first. S2 knows the last three; `critical` is printed as `error` where S2's form is kept."""
IncidentOutcome = Literal["fixed", "changed", "unchanged", "rejected", "skipped", "failed"]
"""How work on an incident ended. `fixed`: the checker does not find it any more. `changed`: files were
changed and nothing could check it. `unchanged`: the agent changed nothing, or the checker still finds it.
`rejected`: a human said no. `skipped`: not worked on (its file is missing, it was dismissed, the list was
ended). `failed`: an error, a timeout, a model that could not be reached."""
IncidentState = Literal[
    "open", "working", "waiting", "fixed", "changed", "unchanged", "rejected", "skipped", "failed"
]
"""An outcome, or what comes before one: not asked for, worked on, waiting for a human."""
CheckOutcome = Literal["gone", "still there", "not checked"]
IncidentError = Literal["", "incident", "agent", "timeout", "system"]
"""What failed, where something did (S2 ErrorType): the work on this one, the model, the time, the program."""
BatchSize = Literal["one", "file", "rule"]
"""Which incidents share one agent session: none, those of a file, those of a rule."""


class Incident(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finding. Its text is scrubbed, bounded, free of control characters: data, never instructions."""

    id: str
    """As its file has it, else made of the fingerprint; unique in its list and the same at each import."""
    fingerprint: str
    """Digest of rule, path, message and the text of its line, not of its number: lines move."""
    rule: str
    path: str
    """Relative to the workspace, with `/`; as it was told where no such file is here."""
    line: Count = 1
    """From 1; 0 means the whole file."""
    end_line: Count = 0
    column: Count = 0
    severity: IncidentSeverity = "warning"
    description: str = ""
    """What the rule says of every such place."""
    message: str = ""
    """What is wrong at this one."""
    category: str = ""
    location: str = ""
    """The path or address as its file tells it, where `path` differs."""
    problem: str = ""
    """Why no agent can be asked about it: the file is missing, lies outside, is not text."""
    metadata: JsonObject = field(default_factory=dict[str, Json])


class IncidentOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How incidents are worked off (S2 SessionConfiguration)."""

    batch: BatchSize = "file"
    max_turns: Annotated[int, Meta(ge=1, le=20)] = 3
    """Prompts for one incident: the first, and one each time the checker still finds it."""
    timeout_s: Annotated[int, Meta(ge=1, le=86_400)] = 600
    """Working time of one prompt about an incident, without waiting for a human."""
    provider: str = ""
    model: str = ""
    recording: str = ""
    """File of recorded replies in place of a provider; each session plays it from its start."""


class IncidentEvent(Body, frozen=True, kw_only=True):
    """What happens to a list of incidents."""


class IncidentsListed(IncidentEvent, frozen=True, kw_only=True):
    """A file was read, or a checker ran, and this was found; the first event of its list after creation.

    The session is of kind `incidents`; the sessions of agents below it are of kind `step` and have it as
    their parent.
    """

    KIND: ClassVar[str] = "incidents.listed"
    source: str
    """The file, relative to the workspace where it lies there; or the checker's command."""
    format: str = ""
    """`s2`, `konveyor`, `sarif`, `ruff`, `pyright`."""
    checker: str = ""
    """The command that finds out whether an incident is still there; empty where there is none."""
    root: str = ""
    """What was taken off the told paths to find files of the workspace."""
    incidents_ref: BlobRef
    """Recorded bytes: a JSON array of `Incident`, as `workbench/domain/incidents.py` has it."""
    lines_ref: BlobRef | None = None
    """Sealed bytes: for each path the digests of its lines as they were, which carry incidents along."""
    count: Count
    skipped: Count = 0
    """Entries of the file that could not be read."""
    baseline: str = ""
    """The file with what was known before; empty where there is none."""
    known: Count = 0
    """How many of that are not listed."""
    problems: tuple[str, ...] = ()
    """The first of what was wrong with it, in words."""


class IncidentsRequested(IncidentEvent, frozen=True, kw_only=True):
    """A human wants incidents of the list worked off; asked for again, it goes on with those still open."""

    KIND: ClassVar[str] = "incidents.requested"
    ids: tuple[str, ...]
    """In the order in which they are worked on."""
    options: IncidentOptions = IncidentOptions()


class IncidentsCancelRequested(IncidentEvent, frozen=True, kw_only=True):
    """A human wants the work on a list to end; what was not begun is skipped."""

    KIND: ClassVar[str] = "incidents.cancel_requested"
    reason: str = ""


class IncidentDismissed(IncidentEvent, frozen=True, kw_only=True):
    """A human says that an incident will not be fixed, and why; its fingerprint is skipped from now on."""

    KIND: ClassVar[str] = "incident.dismissed"
    fingerprint: str
    reason: str
    """Empty takes the dismissal back."""


class IncidentStarted(IncidentEvent, frozen=True, kw_only=True):
    """An agent's session was asked about an incident."""

    KIND: ClassVar[str] = "incident.started"
    incident: str
    child_id: str
    """The session; the turn is the one whose `prompt.submitted` names the incident."""
    line: Count = 0
    """Where the incident is now: earlier edits of the same file moved it."""
    round: Count = 1
    """1 for the first prompt; the checker or a human asks again for each further one."""
    is_found: bool | None = None
    """Whether the checker found it right before; None where there is no checker."""
    before_ref: BlobRef | None = None
    """Recorded bytes, of round 1: the keyed digest of each file, by which `IncidentEnded.files` is known."""


class IncidentChecked(IncidentEvent, frozen=True, kw_only=True):
    """The checker ran after the agent's turn."""

    KIND: ClassVar[str] = "incident.checked"
    incident: str
    outcome: CheckOutcome
    detail: str = ""
    """Why it was not checked, or what the checker says of it now; scrubbed."""
    line: Count = 0
    exit_code: int | None = None
    duration_ms: Milliseconds = 0
    output_ref: BlobRef | None = None
    new: tuple[Incident, ...] = ()
    """The first of those that the checker did not find before."""
    new_count: Count = 0


class IncidentEnded(IncidentEvent, frozen=True, kw_only=True):
    """Work on an incident is over; this is said exactly once a request."""

    KIND: ClassVar[str] = "incident.ended"
    incident: str
    outcome: IncidentOutcome
    detail: str = ""
    """Why it was rejected, skipped or failed."""
    error: IncidentError = ""
    files: tuple[str, ...] = ()
    """What differs on disk from before its first turn, by digest, and was changed by its agent's calls.

    In journals of older versions it is whatever differs.
    """
    files_while_ran: tuple[str, ...] = ()
    """Those of them that no call wrote, but that changed while a command of the agent ran."""
    files_by_others: tuple[str, ...] = ()
    """What differs as well: changed by somebody else, or by what is not watched."""
    after_ref: BlobRef | None = None
    """Recorded bytes: the keyed digest of each file as it was left; absent where no agent was asked."""
    duration_ms: Milliseconds = 0
