"""The moment of an imported session: its call is followed, its change shown, its agents opened where they were."""

import asyncio
import io
import json
import re

import pytest

from tests.tui.backend import backend
from tests.tui.screens import Hand, settled, work_done
from workbench.cli.console import Console
from workbench.cli.session_import import ProgressLine
from workbench.cli.session_report import session_lines, session_report_json
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, import_sources
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.library.library_list import LibraryModel, LibraryQuery
from workbench.tui.replay_app import ReplayApp

CALLS = 10


def bring_in(journal, folder):
    progress = ProgressLine(Console(io.StringIO(), io.StringIO()))
    import_sources(journal, find_sources([str(folder)]), ImportRequest(), progress)


SID = "0b5e7c1a-0000-4000-8000-000000000001"


class ClaudeFile:
    """Writes what Claude Code records, a line every second unless another time is said."""

    def __init__(self, **more):
        self.lines, self.second, self.more = [], 0, more

    def add(self, kind, content, *, after=1, result=None):
        number, self.second = len(self.lines), self.second + after
        row = {
            "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": SID, "cwd": "/srv/shop", "version": "2.1.4",
            "timestamp": f"2026-03-01T10:{self.second // 60:02}:{self.second % 60:02}.000Z",
            "message": {"role": kind, "content": content, "id": f"m{number}", "model": "opus",
                        "usage": {"input_tokens": 5, "output_tokens": 2}}, **self.more,
        }  # fmt: skip
        self.lines.append({**row, "toolUseResult": result} if result is not None else row)

    def call(self, key, tool, said, *, took=2, result=None, **arguments):
        self.add("assistant", [{"type": "tool_use", "id": key, "name": tool, "input": arguments}])
        said = {"type": "tool_result", "tool_use_id": key, "content": said}
        self.add("user", [said], after=took, result=result)

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))


def session_file(folder, *, asks=False):
    main = ClaudeFile()
    main.add("user", "Rename the handler.")
    main.add("assistant", [{"type": "thinking", "thinking": "It has three callers.", "signature": ""}])
    for number in range(CALLS):
        main.call(f"r{number}", "Bash", f"output of {number}", command=f"grep -n handle src/{number}")
    patch = [
        {"oldStart": 4, "oldLines": 1, "newStart": 4, "newLines": 1, "lines": ["-handle(1)", "+dispatch(1)"]}
    ]
    edit = {"file_path": "/srv/shop/app.py", "old_string": "handle(1)", "new_string": "dispatch(1)"}
    result = {"filePath": "/srv/shop/app.py", "structuredPatch": patch, "oldString": "handle(1)",
              "newString": "dispatch(1)"}  # fmt: skip
    main.call("e1", "Edit", "updated", result=result, **edit)
    began = main.second + 1
    done = {"agentId": "a7", "status": "completed"}
    main.call(
        "t1", "Task", "none", took=28, result=done, description="Look for more", prompt="Find more callers"
    )
    if asks:
        asked = {
            "questions": [
                {
                    "question": "Which name?",
                    "header": "Name",
                    "multiSelect": False,
                    "options": [{"label": "one", "description": ""}, {"label": "two", "description": ""}],
                }
            ]
        }
        main.call("q1", "AskUserQuestion", 'answered: "Which name?"="one"', took=30,
                  result={"answers": {"Which name?": "one"}}, **asked)  # fmt: skip
    main.add("assistant", [{"type": "text", "text": "Renamed."}])
    main.write(folder / f"{SID}.jsonl")
    child = ClaudeFile(isSidechain=True, agentId="a7")
    child.second = began
    child.add("user", "Find more callers")
    for number in range(4):
        child.call(f"g{number}", "Grep", "nothing", took=5, pattern=f"handle{number}")
    child.add("assistant", [{"type": "text", "text": "There is none."}])
    child.write(folder / SID / "subagents" / "agent-a7.jsonl")


