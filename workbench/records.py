"""Dataclasses that are cheap to import: what is never called is never generated.

Owns one decorator, the standard library's in everything but when its methods are made, and `replace`, the
standard library's in everything but its time. `dataclasses` compiles
six methods for every class when its module is imported, 0.7 ms a class; this program has hundreds of records,
and the first frame needs the methods of a few. It must never change what a dataclass does.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """Make a class a dataclass whose methods are generated at the first call of one of them."""

        def made(cls):
            return _made(cls, frozen=frozen, slots=slots, kw_only=kw_only)

        return made if cls is None else made(cls)


C = TypeVar("C", bound=type[Any])


class _Factory:
    """Stands for a default that is made anew each time, in signatures as the standard library shows it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
_GENERATED = ("__init__", "__repr__", "__eq__", "__hash__")


def _made(given: C, *, frozen: bool, slots: bool, kw_only: bool) -> C:
    own = {name for name in _GENERATED if name in given.__dict__}
    shape = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    cls: Any = shape(given)
    for name in _GENERATED[:3]:
        if name not in own:
            setattr(cls, name, _stub(cls, name, frozen))
    if "__eq__" not in own and "__hash__" not in own:
        cls.__hash__ = _stub(cls, "__hash__", frozen) if frozen else None
    if "__init__" not in own:
        cls.__signature__ = _Signature(cls, frozen)
    if frozen:
        cls.__setattr__, cls.__delattr__ = _no_assignment, _no_deletion
        if slots:
            cls.__getstate__, cls.__setstate__ = _state, _set_state
    return cls


def _stub(cls: Any, name: str, frozen: bool) -> Callable[..., Any]:
    """Return a method that puts the real one in its place and calls it."""

    def stub(self: Any, *given: Any, **named: Any) -> Any:
        _generate(cls, name, frozen)
        return getattr(cls, name)(self, *given, **named)

    stub.__name__, stub.__qualname__ = name, f"{cls.__qualname__}.{name}"
    stub.is_stub = True  # type: ignore[attr-defined]
    return stub


def _generate(cls: Any, name: str, frozen: bool) -> None:
    """Put the real method in the place of its stub."""
    if getattr(cls.__dict__.get(name), "is_stub", False):
        method: Any = _beginning(cls) if name == "__init__" else _twin(cls, frozen).__dict__[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)


def _twin(cls: Any, frozen: bool) -> Any:
    """Return a class of the standard library with the same fields, to take methods from."""
    fields = [(one.name, one.type, _again(one)) for one in dataclasses.fields(cls)]
    return dataclasses.make_dataclass(cls.__name__, fields, init=False, frozen=frozen)


def _beginning(cls: Any) -> Any:
    """Return the `__init__` of a class: the one method that most classes need, in one compilation."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": _FACTORY}
    given: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for at, one in enumerate(dataclasses.fields(cls)):
        value = one.name
        known[f"_type{at}"], known[f"_default{at}"] = one.type, one.default
        start = "" if one.default is dataclasses.MISSING else f"=_default{at}"
        if one.default_factory is not dataclasses.MISSING:
            known[f"_make{at}"], start = one.default_factory, "=_missing"
            value = f"_make{at}() if {one.name} is _missing else {one.name}"
        (named if one.kw_only else given).append(f"{one.name}: _type{at}{start}")
        lines.append(f" _set(self, {one.name!r}, {value})")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    words = ", ".join(["self", *given, *(["*", *named] if named else [])])
    exec(f"def __init__({words}) -> None:\n" + "\n".join(lines or [" pass"]), known)
    return known["__init__"]


def _again(one: "dataclasses.Field[Any]") -> Any:
    """Return a field like one of another class."""
    is_given = one.default_factory is dataclasses.MISSING
    start: dict[str, Any] = {"default": one.default} if is_given else {"default_factory": one.default_factory}
    return dataclasses.field(
        init=one.init, repr=one.repr, hash=one.hash, compare=one.compare, metadata=one.metadata,
        kw_only=one.kw_only, **start,
    )  # fmt: skip


class _Signature:
    """What `inspect.signature` says of a class, made when it is asked."""

    def __init__(self, owner: Any, frozen: bool) -> None:
        self._owner, self._frozen = owner, frozen

    def __get__(self, _instance: object, cls: Any) -> inspect.Signature:
        _generate(self._owner, "__init__", self._frozen)
        found = inspect.signature(cls.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


def _no_assignment(self: object, name: str, value: object) -> None:
    del self, value
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: object, name: str) -> None:
    del self
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


# --- copies ---------------------------------------------------------------------------------------

R = TypeVar("R")


def replace(record: R, /, **changes: Any) -> R:
    """Return a copy of a record with some fields changed: `dataclasses.replace` in a tenth of its time.

    A record with slots is filled as a class of the same slots that is not frozen, and becomes what it is by a
    change of class, which CPython allows between equal layouts; `__init__` is not run.

    Raises:
        TypeError: a change names no field.
    """
    copied = _copier(type(record))
    if copied is None:
        return dataclasses.replace(record, **changes)  # type: ignore[type-var]
    draft = copied(record)
    try:
        for name, value in changes.items():
            setattr(draft, name, value)
    except AttributeError as error:
        raise TypeError(f"{type(record).__name__}: {error}") from None
    draft.__class__ = type(record)
    return draft


@functools.cache
def _copier(cls: Any) -> Callable[[Any], Any] | None:
    """Return what copies a record into a draft; None where the layouts would not be equal."""
    names = tuple(one.name for one in dataclasses.fields(cls))
    is_flat = cls.__bases__ == (object,) and getattr(cls, "__slots__", None) == names
    if not is_flat or hasattr(cls, "__post_init__"):
        return None
    draft = type("Draft", (), {"__slots__": names})
    body = "".join(f" draft.{name} = record.{name}\n" for name in names)
    known: dict[str, Any] = {"Draft": draft}
    exec(f"def copied(record):\n draft = Draft()\n{body} return draft", known)
    return known["copied"]
