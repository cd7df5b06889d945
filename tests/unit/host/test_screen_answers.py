"""What the user did in the agent's own screen ends the row here, with the reason."""

import pytest

from tests.support.fake_agent import FakeAgent, settled_calls, supervise, waiting_row
from tests.support.stage import recording
from tests.support.waits import until_true
from tests.unit.formats.test_claude_code import answers, asks, line
from tests.unit.host.test_transcript_follower import AgentFile
from workbench.domain.rows import Call
from workbench.host import session_driver, transcript_follower
from workbench.host.screen_answers import ScreenAnswers
from workbench.supervised.messages import TurnDone

LATER, EARLIER = "2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
INTERRUPTED = "it was interrupted in the agent's own screen"
REFUSED = "it was refused in the agent's own program"
SAID_NO = "The user doesn't want to proceed with this tool use."
NEEDS_APPROVAL = "Output redirection needs approval."


@pytest.fixture
def stage(staged, monkeypatch):
    monkeypatch.setattr(transcript_follower, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(session_driver, "CLOCK_TICK_SECONDS", 0.01)
    return staged(recording(), files={"a.txt": "line 1\n"})


def waiting_call(name, at):
    return Call(
        id=name, session_id="s", turn_id=None, ordinal=0, provider_call_id="c", tool="Bash", state="pending",
        requested_at=at,
    )  # fmt: skip


def cancelled(time):
    """Return a line of Gemini CLI's file."""
    return {"id": time, "timestamp": time, "type": "info", "content": "Request cancelled."}


def withdrawn(stage, agent, rows):
    """Ask, have the session file say some rows, and return the call that was asked about."""

    async def scenario(fake):
        fake.ask("n1", "Bash", {"command": "make it"}, "c1")
        action = await waiting_row(stage)
        agent.write(*rows)
        await settled_calls(stage)
        assert (await fake.answer("n1")).outcome == "deny"
        assert not stage.approve(action).ok

    supervise(stage, scenario, agent.agent)
    (call,) = stage.journal.calls(stage.session_id)
    return call.state, call.error


@pytest.mark.parametrize(
    ("form", "rows", "why"),
    [
        ("claude-code", [answers(2, "c1", SAID_NO, is_error=True)], REFUSED),
        ("claude-code", [answers(2, "c1", "[Request interrupted by user]", is_error=True)], INTERRUPTED),
        (
            "claude-code",
            [{**line(2, "user", "[Request interrupted by user]"), "timestamp": LATER}],
            INTERRUPTED,
        ),
        ("gemini", [cancelled(LATER)], INTERRUPTED),
    ],
    ids=["refused", "stopped", "turn", "gemini"],
)
def test_a_row_ends_by_what_the_session_file_says(stage, form, rows, why):
    asked = [line(0, "user", "go"), asks(1, "c1", "Bash", command="make it")]
    agent = AgentFile(stage, form)
    assert withdrawn(stage, agent, [*(asked if form == "claude-code" else []), *rows]) == ("cancelled", why)


def test_a_call_that_was_proposed_again_ends_by_the_result_of_the_one_that_was_announced():
    answers = ScreenAnswers()
    answers.note_result("c1", "rejected", SAID_NO)
    answers.note_result("c4", "failed", "no")
    for call, replaced in (("c2", "c1"), ("c3", "c2"), ("c5", "c4")):
        answers.note_replacement(call, replaced)
    calls = [waiting_call(name, at=1) for name in ("c3", "c5")]
    assert [(call.id, why) for call, why in answers.about(calls)] == [("c3", REFUSED)]
    assert (answers.failure("c5"), answers.failure("c3")) == ("no", None)


def test_an_interruption_in_the_future_ends_no_later_call():
    answers = ScreenAnswers()
    answers.note_interruption(4_070_908_800_000_000, now=10)
    calls = [waiting_call(str(at), at=at) for at in (10, 11)]
    assert [call.id for call, _ in answers.about(calls)] == ["10"]


def test_an_earlier_interruption_ends_no_row(stage):
    agent = AgentFile(stage, "gemini")
    agent.write(cancelled(EARLIER))

    async def scenario(fake):
        fake.ask("n1", "Bash", {"command": "one"}, "c1")
        first = await waiting_row(stage)
        assert stage.approve(first).ok
        await fake.answer("n1")
        fake.done("Bash", {"command": "one"}, "c1")
        await settled_calls(stage)

    supervise(stage, scenario, agent.agent)
    assert [call.state for call in stage.journal.calls(stage.session_id)] == ["succeeded"]


@pytest.mark.parametrize(
    ("text", "ended"), [(SAID_NO, ("interrupted", REFUSED)), (NEEDS_APPROVAL, ("failed", ""))]
)
def test_a_call_that_was_refused_there_after_our_approval_is_settled(stage, text, ended):
    """By its user, or at the end of the turn by a rule of its user, of which no hook is said."""
    file = AgentFile(stage)

    async def scenario(agent):
        agent.ask("n1", "Bash", {"command": "make it"}, "c1")
        stage.approve(await waiting_row(stage))
        assert (await agent.answer("n1")).outcome == "allow"
        file.write(
            line(0, "user", "go"),
            asks(1, "c1", "Bash", command="make it"),
            answers(2, "c1", text, is_error=True),
        )
        if text == NEEDS_APPROVAL:
            agent.end_turn()
        await settled_calls(stage)

    supervise(stage, scenario, file.agent)
    (call,) = stage.journal.calls(stage.session_id)
    assert call.state == ended[0] and call.error.startswith(ended[1])


def test_an_agent_that_says_it_was_interrupted_withdraws_its_rows(stage):
    async def scenario(agent):
        agent.ask("n1", "Bash", {"command": "make it"}, "c1")
        await waiting_row(stage)
        agent.link.put(agent.connection, TurnDone(is_interrupted=True))
        await settled_calls(stage)

    supervise(stage, scenario, FakeAgent(stage.workspace))
    (call,) = stage.journal.calls(stage.session_id)
    assert (call.state, call.error) == ("cancelled", INTERRUPTED)


@pytest.mark.parametrize(
    ("is_asked_there", "written", "is_allowed_there"),
    [(True, "c\n", True), (False, "c\n", False), (True, "d\n", False)],
)
def test_a_call_that_its_user_allowed_there_is_not_asked_about_again(
    stage, is_asked_there, written, is_allowed_there
):
    change = {"file_path": "b.txt", "content": "c\n"}

    async def scenario(agent):
        agent.ask("n1", "Write", change, "c1", is_asked_there=is_asked_there)
        await waiting_row(stage)
        agent.run("Write", {**change, "content": written}, "c1")
        await agent.answer("n1")
        await until_true(lambda: stage.calls()["c1"].state == "cancelled")
        return [action.target for action in stage.waiting()]

    asked_again = supervise(stage, scenario)
    assert bool(asked_again) == (not is_allowed_there)
    is_said = "allowed in the agent's own screen" in stage.calls()["c1"].error
    assert is_said == is_allowed_there
