"""Kinds of values: what a key accepts, in words and as a check of one located JSON value.

Owns the constraints. A check must never repair a value or guess: it returns the value, or says what
was expected, and whoever asked decides what holds instead.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol
from urllib.parse import urlsplit

from workbench.records import dataclass
from workbench.text.human import parse_iso
from workbench.text.located import Node
from workbench.text.safe import has_hidden


class Unfit(Exception):
    """A value that its key does not accept.

    Attributes:
        expected: What it has to be, after the words "must be".
        node: The value that does not fit.
        key: Key below the one that was checked; empty for itself.
        remedy: What to do, where it is more than to change the value.
    """

    def __init__(self, expected: str, node: Node, key: str = "", remedy: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.node = node
        self.key = key
        self.remedy = remedy


class Kind(Protocol):
    """What a key accepts."""

    @property
    def words(self) -> str:
        """Say it after "must be"."""
        ...

    def check(self, node: Node) -> object:
        """Return the value; raise Unfit."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    low: int
    high: int

    @property
    def words(self) -> str:
        """Say it."""
        return f"a whole number from {self.low} to {self.high}" if self.low < self.high else str(self.low)

    def check(self, node: Node) -> int:
        """Check it; true and 30.0 are no whole numbers."""
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise Unfit(self.words, node)


@dataclass(frozen=True, slots=True)
class Number:
    """A number above or from a lower bound, up to a higher one; fractions allowed."""

    low: float
    high: float
    what: str = "a number"
    includes_low: bool = False

    @property
    def words(self) -> str:
        """Say it."""
        lower = f"from {self.low:.10g}" if self.includes_low else f"greater than {self.low:g}"
        return f"{self.what} {lower}, at most {self.high:.10g}"

    def check(self, node: Node) -> float:
        """Check it."""
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            is_above = value >= self.low if self.includes_low else value > self.low
            if is_above and value <= self.high:
                return value
        raise Unfit(self.words, node)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    words: str = "true or false"

    def check(self, node: Node) -> bool:
        """Check it."""
        if isinstance(node.value, bool):
            return node.value
        raise Unfit(self.words, node)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        """Say it."""
        quoted = [f'"{option}"' for option in self.options]
        return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]

    def check(self, node: Node) -> str:
        """Check it."""
        if isinstance(node.value, str) and node.value in self.options:
            return node.value
        raise Unfit(self.words, node)


@dataclass(frozen=True, slots=True)
class Text:
    """A text of one line that is not empty; optionally of one form."""

    words: str = "a text that is not empty"
    form: str = ".*"
    limit: int = 4096

    def check(self, node: Node) -> str:
        """Check it; hidden characters are refused as well."""
        value = node.value
        if not isinstance(value, str) or not value.strip() or len(value) > self.limit:
            raise Unfit(self.words, node)
        if has_hidden(value) or "\n" in value:
            raise Unfit(f"{self.words}, on one line and without hidden characters", node)
        if not re.fullmatch(self.form, value):
            raise Unfit(self.words, node)
        return value


@dataclass(frozen=True, slots=True)
class Url:
    """An address with scheme and host, without a password."""

    words: str = 'a URL with scheme and host, such as "http://localhost:11434"'

    def check(self, node: Node) -> str:
        """Check it."""
        value = Text(self.words).check(node)
        try:
            parts = urlsplit(value)
            is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            raise Unfit(self.words, node) from None
        if "@" in parts.netloc:
            raise Unfit(
                "a URL without user and password",
                node,
                remedy="Name the variable that holds the key in key_env.",
            )
        if not is_fit or re.search(r"\s", value) or parts.query or parts.fragment:
            raise Unfit(self.words, node)
        return value


@dataclass(frozen=True, slots=True)
class Time:
    """An ISO 8601 time, kept as microseconds."""

    words: str = 'a time such as "2026-11-21T12:00:00Z"'

    def check(self, node: Node) -> int:
        """Check it."""
        try:
            return parse_iso(Text(self.words).check(node))
        except ValueError:
            raise Unfit(self.words, node) from None


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of one kind; the value is a list of pairs of item and line."""

    item: Kind
    what: str

    @property
    def words(self) -> str:
        """Say it."""
        return f"a list of {self.what}"

    def check(self, node: Node) -> list[tuple[object, int]]:
        """Check each item."""
        if node.items is None:
            raise Unfit(self.words, node)
        return [(checked, item.line) for item, checked in self._checked(node.items)]

    def _checked(self, items: tuple[Node, ...]) -> Iterator[tuple[Node, object]]:
        for number, item in enumerate(items):
            try:
                yield item, self.item.check(item)
            except Unfit as unfit:
                raise Unfit(
                    unfit.expected, unfit.node, _joined(f"[{number}]", unfit.key), unfit.remedy
                ) from None


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record."""

    kind: Kind
    is_required: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known members; the value is a dict of what is there."""

    what: str
    fields: Mapping[str, Field]

    @property
    def words(self) -> str:
        """Say it."""
        return self.what

    def check(self, node: Node) -> dict[str, object]:
        """Check each member; missing and unknown ones do not fit, null is absent."""
        if node.members is None:
            raise Unfit(self.what, node)
        for name in node.members:
            if name not in self.fields:
                raise Unfit(f"named {' or '.join(self.fields)}", node.members[name], name[:40])
        for name, field in self.fields.items():
            if field.is_required and name not in node.members:
                raise Unfit(f'{self.what} with "{name}"', node)
        return {
            name: _below(name, self.fields[name].kind.check, member)
            for name, member in node.members.items()
            if member.value is not None or self.fields[name].is_required
        }


@dataclass(frozen=True, slots=True)
class TextMap:
    """An object of texts."""

    words: str
    key: Text
    value: Text

    def check(self, node: Node) -> dict[str, str]:
        """Check each key and value."""
        if node.members is None:
            raise Unfit(self.words, node)
        for name, member in node.members.items():
            _below(
                name[:40], self.key.check, Node(value=name, line=member.key_line, column=member.key_column)
            )
            _below(name[:40], self.value.check, member)
        return {name: str(member.value) for name, member in node.members.items()}


def _below(name: str, check: Callable[[Node], object], node: Node) -> object:
    try:
        return check(node)
    except Unfit as unfit:
        raise Unfit(unfit.expected, unfit.node, _joined(name, unfit.key), unfit.remedy) from None


def _joined(name: str, rest: str) -> str:
    return f"{name}{rest}" if rest.startswith("[") or not rest else f"{name}.{rest}"
