"""What a session is about at a moment, and which agents its calls began."""

from msgspec.structs import replace

from tests.unit.views.making import NOW, SECOND, call, event, hunk, session
from workbench.domain import events as e
from workbench.domain.values import Usage
from workbench.views.agent_tree import AgentTree
from workbench.views.conversation_blocks import TextBlock, ThoughtBlock
from workbench.views.library import SessionAgents, library_row
from workbench.views.sub_agents import SubAgent, agent_at, sessions_of_calls
from workbench.views.tools import call_moment, call_of_moment, newest_thought, thought_moment


def test_the_call_of_the_moment_is_the_one_that_something_happened_to_last():
    first = call("c1", requested_at=NOW, started_at=NOW + SECOND, finished_at=NOW + 5 * SECOND)
    second = call("c2", requested_at=NOW, started_at=NOW + 2 * SECOND, finished_at=None)
    assert call_of_moment([first, second]) is first
    assert call_of_moment([replace(first, finished_at=None), second]) is second
    # Of several at the same time the last that was asked for.
    assert call_of_moment([call("c1", requested_at=NOW), call("c2", requested_at=NOW)]).id == "c2"
    assert call_of_moment([]) is None
    # What waits for an answer is what it is about, whatever else goes on beside it.
    asked = call("c3", state="pending", action_id="a1", requested_at=NOW)
    assert call_of_moment([asked, first, second]) is asked


def changed(path, *hunks):
    body = e.FileChanged(path=path, change="modify", before="a", after="b", hunks=hunks)
    return event(body, call_id="c1")


def test_a_change_shows_its_files_with_hunks_counted_over_all_of_them():
    events = [changed("a.py", hunk(1, "a.py"), hunk(2, "a.py")), changed("b.py", hunk(1, "b.py"))]
    shown = call_moment(call("c1", tool="Edit"), events)
    assert shown.kind == "change"
    assert [(file.path, [one.index for one in file.hunks]) for file in shown.files] == [
        ("a.py", [1, 2]),
        ("b.py", [3]),
    ]
    assert shown.files[0].added == 4
    assert shown.lines == ()


def test_what_was_asked_about_shows_the_change_of_its_question():
    opened = e.ActionOpened(
        action_kind="tool",
        tool="Edit",
        target="a.py",
        digest="d",
        created_at=NOW,
        expires_at=None,
        hunks=(hunk(1, "a.py"),),
    )
    assert [file.path for file in call_moment(call("c1", tool="Edit"), [], opened).files] == ["a.py"]


def test_an_edit_of_which_nobody_knows_the_lines_shows_what_it_was_asked_to_do():
    parameters = {"path": "a.py", "old_string": "one\ntwo", "new_string": "three"}
    shown = call_moment(call("c1", tool="Edit", parameters=parameters, state="executing"), [])
    assert (shown.kind, shown.lines, shown.is_growing) == ("change", ("-one", "-two", "+three"), True)
    assert call_moment(call("c1", tool="Write", parameters={"content": "a\nb"}), []).lines == ("+a", "+b")


def test_a_command_shows_what_it_wrote_and_before_that_what_it_was_given():
    running = call("c1", tool="Bash", state="executing", parameters={"command": "make\nmake test"})
    assert call_moment(running, []).lines == ("command: make", "  make test")
    assert call_moment(running, [], written="one\ntwo").lines == ("one", "two")
    streamed = event(e.OutputStreamed(offset=0, text="half"), call_id="c1")
    assert call_moment(running, [streamed]).lines == ("half",)
    ended = event(e.CallFinished(state="succeeded", preview="all of it", output_bytes=9), call_id="c1")
    assert call_moment(running, [streamed, ended]).lines == ("all of it",)
    assert call_moment(running, [streamed, ended], output="every\nline").lines == ("every", "line")
    others = event(e.CallFinished(state="succeeded", preview="of another", output_bytes=9), call_id="c2")
    assert call_moment(running, [others]).lines == ("command: make", "  make test")


def test_the_newest_thought_is_shown_with_its_lines():
    old, new = (ThoughtBlock(id=f"thought:{n}", at=NOW + n, text=f"a\nb {n}") for n in (1, 2))
    assert newest_thought([old, new, TextBlock(id="text:3", at=NOW + 3, text="said")]) is new
    assert newest_thought([]) is None
    assert thought_moment(new).lines == ("a", "b 2")


