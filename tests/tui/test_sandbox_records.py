"""Where commands ran and what the sandbox refused, in replays, pages, reports and lists of events."""

import io

import pytest
from msgspec.structs import replace

from tests.support import boxed_commands, golden
from workbench.backend.session_transcript import JournalTranscript
from workbench.cli.console import Console
from workbench.cli.session_report import session_lines
from workbench.domain.events import CallProposed, SandboxRefused
from workbench.domain.fold import MemoryTables
from workbench.domain.values import SYSTEM_SESSION
from workbench.render.transcript import transcript_parts
from workbench.tui.replay.replay_source import ReplaySource
from workbench.views.detail_pages import call_detail
from workbench.views.event_text import event_line


@pytest.fixture
def recorded(tmp_path):
    """A journal, the session of the sandbox's pictures, and its last call that the sandbox refused something."""
    with golden.load("rename-handler", tmp_path / "home") as journal:
        session = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION)
        boxed_commands.morning(journal, session.id)
        refused = next(call for call in journal.calls(session.id) if call.refusals)
        yield journal, session, refused


def test_a_replay_knows_place_and_refusals_of_each_moment(recorded, monkeypatch):
    monkeypatch.setattr("workbench.views.row_snapshots.SNAPSHOT_EVENTS", 7)
    journal, session, refused = recorded
    every, source = journal.events(), ReplaySource(journal, session)
    before_and_after = set()
    for index in range(len(source.timeline) + 1):
        source.seek(index)
        told = MemoryTables().fold(event for event in every if event.position <= source.position())
        assert source.rows.calls == told.calls
        assert source.rows.actions == told.actions
        if refused.id in told.calls:
            before_and_after.add(source.rows.calls[refused.id].refusals)
    assert before_and_after == {(), boxed_commands.REFUSED}


def test_the_page_of_a_call_says_where_it_ran_and_what_was_refused(recorded):
    journal, _, refused = recorded
    page = call_detail(refused, None, journal.call_events(refused.id))
    gate = next(section for section in page.sections if section.name == "Gate")
    assert gate.lines[1:] == (
        "it ran inside the sandbox, level workspace (bubblewrap)",
        "the sandbox refused to reach pypi.org:443, according to the command",
        "the sandbox refused to write /etc/hosts, according to the command",
    )
    assert "inside the sandbox" in page.facts
    assert [words for _, _, words in page.moments][:2] == [
        "started inside",
        "the sandbox refused to reach pypi.org:443, to write /etc/hosts, according to the command",
    ]


def test_the_page_of_a_session_says_it_too(recorded):
    journal, session, _ = recorded
    page = "".join(transcript_parts(JournalTranscript(journal), session))
    for words in (
        "Allowed by the sandbox: it runs inside the sandbox",
        "Ran inside the sandbox, level workspace (bubblewrap)",
        "The sandbox refused to reach pypi.org:443, to write /etc/hosts, according to the command.",
        "· outside",
    ):
        assert page.count(words) >= 1
    assert page.count("sandbox refused to reach pypi.org:443, to write") == 1


def test_a_report_says_it_too(recorded):
    journal, session, _ = recorded
    lines = "\n".join(session_lines(journal, session, Console(io.StringIO(), io.StringIO())))
    assert "pip install -r requirements.txt  inside  exit 1" in lines
    assert "the sandbox refused to reach pypi.org:443, to write /etc/hosts" in lines
    assert "docker compose up -d  outside" in lines


def test_an_event_says_it_in_its_line(recorded):
    journal, session, refused = recorded
    lines = {
        event.kind: event_line(event, None, refused)
        for event in journal.events(session.id)
        if event.call_id == refused.id
    }
    assert lines["call.executing"].endswith("pip install -r requirements.txt, inside the sandbox")
    assert lines[SandboxRefused.KIND].startswith("the sandbox refused run_in_terminal pip install")


def older(event):
    """Return an event as an older version recorded it."""
    body = event.body
    for name in ("place", "level", "sandbox"):
        body = replace(body, **{name: None}) if hasattr(body, name) else body
    if isinstance(body, CallProposed):
        body = replace(body, verdict=replace(body.verdict, place=None, reason=""))
    return replace(event, body=body)


def test_a_journal_of_an_older_version_says_nothing_of_places(tmp_path, recorded):
    with golden.load("commands", tmp_path / "made") as made:
        session = next(one for one in made.sessions() if one.id != SYSTEM_SESSION)
        events = [older(event) for event in made.events()]
    journal = recorded[0]
    journal.append(events, strict=False)
    page = "".join(transcript_parts(JournalTranscript(journal), session))
    report = "\n".join(session_lines(journal, session, Console(io.StringIO(), io.StringIO())))
    assert not {call.place for call in journal.calls(session.id)} - {None}
    for call in journal.calls(session.id):
        detail = call_detail(call, None, journal.call_events(call.id))
        assert "sandbox" not in f"{detail.facts} {detail.sections} {detail.moments}"
    assert "sandbox" not in page.rpartition("</style>")[2] + report
