"""The dialog that makes a pipeline: rows to choose from, then the diff, and a a writes exactly that."""

import pytest

from tests.support.waits import until_true
from tests.tui.test_launch import slowly
from tests.tui.test_pipeline_pane import play as play
from workbench.backend.runs import LocalRuns
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import BackendError
from workbench.views.new_pipeline import (
    NewPipelineDraft,
    NewPipelineRequest,
    NewPipelineRow,
    NewPipelineSource,
)

TEMPLATES = NewPipelineSource(rows=(
    NewPipelineRow(id="plan", kind="", about="Plan a change"), NewPipelineRow(id="check", kind="", about="Check it"),
))  # fmt: skip
STEPS = NewPipelineSource(
    session_id="s",
    left_out=("1 command that did not succeed",),
    rows=(
        NewPipelineRow(id="fix-login", kind="agent", about="Fix the login test"),
        NewPipelineRow(id="pytest", kind="command", about="python -m pytest -q"),
        NewPipelineRow(id="git-status", kind="command", about="git status"),
    ),
)


class Maker:
    """Drafts that name what they were asked for; remembers what it was asked to write."""

    def __init__(self):
        self.written = []

    def draft(self, request):
        lines = [
            f"+{request.template or ' '.join(request.steps)}",
            *(f"+line {number}" for number in range(40)),
        ]
        return NewPipelineDraft(diff=("+++ b/x.yaml", *lines), files=("workbench.yaml", "x.yaml"))

    def write(self, request, draft):
        self.written.append((request, draft))
        return "x.yaml"

    def services(self, **more):
        return {
            "new_pipeline_source": lambda session_id: STEPS if session_id else TEMPLATES,
            "draft_pipeline": self.draft, "write_pipeline": self.write, **more,
        }  # fmt: skip


async def opened(s, key):
    await slowly(s, key)
    await until_true(lambda: s.app.screen.id == "new-pipeline-screen", s.pilot.pause)
    await s.settle()


async def drafted(s):
    await slowly(s, "enter")
    await until_true(lambda: s.app.screen.is_diff, s.pilot.pause)
    await s.settle()


def test_a_template_is_shown_as_a_diff_and_written_after_the_answer(play):
    maker = Maker()

    async def body(s):
        await opened(s, "M")
        await slowly(s, "j")
        await drafted(s)
        assert "+check" in s.text and not maker.written
        await slowly(s, "a")
        await until_true(lambda: maker.written, s.pilot.pause)
        assert maker.written == [(NewPipelineRequest(template="check"), maker.draft(maker.written[0][0]))]

    play(body, None, **maker.services())


def test_steps_of_the_session_are_left_out_by_space(play):
    maker = Maker()

    async def body(s):
        await opened(s, "S")
        assert "3 of 3 steps" in s.text and "1 command that did not succeed" in s.text
        await slowly(s, "j", "space")
        assert "2 of 3 steps" in s.text
        await drafted(s)
        assert "+fix-login git-status" in s.text
        await slowly(s, "escape")
        assert not s.app.screen.is_diff and "2 of 3 steps" in s.text
        await slowly(s, "escape")
        assert s.app.screen is s.main and not maker.written

    play(body, **maker.services())


def test_what_is_not_yet_shown_is_not_written(play):
    maker = Maker()

    async def body(s):
        await opened(s, "M")
        await slowly(s, "a")
        assert s.app.screen.id == "new-pipeline-screen" and not maker.written
        await drafted(s)
        await s.pilot.press("a", "a")
        await s.settle()
        assert not maker.written

    play(body, None, **maker.services())


def test_a_refusal_is_said_in_the_dialog(play):
    def refuse(request):
        raise BackendError("Nothing was written: x.yaml is there already.")

    async def body(s):
        await opened(s, "M")
        await slowly(s, "enter")
        await until_true(lambda: "is there already" in s.app.screen.said, s.pilot.pause)
        assert not s.app.screen.is_diff

    play(body, None, **Maker().services(draft_pipeline=refuse))


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 48)])
def test_every_size_shows_rows_and_keys(play, size):
    async def body(s):
        await opened(s, "S")
        for words in (
            "fix-login",
            "python -m pytest -q",
            "enter show the file",
            "space leave out",
            "3 of 3 steps",
        ):
            assert words in s.text, words
        await drafted(s)
        for words in ("a a write it", "J K scroll", "esc back to the list", "+line 3"):
            assert words in s.text, words

    play(body, size=size, **Maker().services())


def test_empty_places_lead_there(play):
    async def body(s):
        await s.press("z")
        assert "M   make one" in s.text
        await slowly(s, "L")
        assert "M makes one" in s.main.rule.said

    play(body, None)


# --- the service over a real folder -------------------------------------------------------------


@pytest.fixture
def making(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    home = Home.open(tmp_path / "own")
    journal = Journal.open(home)
    yield LocalRuns(home, journal, str(folder)), folder
    journal.close()


def test_the_file_is_written_as_it_was_shown_or_not_at_all(making):
    service, folder = making
    request = NewPipelineRequest(template=service.new_pipeline_source("").rows[0].id)
    draft = service.draft_pipeline(request)
    (folder / "workbench.yaml").write_text("kind: WaveManifest\n")
    with pytest.raises(Exception, match=r"not valid|changed since|not added"):
        service.write_pipeline(request, draft)
    assert not (folder / ".workbench").exists()
    (folder / "workbench.yaml").unlink()
    assert service.write_pipeline(request, draft) == ".workbench/pipelines/plan.yaml"
    assert service.draft_pipeline(request).files[-1] == ".workbench/pipelines/plan-2.yaml"
