"""Every kind of event is in a union, and each consumer of all events handles it or ignores it by name."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_domain import body_strategy

import workbench
from workbench.agents import reducer
from workbench.cli import run_printers, session_report
from workbench.domain import events as e
from workbench.domain.codec import BODY_BY_KIND, EVENT_BODIES
from workbench.domain.fold import MemoryTables, apply_event
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Body
from workbench.incidents import state as incident_state
from workbench.journal.search import SEARCHED_KINDS
from workbench.pipelines import state as run_state
from workbench.render import transcript
from workbench.views import conversation
from workbench.views.conversation_search import block_hits
from workbench.views.event_text import event_line
from workbench.views.incidents import IncidentList
from workbench.views.library import speaker_and_text
from workbench.views.session_board import activity
from workbench.views.timeline import MARK_EVENT_KINDS

GROUPS = {
    e.SessionEvent: e.SessionBody, e.RequestEvent: e.RequestBody, e.TurnEvent: e.TurnBody,
    e.CallEvent: e.CallBody, e.ActionEvent: e.ActionBody, e.RuleEvent: e.RuleBody, e.RunEvent: e.RunBody,
    e.IncidentEvent: e.IncidentBody,
}  # fmt: skip
"""The class that a group's kinds inherit from, and the union that the type checker knows them by."""


# --- the unions -----------------------------------------------------------------------------------


def source_texts():
    return [path.read_text(encoding="utf-8") for path in Path(workbench.__file__).parent.rglob("*.py")]


def subclass_names(texts):
    """Return the names of all classes that inherit from `Body`, by the name of the class they inherit from."""
    classes = [
        (name, {base.strip().rpartition(".")[2] for base in bases.split(",")})
        for text in texts
        for name, bases in re.findall(r"^ *class (\w+)\(([^()]*)\):", text, re.MULTILINE)
    ]
    found, bases = {}, ["Body"]
    for base in bases:
        found[base] = {name for name, named in classes if base in named}
        bases += sorted(found[base])
    return {base: names for base, names in found.items() if names}


def expected_names():
    groups = {group.__name__: {cls.__name__ for cls in get_args(union)} for group, union in GROUPS.items()}
    return {"Body": {*groups, "Unknown"}, **groups}


def test_each_class_of_an_event_is_in_the_union_of_its_group():
    assert subclass_names(source_texts()) == expected_names()
    assert {cls for union in GROUPS.values() for cls in get_args(union)} == set(EVENT_BODIES)
    assert len(BODY_BY_KIND) == len(EVENT_BODIES)


@pytest.mark.parametrize("base", ["SessionEvent", "events.TurnEvent", "Body", "SessionCreated"])
def test_a_class_outside_its_union_is_noticed(base):
    added = f"\nclass Invented({base}, frozen=True, kw_only=True):\n"
    assert subclass_names([*source_texts(), added]) != expected_names()


# --- consumers that match ---------------------------------------------------------------------------


def event(body, **about):
    return e.Event(id="e", session_id="s", at=1, actor=Actor(kind="host"), body=body, **about)


def page_of(one):
    """Return the page of a session whose only event is this one."""
    source = SimpleNamespace(
        events=lambda _: [one], children=lambda _: [], file_changes=lambda _: [], call=lambda _: None,
        action=lambda _: None, actions=lambda _: [], cost=lambda *_: None, text=lambda _: None,
    )  # fmt: skip
    session = Session(id="s", kind="chat", status="ready", created_at=0, updated_at=1)
    return list(transcript.transcript_parts(source, session))


MATCHING = {
    "domain.fold": lambda one: apply_event(one, MemoryTables()),
    "views.conversation": lambda one: conversation.Transcript("s").apply(one),
    "views.conversation_search": lambda one: block_hits(one, "x"),
    "views.event_text": lambda one: event_line(one, None, None),
    "views.incidents": lambda one: IncidentList("s").apply(one),
    "views.library": speaker_and_text,
    "views.session_board": lambda one: activity([one]),
    "render.transcript.__init__": page_of,
}
"""What must handle every kind, and ends its `match` with `assert_never`."""


def invented_kind(group):
    class Invented(group, frozen=True, kw_only=True):
        KIND: ClassVar[str] = "invented.kind"

    return Invented()


@pytest.mark.parametrize("module", MATCHING)
@pytest.mark.parametrize("group", [*GROUPS, Body], ids=lambda group: group.__name__)
def test_a_new_kind_in_an_old_group_is_noticed_by_each_consumer(group, module, monkeypatch):
    # The conversation folds first; its own `match` is meant.
    monkeypatch.setattr(conversation, "apply_event", lambda *_: ())
    with pytest.raises(AssertionError, match="Invented") as raised:
        MATCHING[module](event(invented_kind(group)))
    assert raised.traceback[-2].path.as_posix().endswith(f"workbench/{module.replace('.', '/')}.py")


