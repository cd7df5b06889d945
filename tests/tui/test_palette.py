"""The palette looks in everything: commands first, then what waits, steps, sessions, files, words that were said."""

import re

import pytest

from tests.tui.screens import play, staged
from workbench.config.types import CONFIG_KEYS
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.tui.conversation.completion import SLASH_COMMANDS
from workbench.tui.keyboard.table import all_rows
from workbench.tui.main.palette import PaletteScreen
from workbench.tui.main.palette_commands import KEY_COMMANDS, every_command
from workbench.tui.places import PLACES

FILES = ("router.py", "docs/routes.md", "a/b.txt")


def rows(shown):
    return [entry.words for entry in shown.app.screen._list.entries.values()]


def groups(shown):
    return [(entry.group, entry.state) for entry in shown.app.screen._list.entries.values()]


def test_words_find_commands_actions_files_and_what_was_said(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", *"rout")
        found = list(zip(rows(shown), groups(shown), strict=True))
        for row in (
            ("edit router.py", ("What was asked", "waits")), ("router.py", ("Files", "")),
            ("docs/routes.md", ("Files", "")), ("I change the router.", ("What was said", "agent  test")),
            ("Search all sessions for “rout”", ("Library", "")),
        ):  # fmt: skip
            assert row in found
        assert "1 approval, 2 files," in shown.text
        # What was read later did not move the cursor.
        assert shown.app.screen._list.cursor == next(iter(shown.app.screen._list.entries))

    play(stage, body, list_files=lambda: FILES)


def test_commands_stand_before_everything_else(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", *"pipel")
        assert rows(shown)[0] == "Pipeline"
        await shown.press("enter")
        assert shown.main.place == 4

    play(stage, body, list_files=lambda: FILES)


@pytest.mark.parametrize("words", ["docs/api", "API.md"])
def test_an_action_is_gone_to_and_not_answered(tmp_path, words):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("4", ":", *words, "enter")
        assert shown.main.place == 2
        assert shown.approvals.rows[shown.approvals.queue.ids.index(shown.approvals.queue.cursor)].target == (
            "docs/api.md"
        )
        assert len(stage.waiting()) == 3

    play(stage, body)


def test_words_that_were_said_are_gone_to(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", *"i change the router", "enter")
        assert shown.main.place == 1
        block = shown.main.conversation.view.cursor_block
        assert "I change the router." in block.text

    play(stage, body)


def test_one_letter_looks_for_commands_only_and_nothing_found_says_so(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", "r")
        assert "Search all" not in shown.text
        await shown.press(*"zxq")
        assert rows(shown) == ["Search all sessions for “rzxq”"]
        await shown.press("ctrl+u", "@", "z", "z")
        assert "Nothing here matches." in shown.text

    play(stage, body, list_files=lambda: FILES)


def test_files_that_come_after_the_palette_is_closed_are_for_nobody(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", "r", "o")
        palette = shown.app.screen
        await shown.press("escape")
        palette._take("ro", [])
        assert not isinstance(shown.app.screen, PaletteScreen)

    play(stage, body, list_files=lambda: FILES)


def test_hostile_titles_and_words_are_one_safe_line(tmp_path):
    stage = staged(tmp_path)
    bad = "\x1b]0;x\x07 [red]needle[/red] \u202egnp"
    other = session_requests.create_session(
        stage.journal, workspace=str(stage.workspace), provider="recorded", model="m", title=bad,
        actor=Actor(kind="user", via="cli"),
    )  # fmt: skip
    session_requests.submit_prompt(stage.journal, other, f"{bad}\nneedle", Actor(kind="user", via="cli"))

    async def body(shown):
        await shown.press(":", *"needle")
        assert "\x1b" not in shown.text
        assert "\u202e" not in shown.text
        assert sum("needle" in row for row in rows(shown)) >= 3

    play(stage, body)


def test_what_only_the_composer_had_is_found_by_its_words_and_by_its_name(tmp_path):
    async def body(shown):
        for words in ("everything", "/messages"):
            await shown.press(":", *words)
            assert "/messages" in shown.text
            await shown.press("enter")
            assert shown.app.screen.id == "messages-screen"
            await shown.press("escape")

    play(staged(tmp_path), body)


WORDS = {
    "app.help": "help keys shortcuts keyboard hotkeys /help",
    "app.leave": "quit exit close leave /quit",
    "app.agent-stop": "stop cancel interrupt abort /stop",
    "app.session-new": "new /new",
    "app.compose": "write message",
    "app.zoom": "zoom fullscreen maximize",
    "app.waiting-first": "pending",
    "app.suspend": "shell terminal",
    "app.redraw": "refresh redraw",
    "app.place-0": "sessions chats",
    "app.place-1": "conversation transcript chat",
    "app.place-2": "approvals queue review",
    "app.place-3": "tools calls",
    "app.place-4": "pipeline workflow",
    "app.place-5": "library /library",
    "app.place-6": "rules permissions /rules",
    "app.place-7": "statistics usage cost tokens /statistics",
    "screen.settings": "settings config preferences options",
    "screen.providers": "providers ollama api openai",
    "screen.provider-add": "connect login",
    "screen.trust": "trust",
    "theme-workbench-dark": "theme colors dark appearance",
    "composer./model": "model llm /model",
    "composer./mode": "mode /mode",
    "composer./continue": "resume continue /continue",
    "composer./messages": "log notifications /messages",
    "composer./restart": "restart daemon",
    "composer./mark": "bookmark /mark",
    "approvals.approve": "approve accept yes",
    "approvals.reject": "reject deny no",
    "approvals.always": "always remember",
    "approvals.edit": "edit modify",
    "rail.undo": "undo",
    "approvals.undo": "revert",
    "approvals.layout": "diff unified",
    "list.filter": "filter",
    "list.order": "sort order",
    "list.copy": "copy clipboard",
    "list.jump": "jump",
    "library.rename": "rename",
    "library.archive": "archive",
    "library.send": "export share",
    "library.take": "import",
    "library.delete": "delete",
    "library.tag": "tag",
    "rail.replay": "replay",
    "rail.fork": "fork branch",
    "rail.beside": "compare",
    "pipeline.launch": "workflow",
    "setting-ui.notify.bell": "bell sound",
    "setting-approvals.window_minutes": "expiry deadline",
    "setting-ui.keymap": "keymap remap",
    "setting-ui.density": "density compact",
}


def test_everyday_words_find_what_they_mean_first_or_second(tmp_path):
    wrong = []

    async def body(shown):
        await shown.press("2", ":")
        palette = shown.app.screen
        for meant, words in WORDS.items():
            for word in words.split():
                palette._find(word)
                first = list(palette._list.entries)[:2]
                if meant not in first:
                    wrong.append((word, meant, first))

    play(staged(tmp_path), body)
    assert not wrong, "\n".join(map(str, wrong))


PHRASES = {
    "how do i stop": "app.agent-stop", "stop": "app.agent-stop", "stop the agent": "app.agent-stop",
    "mouse": "app.help", "help": "app.help", "what are the keys?": "app.help", "export": "library.send",
    "how can i export this": "library.send", "undo": "rail.undo", "model": "composer./model",
    "change the model": "composer./model", "replay": "rail.replay", "rep": "rail.replay",
    "replay this session": "rail.replay", "how do i quit": "app.leave", "exit": "app.leave",
    "approve": "approvals.approve", "how do i approve": "approvals.approve", "reject": "approvals.reject",
    "always allow": "approvals.always", "new session": "app.session-new", "start a new chat": "app.session-new",
    "change the theme": "theme-workbench-dark", "where are the settings": "screen.settings",
    "how much does it cost": "app.place-7", "history": "app.place-5", "import claude": "library.take",
    "rename": "library.rename", "copy": "list.copy", "filter": "list.filter", "sort": "list.order",
    "resume": "composer./continue", "run a pipeline": "pipeline.launch", "workflow": "app.place-4",
    "add a provider": "screen.provider-add", "trust this folder": "screen.trust", "zoom": "app.zoom",
    "fullscreen": "app.zoom", "refresh": "app.redraw", "compact": "composer./compact",
}  # fmt: skip


def test_everyday_phrases_find_what_they_mean_first_and_the_unusable_last(tmp_path):
    wrong = []

    async def body(shown):
        await shown.press("2", ":")
        palette = shown.app.screen
        for phrase, meant in PHRASES.items():
            palette._find(phrase)
            assert not [row for row in palette._list.ids if row.startswith("-")]
            found = list(palette._list.entries.values())
            if not found or found[0].id != meant:
                wrong.append((phrase, meant, [entry.id for entry in found[:3]]))
            unusable = [bool(entry.why_off) for entry in found if entry.group not in ("Library", "Files")]
            assert unusable == sorted(unusable), phrase

    play(staged(tmp_path), body)
    assert not wrong, "\n".join(map(str, wrong))


def test_no_alias_repeats_a_word_of_its_label_or_another_alias(tmp_path):
    async def body(shown):
        await shown.press("2", ":")
        for entry in every_command(shown.app.screen._commands, "x"):
            aliases = entry.aliases.casefold().split()
            assert len(aliases) == len(set(aliases)), entry.id
            assert set(aliases).isdisjoint(re.findall(r"\w+", entry.words.casefold())), entry.id

    play(staged(tmp_path), body)


def test_a_reason_stands_behind_the_name_and_does_not_push_it_out(tmp_path):
    async def body(shown):
        await shown.press("2", ":", *"undo")
        view = shown.app.screen._list
        drawn = view.draw_line(view.line_of("approvals.undo"), 80)
        assert "Undo what was applied  nothing was applied yet" in drawn.text
        assert "Undo what was applied" in view.draw_line(view.line_of("approvals.undo"), 60).text

    play(staged(tmp_path), body)


def test_every_command_setting_place_and_page_is_found_by_its_name(tmp_path):
    async def body(shown):
        await shown.press("2", ":")
        palette = shown.app.screen
        found = {entry.id for entry in every_command(palette._commands, "x")}
        assert found >= {f"setting-{key.path}" for key in CONFIG_KEYS}
        assert found >= {f"app.place-{place.key}" for place in PLACES}
        assert found >= {f"composer.{name}" for name, _ in SLASH_COMMANDS if name[1:] not in KEY_COMMANDS}
        modes = ("replay", "first", "lines", "find", "answer", "trust")
        named = {key.id for key in all_rows() if key.in_palette and key.print and key.scope not in modes}
        assert named - found == set()

    play(staged(tmp_path), body)


def test_a_command_of_another_place_leads_there_and_does_nothing(tmp_path):
    stage = staged(tmp_path)
    before = len(stage.journal.events())

    async def body(shown):
        await shown.press("2", ":", *"archive", "enter")
        assert shown.main.place == 5
        assert "Z: out of the way, or back." in [message.text for message in shown.main.notifications.kept]
        assert len(stage.journal.events()) == before

    play(stage, body)


class TestSettings:
    """A setting explains itself, and one of the screen is set there."""

    def test_a_setting_says_what_it_is_and_where_it_is_set(self, tmp_path):
        async def body(shown):
            await shown.press(":", *"window_minutes", "enter")
            assert "How long a question waits before it expires" in shown.text
            json = '{ "approvals": { "window_minutes": 15'
            for words in ("now      15", "from     default", "config.json", json):
                assert words in shown.text
            await shown.press("enter", "escape")
            assert shown.app.screen is shown.main

        play(staged(tmp_path), body)

    def test_one_of_the_screen_counts_at_once_and_is_remembered(self, tmp_path):
        kept = []

        async def body(shown):
            await shown.press(":", *"density", "enter")
            assert "enter sets it" in shown.text
            await shown.press("j", "enter")
            assert shown.main.conversation.view.is_compact
            assert kept == [("ui.density", "compact")]
            await shown.press(":", *"bell", "enter", "j", "enter")
            assert shown.main.notifications.wishes.bell is False
            assert kept[1:] == [("ui.notify.bell", False)]
            assert shown.app.settings.density == "compact"

        play(staged(tmp_path), body, keep_setting=lambda *wish: kept.append(wish) or "Kept.")

    def test_the_page_of_all_has_each_with_its_value_and_explains_the_one_under_the_cursor(self, tmp_path):
        async def body(shown):
            await shown.press(":", *"config", "enter")
            assert "approvals.read_only" in shown.text and f"of {len(CONFIG_KEYS)}" in shown.text
            await shown.press("j", "enter")
            assert "Setting: default_model" in shown.text
            await shown.press("escape", "escape")
            assert shown.app.screen is shown.main

        play(staged(tmp_path), body)


def test_what_is_found_by_another_word_shows_that_word(tmp_path):
    async def body(shown):
        await shown.press(":", *"accept")
        assert rows(shown)[0] == "Approve what is taken, or the rest of it"
        assert "accept" in shown.text.splitlines()[9].casefold()

    play(staged(tmp_path), body)


def test_entries_stand_in_groups_and_what_was_typed_is_underlined(tmp_path):
    async def body(shown):
        await shown.press(":")
        view = shown.app.screen._list
        ids = view.ids
        assert ids.index("-Approvals") < ids.index("list.problem-next") < ids.index("-Everywhere")
        assert not [words for words in rows(shown) if words.startswith("Next, previous")]
        await shown.press(*"full")
        drawn = view.draw_line(view.line_of("app.zoom"), 60)
        assert [piece.text for piece in drawn if piece.style and piece.style.underline] == ["full"]

    play(staged(tmp_path), body)


class TestThemes:
    """Themes are tried out while the cursor moves over them."""

    def test_a_theme_is_shown_while_the_cursor_is_on_it_and_taken_back_by_escape(self, tmp_path):
        async def body(shown):
            await shown.press(":", *"theme:")
            assert "in use" in shown.text
            assert shown.app.theme == "workbench-dark"
            await shown.press("down", "down")
            tried = shown.app.screen._list.cursor.removeprefix("theme-")
            assert shown.app.theme == tried != "workbench-dark"
            await shown.press("up")
            assert shown.app.theme != tried
            await shown.press("escape")
            assert shown.app.theme == "workbench-dark"

        play(staged(tmp_path), body)

    def test_other_words_take_it_back_too(self, tmp_path):
        async def body(shown):
            await shown.press(":", *"theme:", "down")
            assert shown.app.theme != "workbench-dark"
            await shown.press("x")
            assert shown.app.theme == "workbench-dark"

        play(staged(tmp_path), body)

    def test_enter_keeps_it(self, tmp_path):
        kept = []

        async def body(shown):
            await shown.press(":", *"nord", "enter")
            assert shown.app.theme == "nord"
            assert kept == [("ui.theme", "nord")]
            assert "Theme nord is kept." in [message.text for message in shown.main.notifications.kept]

        play(
            staged(tmp_path),
            body,
            keep_setting=lambda *wish: kept.append(wish) or f"Theme {wish[1]} is kept.",
        )
