"""robots.txt (RFC 9309): whether a site lets a program fetch a path.

Owns reading the file and the longest match. It fetches nothing. Patterns are matched piece by piece, so a
hostile file costs no more time than its length.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

LARGEST: Final = 512_000
"""Bytes that are read; RFC 9309 section 2.5 asks for 500 kibibytes at least."""

_MOST_RULES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rule:
    """One line that allows or disallows."""

    is_allowed: bool
    pattern: str


def is_allowed(text: str, agent: str, target: str) -> bool:
    """Say whether a program may fetch a path.

    Args:
        text: The file.
        agent: The program's product name; matched without case.
        target: Path and query, percent-encoded.
    """
    if target == "/robots.txt":
        return True
    best: Rule | None = None
    for rule in _rules(text, agent.lower()):
        if not _matches(rule.pattern, target):
            continue
        longer = best is None or len(rule.pattern) > len(best.pattern)
        if longer or (best is not None and len(rule.pattern) == len(best.pattern) and rule.is_allowed):
            best = rule
    return best is None or best.is_allowed


def _rules(text: str, agent: str) -> list[Rule]:
    """Return the rules for a program: of the groups that name it, else of those for all."""
    named: list[Rule] = []
    general: list[Rule] = []
    is_named = False
    for agents, rule in _lines(text):
        is_named |= agent in agents
        if rule is None:
            continue
        if agent in agents:
            named.append(rule)
        elif "*" in agents:
            general.append(rule)
    return (named if is_named else general)[:_MOST_RULES]


def _lines(text: str) -> Iterator[tuple[frozenset[str], Rule | None]]:
    """Yield every rule with the names its group is for; None for the line that names them."""
    agents: set[str] = set()
    is_open = False
    for line in text.removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        key, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            agents = {*agents, value.lower()} if is_open else {value.lower()}
            is_open = True
            yield frozenset(agents), None
        elif key in ("allow", "disallow"):
            is_open = False
            if value and agents:
                pattern = quote(value, safe="%/:?#[]@!$&'()*+,;=~")
                yield frozenset(agents), Rule(key == "allow", pattern)


def _matches(pattern: str, target: str) -> bool:
    is_anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    at = len(first)
    if not others:
        return not is_anchored or at == len(target)
    for piece in others[:-1]:
        found = target.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    if is_anchored:
        return len(target) - len(others[-1]) >= at and target.endswith(others[-1])
    return target.find(others[-1], at) >= 0
