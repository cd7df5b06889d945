"""Pictures of every state of the screen in three sizes; look at each beside the hand-off before keeping it."""

import pytest

from tests.tui import stills
from tests.tui.screens import Hand
from workbench.render.glyphs import ASCII_GLYPHS

SIZES = stills.SIZES
RENAME = ("0", "g", "j", "enter", "2", "l", "space")
STATES = {
    "main": (stills.shop, RENAME),
    "split": (stills.shop, (*RENAME, "enter")),
    "some-lines": (stills.shop, (*RENAME, "v", "space")),
    "context": (stills.shop, (*RENAME, "}", "}")),
    "conversation": (stills.shop, ("0", "g", "j", "enter", "1", "z")),
    "find": (stills.shop, ("0", "g", "j", "enter", "1", "/", *"route", "enter", "N")),
    "sessions": (stills.shop, ("0",)),
    "gate": (stills.gate, ()),
    "question": (stills.question, ("a",)),
    "trust": (stills.asks_for_trust, ("escape", "2")),
    "error": (stills.ended_by_an_error, ("escape", "1")),
    "expired": (stills.of("late-answers"), ("escape", "2", "z")),
    "unknown": (stills.of("crash-recovery"), ("escape", "2", "z")),
    "agent": (stills.of("supervised"), ("escape", "3", "g", "j", "j", "j")),
    "agent-board": (stills.of("supervised"), ("0",)),
    "idle": (stills.of("rename-handler"), ()),
    "files": (stills.of("rename-handler"), (*"now in @rou",)),
    "commands": (stills.of("rename-handler"), ("/",)),
    "tools": (stills.of("commands"), ("escape", "3", "z")),
    "tool-parts": (stills.of("commands"), ("escape", "3", "z", "]", "]")),
    "pipeline": (stills.of("commands"), ("escape", "4", "z")),
    "first-page": (stills.nothing, ()),
    "library": (stills.shelf, ("escape", "5", "j", "j")),
    "library-filter": (stills.shelf, ("escape", "5", "/", *"rout", "enter")),
    "library-empty": (stills.nothing, ("escape", "5")),
    "statistics": (stills.shelf, ("escape", "7", "j")),
    "statistics-empty": (stills.nothing, ("escape", "7")),
    "rules": (stills.ruled, ("6",)),
    "rules-empty": (stills.nothing, ("escape", "6")),
}


@pytest.fixture
def still(tmp_path, snap_screen):
    journals = []

    def compare(made, *keys, size, then=None, **more):
        journal = made(tmp_path / "home")
        journals.append(journal)
        hand = Hand()
        app = stills.app(journal, hand, has_model=made is not stills.nothing, **more)

        async def before(pilot):
            await stills.play(pilot, keys, hand)
            if then is not None:
                await then(pilot)

        return snap_screen(app, run_before=before, terminal_size=size)

    yield compare
    for journal in journals:
        journal.close()


BY_RESIZE = (
    "sessions", "gate", "question", "trust", "error", "expired", "unknown", "tools", "tool-parts", "pipeline",
    "first-page", "library-filter", "library-empty", "statistics", "statistics-empty", "rules", "rules-empty",
)  # fmt: skip
"""States that no size changes: a screen that is resized shows what one shows that was opened in that size."""


@pytest.mark.parametrize(("state", "size"), stills.one_by_one(STATES, BY_RESIZE))
def test_states(still, state, size):
    made, keys = STATES[state]
    assert still(made, *keys, size=SIZES[size])


@pytest.mark.parametrize("state", BY_RESIZE)
def test_states_at_two_sizes(tmp_path, request, state):
    made, keys = STATES[state]
    journal, hand = made(tmp_path / "home"), Hand()
    app = stills.app(journal, hand, has_model=made is not stills.nothing)

    async def before(pilot, size):
        await stills.play(pilot, keys if size == "wide" else (), hand)

    try:
        assert stills.are_kept_at_each_size(request, app, before, f"test_states[{state}-{{}}]")
    finally:
        journal.close()


@pytest.mark.parametrize("size", stills.ONE_SIZE)
@pytest.mark.parametrize("theme", ["workbench-light", "ansi-dark"])
def test_main_in_other_colours(still, theme, size):
    assert still(stills.shop, *RENAME, size=SIZES[size], theme=theme)


@pytest.mark.parametrize("size", stills.ONE_SIZE)
def test_main_without_colours(still, size, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert still(stills.shop, *RENAME, size=SIZES[size])


@pytest.mark.parametrize("size", stills.ONE_SIZE)
def test_main_in_ascii(still, size):
    assert still(stills.shop, *RENAME, size=SIZES[size], glyphs=ASCII_GLYPHS)


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
@pytest.mark.parametrize("place", ["2", "3"])
def test_toast(still, place, size):
    assert still(stills.shop, place, size=SIZES[size], then=stills.trouble)


@pytest.mark.parametrize("size", stills.ONE_SIZE)
def test_compact(still, size):
    made = stills.of("rename-handler")
    assert still(made, "escape", "1", "g", size=SIZES[size], ui=stills.compact())


COMMANDS = {
    "parts": stills.on("curl"),
    "hidden": stills.on("git commit"),
    "always": stills.on("scripts/test.sh", "A"),
}


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
@pytest.mark.parametrize("state", COMMANDS)
def test_commands(still, state, size):
    assert still(stills.of("busy-queue"), size=SIZES[size], then=COMMANDS[state])


BOXED = {
    "inside": stills.on("make check"),
    "leaves": stills.on("pip install"),
    "moved": stills.on("pip install", "s"),
    "only-outside": stills.on("docker compose"),
    "rule": stills.on("pip install", "A"),
    "batch": stills.on("make check", "M", "a"),
}
TALK = ("0", "g", "enter", "1", "z", "G")


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
@pytest.mark.parametrize("state", BOXED)
def test_sandbox(still, state, size):
    assert still(stills.boxed, size=SIZES[size], then=BOXED[state])


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
def test_old_rules(still, size):
    assert still(stills.old_rules, size=SIZES[size], then=stills.on("rules and the sandbox"))


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
def test_refusals(still, size):
    assert still(stills.boxed, *TALK, size=SIZES[size])


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
def test_compact_sandbox(still, size):
    assert still(stills.boxed, *TALK, size=SIZES[size], ui=stills.compact())


@pytest.mark.parametrize("size", stills.ONE_SIZE)
def test_sandbox_in_ascii(still, size):
    assert still(stills.boxed, size=SIZES[size], then=BOXED["leaves"], glyphs=ASCII_GLYPHS)


@pytest.mark.parametrize("size", stills.ONE_SIZE)
def test_sandbox_without_colours(still, size, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert still(stills.boxed, size=SIZES[size], then=BOXED["leaves"])
