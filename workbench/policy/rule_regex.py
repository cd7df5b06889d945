"""Regular expressions of rules that allow: what they must be about before they let a call pass.

An expression is searched in canonical JSON, where it could begin anywhere: in the content of a file, in the
third word of a command. So one that allows has to match from the beginning of the member that says what
the call acts on: the path, with the file that it really leads to, the address, or the command from its
first word. Owns that test. Rules that deny or ask are searched everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from workbench.domain.values import Json, JsonObject, ToolDescriptor
from workbench.policy import regex
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell import Simple
from workbench.text import canonical

_OTHER: Final = "qvx7kd"
"""A word that no pattern has a reason to match."""
_SPECIAL: Final = frozenset("\\.^$*+?()[]{}|")


def exact(parameters: JsonObject) -> str:
    """Return the expression that matches exactly these parameters."""
    text = canonical.dumps(dict(parameters))
    return "^" + "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in text) + "$"


def grounded(parameters: JsonObject, targets: Mapping[str, ResolvedPath]) -> Iterator[JsonObject]:
    """Yield parameters with their paths as they really are: relative to the workspace, then absolute."""
    yield {**parameters, **{name: target.relative for name, target in targets.items()}}
    if targets:
        yield {**parameters, **{name: target.path for name, target in targets.items()}}


def allows(
    pattern: str, descriptor: ToolDescriptor, parameters: JsonObject, targets: Mapping[str, ResolvedPath]
) -> bool:
    """Say whether an expression lets a call pass that runs no command.

    Args:
        pattern: The expression.
        descriptor: The tool.
        parameters: The call's.
        targets: Its paths, resolved; a path that is not among them is not let pass.
    """
    named = [name for name in descriptor.path_parameters if name in parameters]
    if not targets.keys() >= set(named):
        return False
    if not named and descriptor.url_parameter in parameters:
        named = [str(descriptor.url_parameter)]
    return any(_is_about(pattern, real, named) for real in grounded(parameters, targets))


def _is_about(pattern: str, parameters: JsonObject, named: list[str]) -> bool:
    if pattern == exact(parameters):
        return True
    whole = canonical.dumps(dict(parameters))
    if not _is_in(pattern, whole):
        return False
    if not named:
        members = (_member(parameters, name) for name in parameters)
        return _begins(pattern, whole) or any(_begins(pattern, text) for text in members)
    if all(_begins(pattern, _member(parameters, name)) for name in named):
        return True
    if not _begins(pattern, whole):
        return False
    return _pins(pattern, parameters, named) or _depends_on(pattern, parameters, named)


def _pins(pattern: str, parameters: JsonObject, named: list[str]) -> bool:
    """Say whether an expression over the whole JSON says how each of these members begins."""
    others = ({**parameters, name: f"{_OTHER}{parameters[name]}"} for name in named)
    return not any(_begins(pattern, canonical.dumps(other), in_doubt=True) for other in others)


def _depends_on(pattern: str, parameters: JsonObject, named: list[str]) -> bool:
    """Say whether an expression over the whole JSON matches because of these members and nothing else."""
    neutral = {name: value if name in named else _neutral(value) for name, value in parameters.items()}
    others = ({**neutral, name: _OTHER} for name in named)
    return _begins(pattern, canonical.dumps(neutral)) and not any(
        _begins(pattern, canonical.dumps(other), in_doubt=True) for other in others
    )


def _neutral(value: Json) -> Json:
    return value if value is None or isinstance(value, bool | int | float) else _OTHER


def begins(pattern: str, parameters: JsonObject, name: str, sources: Iterable[str], simple: Simple) -> bool:
    """Say whether an expression matches a simple command from its first word on, and that word as a whole.

    Args:
        pattern: The expression.
        parameters: Of the call.
        name: The parameter that holds the command.
        sources: The simple command as it may be written.
        simple: The same, taken apart.
    """
    words = [*simple.assignments, *simple.written]
    head = len(simple.assignments)
    words[head : head + 1] = [f"{word}{_OTHER}" for word in words[head : head + 1]]
    longer = " ".join(words)
    return any(
        pattern == exact({**parameters, name: source})
        or _begins_as_word(pattern, parameters, name, source, longer)
        for source in sources
    )


def _begins_as_word(pattern: str, parameters: JsonObject, name: str, source: str, longer: str) -> bool:
    pairs = zip(_texts(parameters, name, source), _texts(parameters, name, longer), strict=True)
    return any(
        _begins(pattern, text)
        and (_begins(pattern, text, ending=_END) or not _begins(pattern, other, in_doubt=True))
        for text, other in pairs
    )


def _texts(parameters: JsonObject, name: str, source: str) -> Iterator[str]:
    """Yield a command from its first word on, as its member, and as the JSON of a call without others."""
    made = {**{key: _neutral(value) for key, value in parameters.items()}, name: source}
    yield canonical.dumps(source)[1:]
    yield _member(made, name)
    yield canonical.dumps(made)


_END: Final = r'(?:[\s"\\]|$)'
"""Behind a word."""


def _member(parameters: JsonObject, name: str) -> str:
    """Return a member as it stands in canonical JSON, with the sign behind it."""
    return canonical.dumps({name: parameters[name]})[1:-1] + ("}" if name == max(parameters) else ",")


def _begins(pattern: str, text: str, *, ending: str = "", in_doubt: bool = False) -> bool:
    return _is_in(f"\\A(?:{pattern}){ending}", text, in_doubt=in_doubt)


def _is_in(pattern: str, text: str, *, in_doubt: bool = False) -> bool:
    try:
        return regex.compiled(pattern).is_in(text)
    except (regex.BadPattern, regex.TooCostly):
        return in_doubt
