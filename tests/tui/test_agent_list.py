"""Other agents on the screen: who is here, what connecting would change, and one enter that writes it."""

import pytest
from msgspec.structs import replace

from tests.support.stage import Stage, exchange, recording, text
from tests.support.waits import until_true
from tests.tui.screens import FILES, play
from workbench.effects.clock import ManualClock
from workbench.tui.backend import BackendError
from workbench.views.agent_connections import AgentRow, ConnectionAnswers, ConnectionChange

CLAUDE = AgentRow(
    id="claude", name="Claude Code", sign="todo", state="not connected",
    scopes={"all": "every edit and command.", "asked": "only what it would ask about itself."},
    answers=ConnectionAnswers(scope="all"),
)  # fmt: skip
CODEX = AgentRow(
    id="codex", name="Codex", sign="failed", state="connected, see below", is_connected=True,
    details=("Connected in /home/dev/.codex/hooks.json: every edit and command.", "The hook's program is gone."),
    scopes={"all": "every edit and command."}, answers=ConnectionAnswers(scope="all"),
)  # fmt: skip
CHANGE = ConnectionChange(
    number=1, agent="claude", title="Claude Code", path="/home/dev/.claude/settings.json",
    answers=ConnectionAnswers(scope="all"),
    lines=("--- a/settings.json", "+++ b/settings.json", "@@ -1 +1,2 @@", " {", '+  "hooks": {\x1b[31m', "-old"),
)  # fmt: skip
DEFAULTS = ConnectionAnswers(scope="all")


class Agents:
    """A backend's agents: what was asked for, and what they answer."""

    def __init__(self, *rows):
        self.all, self.asked, self.written = list(rows), [], []

    def agent_rows(self):
        return self.all

    def connection_change(self, agent, answers, *, is_removal):
        self.asked.append((agent, answers, is_removal))
        if agent == "codex" and not is_removal:
            raise BackendError("config.toml: it is a symbolic link.")
        shown = replace(CHANGE, number=len(self.asked), agent=agent, is_removal=is_removal, answers=answers)
        return replace(shown, title="Codex") if agent == "codex" else shown

    def write_connection(self, change):
        self.written.append(change)
        self.all = [
            replace(row, is_connected=not change.is_removal, sign="ok", state="changed") for row in self.all
        ]
        return f"Wrote {change.path}."


@pytest.fixture
def fresh(tmp_path):
    return Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)


def show(stage, body, agents):
    services = {
        name: getattr(agents, name) for name in ("agent_rows", "connection_change", "write_connection")
    }
    play(stage, body, goes_to_queue=False, **{**services, "rows": lambda: ()})


async def to_list(shown):
    await shown.press("escape", "9", "j", "enter")
    assert "Agents of this machine" in shown.text


def test_the_row_of_place_nine_leads_to_the_agents_and_enter_writes_the_change_that_was_shown(fresh):
    agents = Agents(CLAUDE, CODEX)

    async def body(shown):
        await to_list(shown)
        assert "Claude Code" in shown.text and "not connected" in shown.text
        assert "enter shows what would be written into the settings of Claude Code." in shown.text
        assert "disconnect…" not in shown.text
        await shown.press("enter")
        assert "This is written into /home/dev/.claude/settings.json." in shown.text
        assert '+  "hooks": {' in shown.text and "\x1b" not in shown.text
        assert "What comes here: every edit and command." in shown.text
        await shown.press("enter")
        assert [change.number for change in agents.written] == [1]
        assert "Wrote /home/dev/.claude/settings.json." in shown.text and "changed" in shown.text

    show(fresh, body, agents)
    assert agents.asked == [("claude", DEFAULTS, False)]


def test_the_answers_of_the_page_change_what_is_shown_and_what_is_written_is_what_was_shown_last(fresh):
    agents = Agents(CLAUDE)

    async def body(shown):
        await to_list(shown)
        await shown.press("enter")
        for words in ("every edit and command", "your own", "the agent asks"):
            assert words in shown.text
        await shown.press("right")
        assert "What comes here: only what it would ask about itself." in shown.text
        await shown.press("left", "tab", "right", "tab", "right", "shift+tab", "shift+tab", "right", "enter")
        chosen = ConnectionAnswers(scope="asked", is_project=True, otherwise="deny")
        assert [change.answers for change in agents.written] == [chosen]

    show(fresh, body, agents)


def test_an_agent_with_one_scope_has_two_questions(fresh):
    agents = Agents(replace(CODEX, id="other", is_connected=False))

    async def body(shown):
        await to_list(shown)
        await shown.press("enter", "right")
        assert agents.asked[-1][1] == replace(DEFAULTS, is_project=True)
        await shown.press("tab", "right")
        assert agents.asked[-1][1] == replace(DEFAULTS, is_project=True, otherwise="deny")

    show(fresh, body, agents)


