"""`workbench ask`: words become a shell command, which the gate judges and nothing runs."""

import asyncio
import os
import shutil
from argparse import SUPPRESS, Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from workbench.cli.arguments import CommandParser
from workbench.cli.ask_output import deliver
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_UNANSWERED, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.session_search import add_filter_options
from workbench.cli.shell_integration import shell_snippet
from workbench.config.types import Config
from workbench.effects.files import workspace_path
from workbench.host.workspace_config import load_workspace_config

if TYPE_CHECKING:
    from workbench.domain.rows import LogStatus
    from workbench.domain.values import Json
    from workbench.effects.files import Root
    from workbench.host.command_session import CommandSession, Suggestion
    from workbench.journal.journal import Journal
    from workbench.journal.leases import DriverIdentity


EXAMPLE = """workbench ask "list go files changed this week"
workbench ask --print "count lines of python here"
workbench ask logs --status accepted --search tar
git diff --stat | workbench ask --json -
workbench ask --fix
eval "$(workbench ask --shell-integration bash)\""""
NOTES = """keys, where a letter is pressed twice:
  a a  accept it: it goes to stdout, a file or the clipboard, and is never run
  r r  reject it: say what is wrong and get another; without words it ends
  [ ]  the commands before and after
  q q  quit; ctrl+c does so at once

exit codes:
  0    accepted
  1    rejected, quit, or no command was made
  2    the command line is wrong
  4    --print, --json: denied by the gate, or with hidden characters
  130  stopped by ctrl+c"""
_NOTHING_ASKED: Final = "nothing was asked"
MOST_WORDS_BYTES: Final = 1_000_000
LAST_COMMAND: Final = "WORKBENCH_LAST_COMMAND"
LAST_EXIT: Final = "WORKBENCH_LAST_EXIT"
"""What the shell integration hands over: the command that failed last, and its exit code."""
SHELLS: Final = ("bash", "zsh", "fish")


def configure(parser: CommandParser) -> None:
    parser.notes = NOTES
    parser.add_argument("words", nargs="*", metavar="WORDS", help="what the command should do; - reads stdin")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--print", action="store_true", help="no keys: print the command, unless it is denied")
    how.add_argument(
        "--shell-integration", choices=SHELLS, metavar="SHELL",
        help="print what binds ctrl+g in bash, zsh or fish\nIt turns the line being written into a command.",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="no keys: print a JSON object")
    parser.add_argument("--fix", action="store_true", help="a better one for the last command that failed")
    parser.add_argument("--output", metavar="FILE", help="write the accepted command there")
    parser.add_argument("--clipboard", action="store_true", help="put it on the clipboard (OSC 52)")
    parser.add_argument(
        "--context-lines", type=_line_count, metavar="N",
        help="terminal lines that the model is shown, inside tmux\nThe default is ask.terminal_lines.",
    )  # fmt: skip
    parser.add_argument("--provider", metavar="NAME", help="a provider of config.json")
    parser.add_argument("--model", metavar="NAME", help="a model of the provider, or PROVIDER/MODEL")
    parser.add_argument("--base-url", metavar="URL", help="\nthe address of an OpenAI-compatible server")
    parser.add_argument("--key-env", metavar="NAME", help="\nthe environment variable that holds its key")
    parser.add_argument("--recording", metavar="FILE", help="\nplay a recording instead of asking a model")
    how.add_argument("--logs", nargs="?", const="", help=SUPPRESS)
    add_filter_options(_HiddenOptions(parser))


class _HiddenOptions:
    """Adds the filters of `ask --logs`, which `ask logs` has replaced, without naming them in help."""

    def __init__(self, parser: CommandParser) -> None:
        self._parser = parser

    def add_argument(self, *names: str, **settings: Any) -> None:
        if names[0] not in ("--model", "--provider"):
            settings["help"] = SUPPRESS
            self._parser.add_argument(*names, **settings)


def _line_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 10_000:
        raise ValueError(text)
    return int(text)


def execute(options: Namespace, console: Console) -> int:
    if options.shell_integration is not None:
        console.out.write(shell_snippet(options.shell_integration))
        return EXIT_OK
    if options.logs is not None:
        from workbench.cli.ask_logs import show_logs
        from workbench.cli.output_format import prefers_json

        options.json = options.json or prefers_json(options)
        return show_logs(options, console)
    return ask_for_command(options, console)


# --- what is asked ------------------------------------------------------------------------------------


