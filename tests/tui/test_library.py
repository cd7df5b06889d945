"""Place 5: every session, found as one types, with what it did, and what is done with it."""

import json

import pytest

from tests.support.stage import USER, Stage, exchange, recording, text
from tests.tui.screens import CONTROL, THREE, Hand, Shown, play, services, staged
from workbench.backend.library import LocalLibrary
from workbench.domain.events import (
    CommandSuggested,
    LeaseReleased,
    PromptSubmitted,
    ReplyCompleted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import Actor, Usage
from workbench.effects.clock import ManualClock
from workbench.host import session_requests
from workbench.host.import_choice import session_settings
from workbench.tui.app import WorkbenchApp
from workbench.views.library import SEPARATOR_ID

AGENT, HOST = Actor(kind="agent", pid=1), Actor(kind="host", pid=1)
HOSTILE = "pay\x1b]52;c;aGk=\x07 [@click=app.quit]me[/] \u202egnp.exe\u200b"


def add(
    stage, key, title, *, said="", status="ready", workspace=None, model="recorded-demo", tags=(), **more
):
    journal = stage.journal
    created = SessionCreated(
        workspace=workspace or str(stage.workspace), provider="recorded", model=model, title=title, **more
    )

    def made(body, actor=AGENT, **about):
        return journal.event(body, key, actor, **about)

    found = [made(created, USER), made(SessionStatusChanged(status="initializing"), HOST),
             made(SessionStatusChanged(status="ready"), HOST)]  # fmt: skip
    if said:
        reply = ReplyCompleted(text=f"I did {said}.", usage=Usage(input_tokens=90, output_tokens=10))
        found += [
            made(PromptSubmitted(text=said), USER),
            made(TurnStarted(provider="recorded", model=model), turn_id=f"{key}-t"),
            made(reply, turn_id=f"{key}-t"),
            made(TurnEnded(outcome="done"), turn_id=f"{key}-t"),
        ]
    if tags:
        found.append(made(SessionChanged(tags=tuple(tags)), USER))
    if status != "ready":
        found.append(made(SessionStatusChanged(status=status), HOST))
    found.append(made(LeaseReleased(host_id="h", epoch=1), HOST))
    journal.append(found, strict=False)
    journal.clock.advance(1)


@pytest.fixture
def stage(tmp_path):
    made = staged(tmp_path)
    add(made, "s-docs", "write the docs", said="explain the rename in prose", tags=("docs",))
    add(made, "s-keys", "rename cache keys", said="cache keys", model="other-model", status="completed")
    add(made, "s-else", "other place", workspace="/elsewhere/infra", said="pipes")
    return made


def filing_of(stage):
    return {"library": LocalLibrary(stage.home, stage.journal, str(stage.workspace))}


async def shows(shown):
    """Let the searches, the previews and what follows them end."""
    await shown.settle()


def pane(shown):
    return next(one for one in shown.main.panes if one.PLACE == 5)


def titles(shown):
    found = pane(shown)
    return [found.shelf.sessions[key].title for key in found.list.ids if key != SEPARATOR_ID]


async def opened(shown, *keys):
    await shown.press("escape", "5")
    await shows(shown)
    await shown.press(*keys)
    await shows(shown)


@pytest.mark.spec(71)
def test_live_sessions_are_on_top_then_the_newest(stage):
    async def body(shown):
        await opened(shown)
        assert pane(shown).list.ids[1] == SEPARATOR_ID
        assert titles(shown)[1:] == ["other place", "rename cache keys", "write the docs"]
        assert "3 wait" in shown.text and "5 Library" in shown.text
        await shown.press("escape")
        assert shown.main.place == 2 and "5 Library" not in shown.text

    play(stage, body)


def test_nothing_of_the_library_is_read_before_it_is_opened(stage):
    async def body(shown):
        assert [one.PLACE for one in shown.main.panes] == [0, 1, 2, 3, 4]

    play(stage, body)


FILTERS = (
    ("rename", ["rename cache keys", "write the docs"]),
    ("prose", ["write the docs"]),
    ("status:completed", ["rename cache keys"]),
    ("model:other", ["rename cache keys"]),
    ("in:infra", ["other place"]),
    ("tag:docs", ["write the docs"]),
    ('rename -"cache"', ["write the docs"]),
    ("rename -status:completed", ["write the docs"]),
    ("origin:workbench pipes", ["other place"]),
    ("is:archived", []),
    ("asked:rejected", []),
)


def test_the_filter_is_typed_on_the_list(stage):
    async def body(shown):
        await opened(shown)
        for number, (typed, found) in enumerate(FILTERS):
            await shown.press("/")
            if number == 0:
                await shown.press(*typed)
            else:  # in one piece, as it is pasted
                pane(shown).input.value = typed
            await shows(shown)
            assert titles(shown) == found, typed
            assert f"{len(found)} of 4" in shown.text, typed
            assert found or "Nothing matches" in shown.text, typed
            await shown.press("escape")
            await shows(shown)
            assert len(titles(shown)) == 4, typed

    play(stage, body)


def test_tab_completes_words_and_values(stage):
    async def body(shown):
        await opened(shown, "/", *"stat", "tab")
        assert pane(shown).input.value == "status:"
        await shown.press("c", "tab")
        await shows(shown)
        assert pane(shown).input.value == "status:completed "
        assert titles(shown) == ["rename cache keys"]
        await shown.press("enter", *"/", *"since:foo")
        await shows(shown)
        assert "is not a date" in shown.text

    play(stage, body)


def test_the_preview_says_what_a_session_did(stage):
    async def body(shown):
        await opened(shown, "/", *"prose", "enter")
        for words in (
            "recorded-demo",
            "tokens",
            "100",
            "docs",
            "2 places match",
            "explain the rename in prose",
        ):
            assert words in shown.text, words

    play(stage, body)


def test_enter_shows_it_and_other_workspaces_as_a_replay(stage):
    async def body(shown):
        await opened(shown, "/", *"cache", "enter", "enter")
        assert shown.main.place == 1 and shown.main.state.current.id == "s-keys"
        await opened(shown, "escape", "5", "/", *"in:infra", "enter", "enter")
        await shows(shown)
        assert shown.app.screen is not shown.main and "REPLAY" in shown.text

    play(stage, body)


def test_it_is_renamed_tagged_archived_and_put_back(stage):
    async def body(shown):
        await opened(shown, "/", *"cache", "enter", "e", *" twice", "enter")
        await shows(shown)
        assert shown.stage.journal.session("s-keys").title == "rename cache keys twice"
        assert "rename cache keys twice" in shown.text
        await shown.press("t", *"one two", "enter")
        await shows(shown)
        assert shown.stage.journal.session("s-keys").tags == ("one", "two")
        await shown.press("Z")
        await shows(shown)
        assert shown.stage.journal.session("s-keys").archived and titles(shown) == []
        await shown.press("/", *" is:archived", "enter")
        await shows(shown)
        assert titles(shown) == ["rename cache keys twice"], pane(shown).input.value
        await shown.press("Z")
        await shows(shown)
        assert not shown.stage.journal.session("s-keys").archived

    play(stage, body, **filing_of(stage))


def test_deleting_says_what_goes_and_wants_the_title(stage):
    async def body(shown):
        await opened(shown, "/", *"cache", "enter", "D")
        assert "Delete “rename cache keys”: 9 events" in shown.text
        await shown.press("enter")
        assert shown.stage.journal.session("s-keys") is not None and "Nothing was deleted" in shown.said
        await shown.press("D", *"rename cache keys", "enter")
        await shows(shown)
        assert shown.stage.journal.session("s-keys") is None
        assert shown.stage.journal.events("s-keys") == [] and titles(shown) == []

    play(stage, body, **filing_of(stage))


def test_marked_sessions_are_deleted_together(stage):
    async def body(shown):
        await opened(shown, "G", "m", "k", "m", "D")
        assert "Delete 2 sessions" in shown.text and "Type delete 2" in shown.text
        await shown.press(*"delete 2", "enter")
        await shows(shown)
        assert len(titles(shown)) == 2

    play(stage, body, **filing_of(stage))


def test_a_session_that_another_screen_deletes_goes_and_the_cursor_stays_beside_it(stage):
    async def body(shown):
        await opened(shown, "G")
        assert pane(shown).session.id == "s-docs"
        await shown.press("k")
        assert pane(shown).session.id == "s-keys"
        session_requests.delete_with_steps(shown.stage.journal, shown.stage.journal.session("s-keys"), USER)
        await shown.look()
        await shows(shown)
        await shows(shown)
        assert "rename cache keys" not in shown.text and pane(shown).session.id == "s-docs"

    play(stage, body)


def test_rows_move_while_agents_run_and_the_cursor_stays_on_its_session(stage):
    async def body(shown):
        await opened(shown, "G")
        journal = shown.stage.journal
        for status in ("processing",):
            body = SessionStatusChanged(status=status)
            journal.append([journal.event(body, "s-docs", HOST)], strict=False)
        await shown.look()
        await shows(shown)
        await shows(shown)
        assert titles(shown)[0] == "write the docs" and pane(shown).session.id == "s-docs"
        assert "turn 2" in shown.text

    play(stage, body)


def test_forking_begins_a_session_here_with_the_conversation(stage):
    async def body(shown):
        await opened(shown, "/", *"pipes", "enter", "F")
        await shows(shown)
        new = shown.main.state.current
        assert new.title == "other place (fork)" and new.workspace == str(shown.stage.workspace)
        assert shown.main.place == 1

    play(stage, body, **filing_of(stage))


def test_what_has_ended_does_not_go_on(stage):
    async def body(shown):
        await opened(shown, "/", *"cache", "enter", "c")
        assert "It is completed" in shown.said
        await shown.press("X")
        assert "Type end" in shown.text
        await shown.press(*"end", "enter")
        await shows(shown)
        assert "was not ended" in shown.said

    play(stage, body, **filing_of(stage))


def test_export_and_import(stage, tmp_path):
    async def body(shown):
        await opened(shown, "/", *"cache", "enter", "E")
        line = shown.main.layout_controller.line_bar.input
        assert line.value == "rename-cache-keys.jsonl"
        line.value = str(tmp_path / "out.jsonl")
        await shown.press("enter")
        await shows(shown)
        lines = (tmp_path / "out.jsonl").read_text().splitlines()
        assert json.loads(lines[0])["workbench_session"] == 1
        await shown.press("E")
        shown.main.layout_controller.line_bar.input.value = str(tmp_path / "out.page.html")
        await shown.press("enter")
        await shows(shown)
        assert (tmp_path / "out.page.html").read_text().startswith("<!doctype html>")
        await shown.press("I")
        shown.main.layout_controller.line_bar.input.value = str(tmp_path / "none.jsonl")
        await shown.press("enter")
        await shows(shown)
        assert "is not there" in shown.said

    play(stage, body, **filing_of(stage))


def test_sessions_of_other_agents_are_offered_and_imported_by_enter(stage, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    said = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "say it"}}
    file = tmp_path / "user/.claude/projects/-shop/s.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(said) + "\n")

    async def body(shown):
        await opened(shown, "I")
        assert "Enter imports 1 file of Claude Code" in shown.text
        await shown.press("escape")
        await shows(shown)
        assert "say it" not in titles(shown), "nothing is imported unasked"
        await shown.press("I", "enter")
        await shows(shown)
        await shown.look()
        pane(shown).read()
        await shows(shown)
        assert "say it" in titles(shown)
        await shown.press("I")
        assert "All of Claude Code is imported" in shown.text
        await shown.press("enter")
        await shows(shown)
        assert len(titles(shown)) == 5

    play(stage, body, **filing_of(stage))


