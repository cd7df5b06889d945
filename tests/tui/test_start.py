"""What stands between the command and the first frame: the modules that a screen loads, and no others."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, text
from tests.support.waits import PATIENCE
from workbench.domain.events import MarkAdded

NOT_AT_START = {
    # Validators, parsers, colours, clients: each takes longer to load than a frame to draw.
    "pydantic", "annotated_types", "jsonschema", "yaml", "re2", "tree_sitter_bash", "httpx", "pygments",
    "argparse", "markdown_it", "watchfiles", "attr",
    # What the first frame shows nothing of.
    "workbench.graph", "workbench.render.pipeline", "workbench.tui.pipeline.graph_view", "workbench.pipelines",
    "workbench.tools.catalogue", "workbench.tools.base", "workbench.providers", "workbench.agents", "workbench.formats",
    "workbench.host.driver_context", "workbench.host.model_selection", "workbench.host.session_provider", "workbench.policy.gate", "workbench.policy.shell.analysis",
    "workbench.tui.replay.replay_screen", "workbench.tui.main.palette", "workbench.tui.conversation.composer_input", "workbench.tui.main.info_pages", "workbench.tui.main.jump", "workbench.render.welcome",
    # What nobody asked for yet, and what begins when the start is over.
    "workbench.backend.runs", "workbench.journal.write_queue", "workbench.journal.transaction", "workbench.journal.decisions",
    "workbench.journal.imports", "workbench.secrets", "workbench.host.workspace_config", "workbench.tui.tools.call_detail", "workbench.views.detail_pages", "workbench.tui.main.prompt_bar", "workbench.tui.main.toast_box", "workbench.tui.main.too_small_page", "workbench.tui.conversation.completion_popup", "workbench.tui.widgets.dialog", "workbench.tui.approvals.batch_dialog", "workbench.tui.rules.rule_dialog", "workbench.tui.rules.rules_screen",
    "workbench.tui.rules.rule_keys", "workbench.tui.replay.replay_keys", "workbench.tui.providers",
    "workbench.views.provider_form", "workbench.tui.incidents", "workbench.views.incidents", "workbench.incidents",
}  # fmt: skip

SCRIPT = """
import gc, json, sys
from workbench.cli import screen
from workbench.cli.main import main

screen.require_terminal = lambda: None
real, seen, frames = screen.show_screen, {}, []

def show(*given):
    from textual.drivers.headless_driver import HeadlessDriver

    from workbench.tui.app import WorkbenchApp
    from workbench.tui.main.screen import MainScreen

    display, first = WorkbenchApp._display, WorkbenchApp._after_first_frame

    def displayed(app, shown_screen, renderable):
        display(app, shown_screen, renderable)
        if renderable is not None and not frames and not app._batch_count:
            frames.append("\\n".join(strip.text for strip in shown_screen._compositor.render_strips()))
            # Threads that begin behind the frame load what they need.
            seen.update(loaded=sorted(sys.modules))

    def drawn(screen):
        seen.update(frames=list(frames), cursor=screen.approvals.queue.cursor)

    def after(app):
        first(app)
        seen.update(collects=gc.isenabled())
        app.exit(0)

    WorkbenchApp.get_driver_class = lambda app: HeadlessDriver
    MainScreen.after_first_frame, WorkbenchApp._after_first_frame = drawn, after
    WorkbenchApp._display = displayed
    return real(*given)

screen.show_screen = show
code = main([sys.argv[1]])
with open(sys.argv[2], "w") as file:
    json.dump(seen, file)
sys.exit(code)
"""


REPLAY = """
import gc, json, sys
from workbench.cli.main import main
from workbench.cli import replay as command

command.require_terminal = lambda: None
from_journal = []

def show(*given, real=command._show_replay):
    from textual.drivers.headless_driver import HeadlessDriver

    from workbench.journal import replay as stored
    from workbench.tui.replay_app import ReplayApp
    from workbench.tui.replay.replay_screen import ReplayScreen

    seen, read = {"collects_before": gc.isenabled()}, stored.ReplayReader._events

    def counted(*given):
        found = read(*given)
        from_journal.append(len(found))
        return found

    def drawn(screen):
        text = "\\n".join(strip.text for strip in screen._compositor.render_strips())
        seen.update(text=text, loaded=sorted(sys.modules), events=sum(from_journal))

    def after(app, first=ReplayApp._after_first_frame):
        first(app)
        seen.update(collects=gc.isenabled())
        with open(sys.argv[1], "w") as file:
            json.dump(seen, file)
        app.exit(0)

    ReplayApp.get_driver_class = lambda app: HeadlessDriver
    stored.ReplayReader._events = counted
    ReplayScreen.after_first_frame, ReplayApp._after_first_frame = drawn, after
    return real(*given)

command._show_replay = show
sys.exit(main(["replay"]))
"""


@pytest.fixture(scope="module")
def first_frame(tmp_path_factory):
    """Return the first frame, what stands under its cursor, what is loaded, whether garbage is collected."""
    root = tmp_path_factory.mktemp("start")
    edit = call("c1", "replace_string_in_file", path="a.py", old_string="one", new_string="two")
    stage = Stage(root, recording(exchange(text("I write."), edit)), files={"a.py": "one\n"})
    stage.trust()
    stage.begin()
    stage.drive()
    stage.journal.close()
    env = {**os.environ, "WORKBENCH_HOME": str(root / "home"), "COLUMNS": "160", "LINES": "48"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(stage.workspace), str(root / "seen")],
        capture_output=True, text=True, env=env, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads((root / "seen").read_text())


def test_the_first_frame_shows_what_waits_and_lets_garbage_be_collected_again(first_frame):
    assert first_frame["cursor"]
    assert first_frame["collects"] is True


def test_nothing_is_begun_before_a_frame_with_the_diff_is_on_the_screen(first_frame):
    frame = first_frame["frames"][0]
    assert [word in frame for word in ("a.py", "- one", "+ two")] == [True] * 3
    assert [joint in frame for joint in "┬├┤┴"] == [True] * 4, "lines know where titles meet them"


def test_nothing_is_loaded_that_the_first_frame_does_not_show(first_frame):
    assert sorted(NOT_AT_START & set(first_frame["loaded"])) == []


def test_a_replay_from_the_shell_loads_no_text_field_and_reads_not_ahead(tmp_path):
    stage = Stage(tmp_path, recording(exchange(text("Hello."))))
    stage.trust()
    stage.begin(title="long talk")
    stage.drive()
    (session,) = stage.journal.sessions(str(stage.workspace))
    noted = [
        stage.journal.event(MarkAdded(label=f"mark {number}"), session.id, USER) for number in range(600)
    ]
    stage.journal.append(noted, strict=False)
    stage.journal.close()
    env = {**os.environ, "WORKBENCH_HOME": str(tmp_path / "home"), "COLUMNS": "160", "LINES": "48"}
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(tmp_path / "seen")], cwd=stage.workspace,
        capture_output=True, text=True, env=env, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads((tmp_path / "seen").read_text())
    assert "REPLAY" in seen["text"] and "long talk" in seen["text"]
    not_wanted = NOT_AT_START - {"workbench.tui.replay.replay_screen", "workbench.tui.replay.replay_keys"}
    assert sorted(not_wanted & set(seen["loaded"])) == []
    assert (seen["collects_before"], seen["collects"]) == (False, True)
    assert 0 < seen["events"] < 50
