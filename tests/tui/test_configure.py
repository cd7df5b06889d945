"""Settings of the screen that change while it is open: colours, keys, notices, motion, and what is said."""

from pathlib import Path

from msgspec.structs import replace

from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.config.layers import load_config


def ui(folder, **changes):
    found = load_config(Path(folder), None, trusted=False, env={}, options={}).config.ui
    return replace(found, **changes)


TWO = recording(
    exchange(
        call("c1", "read_file", path="router.py"), call("c2", "run_in_terminal", command="echo treasure")
    ),
    exchange(text("Two things done.")),
)


def test_a_compact_screen_takes_calls_together_and_opens_them_for_what_is_found(tmp_path):
    stage = staged(tmp_path / "stage", TWO)
    while waiting := stage.waiting():
        stage.approve(waiting[0])
        stage.drive()

    async def body(shown):
        await shown.press("escape", "1")
        assert "read_file" in shown.text
        shown.app.configure(ui(tmp_path, density="compact"))
        await shown.settle()
        assert "✓ 2 calls" in shown.text
        lines = shown.text.splitlines()
        talk = [line[:48].strip(" │▌") for line in lines[3:9]]
        assert "" not in talk[: talk.index("Two things done.")], "no blank row between turns"
        await shown.press("slash")
        shown.main.layout_controller.line_bar.input.value = "treasure"
        await shown.settle()
        await shown.press("enter")
        assert "▼ 2 calls" in shown.text
        assert "echo treasure" in shown.text
        await shown.press("escape", "g", "j", "space")
        assert "✓ 2 calls" in shown.text
        shown.app.configure(ui(tmp_path))
        await shown.settle()
        assert "read_file" in shown.text

    play(stage, body)


def test_the_screen_takes_changed_settings_over_while_it_is_shown(tmp_path):
    async def body(shown):
        app = shown.app
        new = ui(tmp_path, theme="workbench-light", motion="none", keymap={"app.place-3": "f3"})
        new = replace(new, notify=replace(new.notify, bell=False))
        app.configure(new, "Configuration: ui.theme changed.")
        await shown.settle()
        await shown.press("f3")
        assert shown.main.place == 3
        assert (app.theme, app.has_motion, shown.main.notifications.wishes.bell) == (
            "workbench-light",
            False,
            False,
        )
        assert "Configuration: ui.theme changed." in [one.text for one in shown.main.notifications.kept]
        app.configure(replace(new, theme="nonsense", keymap={"no.such": "f1"}), "changed")
        await shown.settle()
        assert app.theme == "workbench-light"
        assert any("no.such" in one.text for one in shown.main.notifications.kept)
        app.keep_theme("nord")
        app.configure(replace(new, theme="nonsense", motion="normal"), "Another setting changed.")
        await shown.settle()
        assert app.theme == "nord"

    play(staged(tmp_path / "stage"), body)
