"""What the main screen hands to each pane's `show`: one frozen record a pane.

Records hold rows and folds, never widgets; a pane that is shown the same record twice draws the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from workbench.domain.events import Event
from workbench.domain.rows import Action, Call, Session
from workbench.records import dataclass
from workbench.views.header import HeaderFacts
from workbench.views.pipeline import PipelineRun
from workbench.views.sessions import ChangedFile
from workbench.views.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationShown:
    """The conversation of one session."""

    session: Session | None
    """None: there is no session yet, or no model (`has_model`)."""
    transcript: Transcript
    """Folded already; the same object as before while the session is the same."""
    changed: frozenset[str] | None
    """Ids of blocks that changed since the last `show`; None: another session, draw everything."""
    now: int
    has_model: bool = True
    opening: Sequence[str] = ()
    """Lines instead of how a session is begun."""
    elsewhere: int = 0
    """How many sessions there are of other folders, where this one has none."""
    part: str = ""
    """Which part of a long conversation is shown, where it is not the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsShown:
    """The calls of the session on show."""

    session: Session | None
    calls: Sequence[Call]
    actions: Mapping[str, Action]
    """By id: those that calls name."""
    now: int
    earlier: int = 0
    """Calls that came before these and are not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShown:
    """One call in full; what `ToolsPane.show_detail` is given after `messages.ToolWanted`."""

    call: Call
    action: Action | None
    events: Sequence[Event]
    """Of the call."""
    output: str | None = None
    """Its whole recorded output, if it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposerShown:
    """Whom a message would go to."""

    session: Session | None
    has_model: bool = True
    is_working: bool = False
    """The agent works: a message is queued."""
    queued: int = 0
    mode: str = "asks before every tool"
    """At the right end while nothing is typed; a reminder such as `2 marked, a opens the table`."""
    now: dict[str, str] = field(default_factory=dict[str, str])
    """Command, and what it would change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueShown:
    """Everything that waits and what was decided lately."""

    actions: Sequence[Action]
    sessions: Mapping[str, Session]
    now: int
    calls: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """By id: those that decided actions name."""
    hunk_sizes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """By id of actions that were taken in part: the changed lines of each hunk."""
    ruled: Sequence[Call] = ()
    """Calls of the session on show that a rule let pass."""
    undone: Collection[str] = frozenset[str]()
    """Ids of actions whose changes were taken back."""
    changed: frozenset[str] = frozenset()
    """Ids of actions that changed since the last `show`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RailShown:
    """The sessions, what the one on show changed, and its facts."""

    sessions: Sequence[Session]
    actions: Sequence[Action]
    current: Session | None
    now: int
    turns: int = 0
    asks: str = "every tool"
    rules: int = 0
    changed_files: Sequence[ChangedFile] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadShown:
    """The header."""

    facts: HeaderFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineShown:
    """The run on show, or that there is none."""

    run: PipelineRun | None = None
    before: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds by step id of the last completed run of the same pipeline."""
    found: int | None = 0
    """How many pipelines there are in the workspace; None while nobody has looked."""
