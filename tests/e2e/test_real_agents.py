"""Codex, Qwen Code, OpenCode and Gemini CLI as npm installs them, each with a scripted model, and one queue.

They are connected by the installed program, and their hooks start its background process.
"""

import json
import random
from collections import Counter

import pytest

from tests.support.agent_place import AgentPlace
from tests.support.installed import install
from tests.support.real_agents import AGENTS, Codex, OpenCode, program
from tests.support.sizes import size
from tests.support.stage import USER
from tests.support.waits import until
from workbench.changes.decision import action_hunks, approval_outcome, sealed_changes
from workbench.domain.events import UndoRequested
from workbench.domain.values import SelectedHunk

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
    assert place.host(agent) is None  # the hook starts it
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


@pytest.mark.parametrize("old", [OLD, OLD.replace("\n", "\r\n")], ids=["lf", "crlf"])
def test_a_patch_of_codex_whose_lines_end_with_cr_is_cut_to_one_hunk(placed, old):
    place = placed(files={"note.txt": old})
    agent = place.add(Codex)
    (call,) = agent.replace("note.txt", OLD, NEW)[-1]
    agent.start(*agent.shell(call.given["cmd"].replace("\n", "\r\n")))
    row = place.row(agent)
    assert (row.tool, row.added, row.removed) == ("apply_patch", 2, 2)
    place.approve(row, hunks=[1])
    agent.end()
    wanted = FIRST if old == OLD else FIRST.replace("\n", "\r\n")
    assert place.read("note.txt") == wanted.encode()


def test_opencode_asks_itself_what_its_own_rules_name_and_the_row_says_so(placed):
    """Without a terminal it denies what it would ask, although the call was allowed here."""
    place = placed()
    agent = place.add(OpenCode)
    agent.permission = {"bash": {"*": "allow", "touch *": "ask"}}
    agent.start(*agent.shell("echo made"), *agent.shell("touch made.txt"))
    for _ in range(2):
        place.approve(place.row(agent))
    agent.end()
    first, second = place.settled(agent)
    assert (first.asks_itself, first.state, second.asks_itself) == (False, "succeeded", True)
    assert second.state == "interrupted" and not (place.workspace / "made.txt").exists()


# --- deaths -----------------------------------------------------------------------------------------------

POINTS = ("asked", "before_executing", "executing", "answered", "observed")
MARK = "echo ran >> ran.log"


def times_it_ran(place):
    log = place.workspace / "ran.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize("point", POINTS)
def test_a_command_runs_once_when_the_background_process_dies(placed_agent, point):
    """Each background process that the hooks start dies when it first passes the point, but for the last."""
    place, agent = placed_agent
    place.serve(agent, f"supervised.{point}:kill")
    agent.start(*agent.shell(MARK))
    place.attend(agent, place.approve)
    states = [call.state for call in place.settled(agent)]
    assert times_it_ran(place) == 1, states
    handed = place.handed(agent)
    assert len(set(handed)) == len(handed)
    # A call that was marked as handed over and never answered is asked about again, as another one.
    assert len(handed) == 2 if point == "executing" else 1 <= len(handed) <= 2, states


def test_a_call_is_settled_by_the_report_of_its_end_when_the_background_process_died(placed_agent):
    place, agent = placed_agent
    place.serve(agent, "supervised.answered:kill")
    agent.start(*agent.shell(MARK))
    place.approve(place.row(agent))
    agent.end()
    until(lambda: all(call.finished_at for call in place.calls_of(agent)), lambda: place.story(agent))
    (call,) = place.calls_of(agent)
    assert (call.state, times_it_ran(place)) == ("succeeded", 1), place.story(agent)


def test_a_killed_client_decides_nothing(placed_agent):
    """The agent does without its hook what it does; the row is withdrawn, and the queue knows what ran."""
    place, agent = placed_agent
    agent.start(*agent.shell(MARK))
    place.row(agent)
    assert place.kill_clients() == 1
    until(lambda: not place.rows_of(agent, "pending"))
    agent.end()
    (call,) = place.settled(agent)
    assert (call.state, call.error) == ("cancelled", "the agent did not wait for the answer")
    assert times_it_ran(place) == agent.runs_without_hook
    assert place.handed(agent) == []


# --- settings ---------------------------------------------------------------------------------------------


def test_removing_the_connection_leaves_the_settings_as_they_were(placed, make):
    place = placed()
    agent = place.add(make, is_connected=False)
    agent.write_own_settings()
    agent.start(*agent.shell("true"))
    agent.end()
    before = agent.settings()
    assert before
    place.connect(agent)
    assert agent.settings() != before
    agent.start(*agent.shell(MARK))
    place.attend(agent, place.approve)
    place.workbench(agent, "connect", "--remove", agent.id, "--yes")
    assert agent.settings() == before
    agent.start(*agent.shell(MARK))
    agent.end()
    assert times_it_ran(place) == 2 and len(place.handed(agent)) == 1


# --- all agents ------------------------------------------------------------------------------------------


