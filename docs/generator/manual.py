"""The manual page `workbench.1`, from the argument parsers, in the macros of man(7)."""

from collections.abc import Iterator

from docs.generator.arguments import meaning, names, notes, own_arguments, usage
from docs.generator.tables import sentence
from workbench.cli.arguments import CommandParser
from workbench.cli.command_parsers import ParsedCommand, every_command, parsed_command
from workbench.cli.dispatch import COMMANDS, SCREEN_COMMAND

_HEAD = r""".\" Made by `python -m docs.make` from the argument parsers.
.TH WORKBENCH 1
.SH NAME
workbench \- supervise AI agents from the keyboard
.SH SYNOPSIS
.nf
workbench [DIR|FILE] [\-\-continue] [\-\-all] [\-\-plain]
workbench [\-C DIR] COMMAND ...
.fi
.SH DESCRIPTION
Every risky action of an agent waits in one queue, with a diff of what would change, until a human answers it
from the keyboard.
Without a command workbench opens the screen on DIR, or on the current folder; a FILE opens as what it is:
findings, a pipeline, a patch, settings, a session or a log.
.PP
.B workbench docs
shows the documentation, and
.B workbench docs \-\-search
.I WORD
searches it.
.SH OPTIONS
.TP
.B \-C \fIDIR\fR
Work in DIR instead of the current folder; every command takes it.
.TP
.B \-\-help
Print the most used options of a command.
.TP
.B \-\-version
Print the version."""
_TAIL = r""".SH EXIT STATUS
0 is success, 1 a failure, 2 a wrong command line, 130 ctrl+c; other codes are named at their command.
.SH ENVIRONMENT
.TP
.B WORKBENCH_HOME
The data folder: settings, sessions, logs.
.TP
.B WORKBENCH_\fINAME\fR
A setting, with its name in capitals and _ for each dot: WORKBENCH_APPROVALS_WINDOW_MINUTES.
.TP
.B PAGER, EDITOR, NO_COLOR
Used as in other programs.
.SH SEE ALSO
.BR git (1),
.BR less (1)"""


def manual_page() -> str:
    """Return the page as plain ASCII."""
    screen = parsed_command((SCREEN_COMMAND,), COMMANDS[SCREEN_COMMAND]).parser
    lines = [_HEAD, *_options(screen), ".SH COMMANDS"]
    for command in every_command():
        lines += _command_lines(command)
    return "\n".join([*lines, _TAIL]) + "\n"


def _command_lines(command: ParsedCommand) -> Iterator[str]:
    parser = command.parser
    yield from (f".SS {roff(' '.join(command.path))}", roff(sentence(command.entry.summary)))
    yield from (".PP", f".B {roff(usage(parser))}")
    yield from _options(parser)
    for is_exit_codes, rows in notes(parser):
        yield from (".PP", "Exit codes:" if is_exit_codes else "Keys:")
        for name, text in rows:
            yield from (".TP", f".B {roff(name)}", roff(text))
    yield from (".PP", "Examples:", ".PP", ".nf", *map(roff, parser.examples), ".fi")


def _options(parser: CommandParser) -> Iterator[str]:
    for action in own_arguments(parser):
        yield from (".TP", f".B {roff(', '.join(names(action)))}", meaning(action, roff, roff))


def roff(text: str) -> str:
    """Return text as it is read: no macro, no escape, and other characters than ASCII by their number."""
    escaped = text.replace("\\", "\\(rs").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    escaped = escaped.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    ascii_text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{ascii_text}" if ascii_text.startswith(".") else ascii_text
