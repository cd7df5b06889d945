"""The agents' own full-screen programs with scripted models: answered in our queue, or interrupted in their screen."""

import pytest

from tests.support.agent_place import AgentPlace
from tests.support.agent_screens import SCREENS, AgentScreen
from tests.support.real_agents import program
from tests.support.waits import until

pytestmark = pytest.mark.campaign

OLD = "".join(f"line {number}\n" for number in range(1, 21))
FIRST = OLD.replace("line 2\n", "line two\n")
NEW = FIRST.replace("line 18\n", "line eighteen\n")
PROMPT = "change the note"


class Opened:
    """An agent in its own screen, and the queue that it is connected to."""

    def __init__(self, place, facts):
        self.place, self._facts = place, facts
        self.agent = place.add(facts.make)

    def start(self, *said):
        """Open the agent's program and have it change the note, then say `said`; returns the row."""
        edit = self.agent.replace("note.txt", OLD, NEW)
        self.screen = AgentScreen(self.agent, self._facts, *edit, *self.agent.as_told(), *said)
        self.screen.prompt(PROMPT)
        return self.place.row(self.agent)

    def close(self):
        self.screen.close()
        self.place.close()


@pytest.fixture(params=SCREENS, ids=[facts.make.id for facts in SCREENS])
def opened(tmp_path, installed, request):
    program(request.param.make.id)
    made = Opened(AgentPlace(tmp_path / "place", installed, files={"note.txt": OLD}), request.param)
    yield made
    made.close()


def test_one_hunk_of_two_is_written_from_a_screen(opened):
    row, place, agent = opened.start("All is done."), opened.place, opened.agent
    assert (row.added, row.removed) == (2, 2)
    place.approve(row, hunks=[1])
    if not agent.takes_other_input:
        place.approve(place.row(agent))
    opened.screen.until("All is done.")
    assert place.read("note.txt") == FIRST.encode()
    assert [call.state for call in place.settled(agent)][-1] == "succeeded"


def test_the_model_of_a_screen_reads_why_a_call_was_refused(opened):
    opened.place.reject(opened.start(), "Keep line 2 as it is.")
    opened.screen.until_model_reads("Keep line 2 as it is.")
    assert opened.place.read("note.txt") == OLD.encode()


def test_an_interrupt_in_the_agents_screen_withdraws_the_row(opened):
    """The row says why; the program is free for its next prompt, and nothing is written."""
    row, place, agent = opened.start(), opened.place, opened.agent
    opened.screen.interrupt()
    until(lambda: not place.rows_of(agent, "pending"), opened.screen.text)
    call = place.calls_of(agent)[-1]
    assert (call.state, call.error) == ("cancelled", "it was interrupted in the agent's own screen")
    assert not place.approve(row).ok
    opened.screen.prompt("what else")
    opened.screen.until_model_reads("what else")
    assert place.read("note.txt") == OLD.encode()
    assert place.handed(agent) == [call.id for call in place.calls_of(agent) if call.tool == "Read"]
