"""The prompt of `workbench run`: the words behind `-p`, or all of standard input."""

import sys
from typing import Final

from workbench.cli.console import Console
from workbench.cli.errors import Refusal, UsageError

STANDARD_INPUT: Final = "-"
"""The word behind `-p` that means standard input."""
MAX_PROMPT_BYTES: Final = 1_000_000
_WHAT: Final = "nothing was run"
_REMEDY: Final = "say what to do with -p TEXT, or pipe it in: echo TEXT | workbench run"


def read_prompt(typed: str | None, console: Console, *, continues: bool) -> str | None:
    """Return the prompt of a run; None for one that continues a session without words.

    Standard input is read where it was asked for with `-p -`, and for a new session without `-p` where no
    terminal stands behind it. Raises UsageError where there is no prompt, Refusal where it cannot be read.
    """
    if typed is None and continues:
        return None
    if typed not in (None, STANDARD_INPUT):
        return _required(typed, "the prompt is empty")
    has_person = sys.stdin is not None and sys.stdin.isatty()
    if typed is None:
        return _required("" if has_person else _decoded(_standard_input()), "there is no prompt")
    if has_person:
        console.note("Type the prompt; ctrl+d on a line of its own ends it.")
    return _required(_decoded(_standard_input()), "standard input is empty")


def _required(text: str | None, why: str) -> str:
    if text is None or not text.strip():
        raise UsageError(_WHAT, why, _REMEDY)
    return text


def _standard_input() -> bytes:
    try:
        data = b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_PROMPT_BYTES + 1)
    except OSError:  # nothing is behind it
        return b""
    if len(data) > MAX_PROMPT_BYTES:
        why = f"the prompt on standard input is longer than {MAX_PROMPT_BYTES:,} bytes"
        raise Refusal(_WHAT, why, "put it into a file of the workspace, and name that file in the prompt")
    return data


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"the prompt on standard input is not UTF-8 text (byte {error.start + 1:,})"
        raise Refusal(_WHAT, why, "convert it, for example with iconv -t UTF-8") from None
    if "\0" in text:
        raise Refusal(_WHAT, "the prompt on standard input has zero bytes in it", "pipe in text")
    return text.replace("\r\n", "\n").strip("\n")
