"""The palette looks in everything: commands first, then what waits, steps, sessions, files, words that were said."""

import pytest

from tests.tui.screens import play, staged
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.tui.main.palette import PaletteScreen

FILES = ("router.py", "docs/routes.md", "a/b.txt")


def rows(shown):
    return [entry.words for entry in shown.app.screen._list.entries.values()]


def places(shown):
    return [entry.place for entry in shown.app.screen._list.entries.values()]


def test_words_find_commands_actions_files_and_what_was_said(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(":", *"rout")
        found = list(zip(rows(shown), places(shown), strict=True))
        for row in (
            ("edit router.py", "waits  Approvals"), ("router.py", "Files"), ("docs/routes.md", "Files"),
            ("I change the router.", "agent  test"), ("Search all sessions for “rout”", "Library"),
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
