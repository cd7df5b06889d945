"""Words for events: every kind has some of its own, on one safe line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_domain import body_strategy

from tests.support import golden
from tests.support.tables import each_row
from tests.unit.views.making import call
from workbench.domain import events
from workbench.domain.codec import BODY_BY_KIND
from workbench.domain.events import Event, Unknown
from workbench.domain.values import SYSTEM_SESSION, Actor, GateVerdict
from workbench.tui.replay.replay_source import ReplaySource
from workbench.views.event_text import event_line
from workbench.views.notices import notice_of

HOST = Actor(kind="host")


def event(body, **about):
    return Event(id="e", session_id="s", at=1, actor=HOST, body=body, **about)


@pytest.mark.parametrize("cls", BODY_BY_KIND.values(), ids=lambda cls: cls.KIND)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_every_kind_has_words_of_its_own(cls, data):
    body = data.draw(body_strategy(cls))
    assert event_line(event(body), None, None) != body.KIND.replace(".", " ")


@pytest.mark.spec(140)
@pytest.mark.parametrize("name", ["release-run", "late-answers", "stacked-edits", "crash-recovery"])
def test_no_line_of_a_recording_is_the_name_of_a_kind(name, tmp_path):
    with golden.load(name, tmp_path / "home") as journal:
        for session in journal.sessions():
            if session.id == SYSTEM_SESSION:
                continue
            source = ReplaySource(journal, session)
            for index in range(1, len(source.timeline) + 1):
                said = source.words_at(index)
                assert said
                assert "\n" not in said
                assert said != source.event_at(index).kind.replace(".", " ")


@each_row(
    ("tool", "said"),
    [("Bash", "wants shell npm test"), ("run_in_terminal", "wants run_in_terminal npm test")],
)
def test_a_call_is_named_as_in_the_pane_of_calls(tool, said):
    row = call(tool=tool, target="npm test")
    verdict = GateVerdict(outcome="waiting", step="default", by="default")
    body = events.CallProposed(tool=tool, verdict=verdict)
    assert event_line(event(body, call_id="c"), None, row) == said


@each_row(
    ("body", "about", "said"),
    [
        (events.SessionStatusChanged(status="processing"), {}, "the session is at work"),
        (events.SessionStatusChanged(status="paused", reason="host lost"), {}, "the session is paused (host lost)"),
        (events.SessionChanged(title="x", archived=True), {}, "renamed: x, archived"),
        (events.CallFinished(state="failed", exit_code=2, duration_ms=1200), {"call_id": "c"}, "a call: failed, exit 2, 1.2 s"),
        (events.ActionExpired(), {"action_id": "a"}, "expired"),
        (events.ErrorRaised(code="x", message="no\x1b[2J route"), {}, "no⟨ESC[2J⟩ route"),
        (events.StepChanged(state="failed", detail="exit 1"), {"step": "plan"}, "plan failed: exit 1"),
        (events.RunChanged(status="completed"), {}, "the run is completed"),
        (Unknown(original_kind="future.kind"), {}, "future kind"),
    ],
)  # fmt: skip
def test_words(body, about, said):
    assert event_line(event(body, **about), None, None) == said


def test_an_event_that_is_gone_has_no_words():
    assert event_line(None, None, None) == ""


@each_row(
    "body, notice",
    [
        (
            events.IncidentsListed(source="r.sarif", incidents_ref="recorded:1", count=2),
            "2 incidents from r.sarif.",
        ),
        (events.IncidentsRequested(ids=("i1",)), "1 incident to be worked off."),
        (
            events.IncidentEnded(incident="i1", outcome="rejected", detail="keep it"),
            "Ended: i1: rejected, keep it.",
        ),
        (events.IncidentStarted(incident="i1", child_id="c"), None),
        (events.IncidentChecked(incident="i1", outcome="gone"), None),
    ],
)
def test_a_list_of_incidents_says_in_its_conversation_how_it_went_and_where_it_is_shown(body, notice):
    told = notice_of(body, was_stopped=False)
    assert (told and told[1:]) == (notice and (notice, (("8", "findings"),)))
