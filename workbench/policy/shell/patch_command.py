"""The patch in a shell line, by the rule of Codex: what it applies itself instead of running the line.

The whole line is one statement: `apply_patch` with a here-document, or `cd PATH &&` and that. Any other line
that names the program has no patch here, and is never plain.
"""

import re
from typing import Any, Final, NamedTuple

from workbench.policy.shell import grammar
from workbench.policy.shell.parser import UnclearCommand, tokenize

MAX_PATCH_LINE: Final = 131_072
"""Characters of a line in which a patch is looked for: what a shell takes as one argument."""
_PATCH_PROGRAMS: Final = (b"apply_patch", b"applypatch")
_PLAIN_FOLDER: Final = re.compile(rb"[\w./@%+=:,][\w./@%+=:,-]*")
_QUOTED_FOLDER: Final = re.compile(rb"'([^'\n]+)'|\"([^\"\\$`!\n]+)\"")
_END_WORD: Final = re.compile(rb"'([A-Za-z_]\w*)'|\"([A-Za-z_]\w*)\"|([A-Za-z_]\w*)")


class PatchCommand(NamedTuple):
    """A line that holds a patch and does nothing else."""

    command: str
    patch: bytes
    folder: str
    """Where the patch is applied, from the folder in which the line runs."""
    start: int
    end: int
    """Where the patch is in the bytes of the line."""

    def with_patch(self, patch: bytes) -> str:
        """Return the line with another patch in place of its own. Raises ValueError where it does not fit."""
        line = self.command.encode("utf-8")
        text = (line[: self.start] + patch.rstrip(b"\n") + b"\n" + line[self.end :]).decode("utf-8")
        found = find_patch_command(text)
        if found is None or found.patch.strip(b"\n") != patch.strip(b"\n") or found.folder != self.folder:
            raise ValueError("the patch cannot be a here-document of this line")
        return text


def find_patch_command(command: str) -> PatchCommand | None:
    """Return the patch of a line; None where the line is anything else as well."""
    if len(command) > MAX_PATCH_LINE or "\r" in command:
        return None
    try:
        line = command.encode("utf-8")
        tokenize(command)  # refuses a text that the shell would expand
    except (UnicodeEncodeError, UnclearCommand):
        return None
    if not any(name in line for name in _PATCH_PROGRAMS):
        return None
    root = grammar.syntax_root(line)
    statement = root.named_children[0] if len(root.named_children) == 1 else None
    if root.has_error or statement is None or statement.type != "redirected_statement":
        return None
    return _patch_of_statement(command, line, statement)


def find_carried_patch(command: str) -> PatchCommand | None:
    """Return the patch of a line that an agent applies itself, also where its lines end with CR and LF.

    Codex takes the CR off every line of such a patch; the returned line has none. A CR inside a line, and
    one in a line before the patch, have no patch here.
    """
    if "\r" not in command:
        return find_patch_command(command)
    found = find_patch_command(command.replace("\r\n", "\n"))
    is_one_line = found is not None and found.command.encode("utf-8")[: found.start].count(b"\n") == 1
    return found if is_one_line else None


def _patch_of_statement(command: str, line: bytes, statement: Any) -> PatchCommand | None:
    if [child.type for child in statement.named_children[1:]] != ["heredoc_redirect"]:
        return None
    body, redirect = statement.named_children
    folder = _folder(line, body)
    kinds = [child.type for child in redirect.named_children]
    if folder is None or kinds != ["heredoc_start", "heredoc_body", "heredoc_end"]:
        return None
    word, text, _ = redirect.named_children
    start, end = text.start_byte, text.end_byte
    form = _END_WORD.fullmatch(line[word.start_byte : word.end_byte])
    if form is None or line[redirect.start_byte : word.start_byte].strip(b" \t") != b"<<":
        return None
    return PatchCommand(command, line[start:end], folder, start, end)


def _folder(line: bytes, body: Any) -> str | None:
    """Return where a statement applies its patch, "" for the folder of the line; None where it does more."""
    if body.type != "list":
        return "" if _is_patch_program(line, body) else None
    if [child.type for child in body.children] != ["command", "&&", "command"]:
        return None
    change, _, program = body.children
    words = [line[child.start_byte : child.end_byte] for child in change.children]
    if len(words) != 2 or words[0] != b"cd" or not _is_patch_program(line, program):
        return None
    if _PLAIN_FOLDER.fullmatch(words[1]):
        return words[1].decode("utf-8")
    quoted = _QUOTED_FOLDER.fullmatch(words[1])
    return quoted and (quoted[1] or quoted[2]).decode("utf-8")


def _is_patch_program(line: bytes, command: Any) -> bool:
    return command.type == "command" and line[command.start_byte : command.end_byte] in _PATCH_PROGRAMS
