"""Regular expressions that are searched in time linear in the text: the only door to RE2.

Owns compiling, the limits on size, and the judgement whether a pattern is valid in Python's `re` and in
RE2. It must never let a pattern run that could hold up a verdict for a second.
"""

import re
import warnings
from functools import cache, lru_cache
from typing import Any, Final, cast

LONGEST: Final = 2000
"""Characters of a pattern that somebody wrote."""

_LONGEST_MADE: Final = 20_000

STEPS: Final = 50_000_000
"""Instructions times bytes of one search: about a third of a second where RE2 is at its slowest."""

_MEMORY: Final = 1 << 20
_SEARCH_MEMORY: Final = 8 << 20
_SMALLEST_BLOCK: Final = 4096


class BadPattern(ValueError):
    """A pattern is not valid; the message is the reason."""


class TooCostly(Exception):
    """The text is too long for the pattern to be searched in the time there is."""


class Regex:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile with RE2.

        Raises:
            BadPattern: RE2 cannot read it, or it is too long or too large.
        """
        if len(pattern) > _LONGEST_MADE:
            raise BadPattern(f"longer than {_LONGEST_MADE} characters")
        try:
            self._compiled = _library().compile(pattern, _options())
        except (_library().error, UnicodeError) as error:
            raise BadPattern(f"RE2: {_words(error)}") from None
        self._size = max(1, int(self._compiled.programsize))

    def is_in(self, text: str) -> bool:
        """Say whether the pattern matches anywhere in the text.

        Raises:
            TooCostly: Text times pattern is larger than `STEPS`.
        """
        data = text.encode("utf-8", "surrogatepass")
        if len(data) * self._size > STEPS:
            raise TooCostly(f"{len(data)} bytes against a pattern of {self._size} instructions")
        return self._compiled.search(data) is not None


class Finder:
    """A pattern that is looked for in lines of files, in any bytes."""

    def __init__(self, pattern: str, *, is_literal: bool, ignore_case: bool) -> None:
        """Compile with RE2.

        Raises:
            BadPattern: RE2 cannot read it, or it is too long or too large.
        """
        if len(pattern) > LONGEST:
            raise BadPattern(f"longer than {LONGEST} characters")
        text = _library().escape(pattern) if is_literal else pattern
        options = _options()
        options.max_mem = _SEARCH_MEMORY
        options.case_sensitive = not ignore_case
        try:
            self._compiled = _library().compile(f"(?m){text}", options)
        except (_library().error, UnicodeError) as error:
            raise BadPattern(_words(error)) from None
        self._size = max(1, int(self._compiled.programsize))

    def find(self, data: bytes, start: int) -> int | None:
        """Return where the pattern matches first, from a position on."""
        found = self._compiled.search(data, start)
        return None if found is None else int(found.start())

    def block(self, most: int) -> int:
        """Return how many bytes may be searched at once so that one search stays within `STEPS`."""
        return max(_SMALLEST_BLOCK, min(most, STEPS // self._size))


@cache
def _library() -> Any:
    import re2

    return cast("Any", re2)


def _options() -> Any:
    options = _library().Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return options


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Regex:
    """Return a compiled pattern, kept for the next time.

    Raises:
        BadPattern: RE2 cannot read it.
    """
    return Regex(pattern)


def problem(pattern: str) -> str | None:
    """Return why a pattern is not valid in both Python's `re` and RE2, or None if it is."""
    if len(pattern) > LONGEST:
        return f"longer than {LONGEST} characters"
    try:
        compiled(pattern)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except BadPattern as error:
        return str(error)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        return f"Python: {error or type(error).__name__}"
    return None


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else type(error).__name__
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(error)
