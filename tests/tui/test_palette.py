"""The palette looks in everything: commands first, then what waits, steps, sessions, files, words that were said."""

import pytest

from tests.tui.screens import play, staged
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.tui.main.palette import PaletteScreen

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
        await shown.press(":", *"pi")
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
        await shown.press(":", *"change", "enter")
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


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("help", "All keys and signs"), ("quit", "Leave; agents go on"), ("settings", "Settings: where models and all else are set"),
        ("provider", "Models and providers: choose one, see keys"), ("add a provider", "Add a provider"),
        ("accept", "Approve what is taken"), ("cost", "Statistics"), ("theme", "Theme: workbench-dark"),
    ],
)  # fmt: skip
def test_words_that_people_know_from_elsewhere_find_a_command(tmp_path, words, first):
    async def body(shown):
        await shown.press(":", *words)
        assert rows(shown)[0] == first
        assert words in shown.text.splitlines()[9].casefold()

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
            assert kept == ["nord"]
            assert "Theme nord is kept." in [message.text for message in shown.main.notifications.kept]

        play(staged(tmp_path), body, keep_theme=lambda name: kept.append(name) or f"Theme {name} is kept.")