def test_all_agents_wait_in_one_queue(placed):
    for make in AGENTS:
        program(make.id)
    place = placed()
    agents = [place.add(make, folder=make.id) for make in AGENTS]
    for agent in agents:
        (agent.folder / "note.txt").write_text(OLD)
        agent.start(*agent.replace("note.txt", OLD, NEW), *agent.as_told())
    rows = [place.row(agent) for agent in agents]
    queue = json.loads(place.workbench(agents[0], "approvals", "list", "--json"))
    assert {row["id"] for row in queue} == {row.id for row in rows}
    for agent in agents:
        approve_version(place, agent, hunks=[1])
    for agent in agents:
        agent.end()
        assert (agent.folder / "note.txt").read_text() == FIRST, agent.id


# --- drawn edits -------------------------------------------------------------------------------------------

SEED, EDITS = 20_261_129, size("WORKBENCH_REAL_EDITS", 12, 12)
WORDS = (
    "red",
    "blue 'quoted'",
    'he said "so"',
    "a\\tb",
    "$HOME `x`",
    "élan “o”",
    "  indented",
    "",
    "<a> & b",
    "%s {0}",
)


def drawn_edit(chance, agent, name):
    """Write a file, and return replies that edit it in two places, or everywhere."""
    end, last = chance.choice(["\n", "\n", "\r\n"]), chance.random() < 0.7
    lines = [f"{number} {chance.choice(WORDS)}" for number in range(chance.randrange(14, 20))]
    for number in chance.sample(range(1, len(lines)), 3):
        lines[number] = f"{number} the same"
    text = end.join(lines) + (end if last else "")
    (agent.folder / name).write_bytes(text.encode())
    if chance.random() < 0.25:
        return agent.replace(name, "the same", chance.choice(WORDS), every=True)
    changed = list(lines)
    changed[2], changed[11] = (f"{number} new {chance.choice(WORDS)}" for number in (2, 11))
    if chance.random() < 0.2:
        changed.insert(6, "one more")
    if chance.random() < 0.3:
        return agent.put(name, end.join(changed) + (end if last else ""))
    said = chance.choice(["\n", end])  # models are shown and write lines without the CR, or with it
    return agent.replace(name, said.join(lines[1:13]), said.join(changed[1 : 13 + len(changed) - len(lines)]))


def drawn_version(chance, place, row):
    """Return how a row is approved: whole, some of its hunks, or as another version."""
    opened = place.opened(row)
    hunks = range(1, len(action_hunks(opened, place.journal.blobs)) + 1)
    chosen = chance.sample(hunks, chance.randrange(1, len(hunks) + 1))
    (change,) = sealed_changes(opened.files, place.journal.blobs)
    own = change.after.replace(b"the same", b"my own 'version'").replace(b"one more", b"none more")
    return chance.choice([{}, {"hunks": chosen}, {"hunks": chosen}, {"edited": {change.path: own}}])


def chosen_files(place, row, hunks=None, edited=None):
    """Return what an approval writes, by path."""
    selection = None if hunks is None else tuple(SelectedHunk(hunk=number) for number in hunks)
    changes, _ = approval_outcome(place.opened(row), place.journal.blobs, selection, edited)
    return {change.path: change.after for change in changes}


def test_drawn_edits_write_what_was_chosen(placed_agent):
    """One session with many edits: the bytes after each equal the chosen after-image."""
    place, agent = placed_agent
    chance = random.Random(f"{SEED} {agent.id}")
    replies = []
    for number in range(EDITS):
        replies += [*drawn_edit(chance, agent, f"f{number}.txt"), *agent.as_told()]
    expected = drawn_files(place)
    agent.start(*replies)
    told, chosen, by_call = set(), Counter(), {}

    def answer(row):
        # A row of files that were found would mean that other bytes were written than approved.
        assert row.kind == "tool", place.story(agent)
        # What an agent asks for because it was told to is approved as it is.
        version = {} if row.target in told else drawn_version(chance, place, row)
        files = chosen_files(place, row, **version)
        is_other = files != chosen_files(place, row)
        assert place.approve(row, **version).ok
        chosen[next(iter(version), "told" if row.target in told else "whole")] += 1
        if is_other and not agent.takes_other_input:
            told.add(row.target)
        else:
            by_call[row.call_id] = files

    place.attend(agent, answer)
    calls = [call for call in place.settled(agent) if call.tool != "Read"]
    for call in calls:
        # A version that the agent's tool cannot write is denied, and nothing is written.
        if call.detail != "not possible":
            expected.update(by_call.get(call.id, {}))
    states = Counter(call.state for call in calls)
    print(agent.id, dict(chosen), dict(states))  # with -s: what was drawn
    after = drawn_files(place)
    assert {name: (after[name], expected[name]) for name in after if after[name] != expected[name]} == {}
    assert states["succeeded"] >= EDITS * 2 // 3, place.story(agent)


def drawn_files(place):
    return {path.name: path.read_bytes() for path in place.workspace.glob("f*.txt")}