def test_who_has_no_other_agents_is_offered_none(stage, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "user"))

    async def body(shown):
        await opened(shown, "I")
        assert shown.main.layout_controller.line_bar.display and "Enter imports" not in shown.text
        await shown.press("enter")
        await shows(shown)
        assert len(titles(shown)) == 4

    play(stage, body, **filing_of(stage))


def test_the_watch_is_turned_on_and_off_by_a_key(stage, monkeypatch):
    hosts = []
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *about: hosts.append(about))

    async def body(shown):
        await opened(shown)
        assert "4  in step" not in shown.text
        await shown.press("W")
        await shows(shown)
        assert "What other agents write is imported while" in shown.said
        assert "4  in step" in shown.text and session_settings(stage.home).watch and len(hosts) == 1
        await shown.press("W")
        await shows(shown)
        assert "on your word only" in shown.said
        assert "4  in step" not in shown.text and not session_settings(stage.home).watch and len(hosts) == 1

    play(stage, body, **filing_of(stage))


@pytest.mark.parametrize("failing", ["read", "find"])
def test_a_search_that_fails_leaves_no_older_list_standing(stage, failing):
    def fails(*_):
        raise OSError("the disk went away")

    async def body(shown):
        await opened(shown)
        assert "write the docs" in titles(shown)
        whole = getattr(pane(shown).shelf, failing)
        setattr(pane(shown).shelf, failing, fails)
        pane(shown).show(None)
        pane(shown).read()
        await shows(shown)
        assert titles(shown) == [] and "write the docs" not in shown.text
        assert "The library was not read. the disk went away" in shown.said
        setattr(pane(shown).shelf, failing, whole)
        pane(shown).read()
        await shows(shown)
        assert "write the docs" in titles(shown), "what failed is read again, whole"

    play(stage, body, **filing_of(stage))


