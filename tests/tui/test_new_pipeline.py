"""The dialog that makes a pipeline: rows to choose from, then the diff, and a a writes exactly that."""

import pytest

from tests.support.waits import until_true
from tests.tui.test_launch import slowly
from tests.tui.test_pipeline_pane import play as play
from workbench.backend.runs import LocalRuns
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.host.workspace_trust import grant_trust, is_trusted
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.pipelines.project_drafts import DraftRefused
from workbench.tui.backend import BackendError
from workbench.views.new_pipeline import (
    KeptStep,
    NewPipelineDraft,
    NewPipelineRequest,
    NewPipelineRow,
    NewPipelineSource,
    WrittenPipeline,
)

TEMPLATES = NewPipelineSource(
    used_names=("plan",),
    rows=(
        NewPipelineRow(id="plan", kind="", about="Plan a change", name="plan-2"),
        NewPipelineRow(id="check", kind="", about="Check it", name="check"),
    ),
)
STEPS = NewPipelineSource(
    session_id="s",
    name="login",
    used_names=("plan",),
    left_out=("1 command that did not succeed",),
    rows=(
        NewPipelineRow(id="fix-login", kind="agent", about="Fix the login test", name="fix-login"),
        NewPipelineRow(id="pytest", kind="command", about="python -m pytest -q", name="pytest"),
        NewPipelineRow(id="git-status", kind="command", about="git status", name="git-status"),
    ),
)


class Maker:
    """Drafts that name what they were asked for; remembers what it was asked to write."""

    def __init__(self):
        self.written = []

    def draft(self, request):
        lines = [
            f"+{request.name}: {request.template or ' '.join(step.name for step in request.steps)}",
            *(f"+line {number}" for number in range(40)),
        ]
        return NewPipelineDraft(diff=("+++ b/x.yaml", *lines), files=("workbench.yaml", "x.yaml"))

    def write(self, request, draft):
        self.written.append((request, draft))
        return WrittenPipeline(file="pipelines/x.yaml", asks_for_trust=True)

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
        assert "+check: check" in s.text and not maker.written
        await slowly(s, "a")
        await until_true(lambda: maker.written, s.pilot.pause)
        request = NewPipelineRequest(name="check", template="check")
        assert maker.written == [(request, maker.draft(request))]
        await until_true(lambda: "Wrote x.yaml" in s.main.rule.said, s.pilot.pause)
        assert "2 and ctrl+t trust it, then L starts it" in s.main.rule.said

    play(body, None, **maker.services())


def test_steps_of_the_session_are_left_out_by_space(play):
    maker = Maker()

    async def body(s):
        await opened(s, "S")
        assert "3 of 3 steps" in s.text and "1 command that did not succeed" in s.text
        await slowly(s, "j", "space")
        assert "2 of 3 steps" in s.text
        await drafted(s)
        assert "+login: fix-login git-status" in s.text
        await slowly(s, "escape")
        assert not s.app.screen.is_diff and "2 of 3 steps" in s.text
        await slowly(s, "escape")
        assert s.app.screen is s.main and not maker.written

    play(body, **maker.services())


async def named(s, text):
    """Type a name into the field that `e` opens, in the place of the one it has, and press enter."""
    await slowly(s, "e")
    assert s.app.screen.is_naming
    await s.press("ctrl+u", *text, "enter")


def test_a_step_is_renamed_by_a_name_that_no_other_has(play):
    maker = Maker()

    async def body(s):
        await opened(s, "S")
        await slowly(s, "j")
        await named(s, "git-status")
        assert s.app.screen.is_naming and "Another step has the name git-status." in s.text
        await s.press("ctrl+u", *"two words", "enter")
        assert s.app.screen.is_naming and "“two words” cannot be the name of a step." in s.text
        await s.press("escape")
        assert not s.app.screen.is_naming and "two words" not in s.text
        await named(s, "Tests.all")
        assert not s.app.screen.is_naming and "Tests.all" in s.text
        await drafted(s)
        assert "+login: fix-login Tests.all git-status" in s.text
        await slowly(s, "a")
        await until_true(lambda: maker.written, s.pilot.pause)
        assert maker.written[0][0].steps[1] == KeptStep("pytest", "Tests.all")

    play(body, **maker.services())


