"""Find the command that the words of a command line name, import its module, parse its options and run it.

Holds the table of commands (name, summary, module), the help of the program and of groups, and the last
exception handler: whatever a command raises becomes a few lines on stderr and an exit code.
"""

# `workbench`, `workbench DIR` and `replay ID` are read without a parser of options: loading one and making
# it costs 6 ms of the start. A test holds that they mean what the parser says; every other line of words
# goes to it.

import gc
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from msgspec import Struct, field

from workbench import __version__
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK, UsageError, report_error, silence_output
from workbench.text.nearest import nearest_name
from workbench.text.safe import safe_text

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_HELP_OPTIONS = ("-h", "--help")


class CommandEntry(Struct, frozen=True, kw_only=True):
    """A command, or a group of commands when `below` has any; with a module it is both."""

    summary: str
    module: str = ""
    name: str = ""
    """The word of the command in a module that has several."""
    below: Mapping[str, "CommandEntry"] = field(default_factory=dict[str, "CommandEntry"])
    example: str = ""
    """Of a group: what its help ends with. A command has the one of its module."""
    is_hidden: bool = False


class Invocation(Struct, frozen=True, kw_only=True):
    """The words of a command line, taken apart as far as the table reaches."""

    path: tuple[str, ...]
    entry: CommandEntry
    rest: tuple[str, ...]
    directory: str | None = None
    wants_help: bool = False
    wants_version: bool = False


def dispatch(words: Sequence[str], console: Console | None = None) -> int:
    """Run the command that the words name and return its exit code."""
    _make_encodable()
    console = console or Console()
    try:
        code = _run_command(words, console)
        console.out.flush()
    except BrokenPipeError:
        return silence_output(console)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else EXIT_OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- the one place where errors become words
        return _report_error(error, console)
    return code


def _report_error(error: BaseException, console: Console) -> int:
    try:
        return report_error(error, console)
    except BrokenPipeError:
        return silence_output(console)


def _run_command(words: Sequence[str], console: Console) -> int:
    request = parse_invocation(words)
    if request.wants_version:
        console.say(f"workbench {__version__}")
        return EXIT_OK
    if request.wants_help:
        console.say(group_help(request.path, request.entry))
        return EXIT_OK
    if not request.entry.module:
        return _refuse_bare_group(request)
    command = load_command(request.entry)
    options = _command_options(request, command)
    _enable_garbage_collection()
    return command.execute(options, console)


class CommandModule(Struct, frozen=True, kw_only=True):
    """What a module says of one command: example invocations for its help, its arguments, what it does.

    `simple` reads the words of a command that opens a screen without a parser, which is slow to import; it
    returns None for words that need one.
    """

    example: str
    configure: "Callable[[ArgumentParser], None]"
    execute: "Callable[[Namespace, Console], int]"
    simple: "Callable[[Sequence[str]], dict[str, Any] | None] | None" = None


def load_command(entry: CommandEntry) -> CommandModule:
    """Import the module of a command and return its parts.

    A module of several commands has `LIST_EXAMPLE`, `configure_list` and `execute_list` for one that is
    called `list`; the module of a single command has `EXAMPLE`, `configure` and `execute`.
    """
    module = importlib.import_module(entry.module)
    suffix = f"_{entry.name}" if entry.name else ""
    return CommandModule(
        example=getattr(module, f"{entry.name.upper()}_EXAMPLE" if entry.name else "EXAMPLE"),
        configure=getattr(module, f"configure{suffix}"),
        execute=getattr(module, f"execute{suffix}"),
        simple=getattr(module, "simple", None),
    )


def _command_options(request: Invocation, command: CommandModule) -> "Namespace":
    values = command.simple(request.rest) if command.simple is not None else None
    if values is not None:
        return cast("Namespace", SimpleNamespace(directory=request.directory, **values))
    from argparse import Namespace

    from workbench.cli.arguments import command_parser
    from workbench.cli.output_format import complete_options

    parser = command_parser(request.path, request.entry.summary, command.example, command.configure)
    options = parser.parse_words(request.rest, Namespace(directory=request.directory))
    complete_options(options)
    return options


