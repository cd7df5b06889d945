"""A session of the journal as the text of a format or as the page to read."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from workbench.changes.diff import FileChange, is_binary_content, make_hunks
from workbench.config.model_prices import PriceList
from workbench.config.types import Config
from workbench.domain.events import ActionOpened, Event, FileChanged, IncidentsRequested, ReplyCompleted
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import BlobRef, Hunk, Json, ToolDescriptor
from workbench.formats import assistant, atif, command_log, kaiak_export, seed_files, workbench_sessions
from workbench.host.redaction import redact_hunks
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.journal import Journal
from workbench.journal.proposals import recorded_hunks
from workbench.journal.replay import file_changes
from workbench.render.transcript import transcript_parts
from workbench.text.safe import escape_json, safe_text

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


_Texts = Iterator[str]


def export_texts(journal: Journal, session: Session, form: str) -> _Texts:
    """Yield the texts of a session in a format, each of which is a line or a block."""
    if form == "markdown":
        yield from (safe_text(f"{block}\n") for block in _markdown_texts(journal, session))
    else:
        yield from map(escape_json, WRITERS[form](journal, session))


def _event_texts(journal: Journal, session: Session) -> _Texts:
    yield from workbench_sessions.session_lines(journal.events(session.id), journal.blobs.read)


def _wink_texts(journal: Journal, session: Session) -> _Texts:
    yield _json_text(seed_files.wink_session(session, journal.events(session.id), journal.calls(session.id)))


def _kaiak_texts(journal: Journal, session: Session) -> _Texts:
    events = journal.events(session.id)
    requests = [event.body for event in events if isinstance(event.body, IncidentsRequested)]
    yield _json_text(
        {"session": kaiak_export.kaiak_session(session, None, requests[-1] if requests else None)}
    )
    for call in journal.calls(session.id):
        action = journal.action(call.action_id) if call.action_id else None
        yield _json_text({"tool_call": kaiak_export.kaiak_tool_call(call, action)})
    yield from map(_json_text, kaiak_export.kaiak_messages(events, journal.blobs.read))


def _assistant_texts(journal: Journal, session: Session) -> _Texts:
    actions, calls = journal.actions(session_id=session.id), journal.calls(session.id)
    tools, kind = _tools_of_session(journal, session)
    events = journal.events(session.id)
    yield _json_text(assistant.assistant_session(session, events, actions, tools, kind))
    yield from map(_json_text, assistant.invocation_records(session, events, calls, actions))


def _tools_of_session(journal: Journal, session: Session) -> tuple[Sequence[ToolDescriptor], str]:
    """Return the tools that a session may call by now, and the kind of its provider; none of an import."""
    if session.origin is not None:
        return (), session.provider
    from workbench.host.session_provider import provider_kind
    from workbench.host.workspace_config import load_workspace_config
    from workbench.tools.registry import tool_registry

    config = load_workspace_config(journal, session.workspace).config
    kind = provider_kind(session.provider, config)
    return tool_registry().visible(session.provider, session.active_tools, kind, config.tools), kind


def _atif_texts(journal: Journal, session: Session) -> _Texts:
    yield _json_text(atif.write(session, journal.events(session.id), journal.calls(session.id)))


def _markdown_texts(journal: Journal, session: Session) -> _Texts:
    events, calls = journal.events(session.id), journal.calls(session.id)
    yield from workbench_sessions.markdown_blocks(
        session, events, calls, journal.actions(session_id=session.id)
    )


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _command_log_texts(journal: Journal, session: Session) -> _Texts:
    yield _json_text(command_log.command_log(session, journal.events(session.id)))


WRITERS: dict[str, Callable[[Journal, Session], _Texts]] = {
    "events": _event_texts,
    "wink": _wink_texts,
    "kaiak": _kaiak_texts,
    "assistant": _assistant_texts,
    "atif": _atif_texts,
    "cmd": _command_log_texts,
    "markdown": _markdown_texts,
}


TRANSCRIPT: Final = "transcript"


PICTURE_FORMATS: Final = ("cast", "html", "svg")
THEMES: Final = ("workbench-dark", "workbench-light")
NARROWEST, WIDEST = (40, 12), (400, 150)