def test_hostile_titles_stay_text(stage):
    add(stage, "s-bad", HOSTILE, said="x", workspace="/else/[red]where\x1b[31m")

    async def body(shown):
        await opened(shown)
        assert not CONTROL.search(shown.text)
        await shown.press("/", *"pay", "enter")
        await shows(shown)
        assert not CONTROL.search(shown.text) and "[@click=app.quit]me[/]" in shown.text
        await shown.press("D")
        assert "Type delete" in shown.text and not CONTROL.search(shown.text)

    play(stage, body, size=(240, 48), **filing_of(stage))


def test_nothing_kept_and_where(tmp_path):
    stage = staged(tmp_path)
    add(stage, "s-else", "other place", workspace="/elsewhere/infra", said="pipes")

    async def body(shown):
        await opened(shown, "w")
        assert len(titles(shown)) == 1 and "this workspace" in shown.text
        await shown.press("w", "o")
        await shows(shown)
        assert "oldest first" in shown.text and len(titles(shown)) == 2

    play(stage, body)


def test_without_a_session_only_keys_that_need_none_are_offered(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files={})

    async def body(shown):
        await opened(shown)
        last = shown.text.splitlines()[-1]
        assert "I import" in last and "w where" in last
        assert not any(word in last for word in ("replay", "delete", "continue", "export"))
        await shown.press("D")
        assert shown.said == "There is no session under the cursor."

    play(stage, body)


