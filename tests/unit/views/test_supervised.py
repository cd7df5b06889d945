"""Sessions of agents that execute their own calls: name and state in every list, judgement of each call."""

import pytest

from tests.support.tables import each_row
from tests.unit.views.making import NOW, action, call, event, session
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.domain.rows import SessionCounts
from workbench.domain.values import OWN_MODE, FilePlan, GateVerdict, SelectedHunk
from workbench.views import (
    approvals,
    call_summary,
    detail_pages,
    library,
    notices,
    sessions,
    toasts,
    tools,
)
from workbench.views.propose_again import why_not_propose_again
from workbench.views.reopening import reopening_of, why_not_reopen
from workbench.views.session_board import activity, board_row
from workbench.views.status_icons import call_status, session_status
from workbench.views.supervised import agent_name, agent_title, call_judgement
from workbench.views.unseen_ends import session_end


def agent(key="s1", **more):
    facts = {"kind": "supervised", "provider": "claude", "title": "claude", "status": "ready"}
    return session(key, **{**facts, **more})


@each_row("given, name", [
    ("claude", "Claude Code"), ("CODEX", "Codex"), ("gemini", "Gemini CLI"), ("qwen-code", "Qwen Code"),
    ("opencode", "OpenCode"), ("my\x1b[31mbot", "my⟨ESC[31m⟩bot"), ("", "an agent"), ("x" * 99, "x" * 23 + "…"),
])  # fmt: skip
def test_an_agent_has_its_display_name_or_the_safe_name_that_it_gave(given, name):
    assert agent_name(agent(provider=given)) == name


def test_only_supervised_sessions_have_the_name_of_an_agent():
    assert agent_name(session(provider="claude")) == ""
    assert agent_title(session(title="a"), "a") == "a"
    assert sessions.agent_state(session(), 1) == ""


@each_row(
    "title, shown",
    [("claude", "Claude Code"), ("fix the cart", "Claude Code: fix the cart"), ("", "Claude Code")],
)
def test_its_title_begins_with_the_agent(title, shown):
    assert sessions.session_title(agent(title=title)) == shown


STATES = [
    ({}, 1, ("waiting", "waits for you")),
    ({"status": "processing"}, 0, ("running", "working")),
    ({}, 0, ("ok", "idle")),
    ({"is_agent_gone": True}, 0, ("cancelled", "gone")),
    ({"status": "terminated"}, 1, ("waiting", "waiting")),
    ({"status": "terminated", "is_agent_gone": True}, 0, ("cancelled", "ended")),
]


@each_row("facts, waiting, status", STATES)
def test_its_state_is_a_sign_and_words(facts, waiting, status):
    shown = agent(**facts)
    assert session_status(shown, waiting) == status
    assert sessions.agent_state(shown, waiting) == f"Claude Code, {status[1]}"
    asked = [action(f"a{n}") for n in range(waiting)]
    (row,) = sessions.session_rows([shown], asked)
    assert (row.sign, row.word, row.is_supervised) == (*status, True)
    header = sessions.header_facts([shown], asked, NOW, workspace="/w", current=shown)
    assert header.agent == f"Claude Code, {status[1]}"
    facts = sessions.session_facts(shown, turns=0, asks="", rules=0, waiting=waiting).facts
    assert {("agent", "Claude Code"), ("state", status[1])} <= set(facts)


@each_row(
    "facts, does", [({}, "idle"), ({"is_agent_gone": True}, "gone"), ({"status": "processing"}, "works")]
)
def test_the_board_and_the_library_name_its_state(facts, does):
    shown = agent(**facts)
    (row,) = sessions.session_rows([shown], [])
    board = board_row(row, shown, activity([]), SessionCounts(), [], NOW)
    assert (board.does, board.title, board.is_supervised) == (does, "Claude Code", True)
    if does != "works":
        assert library.library_row(shown, 0, None).note == does


def test_coming_and_going_is_recorded_in_its_row_and_its_conversation():
    created = e.SessionCreated(session_kind="supervised", provider="claude")
    bodies = [created, e.AgentGone(), e.AgentConnected()]
    rows = [MemoryTables().fold(map(event, bodies[:count])).sessions["s1"] for count in (1, 2, 3)]
    assert [row.is_agent_gone for row in rows] == [False, True, False]
    words = [notices.notice_of(body, was_stopped=False) for body in bodies[1:]]
    assert [kind for kind, _, _ in words] == ["changed", "changed"]
    assert words[0][1] == "The agent has ended or lost its connection."


