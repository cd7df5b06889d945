"""Where the next session works: `ctrl+n` once more gives it a git worktree of its own, and takes it back."""

import pytest

from tests.support.stage import USER, Stage, exchange, recording, text
from tests.tui.screens import FILES, play
from workbench.domain.rows import WORKTREE_SETTING
from workbench.effects.clock import ManualClock
from workbench.host import session_requests, workspace_trust
from workbench.host.session_requests import SessionRefused
from workbench.tui.pane import SessionChosen

HELLO = recording(exchange(text("Hello.")))
WORKTREES = "/work/shop-worktrees"


class Chooser:
    """The service of a screen, and what was asked of it."""

    def __init__(self, why=""):
        self.asked, self.begun, self._why = [], [], why

    def choose(self, *, is_chosen):
        self.asked.append(is_chosen)
        if is_chosen and self._why:
            raise SessionRefused("No session was started.", self._why, "Work in the folder itself.")
        return WORKTREES if is_chosen else ""

    def services(self, **more):
        return {"choose_worktree": self.choose, "branch": lambda: "main", "goes_to_queue": False, **more}


@pytest.fixture
def fresh(tmp_path):
    return Stage(tmp_path, HELLO, clock=ManualClock(), files=FILES)


def test_the_first_page_offers_a_worktree_where_there_is_git(fresh):
    chooser = Chooser()

    async def body(shown):
        assert "ctrl+n gives it a git worktree" in " ".join(shown.text.split())
        assert "ctrl+n own worktree" in shown.text.splitlines()[-1]
        await shown.press("ctrl+n")
        assert shown.said == f"The next session gets a git worktree and a branch in {WORKTREES}/."
        assert "Say what you want done in its own worktree" in shown.text
        assert "ctrl+n this folder" in shown.text.splitlines()[-1]
        await shown.press("ctrl+n")
        assert shown.said == "The next session works in this folder."
        assert "its own worktree" not in shown.text
        assert chooser.asked == [True, False]

    play(fresh, body, **chooser.services())


def test_it_offers_none_where_there_is_no_git_and_says_why_in_one_sentence(fresh):
    chooser = Chooser("/work/shop is not in a git repository.")

    async def body(shown):
        assert "its own worktree" not in shown.text
        await shown.press("ctrl+n")
        assert shown.said == "No worktree: /work/shop is not in a git repository."
        assert "its own worktree" not in shown.text

    play(fresh, body, **chooser.services(branch=lambda: ""))


def test_ctrl_n_in_a_session_begins_one_in_the_folder_and_again_chooses_the_worktree(fresh):
    chooser = Chooser()
    fresh.begin("an earlier one")

    async def body(shown):
        await shown.press("ctrl+n")
        assert (shown.main.state.current, chooser.asked) == (None, [False])
        assert "ctrl+n own worktree" in shown.text.splitlines()[-1]
        await shown.press("ctrl+n")
        assert chooser.asked == [False, True]
        assert "in its own worktree" in shown.text
        # After a look at another session the next one starts in the folder again.
        shown.main.post_message(SessionChosen(fresh.session_id))
        await shown.settle()
        await shown.press("ctrl+n")
        assert chooser.asked == [False, True, False]
        assert "in its own worktree" not in shown.text

    play(fresh, body, **chooser.services())


def test_the_command_begins_a_session_in_a_worktree_from_one_that_is_on_show(fresh):
    chooser = Chooser()
    fresh.begin("an earlier one")

    async def body(shown):
        await shown.press(*"/worktree", "enter")
        assert shown.main.state.current is None
        assert "in its own worktree" in shown.text

    play(fresh, body, **chooser.services())


@pytest.mark.parametrize("size", [(160, 48), (80, 24)], ids=str)
def test_a_session_in_a_worktree_is_listed_and_its_branch_stands_in_the_header(fresh, size):
    folder = fresh.root / "project-worktrees" / "fix-it"
    folder.mkdir(parents=True)
    worktree = {"origin": str(fresh.workspace), "folder": str(folder), "branch": "workbench/fix-it"}
    made = session_requests.create_session(
        fresh.journal, workspace=str(folder), provider="recorded", model="m", actor=USER, title="fix it",
        configuration={WORKTREE_SETTING: worktree},
    )  # fmt: skip
    session_requests.submit_prompt(fresh.journal, made, "fix it", USER)

    async def body(shown):
        assert shown.main.state.current.id == made
        assert "workbench/fix-it" in shown.text.splitlines()[0]
        await shown.press("escape", "1")
        assert "It works in a git worktree:" in shown.text

    play(fresh, body, size=size, **Chooser().services())


def test_rows_say_of_which_folder_they_are_where_one_of_them_is_of_a_worktree(fresh):
    folder = fresh.root / "project-worktrees" / "fix-it"
    folder.mkdir(parents=True)
    worktree = {"origin": str(fresh.workspace), "folder": str(folder), "branch": "workbench/fix-it"}
    session_requests.create_session(
        fresh.journal, workspace=str(folder), provider="recorded", model="m", actor=USER, title="fix it",
        configuration={WORKTREE_SETTING: worktree},
    )  # fmt: skip
    workspace_trust.open_trust_question(fresh.journal, str(folder))
    workspace_trust.open_trust_question(fresh.journal, str(fresh.workspace))

    async def body(shown):
        rows = [line.split("◆ ")[-1].split() for line in shown.text.splitlines()[2:4]]
        assert [row[:3] for row in rows] == [
            ["fix-it", "trust", "~/project-worktrees/fix-it"], ["project", "trust", "this"],
        ]  # fmt: skip

    play(fresh, body, size=(160, 48), **Chooser().services())