def _enable_garbage_collection() -> None:
    """Look for garbage from now on, but not in what was imported, which stays; once a process is enough."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
    gc.enable()


def parse_invocation(words: Sequence[str]) -> Invocation:
    """Walk down the table as far as the words name commands."""
    entry, directory = CommandEntry(summary="", below=COMMANDS), None
    path: list[str] = []
    rest = list(words)
    while entry.below and rest:
        word = rest.pop(0)
        if word.startswith("-C"):
            directory = word[2:] or (rest.pop(0) if rest else _refuse_missing_folder())
            continue
        if entry.module and word not in entry.below:
            return Invocation(path=tuple(path), entry=entry, rest=(word, *rest), directory=directory)
        if word in _HELP_OPTIONS or word == "--version":
            return _help_invocation(tuple(path), entry, word)
        is_folder = word not in entry.below and Path(word).expanduser().is_dir()
        if not path and (word in SCREEN_OPTIONS or is_folder):
            return _screen_invocation((word, *rest), directory)
        if not path and word not in entry.below and Path(word).expanduser().is_file():
            return _file_invocation((word, *rest), directory)
        entry = _subcommand(entry, tuple(path), word)
        path.append(word)
    if not path:
        return _screen_invocation((), directory)
    return Invocation(path=tuple(path), entry=entry, rest=tuple(rest), directory=directory)


def _screen_invocation(rest: Sequence[str], directory: str | None) -> Invocation:
    return Invocation(
        path=(SCREEN_COMMAND,), entry=COMMANDS[SCREEN_COMMAND], rest=tuple(rest), directory=directory
    )


def _file_invocation(rest: Sequence[str], directory: str | None) -> Invocation:
    return Invocation(
        path=(OPEN_COMMAND,), entry=COMMANDS[OPEN_COMMAND], rest=tuple(rest), directory=directory
    )


def _help_invocation(path: tuple[str, ...], entry: CommandEntry, word: str) -> Invocation:
    is_help = word in _HELP_OPTIONS
    return Invocation(path=path, entry=entry, rest=(), wants_help=is_help, wants_version=not is_help)


def _subcommand(entry: CommandEntry, path: tuple[str, ...], word: str) -> CommandEntry:
    command = entry.below.get(word)
    if command is None:
        names = ", ".join(_visible_names(entry.below))
        kind = "option" if word.startswith("-") else "command"
        typed = " ".join(["workbench", *path])
        folder = "" if path or kind == "option" else ", and there is no folder or file of that name"
        raise UsageError(
            f"{typed} has no {kind} “{safe_text(word, keep_newlines=False)}”{folder}",
            f"there is {names}",
            f"{_suggestion(word, entry)}see {typed} --help",
        )
    return command


def _suggestion(word: str, entry: CommandEntry) -> str:
    near = nearest_name(word, _visible_names(entry.below))
    return f"type {near} if you meant that; " if near else ""


def _refuse_missing_folder() -> NoReturn:
    raise UsageError("workbench was not started", "-C needs a folder behind it", "see workbench --help")


def _refuse_bare_group(request: Invocation) -> NoReturn:
    typed = " ".join(["workbench", *request.path])
    names = ", ".join(_visible_names(request.entry.below))
    raise UsageError(f"{typed} was not started", f"it needs a command: {names}", f"see {typed} --help")


def group_help(path: Sequence[str], entry: CommandEntry) -> str:
    """Return the help of the program or of a group of commands."""
    command = " ".join(["workbench", *path])
    visible = {name: below for name, below in entry.below.items() if not below.is_hidden}
    width = max(len(name) for name in visible)
    return "\n".join([
        *([f"usage: {command} [-C DIR] COMMAND …"] if path else _SCREEN_HELP),
        "",
        *(f"  {name.ljust(width)}  {below.summary}" for name, below in visible.items()),
        "",
        *(_GROUP_OPTIONS if path else ()),
        "example:",
        *(f"  {line}" for line in (entry.example or _EXAMPLE).splitlines()),
    ])  # fmt: skip


_SCREEN_HELP = (
    "usage: workbench [DIR|FILE] [--continue] [--all] [--plain]",
    "       workbench [-C DIR] COMMAND …",
    "",
    "Without a command: open the screen on DIR, or on the current folder, or open FILE as what it is:",
    "findings, a pipeline, a patch, settings, a session or a log. Each command has its own --help.",
    "",
    "  --continue  open the newest session that can continue",
    "  --all       open what waits in all folders",
    "  --plain     no screen: print what waits line by line and read answers",
    "  -C DIR      work in DIR instead of the current folder",
    "  --version   print the version",
)
_GROUP_OPTIONS = (
    "  -C DIR  work in DIR instead of the current folder",
    "  --help  print this help; each command has its own",
    "",
)
_EXAMPLE = """workbench ~/src/shop --continue
workbench demo"""


def _visible_names(below: Mapping[str, CommandEntry]) -> list[str]:
    return [name for name, entry in below.items() if not entry.is_hidden]


def _make_encodable() -> None:
    """Let streams of other encodings show what they cannot as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _command(place: str, summary: str, *, is_hidden: bool = False) -> CommandEntry:
    module, _, name = place.partition(":")
    return CommandEntry(module=f"workbench.cli.{module}", name=name, summary=summary, is_hidden=is_hidden)


