"""What a step handed on is opened in an editor, as a copy: the only one at once, of several the one that is named."""

import json

from tests.support import drawn_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import ArtifactStored
from workbench.domain.values import StepPlan

PLANS = (StepPlan(id="plan"), StepPlan(id="build", needs=("plan",)), StepPlan(id="test", needs=("build",)))


def handed_on(journal, workspace):
    run = drawn_runs.Written(journal, workspace, PLANS)

    def stored(step, name, data, kind="file"):
        ref = journal.blobs.seal(data)
        body = ArtifactStored(
            name=name,
            artifact_kind=kind,
            digest="d",
            path=f"out/{name}",
            content_ref=ref,
            size_bytes=len(data),
        )
        run.say(body, step=step)
        return ref

    run.step("plan", "running")
    stored("plan", "outline.md", b"old")
    stored("plan", "outline.md", b"# Outline")
    run.step("plan", "completed")
    run.step("build", "running")
    stored("build", "log.txt", b"built")
    member = journal.blobs.seal(b"<p>")
    stored("build", "site", json.dumps({"index.html": member}).encode(), "folder")
    run.step("build", "completed")
    return run


class Editor:
    def __init__(self, saves=None):
        self.opened, self.saves = [], saves

    def __call__(self, name, data):
        self.opened.append((name, data))
        return data if self.saves is None else self.saves


def test_the_only_artifact_is_opened_as_it_was_last_stored(play):
    editor = Editor(b"changed")

    async def body(s):
        await s.press("g", "e")
        assert editor.opened == [("outline.md", b"# Outline")]
        assert "what you changed was a copy" in s.main.rule.said

    play(body, handed_on, open_editor=editor)


def test_of_several_one_is_named(play):
    editor = Editor()

    async def body(s):
        await s.press("g", "l", "e")
        assert "log.txt, site/index.html" in s.text
        await s.press("ctrl+u", *"site/index.html", "enter")
        assert editor.opened == [("index.html", b"<p>")]
        await s.press("e", "ctrl+u", *"nothing", "enter")
        assert "No artifact is called nothing" in s.main.rule.said
        await s.press("e", "ctrl+u", *"log", "enter")
        assert editor.opened[-1] == ("log.txt", b"built")

    play(body, handed_on, open_editor=editor)


def test_nothing_handed_on_is_said(play):
    async def body(s):
        await s.press("G", "e")
        assert "handed on nothing" in s.main.rule.said

    play(body, handed_on)