def text(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def replayed(folder, body, *, size=(120, 36), **more):
    session_file(folder / "claude", **more)
    with Journal.open(Home.open(folder / "home")) as journal:
        bring_in(journal, folder / "claude")
        session = next(one for one in journal.sessions() if one.parent_id is None and one.origin)
        app = ReplayApp(journal, session, home="/home/me", at=1, monotonic=Hand())

        async def run():
            async with app.run_test(size=size) as pilot:
                while app.painter is None:
                    await work_done(app)
                    await pilot.pause()

                async def press(*keys):
                    for key in keys:
                        await pilot.press(key)
                        await settled(app, pilot)

                await settled(app, pilot)
                await body(app, press)

        asyncio.run(run())


def cursor(app):
    """Return the target of the call under the cursor of the tools, which must be on the screen."""
    calls = app.screen.tools.list
    assert calls.line_of(calls.cursor) in calls.visible_lines
    return calls.rows[calls.cursor].target


def test_the_calls_follow_the_moment_until_somebody_goes_away_and_after_they_came_back(tmp_path):
    async def body(app, press):
        await press("t", *"40%", "enter")
        before = cursor(app)
        await press("full_stop", "full_stop", "full_stop", "full_stop")
        assert cursor(app) != before
        await press("3", "k")
        stays = cursor(app)
        (row,) = [line for line in text(app).splitlines() if line.startswith("›")]
        assert row[1] in "✓●◯"
        assert cursor(app) != app.main.tools.list.rows[app.main.tools.list.moment_row].target
        await press("full_stop", "full_stop", "full_stop", "full_stop")
        assert cursor(app) == stays
        await press("G", "full_stop", "full_stop", "full_stop", "full_stop")
        assert app.main.tools.list.cursor == app.main.tools.list.moment_row
        # Before the call was asked for there is nothing to stay at.
        await press("k", "t", *"#3", "enter", "t", *"50%", "enter")
        assert app.main.tools.list.cursor == app.main.tools.list.moment_row

    replayed(tmp_path, body)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
def test_the_next_edit_shows_its_change_by_one_key(tmp_path, size):
    async def body(app, press):
        await press("e")
        shown = text(app)
        assert "Now" in shown
        assert "handle(1)" in shown
        assert "dispatch(1)" in shown
        while "output of 9" not in text(app):
            assert app.main.source.index > 5
            await press("comma")
        assert "dispatch(1)" not in text(app)

    replayed(tmp_path, body, size=size)


def test_a_thought_is_shown_until_something_is_called(tmp_path):
    async def body(app, press):
        while "It has three callers." not in text(app):
            assert app.main.source.index < 12
            await press("full_stop")
        while "grep -n handle src/0" not in text(app):
            await press("full_stop")
        await press("full_stop", "full_stop")
        assert "It has three callers." not in text(app)

    replayed(tmp_path, body)


def test_a_question_that_does_not_expire_stands_in_the_queue_without_a_clock_and_the_moment_gives_way(
    tmp_path,
):
    async def body(app, press):
        await press("a")
        pane = app.main.context.moment._pane
        assert "Which name?" in text(app)
        assert pane is None or not pane.display
        (row,) = app.main.approvals.queue.shown
        assert (row.is_pending, row.left_seconds) == (True, None)
        queue_line = next(line for line in text(app).splitlines() if "Which name?" in line)
        app.main.player.played += 7_000_000
        app.main.show_moment()
        await press("shift")
        assert "Which name?" in queue_line and not re.search(r"\d:\d\d", queue_line)
        assert queue_line in text(app), "no time of it runs, neither up nor down"
        await press("1", "f")
        assert not app.main.approvals.queue.shown[0].is_pending
        assert app.main.context.moment._pane.display

    replayed(tmp_path, body, asks=True)


def test_a_task_says_what_its_agent_has_done_and_opens_it_at_the_same_moment(tmp_path):
    async def body(app, press):
        main = app.main
        await press("t", *"100%", "enter")
        assert text(app).count("sub-agent: 4 steps") == 2
        await press("3", "G", "O")
        assert app.screen is not main
        assert "Find more callers" in text(app)
        assert "There is none." in text(app)
        await press("escape")
        assert app.screen is main
        # While it runs, its agent is found by its prompt, and stands where the task stood.
        asked = next(call for call in main.state.calls if call.tool == "Task")
        index = main.source.timeline.index_at(asked.started_at or asked.requested_at)
        main.went(main.player.seek(index))
        main.player.played += 14_000_000
        main.show_moment()
        await press("shift")
        assert "sub-agent: 3 steps" in text(app)
        await press("O")
        child = app.screen
        assert child.source.now() <= main.source.now()
        assert len(child.state.calls) == 3
        await press("escape")
        await press("k", "O")
        assert app.screen is main
        assert "no agent" in text(app)

    replayed(tmp_path, body)


def test_a_recording_leaves_out_the_agents_that_were_imported_behind_its_end(tmp_path):
    async def body(app, press):
        del press
        timeline = app.main.source.timeline
        assert timeline.went_back == 0
        journal, key = app._journal, app.main.session_id
        assert len(timeline) == len(journal.events(key))

    replayed(tmp_path, body)


def test_the_library_lists_agents_below_the_session_that_began_them_and_says_the_tokens_of_all(tmp_path):
    session_file(tmp_path / "claude")
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        bring_in(journal, tmp_path / "claude")
        top = next(one for one in journal.sessions() if one.parent_id is None and one.origin)
        (agent,) = journal.sessions(parent_id=top.id)
        shelf = LibraryModel(journal, lambda *_: None)
        shelf.read()
        folded = shelf.find(LibraryQuery())
        assert (folded.rows.ids, folded.count, folded.total) == ((top.id,), 1, 1)
        opened = shelf.find(LibraryQuery(opened=frozenset({top.id})))
        assert (opened.rows.ids, opened.count, opened.total) == ((top.id, agent.id), 2, 2)
        # What an agent said is found by itself.
        assert shelf.find(LibraryQuery(text="handle3")).rows.ids == (agent.id,)
        every = top.usage.total_tokens + agent.usage.total_tokens
        assert shelf.tree.tokens(top.id) == every
        report = session_report_json(journal, top)
        assert [one["id"] for one in report["agents"]] == [agent.id]
        assert report["total_tokens_with_agents"] == every
        assert "agents" not in session_report_json(journal, agent)
        assert "  1 agent below it, " in "\n".join(
            session_lines(journal, top, Console(io.StringIO(), io.StringIO()))
        )


def test_space_opens_and_folds_the_agents_in_the_library(tmp_path):
    session_file(tmp_path / "claude")
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        bring_in(journal, tmp_path / "claude")
        app = WorkbenchApp(journal, backend(), "/srv/shop", home="/home/me", monotonic=Hand())

        async def run():
            async with app.run_test(size=(120, 36)) as pilot:
                for key in ("escape", "5", "space"):
                    await settled(app, pilot)
                    await pilot.press(key)
                await settled(app, pilot)
                assert "1 agent" in text(app)
                listed = app.main.focused_pane.list
                assert len(listed.ids) == 2
                assert "  Find more callers" in text(app)
                await pilot.press("space")
                await settled(app, pilot)
                assert len(listed.ids) == 1

        asyncio.run(run())