SCREEN_COMMAND = "screen"
"""What `workbench` and `workbench DIR` mean; nobody has to type it."""
OPEN_COMMAND = "open"
"""What `workbench FILE` means."""
SCREEN_OPTIONS = frozenset({"--plain", "--continue", "--all"})
"""The options that it takes without being named."""
_APPROVALS = {
    "list": _command("approval_display:list", "the actions that wait for an answer"),
    "show": _command("approval_display:show", "one action: the diff, its warnings, the decision"),
    "approve": _command("approvals:approve", "approve actions exactly as they are shown"),
    "reject": _command("approvals:reject", "reject actions, with a reason for the agent"),
    "answer": _command("approvals:answer", "answer a question of an agent, of a pipeline or about trust"),
    "extend": _command("approvals:extend", "give an action more time before it expires"),
    "refresh": _command(
        "approvals:refresh", "let the agent propose an action again whose files have changed"
    ),
    "propose-again": _command(
        "propose_again:", "ask the agent to propose again what expired before anybody answered"
    ),
    "undo": _command("approvals:undo", "undo an applied change"),
    "reopen": _command(
        "approvals:reopen", "propose what was left out of an approved change, or all of an undone one"
    ),
    "watch": _command("approval_line_mode:watch", "follow the queue and type answers, without a screen"),
}
_SESSIONS = {
    "list": _command("session_search:list", "the sessions of this workspace"),
    "show": _command("session_report:show", "one session: what was said, asked, decided and written"),
    "resume": _command("session_resume:resume", "continue a session: here, or in the agent that wrote it"),
    "diff": _command("session_diff:diff", "one diff of everything that a session changed"),
    "search": _command("session_search:search", "find sessions by words in them"),
    "stats": _command(
        "session_statistics:stats", "statistics: calls by tool, decisions, time to decide, tokens, files"
    ),
    "rename": _command("session_management:rename", "change the title of a session"),
    "tag": _command("session_management:tag", "show, add and remove the tags of a session"),
    "archive": _command("session_management:archive", "hide sessions from the list, or show them again"),
    "fork": _command("session_fork:fork", "start a session from the end, or a moment, of another one"),
    "stop": _command("session_management:stop", "stop the turn of an agent; the session can continue"),
    "undo": _command("session_undo:undo", "undo the file changes of a turn or of a session in one step"),
    "end": _command("session_management:end", "end a session; it cannot continue"),
    "delete": _command("session_management:delete", "delete sessions with everything that belongs to them"),
    "import": _command("session_import:import", "import sessions of other programs, and exports of this one"),
    "export": _command(
        "session_export:export", "write a session as events, or in the format of another program"
    ),
}
_PIPELINE = {
    "list": _command("pipeline_definitions:list", "the pipelines of this workspace and its runs"),
    "new": _command("pipeline_new:new", "make a pipeline from a template, or of what a session did"),
    "import": _command(
        "pipeline_import:import", "make a pipeline of a Taskfile, or a persona of a Claude sub-agent"
    ),
    "validate": _command("pipeline_definitions:validate", "check pipelines and their manifest for errors"),
    "graph": _command("pipeline_graph:graph", "draw a pipeline or a run as text, mermaid or SVG"),
    "run": _command("pipeline_run:run", "run a pipeline"),
    "resume": _command("pipeline_run:resume", "run the steps that a run has not completed"),
    "cancel": _command("pipeline_run:cancel", "end a run"),
    "status": _command("pipeline_run:status", "one run and its steps"),
    "logs": _command("pipeline_logs:logs", "what the steps of a run printed"),
    "artifacts": _command(
        "pipeline_artifacts:artifacts", "the files and values that the steps of a run made"
    ),
    "clean": _command("pipeline_clean:clean", "remove the workspaces of runs that have ended"),
}
_INCIDENTS = {
    "run": _command("incidents:run", "let agents work off what a linter or an analyzer found"),
    "resume": _command("incidents:resume", "continue the work on a list"),
    "list": _command("incident_lists:list", "the lists of incidents of this workspace"),
    "show": _command("incident_lists:show", "the incidents of a list and how they stand"),
    "results": _command("incident_lists:results", "what came of a list, with files, errors and counts"),
    "dismiss": _command("incident_lists:dismiss", "say that an incident will not be fixed, and why"),
    "cancel": _command("incident_lists:cancel", "end the work on a list; what was not started is skipped"),
}
_HOST = {
    "status": _command("host:status", "the background process of this workspace, which runs its agents"),
    "stop": _command("host:stop", "stop the background process"),
    "restart": _command("host:restart", "restart the background process with this version and environment"),
    "serve": _command("host:serve", "be the background process until nothing is left to do", is_hidden=True),
}
_CONFIG = {
    "show": _command("config:show", "every setting and where it comes from"),
    "validate": _command("config:validate", "check the configuration files for errors"),
    "schema": _command("config:schema", "the JSON Schema of the configuration files"),
    "migrate": _command(
        "config_migration:migrate", "update a configuration file to the form of this version"
    ),
}
_PROVIDERS = {
    "list": _command("providers:list", "the providers, their models and keys, and what was found here"),
    "add": _command("providers:add", "add a provider to config.json, after testing it"),
    "test": _command("providers:test", "ask a provider for its models, a short reply and a tool call"),
    "remove": _command("providers:remove", "remove a provider from config.json"),
}
_SANDBOX = {
    "status": _command("sandbox:status", "what holds commands of agents here, and what they can touch"),
    "try": _command("sandbox:try", "run a command in the sandbox"),
    "backtest": _command("sandbox_backtest", "which past questions the sandbox would have answered"),
}
_RULES = {
    "list": _command("rules:list", "the rules, and how often each was used"),
    "add": _command("rules:add", "add a rule that allows calls, asks about them or denies them"),
    "remove": _command("rules:remove", "revoke rules"),
    "place": _command("rules:place", "say where the commands run that rules allow"),
    "backtest": _command("rules:backtest", "what a rule would have done in all past sessions"),
}
_TOOLS = {
    "list": _command("tools:list", "the tools that agents have"),
    "schema": _command("tools:schema", "the parameters of a tool, with examples"),
}
COMMANDS: Mapping[str, CommandEntry] = {
    SCREEN_COMMAND: _command("screen", "the screen on a folder", is_hidden=True),
    OPEN_COMMAND: _command("open_file", "open what a file is", is_hidden=True),
    "run": _command("run", "run an agent without a screen"),
    "apply": _command(
        "apply", "propose a patch as a change to approve; nothing is written before the answer"
    ),
    "ask": CommandEntry(
        module="workbench.cli.ask",
        summary="turn words into a shell command, which is judged and never run",
        below={"logs": _command("ask_logs:logs", "the commands that were made of words before")},
    ),
    "approvals": CommandEntry(
        summary="answer what agents ask", below=_APPROVALS, example="workbench approvals watch"
    ),
    "sessions": CommandEntry(
        summary="find, tag, fork, export sessions", below=_SESSIONS, example="workbench sessions list --json"
    ),
    "replay": _command("replay", "replay a session from any moment"),
    "pipeline": CommandEntry(
        summary="run pipelines and look at their runs",
        below=_PIPELINE,
        example="workbench pipeline run release --dry-run",
    ),
    "incidents": CommandEntry(
        summary="let agents fix what linters and analyzers found",
        below=_INCIDENTS,
        example="workbench incidents run --checker 'ruff check --output-format json'",
    ),
    "host": CommandEntry(
        summary="the background process, which runs the agents of a workspace",
        below=_HOST,
        example="workbench host status",
    ),
    "connect": _command("connect", "have the edits and commands of Claude Code, Codex and others come here"),
    "notify": CommandEntry(
        summary="notices by a command of yours, such as to a phone",
        below={"test": _command("notify:test", "run notify.command once with a sample")},
        example="workbench notify test",
    ),
    "trust": _command("trust:trust", "trust a workspace, or revoke that"),
    "hold": _command("hold:hold", "have every call of every agent ask, whatever is allowed"),
    "release": _command("hold:release", "end a hold: rules, modes and trust count again"),
    "rules": CommandEntry(
        summary="what is allowed or denied without a question", below=_RULES, example="workbench rules list"
    ),
    "sandbox": CommandEntry(
        summary="what holds the commands of agents", below=_SANDBOX, example="workbench sandbox status"
    ),
    "check": _command("check", "ask the policy about cases, one a line; nothing is carried out"),
    "config": CommandEntry(
        summary="the configuration in effect", below=_CONFIG, example="workbench config show"
    ),
    "providers": CommandEntry(
        summary="where models answer: add, list, test, remove",
        below=_PROVIDERS,
        example="workbench providers list",
    ),
    "doctor": _command("doctor", "check the data folder, the journal and the models"),
    "tools": CommandEntry(
        summary="the tools that agents have", below=_TOOLS, example="workbench tools schema read_file"
    ),
    "demo": _command("demo", "try the program on a temporary project with a recorded agent"),
    "docs": _command("docs", "read and search the documentation, without a network"),
    "completion": _command("completion", "print what completes commands and options in your shell"),
}
