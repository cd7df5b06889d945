"""`ctrl+c` and `ctrl+q` in every dialog: the way out is the same as elsewhere, and nothing is answered by it."""

import pytest
from msgspec.structs import replace

from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.domain.events import InterruptRequested

DONE = recording(exchange(text("Nothing to do.")))
DIALOGS = {"help": ("escape", "?"), "palette": ("escape", ":", "a", "b"), "rules": ("escape", "6")}


@pytest.mark.parametrize("keys", DIALOGS.values(), ids=DIALOGS)
def test_where_no_agent_works_ctrl_c_goes_back_and_ctrl_q_leaves(tmp_path, keys):
    stage = staged(tmp_path, DONE)

    async def body(shown):
        for key in ("ctrl+c", "ctrl+q"):
            await shown.press(*keys)
            assert shown.app.screen is not shown.main
            await shown.press(key)
            assert shown.app.screen is shown.main
        assert shown.app._exit

    play(stage, body)


@pytest.mark.parametrize("keys", [("M", "a"), ("j", "j", "A")], ids=["batch", "always"])
def test_what_waits_goes_on_waiting(tmp_path, keys):
    stage = staged(
        tmp_path, recording(exchange(*(call(f"c{n}", "run_in_terminal", command="true") for n in (1, 2, 3))))
    )

    async def body(shown):
        state = shown.main.state
        state.current = replace(state.current, status="processing")
        await shown.press(*keys, "ctrl+c")
        # The agent works: the key stops it, and the dialog stays.
        asked = [one.body for one in stage.journal.events(stage.session_id)]
        assert sum(isinstance(body, InterruptRequested) for body in asked) == 1
        assert shown.app.screen is not shown.main
        await shown.press("ctrl+q")
        assert shown.app.screen is shown.main
        assert not shown.app._exit
        assert "Open workbench again" in shown.said
        assert len(stage.waiting()) == 3
        await shown.press("ctrl+q")
        assert shown.app._exit

    play(stage, body)
