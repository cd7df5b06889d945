"""What stands between the command and the first frame: the modules that a screen loads, and no others."""

import os
import subprocess
import sys

import pytest

from tests.support.stage import Stage, call, exchange, recording, text

NOT_AT_START = {
    # Validators, parsers, colours, clients: each takes longer to load than a frame to draw.
    "pydantic", "annotated_types", "jsonschema", "yaml", "re2", "tree_sitter_bash", "httpx", "pygments",
    "markdown_it", "watchdog", "watchfiles", "attr",
    # What the first frame shows nothing of.
    "workbench.graph", "workbench.draw.run_graph", "workbench.tui.panes.graph", "workbench.pipelines",
    "workbench.tools.catalogue", "workbench.tools.base", "workbench.providers", "workbench.agents", "workbench.formats",
    "workbench.host.kit", "workbench.host.choosing", "workbench.policy.gate", "workbench.policy.shell",
    "workbench.tui.screens.replay", "workbench.tui.screens.palette", "workbench.tui.screens.help",
    "workbench.tui.screens.batch", "workbench.tui.screens.always", "workbench.tui.screens.rules",
}  # fmt: skip

SCRIPT = """
import gc, sys
from workbench.cli.screen import command
from workbench.cli.main import main

command.require_terminal = lambda: None
real = command.show

def show(*given):
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.screens.main import MainScreen

    def drawn(screen):
        # Threads that begin now load what they need.
        loaded = sorted(sys.modules)
        with open(sys.argv[2], "w") as file:
            file.write("\\n".join([screen.approvals.queue.cursor or "", *loaded]))

    first = WorkbenchApp._after_first_frame

    def after(app):
        first(app)
        with open(sys.argv[2] + "-collects", "w") as file:
            file.write(str(gc.isenabled()))
        app.exit(0)

    MainScreen.after_first_frame, WorkbenchApp._after_first_frame = drawn, after
    return real(*given)

command.show = show
sys.exit(main([sys.argv[1]]))
"""


@pytest.fixture(scope="module")
def first_frame(tmp_path_factory):
    """Return what stands under the cursor of a first frame, what is loaded, whether garbage is collected."""
    root = tmp_path_factory.mktemp("start")
    edit = call("c1", "replace_string_in_file", path="a.py", old_string="one", new_string="two")
    stage = Stage(root, recording(exchange(text("I write."), edit)), files={"a.py": "one\n"})
    stage.trust()
    stage.begin()
    stage.drive()
    stage.journal.close()
    env = {**os.environ, "WORKBENCH_HOME": str(root / "home"), "COLUMNS": "160", "LINES": "48"}
    env["TEXTUAL_DRIVER"] = "textual.drivers.headless_driver:HeadlessDriver"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(stage.workspace), str(root / "seen")],
        capture_output=True, text=True, env=env, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    cursor, *loaded = (root / "seen").read_text().splitlines()
    return cursor, set(loaded), (root / "seen-collects").read_text()


def test_the_first_frame_shows_what_waits_and_lets_garbage_be_collected_again(first_frame):
    cursor, _, collects = first_frame
    assert cursor
    assert collects == "True"


def test_nothing_is_loaded_that_the_first_frame_does_not_show(first_frame):
    assert sorted(NOT_AT_START & first_frame[1]) == []
