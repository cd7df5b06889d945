"""Regular expressions of rules and searches: by RE2, within limits."""

import re
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Final, cast

MAX_REGEX_LENGTH: Final = 2000
_MAX_GENERATED_LENGTH: Final = 20_000
MAX_SEARCH_STEPS: Final = 50_000_000
"""Instructions times bytes of one search: about a third of a second where RE2 is at its slowest."""
_RULE_MEMORY: Final = 1 << 20
_SEARCH_MEMORY: Final = 8 << 20
_GENERATED_MEMORY: Final = 16 << 20
_MIN_BLOCK_BYTES: Final = 4096


class InvalidRegex(ValueError):
    """A pattern is not valid; the message is the reason."""


class RegexTooCostly(Exception):
    """The text is too long for the pattern to be searched in the time there is."""


class Regex:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile with RE2, or raise `InvalidRegex`."""
        if len(pattern) > _MAX_GENERATED_LENGTH:
            raise InvalidRegex(f"longer than {_MAX_GENERATED_LENGTH} characters")
        try:
            self._compiled = _re2_library().compile(pattern, _re2_options())
        except (_re2_library().error, UnicodeError) as error:
            raise InvalidRegex(f"RE2: {_error_words(error)}") from None
        self._size = max(1, int(self._compiled.programsize))

    def is_in(self, text: str) -> bool:
        """Say whether the pattern matches anywhere; `RegexTooCostly` beyond `MAX_SEARCH_STEPS`."""
        data = text.encode("utf-8", "surrogatepass")
        if len(data) * self._size > MAX_SEARCH_STEPS:
            raise RegexTooCostly(f"{len(data)} bytes against a pattern of {self._size} instructions")
        return self._compiled.search(data) is not None


class LineFinder:
    """A pattern that is looked for in lines of files, in any bytes."""

    def __init__(self, pattern: str, *, is_literal: bool, ignore_case: bool) -> None:
        """Compile with RE2, or raise `InvalidRegex`."""
        if len(pattern) > MAX_REGEX_LENGTH:
            raise InvalidRegex(f"longer than {MAX_REGEX_LENGTH} characters")
        text = _re2_library().escape(pattern) if is_literal else pattern
        options = _re2_options()
        options.max_mem = _SEARCH_MEMORY
        options.case_sensitive = not ignore_case
        try:
            self._compiled = _re2_library().compile(f"(?m){text}", options)
        except (_re2_library().error, UnicodeError) as error:
            raise InvalidRegex(_error_words(error)) from None
        self._size = max(1, int(self._compiled.programsize))

    def find(self, data: bytes, start: int) -> int | None:
        """Return where the pattern matches first, from a position on."""
        match = self._compiled.search(data, start)
        return None if match is None else int(match.start())

    def block(self, most: int) -> int:
        """Return how many bytes, at most `most`, one search may cover within `MAX_SEARCH_STEPS`."""
        return max(_MIN_BLOCK_BYTES, min(most, MAX_SEARCH_STEPS // self._size))


class TextFinder:
    """Many expressions of our own, looked for together: one pass over a text, whatever their number."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile them as one that takes no account of case."""
        options = _re2_options()
        # Below it RE2 makes its states again and again: at 4 MB it reads 11 MB a second, at 16 MB 280.
        options.max_mem = _GENERATED_MEMORY
        options.case_sensitive = False
        self._compiled = _re2_library().compile("(?m)" + "|".join(patterns), options)

    def is_in(self, text: str) -> bool:
        return self._compiled.search(text.encode("utf-8", "surrogatepass")) is not None


@cache
def _re2_library() -> Any:
    import re2

    return cast("Any", re2)


def _re2_options() -> Any:
    options = _re2_library().Options()
    options.log_errors = False
    options.max_mem = _RULE_MEMORY
    return options


@lru_cache(maxsize=512)
def compile_regex(pattern: str) -> Regex:
    """Return a compiled pattern from the cache, or raise `InvalidRegex`."""
    return Regex(pattern)


def regex_problem(pattern: str) -> str | None:
    """Return why a pattern is not valid in both Python's `re` and RE2; None if it is."""
    if len(pattern) > MAX_REGEX_LENGTH:
        return f"longer than {MAX_REGEX_LENGTH} characters"
    try:
        compile_regex(pattern)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except InvalidRegex as error:
        return str(error)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        return f"Python: {error or type(error).__name__}"
    return None


def _error_words(error: Exception) -> str:
    message = error.args[0] if error.args else type(error).__name__
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(error)


# --- from a parsed pattern ---------------------------------------------------------------------------
