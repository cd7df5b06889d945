"""What the screen says of the sandbox of a folder: a missing one, an unusual one, and the offer not to ask."""

import pytest

from tests.support.stage import USER, Stage, exchange, recording, text
from tests.tui.screens import FILES, play, staged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.tui.main.slash_commands import run_slash_command
from workbench.views.sandbox import SandboxPast, SandboxStanding

FULL = SandboxStanding(backend="bubblewrap")
MISSING = SandboxStanding(problem="bubblewrap is not installed", remedy="install the package bubblewrap")
SAID = "No sandbox: bubblewrap is not installed. Install the package bubblewrap."
PAST = SandboxPast(asked=212, spared=171)


@pytest.fixture
def fresh(tmp_path):
    script = recording(exchange(text("Hello.")))
    stage = Stage(tmp_path, script, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    return stage


def test_a_missing_sandbox_is_said_once_and_then_only_named(tmp_path):
    async def body(shown):
        assert shown.said == SAID
        assert "sandbox none here" in shown.text
        shown.main.rule.say("")
        shown.main.context.tasks.read_sandbox()
        await shown.settle()
        assert shown.said == ""

    play(staged(tmp_path), body, sandbox_standing=lambda: MISSING)


def test_a_full_sandbox_is_not_mentioned(tmp_path):
    async def body(shown):
        assert "sandbox" not in shown.text and "asks before every call" in shown.text

    play(staged(tmp_path), body, sandbox_standing=lambda: FULL)


def test_what_runs_inside_without_a_question_is_part_of_what_asks(tmp_path):
    async def body(shown):
        assert "asks before all except commands inside" in shown.text

    play(staged(tmp_path), body, sandbox_standing=lambda: SandboxStanding(backend="bubblewrap", is_auto=True))


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (PAST, "of 212 questions about commands 171 would not have been asked: /sandbox auto"),
        (None, "/sandbox auto runs commands inside the sandbox without asking"),
    ],
)
def test_the_first_page_offers_it_with_its_number(fresh, past, words):
    async def body(shown):
        assert words in shown.text

    play(fresh, body, size=(160, 48), sandbox_standing=lambda: FULL, sandbox_past=lambda: past)


def test_where_nothing_is_offered_no_history_is_read(fresh):
    read = []

    async def body(shown):
        assert ("/sandbox auto" in shown.text, read) == (False, [])

    play(fresh, body, sandbox_standing=lambda: MISSING, sandbox_past=lambda: read.append(1))


def test_the_command_alone_says_how_it_is_and_offers_what_can_be_chosen(tmp_path):
    async def body(shown):
        await shown.press("i", *"/sandbox", wait=0.0)
        assert "workspace, commands inside ask" in shown.text
        run_slash_command(shown.main.context, "sandbox", "")
        await shown.settle()
        assert shown.said.startswith("Commands run inside: they can write only in the workspace")
        assert shown.main.composer.text == "/sandbox " and "read-only" in shown.text
        assert "6 of 6   now workspace, commands inside ask" in shown.text

    play(staged(tmp_path), body, sandbox_standing=lambda: FULL)


def test_the_command_sets_it_and_what_is_shown_follows(tmp_path):
    standing, asked = [FULL], []

    def set_sandbox(session_id, word):
        asked.append((session_id, word))
        standing[0] = SandboxStanding(backend="bubblewrap", level="read-only")
        return "This session: commands can write nothing."

    async def body(shown):
        await shown.press("i", *"/sandbox read-only", "enter", wait=0.0)
        await shown.settle()
        assert asked == [(shown.main.state.current.id, "read-only")]
        assert shown.said == "This session: commands can write nothing."
        await shown.press("escape")
        assert "sandbox read-only" in shown.text

    play(staged(tmp_path), body, set_sandbox=set_sandbox, sandbox_standing=lambda: standing[0])


def test_trust_that_lets_commands_run_inside_changes_what_is_said_to_ask(tmp_path):
    standing, stage = [FULL], staged(tmp_path)

    async def body(shown):
        assert "asks before every call" in shown.text
        standing[0] = SandboxStanding(backend="bubblewrap", is_auto=True)
        workspace_trust.grant_trust(stage.journal, str(stage.workspace), False, USER, sandbox=True)
        await shown.look()
        await shown.settle()
        assert "asks before all except commands inside" in shown.text

    play(stage, body, sandbox_standing=lambda: standing[0])