def test_a_click_chooses_and_two_open(stage):
    async def body(shown):
        await opened(shown)
        line = pane(shown).list.line_of("s-keys")
        await shown.pilot.click("#library-list", offset=(8, line))
        await shows(shown)
        assert pane(shown).session.id == "s-keys"
        await shown.pilot.click("#library-list", offset=(8, line), times=2)
        await shows(shown)
        assert shown.main.place == 1

    play(stage, body)


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=str)
def test_the_screen_opens_on_a_session_ready_for_words(tmp_path, size):
    made = staged(tmp_path, script=recording(exchange(text("Nothing to ask."))))
    add(made, "s-old", "an old one", said="what was wanted")
    for number in range(210):
        add(made, f"s-{number}", f"newer {number}")

    async def body(shown):
        assert shown.app.opens_on == "s-old" and shown.main.state.current.id == "s-old"
        assert "what was wanted" in shown.text and shown.main.composer.input.has_focus
        assert "s-old" in shown.main.state.sessions, "the rail has it too, though 200 are newer"

    play(made, body, size=size, opens_on="s-old")


def test_what_is_done_on_one_screen_is_seen_on_the_other(stage):
    """Two screens of one workspace: a title changes and a session goes while the other has both open."""
    other = WorkbenchApp(
        stage.journal,
        services(stage, **filing_of(stage)),
        str(stage.workspace),
        home=str(stage.root),
        monotonic=Hand(),
    )

    async def body(one):
        async with other.run_test(size=(120, 36)) as pilot:
            two = Shown(stage, other, other.monotonic, pilot)
            await two.settle()
            for shown in (one, two):
                await opened(shown, "/", *"cache", "enter")
                assert titles(shown) == ["rename cache keys"]
            await one.press("e")
            one.main.layout_controller.line_bar.input.value = "cache keys of today"
            await one.press("enter")
            await shows(one)
            await two.look()
            await shows(two)
            await shows(two)
            assert titles(two) == ["cache keys of today"] and "cache keys of today" in two.text
            await two.press("p")
            await shows(two)
            assert two.app.screen is not two.main, "the second screen replays it"
            await one.press("D")
            one.main.layout_controller.line_bar.input.value = "cache keys of today"
            await one.press("enter")
            await shows(one)
            assert titles(one) == [] and stage.journal.session("s-keys") is None
            await two.press("q")
            await two.look()
            await shows(two)
            await shows(two)
            assert two.app.screen is two.main and titles(two) == [] and "Nothing matches" in two.text

    play(stage, body, **filing_of(stage))


