"""The full-screen programs of real agents, each in a window of tmux, with a scripted model."""

from dataclasses import dataclass

from tests.support.real_agents import Codex, Gemini, OpenCode, Qwen, ScriptedModel, program
from tests.support.tmux import Tmux
from tests.support.waits import until


@dataclass(frozen=True)
class ScreenFacts:
    """How the program of an agent is started, and what it shows."""

    make: type
    words: tuple
    """Of its command line."""
    ready: str
    """What it shows when it takes a prompt."""
    interrupts: tuple
    """What it shows before each key that interrupts its turn, and the key."""


ESC = "\x1b"
SCREENS = (
    ScreenFacts(
        Codex, ("--dangerously-bypass-hook-trust",), "OpenAI Codex", (("esc to interrupt", ESC),)
    ),
    ScreenFacts(
        Qwen, ("--auth-type", "openai", "--approval-mode", "yolo"), "YOLO mode", (("esc to cancel", ESC),)
    ),
    ScreenFacts(
        OpenCode, (), "ctrl+p commands", (("esc interrupt", ESC), ("esc again to interrupt", ESC))
    ),
    ScreenFacts(
        Gemini, ("-m", "gemini-2.5-flash", "--approval-mode", "yolo"), "Type your message",
        (("Executing Hook", ESC),),
    ),
)  # fmt: skip


class AgentScreen(Tmux):
    """The window of an agent's program; `RealAgent.runs` takes it as one of its processes."""

    def __init__(self, agent, facts, *said):
        self.facts, self._agent = facts, agent
        agent.model = ScriptedModel(agent.wire, *said)
        agent.set_up()
        super().__init__(
            [program(agent.id), *facts.words], cwd=agent.folder, env={**agent.env, **agent.address()}
        )
        agent.runs.append(self)

    def poll(self):
        """Return the exit code of the program; None while it runs."""
        code = self._tell("display-message", "-p", "#{pane_dead_status}").strip()
        return int(code) if code else None

    def prompt(self, text):
        """Type a prompt when the program takes one, and send it."""
        self.until(self.facts.ready)
        self.press(text)
        self.until(text)
        self.press("\r")

    def interrupt(self):
        """Press what interrupts a turn."""
        for text, key in self.facts.interrupts:
            self.until(text)
            self.press(key)

    def until_model_reads(self, text):
        """Wait until the model is given a text."""
        until(lambda: self._agent.model.has_read(text), self.text)

    def close(self):
        self._agent.runs.remove(self)
        super().close()