def test_the_name_of_the_pipeline_has_a_row_above_the_steps(play):
    async def body(s):
        await opened(s, "S")
        await slowly(s, "k", "space")
        assert "3 of 3 steps" in s.text and "Only steps" in s.app.screen.said
        await named(s, "plan")
        assert s.app.screen.is_naming and "There is a pipeline plan already." in s.text
        await s.press("ctrl+u", *"nightly", "enter")
        await drafted(s)
        assert "+nightly: fix-login pytest git-status" in s.text

    play(body, **Maker().services())


def test_the_pipeline_of_a_template_is_renamed_at_its_row(play):
    async def body(s):
        await opened(s, "M")
        assert "plan-2.yaml" in s.text
        await named(s, "../plan")
        assert s.app.screen.is_naming and "“../plan” cannot be the name of a pipeline." in s.text
        await s.press("ctrl+u", *"mine", "enter")
        assert "mine.yaml" in s.text
        await drafted(s)
        assert "+mine: plan" in s.text

    play(body, None, **Maker().services())


def test_letters_in_the_field_are_no_keys_and_a_click_closes_it(play):
    async def body(s):
        await opened(s, "S")
        await slowly(s, "e")
        await s.press(*"aqe", "space")
        assert (
            s.app.screen.is_naming and s.app.screen.query_one("#new-pipeline-input").value == "fix-loginaqe "
        )
        await s.pilot.click("#new-pipeline-rows", offset=(3, 2))
        await s.settle()
        assert not s.app.screen.is_naming and "3 of 3 steps" in s.text
        assert s.app.focused is s.app.screen.moved_view

    play(body, **Maker().services())


def test_the_notice_that_a_file_changed_does_not_take_the_place_of_what_a_key_did(play):
    async def body(s):
        s.main.say("Wrote x.yaml.")
        s.main.say_unasked("workbench.yaml changed: valid")
        assert s.main.rule.said == "Wrote x.yaml."
        s.main.say_unasked("x.yaml changed: 1 error", is_error=True)
        s.main.say_unasked("x.yaml changed: valid")
        assert s.main.rule.said == "x.yaml changed: valid"

    play(body, None)


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
            "e rename",
            "its name, and that of its file",
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
    row = service.new_pipeline_source("").rows[0]
    request = NewPipelineRequest(name=row.name, template=row.id)
    draft = service.draft_pipeline(request)
    (folder / "workbench.yaml").write_text("kind: WaveManifest\n")
    with pytest.raises(Exception, match=r"not valid|changed since|not added"):
        service.write_pipeline(request, draft)
    assert not (folder / ".workbench").exists()
    (folder / "workbench.yaml").unlink()
    written = service.write_pipeline(request, draft)
    assert written == WrittenPipeline(file=".workbench/pipelines/plan.yaml", asks_for_trust=True)
    after = service.new_pipeline_source("")
    assert after.rows[0].name == "plan-2" and after.used_names == ("plan",)
    with pytest.raises(DraftRefused, match="pipeline plan already"):
        service.draft_pipeline(request)


def test_writing_ends_the_trust_of_the_folder_and_asks_for_it_again(making, monkeypatch):
    monkeypatch.setattr("workbench.host.workspace_trust.may_have_full_sandbox", lambda config: True)
    service, folder = making
    journal = service._journal
    grant_trust(journal, str(folder), False, Actor(kind="human"))
    assert is_trusted(journal, str(folder))
    request = NewPipelineRequest(name="mine", template="plan")
    assert service.write_pipeline(request, service.draft_pipeline(request)).asks_for_trust
    assert not is_trusted(journal, str(folder))
    (question,) = journal.actions(session_id=SYSTEM_SESSION)
    assert (question.state, "trust_and_sandbox" in question.choices) == ("pending", True)
