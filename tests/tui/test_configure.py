"""Settings of the screen that change while it is open: colours, keys, notices, motion, and what is said."""

from dataclasses import replace
from pathlib import Path

from tests.tui.screens import play, staged
from workbench.config import load


def ui(folder, **changes):
    found = load(Path(folder), None, trusted=False, env={}, options={}).config.ui
    return replace(found, **changes)


def test_the_screen_takes_changed_settings_over_while_it_is_shown(tmp_path):
    async def body(shown):
        app = shown.app
        new = ui(tmp_path, theme="workbench-light", motion="none", keymap={"app.place-3": "f3"})
        new = replace(new, notify=replace(new.notify, bell=False))
        app.configure(new, "Configuration: ui.theme changed.")
        await shown.settle()
        await shown.press("f3")
        assert shown.main.place == 3
        assert (app.theme, app.has_motion, shown.main.notices.wishes.bell) == (
            "workbench-light",
            False,
            False,
        )
        assert "Configuration: ui.theme changed." in [one.text for one in shown.main.notices.kept]
        app.configure(replace(new, theme="nonsense", keymap={"no.such": "f1"}), "changed")
        await shown.settle()
        assert app.theme == "workbench-light"
        assert any("no.such" in one.text for one in shown.main.notices.kept)

    play(staged(tmp_path / "stage"), body)
