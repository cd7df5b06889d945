"""Codex, Qwen Code and OpenCode as npm installs them, each with a scripted model, and one queue.

They are connected by the installed program, and their hooks start its background process.
"""

import pytest

from tests.support.agent_place import AgentPlace
from tests.support.installed import install
from tests.support.real_agents import AGENTS, program
from tests.support.stage import USER
from tests.support.waits import until
from workbench.domain.events import UndoRequested

pytestmark = pytest.mark.campaign

OLD = "".join(f"line {number}\n" for number in range(1, 21))
FIRST = OLD.replace("line 2\n", "line two\n")
NEW = FIRST.replace("line 18\n", "line eighteen\n")
FILES = {"note.txt": OLD}


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def placed(tmp_path, installed):
    made = []

    def make(**more):
        made.append(AgentPlace(tmp_path / f"place{len(made)}", installed, **{"files": FILES, **more}))
        return made[-1]

    yield make
    for place in made:
        place.close()


@pytest.fixture(params=AGENTS, ids=[make.id for make in AGENTS])
def make(request):
    program(request.param.id)
    return request.param


@pytest.fixture
def placed_agent(placed, make):
    place = placed()
    return place, place.add(make)


def approve_version(place, agent, **version):
    """Approve a row in part; where the agent cannot be given that, its model asks for just that part."""
    place.approve(place.row(agent), **version)
    if not agent.takes_other_input:
        place.approve(place.row(agent))


def test_one_hunk_of_two_is_written(placed_agent):
    place, agent = placed_agent
    assert place.host(agent) is None
    agent.start(*agent.replace("note.txt", OLD, NEW), *agent.as_told(), *agent.shell("true; echo made"))
    row = place.row(agent)
    assert (row.added, row.removed) == (2, 2)
    approve_version(place, agent, hunks=[1])
    place.approve(place.row(agent))
    assert place.read("note.txt") == FIRST.encode()
    assert "made" in agent.end()
    states = [call.state for call in place.settled(agent)]
    assert states.count("succeeded") == len(states) - (not agent.takes_other_input), states


def test_the_model_reads_why_a_call_was_refused(placed_agent):
    place, agent = placed_agent
    agent.start(*agent.replace("note.txt", OLD, NEW))
    place.reject(place.row(agent), "Keep line 2 as it is.")
    assert "Keep line 2 as it is." in agent.end()
    assert place.read("note.txt") == OLD.encode()
    assert place.handed(agent) == [call.id for call in place.settled(agent) if call.tool == "Read"]


def test_a_rule_lets_a_command_pass_without_a_row(placed_agent):
    place, agent = placed_agent
    place.workbench(agent, "rules", "add", "Bash", "Bash(make shoes)", "--glob", "-d", "harmless")
    (place.workspace / "Makefile").write_text("shoes:\n\t@echo two shoes\n")
    agent.start(*agent.shell("make shoes"))
    assert "two shoes" in agent.end()
    (call,) = place.settled(agent)
    assert (call.state, call.rule is not None, call.action_id) == ("succeeded", True, None)


def test_a_row_expires(placed, make):
    place = placed(config={"approvals": {"window_minutes": 0.05}})
    agent = place.add(make)
    agent.start(*agent.replace("note.txt", OLD, NEW))
    assert "did not answer in time" in agent.end()
    assert place.read("note.txt") == OLD.encode()
    assert [call.state for call in place.settled(agent) if call.tool != "Read"] == ["expired"]


def test_an_edited_version_is_written(placed_agent):
    place, agent = placed_agent
    own = FIRST.replace("line 9\n", "my own “line”\n").encode()
    agent.start(*agent.replace("note.txt", OLD, NEW), *agent.as_told())
    approve_version(place, agent, edited={"note.txt": own})
    agent.end()
    assert place.read("note.txt") == own
    assert place.settled(agent)[-1].state == "succeeded"


def test_a_change_is_undone_and_the_session_is_replayed(placed_agent):
    place, agent = placed_agent
    agent.start(*agent.put("new.txt", "one\ntwo\n"))
    row = place.row(agent)
    place.approve(row)
    agent.end()
    place.settled(agent)
    assert place.read("new.txt") == b"one\ntwo\n"
    session = place.session_of(agent).id
    place.journal.append([place.journal.event(UndoRequested(), session, USER, action_id=row.id)])
    place.serve(agent)
    until(lambda: not (place.workspace / "new.txt").exists())
    assert "new.txt" in place.workbench(agent, "replay", session, "--headless")