def test_enter_counts_only_for_what_was_drawn_for_a_while(fresh):
    agents = Agents(CLAUDE)

    async def body(shown):
        await to_list(shown)
        await shown.press("enter")
        await shown.press_once("enter", wait=0.1)
        assert not agents.written
        await shown.press("right")
        await shown.press_once("enter", wait=0.1)
        assert "Too quick" in shown.text and not agents.written
        await shown.press("enter")
        assert len(agents.written) == 1

    show(fresh, body, agents)


def test_words_that_are_typed_write_nothing(fresh):
    agents = Agents(CLAUDE)

    async def body(shown):
        await to_list(shown)
        await shown.press("enter")
        await shown.press("y", "e", "s", wait=0.2)
        assert shown.app.screen.id == "connections-screen", "text that is typed closes what decides"
        await shown.press("enter", wait=0.2)
        assert not agents.written

    show(fresh, body, agents)


def test_nothing_is_written_where_the_change_cannot_be_read(fresh):
    agents = Agents(CLAUDE)

    async def body(shown):
        await to_list(shown)
        await shown.press("enter")
        await shown.pilot.resize_terminal(40, 12)
        await shown.settle()
        await shown.press("enter")
        assert "too small" in shown.text and not agents.written
        await shown.press("escape", "escape", "escape")
        assert "Models and providers" not in shown.text

    show(fresh, body, agents)


def test_a_connection_is_taken_back_and_what_cannot_be_changed_is_said(fresh):
    agents = Agents(CLAUDE, CODEX)

    async def body(shown):
        await to_list(shown)
        await shown.press("j")
        assert "The hook's program is gone." in shown.text and "disconnect…" in shown.text
        await shown.press("enter")
        assert "it is a symbolic link" in shown.text
        await shown.press("D")
        assert "This takes workbench out of" in shown.text and "without workbench" not in shown.text
        await shown.press("tab", "right", "enter")
        assert [(change.agent, change.is_removal) for change in agents.written] == [("codex", True)]
        await shown.press("k", "D")
        assert agents.asked[-1] == ("claude", DEFAULTS, True)

    show(fresh, body, agents)


def test_a_change_that_is_only_shown_is_not_written(fresh):
    agents = Agents(CLAUDE)
    agents.connection_change = lambda *asked, is_removal: replace(CHANGE, why_not="TOML is not written here.")

    async def body(shown):
        await to_list(shown)
        await shown.press("enter")
        assert "TOML is not written here." in shown.text and "write it" not in shown.text
        await shown.press("enter", "j", "k", "ctrl+d", "ctrl+u")
        assert not agents.written
        await shown.press("q")
        assert "Agents of this machine" in shown.text

    show(fresh, body, agents)


def test_a_refusal_to_write_is_said_in_the_list(fresh):
    agents = Agents(CLAUDE)

    def refuse(change):
        raise BackendError("Something else changed it at the same moment.")

    agents.write_connection = refuse

    async def body(shown):
        await to_list(shown)
        await shown.press("enter", "enter")
        assert "at the same moment" in shown.text

    show(fresh, body, agents)


def test_without_agents_place_nine_has_no_row_and_the_palette_leads_to_an_empty_list(fresh):
    async def body(shown):
        await shown.press("escape", "9")
        assert "connect other agents" not in shown.text
        await shown.press("escape", "ctrl+p", *"gemini", "enter")
        assert "No agent was found here whose calls can come to workbench." in shown.text
        await shown.press("D", "enter", "j", "escape")
        assert "Agents of this machine" not in shown.text

    show(fresh, body, Agents())


def test_a_list_that_cannot_be_read_says_why(fresh):
    agents = Agents()

    def fail():
        raise BackendError("The configuration cannot be read.")

    async def body(shown):
        agents.agent_rows = fail
        await shown.press("escape", "ctrl+p", *"gemini", "enter")
        assert "The configuration cannot be read." in shown.text

    services = {"connection_change": agents.connection_change, "rows": lambda: ()}
    play(fresh, body, goes_to_queue=False, agent_rows=lambda: agents.agent_rows(), **services)


def test_the_first_page_has_one_line_until_an_agent_is_connected(tmp_path):
    stage = Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)
    agents = Agents(CLAUDE, replace(CODEX, is_connected=False))

    async def body(shown):
        await until_true(lambda: "Claude Code, Codex: c lets them ask here" in shown.text, shown.pilot.pause)
        await shown.press("escape", "c", "enter", "enter", "escape")
        await until_true(
            lambda: "Claude Code, Codex: c lets them ask here" not in shown.text, shown.pilot.pause
        )
        assert len(agents.written) == 1

    show(stage, body, agents)