def _words(options: Namespace, console: Console) -> str:
    """Return what was typed behind the command, or read; empty where nothing is there."""
    if options.words == ["-"]:
        from workbench.cli.run_session import read_prompt

        return read_prompt("-", console, continues=False) or ""
    text = " ".join(options.words).strip()
    if len(text.encode("utf-8", "replace")) > MOST_WORDS_BYTES:
        why = f"the words are longer than {MOST_WORDS_BYTES:,} bytes"
        raise UsageError(_NOTHING_ASKED, why, "say it in fewer")
    return text


def fix_words(last: str, code: str, more: str) -> str:
    """Return what is asked for a command that failed, whose secrets the model does not get."""
    from workbench.secrets.scrubber import scrub

    ended = f", which ended with exit code {code}" if code.strip("0") else ""
    return "\n\n".join(filter(None, (f"Fix this command{ended}:\n\n{scrub(last).text}", more)))


def _failed_command(options: Namespace) -> str:
    """Return the command that is to be fixed; empty where none is."""
    if not options.fix:
        return ""
    command = os.environ.get(LAST_COMMAND, "").strip()
    if not command:
        why = "no command that failed is known"
        remedy = "workbench ask --shell-integration SHELL prints what lets your shell remember it"
        raise UsageError(_NOTHING_ASKED, why, remedy)
    return command


def with_ask_model(options: Namespace, config: Config) -> Namespace:
    """Return options that name the model of `ask.model` where none is named."""
    if options.model or options.provider or options.base_url or options.recording or not config.ask.model:
        return options
    from workbench.backend.command_session import preferred_model

    preferred = preferred_model(config)
    return Namespace(**{**vars(options), "provider": preferred.provider, "model": preferred.model})


# --- one session --------------------------------------------------------------------------------------


def ask_for_command(options: Namespace, console: Console) -> int:
    """Ask for one command, with a person at the keys or without."""
    from workbench.cli.ask_dialog import terminal_keys
    from workbench.host.provider_keys import register_secrets

    is_direct = options.print or options.json
    keys = None if is_direct else terminal_keys(console)
    if not is_direct and keys is None:
        why = "keys are read from a terminal, and there is none"
        raise UsageError(_NOTHING_ASKED, why, "add --print or --json")
    words, failed = _words(options, console), _failed_command(options)
    if is_direct and not words and not failed:
        raise UsageError(_NOTHING_ASKED, "there are no words", 'say it: workbench ask --print "list files"')
    with open_journal() as journal:
        workspace = workspace_path(options.directory)
        config = _usable_config(journal, workspace, console)
        if failed:
            register_secrets(config)
            words = fix_words(failed, os.environ.get(LAST_EXIT, ""), words)
        return _in_session(options, console, journal, workspace, config, words)


def _usable_config(journal: "Journal", workspace: str, console: Console) -> Config:
    """Return the settings, and say what is wrong with them; Refusal where they cannot be used.

    Rules are not checked here: that needs the tools and their schemas, and the model is to be asked soon.
    """
    loaded = load_workspace_config(journal, workspace)
    console.note_lines(map(str, loaded.problems))
    if not loaded.is_usable:
        raise Refusal(_NOTHING_ASKED, "the configuration cannot be used as it is", "correct it first")
    return loaded.config


def _in_session(
    options: Namespace, console: Console, journal: "Journal", workspace: str, config: Config,
    words: str,
) -> int:  # fmt: skip
    from workbench.host.host_locks import driver_identity
    from workbench.journal.leases import DriverLock

    with DriverLock(journal, driver_identity(journal, workspace, "run")) as lock:
        session, close = open_asked_session(options, console, journal, workspace, config, lock.driver)
        with closing(close):
            asker = _Asker(session, console, journal)
            try:
                return _answer(options, console, asker, words)
            finally:
                # Whatever happened, nothing is left half: a session that nobody answered was quit.
                session.end("quit")
                asker.write_log()


def open_asked_session(
    options: Namespace, console: Console, journal: "Journal", workspace: str, config: Config,
    driver: "DriverIdentity",
) -> "tuple[CommandSession, Root]":  # fmt: skip
    """Return a session that nothing was said in yet, and the root of its folder, to be closed."""
    from workbench.backend.command_session import open_command_session
    from workbench.cli.run_session import plan_session, require_valid_url
    from workbench.host.model_selection import SelectedModel

    model_options = with_ask_model(options, config)
    require_valid_url(model_options)
    plan = plan_session(model_options, config)
    if plan.note:
        console.note(plan.note)
    selected = SelectedModel(provider=plan.provider, model=plan.model, configuration=plan.configuration)
    settings = config.ask
    if options.context_lines is not None:
        settings = replace(settings, terminal_lines=options.context_lines)
    return open_command_session(journal, workspace, config, selected, settings, driver, user_actor())


