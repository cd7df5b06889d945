"""Dataclasses that are cheap to import: what is never called is never generated.

Owns one decorator, the standard library's in everything but when its methods are made. `dataclasses` compiles
six methods for every class when its module is imported, 0.7 ms a class; this program has hundreds of records,
and the first frame needs the methods of a few. It must never change what a dataclass does.
"""

import dataclasses
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
    """Return a method that generates the class's methods and calls the one that it stands for."""

    def stub(self: Any, *given: Any, **named: Any) -> Any:
        _generate(cls, frozen)
        return getattr(cls, name)(self, *given, **named)

    stub.__name__, stub.__qualname__ = name, f"{cls.__qualname__}.{name}"
    stub.is_stub = True  # type: ignore[attr-defined]
    return stub


def _generate(cls: Any, frozen: bool) -> None:
    """Put the standard library's methods in the places of the stubs that are left."""
    after = {"__post_init__": None} if hasattr(cls, "__post_init__") else {}
    twin: Any = dataclasses.make_dataclass(
        cls.__name__, [(one.name, one.type, _again(one)) for one in dataclasses.fields(cls)],
        namespace=after, frozen=frozen,
    )  # fmt: skip
    for name in _GENERATED:
        stub = cls.__dict__.get(name)
        if getattr(stub, "is_stub", False):
            method = twin.__dict__[name]
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)


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
        _generate(self._owner, self._frozen)
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
