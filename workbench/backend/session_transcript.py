"""A session of the journal as a page to read."""

from collections.abc import Iterable, Iterator, Sequence

from workbench.changes.diff import FileChange, is_binary_content, make_hunks
from workbench.config.model_prices import PriceList
from workbench.config.types import Config
from workbench.domain.events import ActionOpened, Event, FileChanged, ReplyCompleted
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import BlobRef, Hunk
from workbench.host.redaction import redact_hunks
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.journal import Journal
from workbench.journal.proposals import recorded_hunks
from workbench.journal.replay import file_changes
from workbench.render.transcript import transcript_parts

_EVENTS_AT_ONCE = 1_000


class JournalTranscript:
    """A session of the journal as the page reads it: some events at a time."""

    def __init__(self, journal: Journal, config: Config | None = None) -> None:
        self._journal, self._config = journal, config

    def events(self, session_id: str) -> Iterator[Event]:
        first = 1
        while events := self._journal.window(session_id, first, _EVENTS_AT_ONCE):
            yield from events
            first = events[-1].sequence_number + 1

    def file_changes(self, session_id: str) -> Iterable[Event]:
        return file_changes(self._journal, session_id)

    def session(self, session_id: str) -> Session | None:
        return self._journal.session(session_id)

    def children(self, session_id: str) -> Sequence[Session]:
        return sorted(self._journal.sessions(parent_id=session_id), key=lambda child: child.created_at)

    def call(self, call_id: str) -> Call | None:
        return self._journal.call(call_id)

    def action(self, action_id: str) -> Action | None:
        return self._journal.action(action_id)

    def call_events(self, call_id: str) -> Sequence[Event]:
        return self._journal.call_events(call_id)

    def recorded_text(self, ref: BlobRef) -> str | None:
        data = self._journal.blobs.read(ref)
        return None if data is None else data.decode("utf-8", "replace")

    def hunks(self, opened: ActionOpened) -> Sequence[Hunk]:
        return recorded_hunks(self._journal, opened)

    def hunks_of_change(self, changed: FileChanged) -> Sequence[Hunk]:
        images = [
            self._journal.blobs.read(ref) if ref else None for ref in (changed.before_ref, changed.after_ref)
        ]
        digests = (changed.before, changed.after)
        if any(digest is not None and image is None for digest, image in zip(digests, images, strict=True)):
            return ()
        if any(map(is_binary_content, images)):
            return ()
        change = FileChange(path=changed.path, before=images[0], after=images[1], mode=changed.mode)
        return redact_hunks(make_hunks([change]))[0]

    def cost(self, session: Session, reply: ReplyCompleted) -> float | None:
        if self._config is None or reply.usage.cost_microdollars:
            return None
        model = reply.model or session.model
        cost = PriceList.of(self._config).cost(session.provider, model, reply.usage)
        return None if cost is None else cost / 1_000_000


def transcript_page(journal: Journal, session: Session) -> Iterator[str]:
    """Yield the page of a session to read, piece by piece."""
    config = load_workspace_config(journal, session.workspace).config
    yield from transcript_parts(JournalTranscript(journal, config), session)