class _Asker:
    """Asks for one iteration after the other, shows the progress, and keeps the log."""

    def __init__(self, session: "CommandSession", console: Console, journal: "Journal") -> None:
        self.session, self._console, self._journal = session, console, journal
        self._warned = ""
        self.is_stopped = False

    def suggest(self, words: str) -> "Suggestion":
        """Ask the model; ctrl+c ends that with CommandRefused."""
        from workbench.effects.process_table import become_subreaper

        become_subreaper()
        try:
            return asyncio.run(self._suggest(words))
        finally:
            self._console.clear_status()
            self.write_log()

    async def _suggest(self, words: str) -> "Suggestion":
        from workbench.cli.headless_run import STOP_SIGNALS, signal_handlers
        from workbench.cli.run_output import RunProgressLine, ticking

        progress = RunProgressLine(self._console, self._journal.now)
        with signal_handlers(STOP_SIGNALS, self._stop):
            async with ticking(progress.tick, is_on=self._console.has_status):
                return await self.session.suggest(words, progress.see)

    def _stop(self) -> bool:
        from workbench.host.session_requests import interrupt_session

        if self.is_stopped or not self.session.session_id:
            return False
        self.is_stopped = True
        interrupt_session(self._journal, self.session.session_id, user_actor())
        return True

    def write_log(self) -> None:
        """Write the log; a warning is said once."""
        warning = self.session.write_log()
        if warning and warning != self._warned:
            self._console.note(warning)
        self._warned = warning


def _answer(options: Namespace, console: Console, asker: _Asker, words: str) -> int:
    from workbench.cli.ask_dialog import refusal_lines
    from workbench.host.command_session import CommandRefused

    try:
        if options.print or options.json:
            return _print_command(options, console, asker, words)
        return _hold_dialog(options, console, asker, words)
    except CommandRefused as refused:
        console.note_lines(refusal_lines(refused))
        return EXIT_INTERRUPTED if asker.is_stopped else EXIT_FAILED
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED


def _print_command(options: Namespace, console: Console, asker: _Asker, words: str) -> int:
    from workbench.backend.command_session import why_refused

    suggestion = asker.suggest(words)
    is_refused = suggestion.is_denied or suggestion.answer.is_hidden
    status: LogStatus = "quit" if is_refused else "accepted"
    asker.session.end(status)
    if options.json:
        console.json(suggestion_json(asker.session, suggestion, status))
    if is_refused:
        console.note(why_refused(suggestion, "Not printed"))
        return EXIT_UNANSWERED
    if not options.json:
        console.note_lines(_misleading_notes(suggestion.answer.command))
        deliver(options, console, suggestion.answer.command)
    return EXIT_OK


def _misleading_notes(command: str) -> Iterator[str]:
    """Yield what a reader of a command would overlook."""
    from workbench.text.display import text_warnings
    from workbench.views.action_detail import WARNING_SENTENCES

    for warning in text_warnings(command, "approval_command"):
        if warning != "long":
            yield WARNING_SENTENCES.get(warning, "It holds characters that cannot be seen.")


def suggestion_json(session: "CommandSession", suggestion: "Suggestion", status: str) -> "dict[str, Json]":
    """Return one suggestion for programs; one that is denied has no command to be taken by mistake."""
    from workbench.cli.row_json import row_fields

    verdict, review = suggestion.verdict, suggestion.review
    parts: list[Json] = [row_fields(part, "text does marks reasons") for part in review.parts]
    return {
        "session_id": session.session_id,
        "status": status,
        "command": suggestion.answer.command if status == "accepted" else None,
        "explanation": suggestion.answer.explanation,
        "gate": row_fields(verdict, "outcome step by reason pattern rule"),
        "parts": parts,
        "is_certain": review.is_certain,
    }  # fmt: skip


def _hold_dialog(options: Namespace, console: Console, asker: _Asker, words: str) -> int:
    from workbench.cli.ask_dialog import CommandDialog, terminal_keys

    keys = terminal_keys(console)
    assert keys is not None
    columns = shutil.get_terminal_size().columns
    dialog = CommandDialog(console, keys, asker.suggest, _columns_of(console, columns))
    try:
        request = words or dialog.ask_words()
        if not request:
            console.note("Nothing was asked.")
            return EXIT_FAILED
        ending = dialog.run(request)
    except KeyboardInterrupt:
        console.note("")
        return EXIT_INTERRUPTED
    if isinstance(ending, str):
        asker.session.end(ending)
        return EXIT_FAILED
    asker.session.repeat(ending)
    asker.session.end("accepted")
    deliver(options, console, ending.answer.command)
    return EXIT_OK


def _columns_of(console: Console, usual: int) -> int:
    try:
        return os.get_terminal_size(console.err.fileno()).columns or usual
    except (OSError, ValueError):
        return usual
