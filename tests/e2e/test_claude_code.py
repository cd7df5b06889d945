"""Claude Code with a scripted model and without a login: `-p`, and its own screen.

It is left out unless WORKBENCH_CLAUDE_CODE=1 asks for it, because its terms are its user's to accept.
"""

import pytest

from tests.support.agent_place import AgentPlace
from tests.support.agent_screens import AgentScreen, ScreenFacts
from tests.support.claude_code import ClaudeCode
from tests.support.real_agents import program
from tests.support.waits import until

pytestmark = pytest.mark.claude_code

OLD = "".join(f"line {number}\n" for number in range(1, 21))
FIRST = OLD.replace("line 2\n", "line two\n")
NEW = FIRST.replace("line 18\n", "line eighteen\n")
FACTS = ScreenFacts(
    ClaudeCode, ("--permission-mode", "default"), "? for shortcuts", (("esc to interrupt", "\x1b"),)
)


@pytest.fixture
def place(tmp_path, installed):
    program("claude")
    made = AgentPlace(tmp_path / "place", installed, files={"note.txt": OLD})
    yield made
    made.close()


@pytest.fixture
def agent(place):
    return place.add(ClaudeCode)


@pytest.fixture
def shown(place):
    """Return what opens the agent's screen with an edit of the note; it is asked what it asks itself."""
    screens = []

    def make():
        agent = place.add(ClaudeCode, is_connected=False)
        place.connect(agent, "--scope", "asked")
        screens.append(AgentScreen(agent, FACTS, *agent.replace("note.txt", OLD, NEW)))
        screens[-1].prompt("change the note")
        return agent, screens[-1]

    yield make
    for screen in screens:
        screen.close()


def test_one_hunk_of_two_is_written(place, agent):
    agent.start(*agent.replace("note.txt", OLD, NEW))
    place.approve(place.row(agent), hunks=[1])
    assert "left out: note.txt line 18" in agent.end()
    assert place.read("note.txt") == FIRST.encode()
    assert place.settled(agent)[-1].state == "succeeded"


def test_an_edited_version_is_written(place, agent):
    own = FIRST.replace("line 9\n", "my own “line”\n").encode()
    agent.start(*agent.replace("note.txt", OLD, NEW))
    place.approve(place.row(agent), edited={"note.txt": own})
    agent.end()
    assert place.read("note.txt") == own
    assert place.settled(agent)[-1].state == "succeeded"


def test_the_model_reads_why_a_call_was_refused(place, agent):
    agent.start(*agent.replace("note.txt", OLD, NEW))
    place.reject(place.row(agent), "Keep line 2 as it is.")
    assert "Keep line 2 as it is." in agent.end()
    assert place.read("note.txt") == OLD.encode()


def test_a_command_that_fails_is_settled_as_failed(place, agent):
    agent.start(*agent.shell("echo seen; exit 3"))
    place.approve(place.row(agent))
    agent.end()
    assert place.settled(agent)[-1].state == "failed"


def test_a_rule_of_its_user_still_holds_after_an_approval(place):
    """Its `ask` rule comes after our allow; without a screen it refuses, and the queue says that nothing ran."""
    agent = place.add(ClaudeCode, is_connected=False)
    agent.write(".claude/settings.json", {"permissions": {"ask": ["Bash"]}})
    place.connect(agent)
    agent.start(*agent.shell("echo ran >> ran.log"))
    place.approve(place.row(agent))
    agent.end()
    assert place.settled(agent)[-1].state == "failed"
    assert not (place.workspace / "ran.log").exists()


def test_its_own_question_is_answered_here(place, shown):
    agent, screen = shown()
    place.approve(place.row(agent), hunks=[1])
    screen.until("Allowed by PermissionRequest hook")
    assert place.read("note.txt") == FIRST.encode()
    assert place.settled(agent)[-1].state == "succeeded"


@pytest.mark.parametrize(
    ("key", "why", "written"),
    [
        ("1", "it was allowed in the agent's own screen", NEW),
        ("3", "it was refused in the agent's own program", OLD),
        ("\x1b", "it was refused in the agent's own program", OLD),
    ],
    ids=["yes", "no", "esc"],
)
def test_its_own_question_is_answered_there(place, shown, key, why, written):
    agent, screen = shown()
    row = place.row(agent)
    screen.until("Do you want to make this edit")
    screen.press(key)
    until(lambda: not place.rows_of(agent, "pending"), screen.text)
    call = place.settled(agent)[-1]
    assert (call.state, call.error) == ("cancelled", why)
    assert not place.approve(row).ok
    assert place.read("note.txt") == written.encode()
    assert place.rows_of(agent, "pending") == []