GRADED = [
    (call(grade="bound", duration_ms=0), "bound", "Bound: the files are byte for byte what was approved."),
    (call(grade="checked"), "checked", "Checked: the files are not what was approved."),
    (call(grade="on its word"), "on its word", "On its word: what it did cannot be compared with what was approved."),
    (call(verdict_by=OWN_MODE, grade="on its word"), "by its own mode", "By its own mode: the agent did not ask here, and what it did is not compared."),
    (call(), "", ""),
]  # fmt: skip


@each_row("row, words, sentence", GRADED)
def test_a_call_shows_how_far_it_was_judged(row, words, sentence):
    assert call_judgement(row) == words
    (tool_row,) = tools.tool_rows([row], {}, NOW)
    assert tool_row.right == words
    detail = detail_pages.call_detail(row, None, [])
    assert (detail.title, detail.told) == (
        f"read_file {', '.join(filter(None, (call_status(row)[1], words)))}",
        sentence,
    )


def test_the_grade_of_a_call_is_that_of_its_end_and_no_other_word():
    verdict = GateVerdict(outcome="allowed", step="grants", by="x")
    begun = [e.CallProposed(tool="Edit", verdict=verdict), e.CallExecuting()]

    def folded(**metadata):
        ended = e.CallFinished(state="succeeded", metadata=metadata)
        made = [event(body, call_id="c1") for body in (*begun, ended)]
        return MemoryTables().fold(made).calls["c1"].grade

    assert [folded(grade="bound"), folded(grade="sure"), folded(grade=["bound"]), folded()] == [
        "bound", None, None, None,
    ]  # fmt: skip


def test_the_conversation_says_how_a_call_was_judged():
    def words(row):
        said = call_summary.call_summary(row, None, ())
        return said.right, said.meaning, said.note

    assert words(call(grade="bound", duration_ms=0)) == ("bound", None, "")
    assert words(call(verdict_by=OWN_MODE, grade="on its word")) == ("by its own mode", None, "")
    differs = call(grade="checked", detail="differs", summary="b.txt: other bytes")
    assert words(differs) == ("differs", "risk", "b.txt: other bytes")
    assert call_status(differs) == ("risk", "differs")
    assert words(call(state="failed", verdict_by=OWN_MODE)) == ("failed", "failed", "by its own mode")


def test_nobody_here_let_a_call_of_its_own_mode_pass():
    assert tools.decided_by_text(call(verdict_by=OWN_MODE)) == ""


@pytest.mark.parametrize("owner", [agent(), session(title="claude")])
def test_a_row_of_the_queue_names_the_agent_that_asks(owner):
    (row,) = approvals.queue_rows([action()], {"s1": owner}, NOW)
    is_agent = owner.kind == "supervised"
    assert (row.session_title, row.names_agent) == ("Claude Code" if is_agent else "claude", is_agent)


# --- what can be asked of it -----------------------------------------------------------------------------


@each_row("owner, why", [
    (agent(), "Claude Code reads its prompts in its own terminal."), (session(), ""),
    (session(kind="step"), "A pipeline run reads no messages: answer its rows, or ctrl+n starts a session."),
])  # fmt: skip
def test_a_message_reaches_no_agent_in_its_own_terminal(owner, why):
    assert sessions.why_takes_no_message(owner) == why


def test_neither_what_expired_nor_what_was_left_is_asked_for_from_here():
    expired = action(state="expired")
    assert why_not_propose_again(agent(), expired) == (
        "Claude Code reads its prompts in its own terminal; say there that it is to propose it again"
    )
    change = FilePlan(path="a.txt", base="b", after="c", mode=0o644)
    partly = action(state="approved", selection=(SelectedHunk(hunk=1),), files=(change,))
    (shown,) = (reopening_of(agent(), partly, (), ()),)
    assert (
        shown.why_not == "Claude Code makes its changes itself; ask it in its own terminal to make this one"
    )
    assert (
        why_not_propose_again(session(), expired) == why_not_reopen(session(), partly, is_waiting=False) == ""
    )


@each_row("kind, answers", [
    ("chat", (True, True)), ("supervised", (False, True)), ("step", (False, False)), ("import", (False, False)),
])  # fmt: skip
def test_which_sessions_take_prompts_and_which_are_those_of_one_agent(kind, answers):
    row = session(kind=kind)
    assert (row.takes_prompts, row.is_conversation) == answers


def test_what_is_said_of_its_errors_and_its_turns_names_the_agent():
    shown = toasts.toast_of(
        event(e.ErrorRaised(code="x", message="overloaded")), agent(title="fix"), None, is_current=False
    )
    assert shown is not None and shown.what == "Claude Code: fix: overloaded"
    ended = session_end(event(e.TurnEnded(outcome="done")), agent())
    assert ended is not None and ended.title == "Claude Code"
