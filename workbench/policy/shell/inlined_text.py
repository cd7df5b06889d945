"""Replaces a message that a quoted here-document gives by the same text in quotes.

`git commit -m "$(cat <<'EOF' … EOF)"` passes the lines between the two marks to git, unchanged. Agents commit
like this, and both readers of a line refuse substitutions. The text takes the place of the substitution
before they read the line, so that they see the words that the program gets.
"""

import re
import sys
from typing import Final

from workbench.policy.shell.parser import UnclearCommand, tokenize

_MESSAGE: Final = re.compile(
    r"""
    (?<!\\)"\$\([ ]?cat[ ]<<[ ]?(?P<quote>['"]) (?P<mark>[A-Za-z_][A-Za-z0-9_]*) (?P=quote) [ \t]*\n
    (?P<body>(?:(?![ \t]*(?P=mark))[^\n]*\n)*)
    (?P=mark)\n [ \t\n]*\)"
    """,
    re.VERBOSE,
)
# bash ends the text also at a line that only begins with the mark: no line of a body does.
_MOST_MESSAGES: Final = 4
_MISREAD_SIGNS: Final = frozenset("'\"()`\\")
"""Signs of a body that the shell of macOS (bash 3.2) takes for a part of the substitution around it."""


def with_inlined_messages(command: str) -> str:
    """Return a line in which each message from a quoted here-document stands in single quotes.

    A line that holds such a form in another place, such as a comment or a quoted text, is returned as it is.
    """
    for _ in range(_MOST_MESSAGES if "<<" in command else 0):
        match = _MESSAGE.search(command)
        if match is None or not _is_word_part(command, match.start()) or _may_be_misread(match["body"]):
            break
        # A substitution drops the line ends at the end of its output.
        text = match["body"].rstrip("\n").replace("'", "'\\''")
        command = f"{command[: match.start()]}'{text}'{command[match.end() :]}"
    return command


def _is_word_part(command: str, place: int) -> bool:
    """Return whether a shell would take a letter at a place for a part of an unquoted word."""
    try:
        tokens = tokenize(f"{command[:place]}x")
    except UnclearCommand:
        return False
    end = len(command[:place].encode("utf-8", "surrogatepass")) + 1
    return bool(tokens) and tokens[-1].kind == "word" and tokens[-1].end == end


def _may_be_misread(body: str) -> bool:
    return sys.platform == "darwin" and not _MISREAD_SIGNS.isdisjoint(body)