# --- consumers with a table -------------------------------------------------------------------------


MARKED = {cls for kind, cls in BODY_BY_KIND.items() if kind in MARK_EVENT_KINDS}
TABLES = {
    "the turn of an agent": (reducer.EVENT_HANDLERS, {
        e.SessionChanged, e.SessionDeleted, e.MarkAdded, e.ForkRequested, e.TextStreamed,
        e.AgentConnected, e.AgentGone, e.ThinkingStreamed, e.HookRan, e.CommandSuggested, e.OutputStreamed, e.SandboxRefused, e.ActionCancelled,
        e.AnswerRefused, e.RuleAdded, e.RuleUsed, e.RuleRevoked, e.RulePlaced, e.WorkspaceTrusted,
        e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted, e.RunRequested, e.RunCancelRequested,
        e.StepRetryRequested, e.RunStarted, e.RunChanged, e.StepChanged, e.ContractChecked,
        e.ArtifactStored, e.IncidentsListed, e.IncidentsRequested, e.IncidentsCancelRequested,
        e.IncidentDismissed, e.IncidentStarted, e.IncidentChecked, e.IncidentEnded,
    }),
    "a list of findings": (incident_state.EVENT_HANDLERS, {
        e.PromptWithdrawn, e.PromptsReordered, e.AgentConnected, e.AgentGone,
        e.SessionCreated, e.SessionChanged, e.SessionDeleted, e.LeaseTaken, e.LeaseReleased,
        e.PromptSubmitted, e.CompactionRequested, e.RefreshRequested, e.UndoRequested, e.PatchRequested, e.MarkAdded,
        e.ForkRequested, e.ContextCollected, e.TurnStarted, e.TextStreamed, e.ThinkingStreamed,
        e.ReplyCompleted, e.ConversationCompacted, e.TurnEnded, e.ProgressReported, e.ErrorRaised,
        e.HookRan, e.CommandSuggested, e.CallProposed, e.CallExecuting, e.ProcessStarted, e.OutputStreamed,
        e.FileChanged, e.CallFinished, e.CallRepeated, e.SandboxRefused, e.ActionBecameStale, e.AnswerRefused, e.RuleAdded,
        e.RuleUsed, e.RuleRevoked, e.RulePlaced, e.WorkspaceTrusted, e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted,
        e.RunRequested, e.RunCancelRequested, e.StepRetryRequested, e.RunStarted, e.RunChanged,
        e.StepChanged, e.ContractChecked, e.ArtifactStored,
    }),
    "a run": (run_state.EVENT_HANDLERS, {
        e.PromptWithdrawn, e.PromptsReordered, e.AgentConnected, e.AgentGone,
        e.SessionCreated, e.SessionChanged, e.SessionDeleted, e.LeaseTaken, e.PromptSubmitted,
        e.InterruptRequested, e.CompactionRequested, e.RefreshRequested, e.UndoRequested, e.PatchRequested, e.MarkAdded,
        e.ForkRequested, e.ContextCollected, e.TurnStarted, e.TextStreamed, e.ThinkingStreamed,
        e.ReplyCompleted, e.ConversationCompacted, e.TurnEnded, e.ProgressReported, e.ErrorRaised,
        e.HookRan, e.CommandSuggested, e.CallProposed, e.CallExecuting, e.OutputStreamed, e.FileChanged,
        e.CallFinished, e.CallRepeated, e.SandboxRefused, e.ActionOpened, e.ActionApproved, e.ActionRejected, e.ActionExpired,
        e.ActionSuperseded, e.ActionCancelled, e.ActionBecameStale, e.AnswerRefused, e.RuleAdded,
        e.RuleUsed, e.RuleRevoked, e.RulePlaced, e.WorkspaceTrusted, e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted,
        e.ContractChecked, e.IncidentsListed, e.IncidentsRequested, e.IncidentsCancelRequested,
        e.IncidentDismissed, e.IncidentStarted, e.IncidentChecked, e.IncidentEnded,
    }),
    "output of run": (run_printers.PRINTERS_BY_EVENT, {
        e.PromptWithdrawn, e.PromptsReordered, e.AgentConnected, e.AgentGone,
        e.SessionCreated, e.SessionStatusChanged, e.SessionChanged, e.SessionDeleted, e.LeaseTaken,
        e.LeaseReleased, e.PromptSubmitted, e.InterruptRequested, e.ContinueRequested,
        e.CompactionRequested, e.RefreshRequested, e.UndoRequested, e.PatchRequested, e.MarkAdded, e.ForkRequested,
        e.ContextCollected, e.TurnStarted, e.ThinkingStreamed, e.ConversationCompacted, e.TurnEnded,
        e.ProgressReported, e.HookRan, e.CommandSuggested, e.CallExecuting, e.ProcessStarted,
        e.OutputStreamed, e.FileChanged, e.CallRepeated, e.SandboxRefused, e.AnswerRefused, e.RuleAdded, e.RuleUsed,
        e.RuleRevoked, e.RulePlaced, e.WorkspaceTrusted, e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted, e.RunRequested,
        e.RunCancelRequested, e.StepRetryRequested, e.RunStarted, e.RunChanged, e.StepChanged,
        e.ContractChecked, e.ArtifactStored, e.IncidentsListed, e.IncidentsRequested,
        e.IncidentsCancelRequested, e.IncidentDismissed, e.IncidentStarted, e.IncidentChecked,
        e.IncidentEnded,
    }),
    "report of a session": (session_report.LINES_BY_EVENT, {
        e.PromptWithdrawn, e.PromptsReordered, e.AgentConnected, e.AgentGone,
        e.SessionCreated, e.SessionChanged, e.SessionDeleted, e.LeaseTaken, e.LeaseReleased,
        e.InterruptRequested, e.ContinueRequested, e.CompactionRequested, e.RefreshRequested,
        e.UndoRequested, e.PatchRequested, e.MarkAdded, e.ForkRequested, e.ContextCollected, e.TurnStarted, e.TextStreamed,
        e.ThinkingStreamed, e.ConversationCompacted, e.TurnEnded, e.ProgressReported, e.HookRan,
        e.CommandSuggested, e.CallExecuting, e.ProcessStarted, e.OutputStreamed, e.CallRepeated,
        e.ActionBecameStale, e.AnswerRefused, e.RuleAdded, e.RuleUsed, e.RuleRevoked, e.RulePlaced, e.WorkspaceTrusted,
        e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted, e.RunRequested, e.RunCancelRequested,
        e.StepRetryRequested, e.RunStarted, e.RunChanged, e.StepChanged, e.ContractChecked,
        e.ArtifactStored, e.IncidentsListed, e.IncidentsRequested, e.IncidentsCancelRequested,
        e.IncidentDismissed, e.IncidentStarted, e.IncidentChecked, e.IncidentEnded,
    }),
    "marks of a replay": (MARKED, {
        e.PromptWithdrawn, e.PromptsReordered, e.AgentConnected, e.AgentGone,
        e.SessionCreated, e.SessionStatusChanged, e.SessionChanged, e.SessionDeleted, e.LeaseTaken,
        e.LeaseReleased, e.InterruptRequested, e.ContinueRequested, e.CompactionRequested,
        e.RefreshRequested, e.UndoRequested, e.PatchRequested, e.ForkRequested, e.ContextCollected, e.TurnStarted,
        e.TextStreamed, e.ThinkingStreamed, e.ReplyCompleted, e.ConversationCompacted, e.ProgressReported,
        e.HookRan, e.CommandSuggested, e.CallExecuting, e.ProcessStarted, e.OutputStreamed, e.SandboxRefused,
        e.ActionSuperseded, e.ActionBecameStale, e.AnswerRefused, e.RuleAdded, e.RuleUsed, e.RuleRevoked, e.RulePlaced,
        e.WorkspaceTrusted, e.WorkspaceTrustRevoked, e.AgentsHeld, e.AgentsReleased,
        e.SecurityNoted, e.RunRequested, e.RunCancelRequested,
        e.StepRetryRequested, e.RunStarted, e.RunChanged, e.ContractChecked, e.ArtifactStored,
        e.IncidentsListed, e.IncidentsRequested, e.IncidentsCancelRequested, e.IncidentDismissed,
        e.IncidentStarted, e.IncidentChecked, e.IncidentEnded,
    }),
}  # fmt: skip
"""What a consumer has a function or a row for, and the kinds that mean nothing to it."""


@pytest.mark.parametrize("consumer", TABLES)
def test_each_kind_is_in_the_table_of_a_consumer_or_ignored_on_purpose(consumer):
    handled, ignored = TABLES[consumer]
    assert set(handled) | ignored == set(EVENT_BODIES)
    assert not set(handled) & ignored


@given(body=st.sampled_from(EVENT_BODIES).flatmap(body_strategy))
@settings(deadline=None)
def test_a_kind_has_a_speaker_where_the_index_has_it(body):
    speaker, _ = speaker_and_text(event(body))
    assert bool(speaker) == (body.KIND in SEARCHED_KINDS)