def test_esc_takes_an_import_back_that_is_under_way(stage, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.backend.library.PROGRESS_SECONDS", 0)
    (tmp_path / "in").mkdir()
    said = {"role": "user", "content": "x" * 2_000}
    rows = (
        {"type": "user", "sessionId": "s", "uuid": f"u{number}", "message": said} for number in range(3_000)
    )
    (tmp_path / "in" / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = []

    class Pressed(LocalLibrary):
        """Imports, and has esc pressed once something is stored."""

        def import_path(self, path, goes_on):
            def heard(words):
                told.append(words)
                if len(told) == 8:
                    shown = told_to[0]
                    goes_on(words)
                    shown.app.call_from_thread(shown.pilot.pause)
                    assert words.split(" read")[0] in shown.text and "esc cancels it" in shown.text
                    shown.app.call_from_thread(shown.pilot.press, "escape")
                return goes_on(words)

            return super().import_path(path, heard)

    told_to = []

    async def body(shown):
        told_to.append(shown)
        before = {one.id for one in stage.journal.sessions()}
        await opened(shown, "I")
        shown.main.layout_controller.line_bar.input.value = str(tmp_path / "in")
        await shown.press("enter")
        await shows(shown)
        assert "was cancelled; files that it had finished stay imported" in shown.said and len(told) < 20
        assert {one.id for one in stage.journal.sessions()} == before and not pane(shown).progress
        with stage.journal.snapshot() as database:
            left = database.execute("SELECT count(*) FROM event WHERE body LIKE '%xxxxxxxx%'").get
            words = database.execute("SELECT count(*) FROM search WHERE search MATCH 'xxxxxxxx*'").get
        assert (left, words) == (0, 0)

    made = Pressed(stage.home, stage.journal, str(stage.workspace))
    play(stage, body, library=made)


def test_the_replay_of_a_found_place_stands_at_it(stage):
    async def body(shown):
        await opened(shown, "/", *"prose", "enter")
        assert "replay at the place" in shown.text
        await shown.press("p")
        await shows(shown)
        replay = shown.app.screen
        assert not replay.player.is_playing
        assert replay.source.event_at(replay.player.index).kind in ("prompt.submitted", "reply.completed")
        assert replay.source.event_at(replay.player.index).session_id == "s-docs"

    play(stage, body)


def test_a_place_is_chosen_and_replayed(stage):
    async def body(shown):
        await opened(shown, "/", *"prose", "enter")
        assert pane(shown).preview.place.who == "agent"
        await shown.press("]", "]")
        assert pane(shown).preview.place.who == "you"
        await shown.press("[", "[", "]")
        assert pane(shown).preview.place.who == "you"
        await shown.press("p")
        await shows(shown)
        replay = shown.app.screen
        assert replay.source.event_at(replay.player.index).kind == "prompt.submitted"

    play(stage, body)


@pytest.mark.spec(171, 176)
def test_a_command_made_of_words_is_found_by_its_kind_with_what_came_of_it(stage):
    add(stage, "s-ask", "list go files", session_kind="ask")
    journal = stage.journal
    suggested = CommandSuggested(command="fd -e go", explanation="Lists them.")
    ended = SessionStatusChanged(status="completed", detail="accepted")
    journal.append([journal.event(body, "s-ask", USER) for body in (suggested, ended)])

    async def body(shown):
        assert shown.main.state.current.id != "s-ask", "the newest session is no command"
        assert "s-ask" not in shown.main.state.sessions
        await opened(shown, "/", *"kind:ask", "enter")
        assert titles(shown) == ["list go files"]
        assert "command" in shown.text and "fd -e go" in shown.text and "accepted" in shown.text

    play(stage, body)


def test_where_no_preview_is_the_chosen_place_is_said(stage):
    async def body(shown):
        await opened(shown, "]")
        assert "Nothing is filtered by words" in shown.text
        await opened(shown, "/", *"prose", "enter", "]")
        assert "Match 2 of 2: explain the rename in prose" in shown.text

    play(stage, body, size=(80, 24))


def test_the_palette_finds_sessions_here_and_anywhere(stage):
    async def body(shown):
        await shown.press("escape", ":", "#")
        assert "other place" not in shown.text and "write the docs" in shown.text
        await shown.press("#", *"place")
        assert "other place" in shown.text and "infra" in shown.text
        await shown.press("enter")
        await shows(shown)
        assert shown.app.screen is not shown.main and shown.app.screen.session_id == "s-else"

    play(stage, body)


@pytest.mark.usefixtures("drawn_frames")
def test_a_session_that_moves_is_drawn_anew_and_no_other(stage):
    async def body(shown):
        await opened(shown)
        found, drawn = pane(shown).list, []
        was = found.draw_row
        found.draw_row = lambda placed, width: (drawn.append(placed.row_id), was(placed, width))[1]
        stage.journal.append([stage.journal.event(SessionChanged(title="docs anew"), "s-docs", USER)])
        pane(shown).show({"s-docs"})
        pane(shown).read()
        await shows(shown)
        assert titles(shown)[1:] == ["docs anew", "other place", "rename cache keys"]
        assert "docs anew" in shown.text and "rename cache keys" in shown.text
        assert set(drawn) == {"s-docs"}
        drawn.clear()
        pane(shown).show({"s-else"})
        pane(shown).read()
        await shows(shown)
        assert drawn == [], "nothing of it reads otherwise"

    play(stage, body)


def test_the_names_of_tools_are_asked_for_by_who_filters(stage):
    asked = []

    def known_tools():
        asked.append(1)
        return {"run_in_terminal": None, "read_file": None}

    async def body(shown):
        await opened(shown)
        assert asked == []
        await shown.press("/")
        await shows(shown)
        await shown.press(*"tool:re", "tab")
        assert pane(shown).input.value == "tool:read_file "
        await shown.press("escape", "/")
        await shows(shown)
        assert asked == [1]

    play(stage, body, known_tools=known_tools)
