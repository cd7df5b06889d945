"""The table of commands: name, one line about it, and the module that does it.

Owns what exists. A command that is not there yet is not listed; importing this table imports no command.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from workbench.cli.console import Console
from workbench.records import dataclass

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class CommandModule(Protocol):
    """What the module of a command has."""

    EXAMPLE: str
    """Example invocations for its help, one a line."""

    def configure(self, parser: "ArgumentParser") -> None:
        """Add the command's arguments."""
        ...

    def execute(self, options: "Namespace", console: Console) -> int:
        """Do it and return the exit code."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command, or a group of commands when `below` has any."""

    summary: str
    module: str = ""
    below: Mapping[str, "Entry"] = field(default_factory=dict[str, "Entry"])
    is_hidden: bool = False


def _leaf(module: str, summary: str, *, is_hidden: bool = False) -> Entry:
    return Entry(module=f"workbench.cli.{module}", summary=summary, is_hidden=is_hidden)


SCREEN = "screen"
"""What `workbench` and `workbench DIR` mean; nobody has to type it."""
SCREEN_OPTIONS = frozenset({"--plain", "--continue"})
"""The options that it takes without being named."""

_APPROVALS = {
    "list": _leaf("approvals.listing", "what waits for an answer"),
    "show": _leaf("approvals.show", "one action: the diff, its warnings, the decision"),
    "approve": _leaf("approvals.approve", "say yes to exactly what is shown"),
    "reject": _leaf("approvals.reject", "say no, with a reason for the agent"),
    "answer": _leaf("approvals.answer", "answer a gate, a question or the trust question"),
    "extend": _leaf("approvals.extend", "give an action another window"),
    "refresh": _leaf("approvals.refresh", "have a stale action proposed anew"),
    "undo": _leaf("approvals.undo", "take an applied change back"),
    "watch": _leaf("approvals.watch", "follow the queue and answer by line"),
}

_SESSIONS = {
    "list": _leaf("sessions.listing", "the sessions of this workspace"),
    "show": _leaf("sessions.show", "one session: what was said, asked, decided and written"),
    "resume": _leaf("sessions.resume", "the screen on a session that can go on"),
    "search": _leaf("sessions.search", "sessions that hold some words, with the places"),
    "stats": _leaf("sessions.stats", "calls by tool, how asks ended, time to decide, tokens, files"),
    "rename": _leaf("sessions.rename", "give a session another title"),
    "tag": _leaf("sessions.tag", "show, add and remove the tags of a session"),
    "archive": _leaf("sessions.archive", "put sessions out of the way, or back"),
    "fork": _leaf("sessions.fork", "begin a session where another one ended"),
    "end": _leaf("sessions.end", "end a session for good"),
    "delete": _leaf("sessions.delete", "delete sessions with everything that belongs to them"),
    "import": _leaf("sessions.importing", "take in sessions of other programs, and exports of this one"),
    "export": _leaf("sessions.export", "a session as its events, or in the words of another system"),
}

_PIPELINE = {
    "list": _leaf("pipeline.listing", "the pipelines of this workspace and its runs"),
    "validate": _leaf("pipeline.validate", "what is wrong in pipelines and their manifest"),
    "graph": _leaf("pipeline.graph", "a pipeline or a run as a picture: text, mermaid, svg"),
    "run": _leaf("pipeline.run", "run a pipeline"),
    "resume": _leaf("pipeline.resume", "go on with what a run has not completed"),
    "cancel": _leaf("pipeline.cancel", "end a run"),
    "status": _leaf("pipeline.status", "one run and its steps"),
    "logs": _leaf("pipeline.logs", "what the steps of a run printed"),
    "artifacts": _leaf("pipeline.artifacts", "what the steps of a run handed on"),
    "clean": _leaf("pipeline.clean", "remove the workspaces of runs that are over"),
}

_HOST = {
    "status": _leaf("host.status", "the process that acts for this workspace"),
    "stop": _leaf("host.stop", "end it"),
    "restart": _leaf("host.restart", "end it and start one like this program"),
    "serve": _leaf("host.serve", "be it, until nothing is left to do", is_hidden=True),
}

_CONFIG = {
    "show": _leaf("config.show", "every setting and where it comes from"),
    "validate": _leaf("config.validate", "what is wrong in the configuration files"),
    "schema": _leaf("config.schema", "the form of these files as JSON Schema"),
    "migrate": _leaf("config.migrate", "bring your configuration file to the form of this version"),
}

_RULES = {
    "list": _leaf("rules.listing", "the rules there are, and how often they were used"),
    "add": _leaf("rules.add", "let calls pass, have them asked, or deny them"),
    "remove": _leaf("rules.remove", "take rules back"),
    "backtest": _leaf("rules.backtest", "what a rule would have done in all past sessions"),
}

_TOOLS = {
    "list": _leaf("tools.listing", "the tools that agents have"),
    "schema": _leaf("tools.schema", "the parameters of a tool, with examples"),
}

COMMANDS: Mapping[str, Entry] = {
    SCREEN: _leaf("screen.command", "the screen on a folder", is_hidden=True),
    "run": _leaf("run.command", "run an agent without a screen"),
    "approvals": Entry(summary="answer what agents ask", below=_APPROVALS),
    "sessions": Entry(summary="find, file, fork, export sessions", below=_SESSIONS),
    "replay": _leaf("replay.command", "see a session again, at any moment"),
    "pipeline": Entry(summary="run pipelines and look at their runs", below=_PIPELINE),
    "host": Entry(summary="the process that acts for a workspace", below=_HOST),
    "trust": _leaf("trust", "trust a workspace, or take that back"),
    "rules": Entry(summary="what passes, or is denied, without a question", below=_RULES),
    "check": _leaf("check.command", "ask the guard about cases, one a line; nothing is done"),
    "config": Entry(summary="the configuration in effect", below=_CONFIG),
    "doctor": _leaf("doctor", "check the data folder and the journal"),
    "tools": Entry(summary="the tools that agents have", below=_TOOLS),
    "demo": _leaf("demo.command", "try it on a throw-away project with a recorded agent"),
}