def agent(key, at, **more):
    return session(
        key,
        kind="import",
        origin="claude-code",
        parent_id="s1",
        created_at=at,
        updated_at=at + 9 * SECOND,
        **more,
    )


def task(key, at, until=None, prompt="look"):
    return call(key, tool="Task", requested_at=at, finished_at=until, parameters={"prompt": prompt})


def test_a_call_leads_to_the_session_that_it_named_else_to_the_one_that_began_while_it_ran():
    one, two = agent("x", NOW + SECOND), agent("y", NOW + 2 * SECOND, title="count the tests")
    first, second = task("t1", NOW, NOW + 10 * SECOND), task("t2", NOW, prompt="count the tests of the shop")
    assert sessions_of_calls([first, second], [one, two], {"t1": "x"}) == {"t1": "x", "t2": "y"}
    # Two began and none was named: the one with the prompt is that of the call, the other is left over.
    assert sessions_of_calls([second, first], [one, two], {}) == {"t2": "y", "t1": "x"}
    assert sessions_of_calls([first], [one, replace(two, title="")], {}) == {}
    assert sessions_of_calls([first], [agent("z", NOW + 60 * SECOND)], {}) == {}
    assert sessions_of_calls([first], [one], {"t1": "not here"}) == {"t1": "x"}


def test_an_agent_has_done_what_it_had_asked_for_by_then():
    child = agent("x", NOW, usage=Usage(input_tokens=900, output_tokens=100))
    calls = [call(f"c{n}", requested_at=NOW + n * SECOND) for n in range(4)]
    assert agent_at(child, calls, NOW + SECOND) == SubAgent(session_id="x", steps=2)
    done = agent_at(child, calls, NOW + 9 * SECOND)
    assert (done.steps, done.tokens, done.words) == (4, 1_000, "sub-agent: 4 steps, 1k tok")


def test_agents_stand_below_the_one_that_began_them():
    top = session("s1", origin="claude-code", usage=Usage(input_tokens=1))
    one, two = (
        agent("x", NOW, usage=Usage(input_tokens=10)),
        agent("y", NOW + 1, usage=Usage(input_tokens=100)),
    )
    below = replace(agent("z", NOW + 2, usage=Usage(output_tokens=1_000)), parent_id="x")
    lost = replace(agent("lost", NOW), parent_id="not here")
    step = session("step", kind="step", parent_id="s1")
    tree = AgentTree({one.id: one for one in (top, two, one, below, lost, step)})
    assert tree.all_below("s1") == ("x", "z", "y")
    assert [tree.is_below(key) for key in ("s1", "x", "z", "lost", "step")] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert (tree.tokens("s1"), tree.tokens("x"), tree.tokens("y")) == (1_111, 1_010, 100)
    assert [tree.depth(key) for key in ("s1", "x", "z")] == [0, 1, 2]
    assert tree.with_opened(("s1", "lost"), {"s1"}) == ("s1", "x", "y", "lost")
    assert tree.with_opened(("s1", "lost"), {"s1", "x"}) == ("s1", "x", "z", "y", "lost")
    assert tree.with_opened(("s1",), set()) == ("s1",)


def test_forks_stand_below_their_session_and_are_told_apart_from_agents():
    top = session("s1", origin="claude-code")
    fork = replace(agent("f", NOW), configuration={"import": {"fork": 1}})
    tree = AgentTree({one.id: one for one in (top, agent("x", NOW), fork)})
    assert (tree.all_below("s1"), tree.forks_below("s1"), tree.above("f")) == (("f", "x"), 1, ("s1",))
    row = library_row(top, 0, None, agents=SessionAgents(count=2, tokens=1_000, forks=1))
    assert row.note == "1 agent, 1 fork 1k"
    assert library_row(fork, 0, None, cost="$0.02").note == "fork"


def test_agents_that_name_one_another_as_parent_end():
    one, two = replace(agent("x", NOW), parent_id="y"), replace(agent("y", NOW), parent_id="x")
    tree = AgentTree({"x": one, "y": two})
    # One of them stays in the list, with the other below it.
    assert [tree.is_below(key) for key in ("x", "y")] == [True, False]
    assert (tree.all_below("y"), tree.all_below("x")) == (("x",), ())
    assert tree.with_opened(("y",), {"x", "y"}) == ("y", "x")
