"""A session of the journal as the text of a format."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from workbench.domain.events import Event, IncidentsRequested
from workbench.domain.retired_prompts import without_retired_prompts
from workbench.domain.rows import Session
from workbench.domain.values import Json, JsonObject, ToolDescriptor
from workbench.formats import (
    assistant,
    atif,
    command_log,
    kaiak_export,
    session_markdown,
    wink_export,
    workbench_sessions,
)
from workbench.journal.journal import Journal
from workbench.text.safe import escape_json, safe_text

_Texts = Iterator[str]


def export_texts(journal: Journal, session: Session, form: str) -> _Texts:
    """Yield the texts of a session in a format, each of which is a line or a block."""
    if form == "markdown":
        yield from (safe_text(f"{block}\n") for block in _markdown_texts(journal, session))
    else:
        yield from map(escape_json, WRITERS[form](journal, session))


def _event_texts(journal: Journal, session: Session) -> _Texts:
    yield from workbench_sessions.session_lines(journal.events(session.id), journal.blobs.read)


def _said_events(journal: Journal, session: Session) -> list[Event]:
    """Return the events of a session for formats in which a prompt is always one that was sent."""
    return without_retired_prompts(journal.events(session.id))


def _wink_texts(journal: Journal, session: Session) -> _Texts:
    yield _json_text(
        wink_export.wink_session(session, _said_events(journal, session), journal.calls(session.id))
    )


def _kaiak_texts(journal: Journal, session: Session) -> _Texts:
    events = _said_events(journal, session)
    if rows := kaiak_export.imported_rows(session, events):
        yield from map(_json_text, rows)
        return
    yield _json_text({"session": kaiak_session_row(journal, session)})
    for call in journal.calls(session.id):
        action = journal.action(call.action_id) if call.action_id else None
        yield _json_text({"tool_call": kaiak_export.kaiak_tool_call(call, action)})
    yield from map(_json_text, kaiak_export.kaiak_messages(events, journal.blobs.read))


def kaiak_session_row(
    journal: Journal, session: Session, stream: Mapping[str, Json] | None = None
) -> JsonObject:
    """Return a session as S2 AgentSession, with its limits and how far its list of incidents is."""
    from workbench.host.workspace_config import load_workspace_config
    from workbench.incidents.result import processing_result

    if session.origin is not None:
        return kaiak_export.kaiak_session(session, stream)
    limits = load_workspace_config(journal, session.workspace).config.limits
    events = journal.events(session.id) if session.kind == "incidents" else []
    requests = [event.body for event in events if isinstance(event.body, IncidentsRequested)]
    outcome = processing_result(session.id, events, lambda _: (), lambda _: None).status if requests else ""
    return kaiak_export.kaiak_session(
        session, stream, requests[-1] if requests else None, outcome=outcome, max_turns=limits.max_turns
    )


def _assistant_texts(journal: Journal, session: Session) -> _Texts:
    actions, calls = journal.actions(session_id=session.id), journal.calls(session.id)
    tools, kind = _tools_of_session(journal, session)
    if session.is_supervised:
        tools = foreign_descriptors(call.tool for call in calls)
    events = _said_events(journal, session)
    yield _json_text(assistant.assistant_session(session, events, actions, tools, kind))
    yield from map(_json_text, assistant.invocation_records(session, events, calls, actions))


def foreign_descriptors(names: Iterable[str]) -> Sequence[ToolDescriptor]:
    """Return the tools of an agent that executes its own calls: those that it used."""
    from workbench.supervised.tools import SessionTools
    from workbench.tools.registry import tool_registry

    tools = SessionTools(tool_registry())
    used = {name for name in names if tools.admit(name)}
    return [tool for name, tool in tools.descriptors().items() if name in used]


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
    yield _json_text(atif.write(session, _said_events(journal, session), journal.calls(session.id)))


def _markdown_texts(journal: Journal, session: Session) -> _Texts:
    events, calls = _said_events(journal, session), journal.calls(session.id)
    yield from session_markdown.markdown_blocks(
        session, events, calls, journal.actions(session_id=session.id)
    )


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _command_log_texts(journal: Journal, session: Session) -> _Texts:
    yield _json_text(command_log.command_log(session, _said_events(journal, session)))


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
