"""Dataclasses that are cheap to import: what is never called is never generated.

Owns one decorator, the standard library's in everything but when its methods are made, and `replace`, the
standard library's in everything but its time. `dataclasses` compiles
six methods for every class when its module is imported, 0.7 ms a class; this program has hundreds of records,
and the first frame needs the methods of a few. It must never change what a dataclass does.
"""

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """Make a class a dataclass whose methods are generated at the first call of one of them."""

        def made(cls):
            return _made(cls, frozen=frozen, slots=slots, kw_only=kw_only)

        return made if cls is None else made(cls)


class _Factory:
    """Stands for a default that is made anew each time, in signatures as the standard library shows it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
_FIELDS = "__dataclass_fields__"
_MISSING = dataclasses.MISSING
_SEVERAL = 64
"""Records of a class that are filled field by field; only where there are more is a method compiled."""

_shape = functools.partial(dataclasses.dataclass, init=False, repr=False, eq=False)
_PARAMETERS = cast("Any", _shape(type("Parameters", (), {"__doc__": "None."}))).__dataclass_params__


def _made(given: Any, *, frozen: bool, slots: bool, kw_only: bool) -> Any:
    fields = _Fields(given, kw_only=kw_only)
    parts = _parts(given.__dict__, frozen=frozen, slots=slots)
    if fields.are_special or any(_has_fields(base) for base in given.__mro__[1:]):
        cls = _shape(slots=slots, kw_only=kw_only)(given)
    else:
        parts |= {_FIELDS: fields, "__dataclass_params__": _PARAMETERS}
        if "__match_args__" not in given.__dict__:
            parts["__match_args__"] = fields.places
        if slots:
            return _slotted(given, tuple(fields.defaults), parts)
        cls = given
        for name, default in fields.defaults.items():
            if isinstance(default, dataclasses.Field):
                _set_default(cls, name, cast("Any", default).default)
    for name, part in parts.items():
        setattr(cls, name, part)
    return cls


def _has_fields(base: type) -> bool:
    """Return whether a class hands fields on; one that only names a kind, as every event's does, has none."""
    found = base.__dict__.get(_FIELDS, ())
    return bool(found.defaults if isinstance(found, _Fields) else found)


def _parts(own: Mapping[str, Any], *, frozen: bool, slots: bool) -> dict[str, Any]:
    """Return what a class gets beside its fields, where it has none of its own."""
    parts: dict[str, Any] = {name: _LATER[name] for name in ("__repr__", "__eq__") if name not in own}
    if "__init__" not in own:
        parts["__init__"], parts["__signature__"] = _Beginning(), _SIGNATURE
    if "__eq__" not in own and "__hash__" not in own:
        parts["__hash__"] = _LATER["__hash__"] if frozen else None
    if frozen:
        parts["__setattr__"], parts["__delattr__"] = _no_assignment, _no_deletion
    if frozen and slots:
        parts["__getstate__"], parts["__setstate__"] = _state, _set_state
    return parts


def _slotted(given: Any, names: tuple[str, ...], parts: dict[str, Any]) -> Any:
    """Return the same class with slots and more parts; a class that is there already can get no slots."""
    body = {**given.__dict__, **parts}
    for name in (*names, "__dict__", "__weakref__"):
        body.pop(name, None)
    inherited = {one for base in given.__mro__[1:-1] for one in getattr(base, "__slots__", ())}
    body["__slots__"] = tuple(name for name in names if name not in inherited) if inherited else names
    cls = type(given)(given.__name__, given.__bases__, body)
    cls.__qualname__ = given.__qualname__
    return cls


def _set_default(cls: Any, name: str, default: Any) -> None:
    if default is _MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, default)


# --- fields ---------------------------------------------------------------------------------------

_Plan = list[tuple[str, bool, Any, Any]]
"""Of each field its name, whether it is given by name only, its default, and what makes one."""


class _Fields:
    """What a class tells of its fields: the standard library's record of them, made at the first question."""

    def __init__(self, given: Any, *, kw_only: bool) -> None:
        self.kinds, self._module, self._kw_only = given.__annotations__, given.__module__, kw_only
        self.defaults: dict[str, Any] = {}
        self.are_special = False
        """One needs, or must be refused by, the standard library's own hand."""
        find, defaults = given.__dict__.get, self.defaults
        for name, kind in self.kinds.items():
            if type(kind) not in _ORDINARY:
                if kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar:
                    continue
                self.are_special |= _is_special_kind(kind)
            defaults[name] = default = find(name, _MISSING)
            if default is not _MISSING and type(default) not in _HASHED:
                self.are_special |= _is_special(default)

    @property
    def places(self) -> tuple[str, ...]:
        """The names of those that are given by place."""
        if self._kw_only and dataclasses.Field not in map(type, self.defaults.values()):
            return ()
        return tuple(name for name, by_name, _, _ in self.plan if not by_name)

    @functools.cached_property
    def plan(self) -> _Plan:
        """What is known of them without asking the standard library."""
        return [
            _planned(name, cast("Any", value), is_named=self._kw_only)
            if isinstance(value, dataclasses.Field)
            else (name, self._kw_only, value, _MISSING)
            for name, value in self.defaults.items()
        ]

    def __get__(self, _instance: object, cls: Any) -> "dict[str, dataclasses.Field[Any]]":
        given = {name: value for name, value in self.defaults.items() if value is not _MISSING}
        about = {"__annotations__": self.kinds, "__module__": self._module, "__doc__": "Fields."}
        twin: Any = type("Fields", (), {**given, **about})
        found = _shape(kw_only=self._kw_only)(twin).__dataclass_fields__
        setattr(_owner(cls, _FIELDS, self), _FIELDS, found)
        return found


_ORDINARY = frozenset({type, types.UnionType, types.GenericAlias, type(Literal["x"])})
"""Kinds of annotations that are never those of a class variable: `str`, `str | None`, `tuple[str, ...]`."""

_HASHED = frozenset({type(None), bool, int, str, tuple})
"""Kinds of defaults that may be shared by all records."""

_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")


def _is_special_kind(kind: object) -> bool:
    if isinstance(kind, str):
        return any(name in kind for name in _SPECIAL)
    return isinstance(kind, dataclasses.InitVar) or kind is dataclasses.KW_ONLY


def _is_special(default: Any) -> bool:
    if isinstance(default, dataclasses.Field):
        return not default.init or type(cast("Any", default).default).__hash__ is None
    return type(default).__hash__ is None


def _planned(name: str, one: "dataclasses.Field[Any]", *, is_named: bool) -> tuple[str, bool, Any, Any]:
    by_name = is_named if one.kw_only is _MISSING else one.kw_only
    return name, by_name, one.default, one.default_factory


def _plan_of(cls: Any) -> _Plan:
    found = cls.__dict__[_FIELDS]
    if isinstance(found, _Fields):
        return found.plan
    return [_planned(one.name, one, is_named=False) for one in dataclasses.fields(cls)]


def _owner(cls: Any, name: str, part: object) -> Any:
    """Return the class of a chain whose own part it is."""
    return next((one for one in cls.__mro__ if one.__dict__.get(name) is part), cls)


# --- methods --------------------------------------------------------------------------------------


class _Later:
    """Stands for a method until it is looked up, in any number of classes."""

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name, self._make = name, make

    def __get__(self, instance: object, cls: Any) -> Any:
        owner = _owner(cls, self._name, self)
        if owner.__dict__.get(self._name) is self:
            setattr(owner, self._name, _signed(self._make(owner), owner, self._name))
        return getattr(cls if instance is None else instance, self._name)


class _Beginning:
    """Stands for an `__init__`: fills the first records itself, for the next ones a real one is compiled."""

    def __init__(self) -> None:
        self._left = _SEVERAL

    def __get__(self, instance: object, cls: Any) -> Any:
        owner = _owner(cls, "__init__", self)
        self._left -= 1
        if instance is None or self._left < 0:
            if owner.__dict__.get("__init__") is self:
                owner.__init__ = _signed(_beginning(owner), owner, "__init__")
            return cls.__init__ if instance is None else owner.__init__.__get__(instance)
        return functools.partial(_begin, owner, instance)


def _begin(owner: Any, record: Any, /, *given: Any, **named: Any) -> None:
    if not _fill(record, _plan_of(owner), given, named):
        owner.__init__(record, *given, **named)
    elif hasattr(owner, "__post_init__"):
        record.__post_init__()


def _signed(method: Any, cls: Any, name: str) -> Any:
    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return method


def _fill(record: object, plan: _Plan, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set all fields of a record; False where that cannot be: the real method knows what to say then."""
    values = dict(named)
    places = [name for name, by_name, _, _ in plan if not by_name] if given else []
    if len(given) > len(places) or any(name in values for name in places[: len(given)]):
        return False
    values.update(zip(places, given, strict=False))
    for name, _, default, make in plan:
        value = values.pop(name, default) if make is _MISSING or name in values else make()
        if value is _MISSING:
            return False
        object.__setattr__(record, name, value)
    return not values


def _representation(cls: Any) -> Any:
    """Return the `__repr__` of a class of the standard library with the same fields."""
    fields = [(one.name, one.type, _again(one)) for one in dataclasses.fields(cls)]
    return dataclasses.make_dataclass(cls.__name__, fields, init=False).__dict__["__repr__"]


def _equality(cls: Any) -> Any:
    values = _values([one.name for one in dataclasses.fields(cls) if one.compare])

    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return equal


def _hashing(cls: Any) -> Any:
    counted = [one for one in dataclasses.fields(cls) if (one.compare if one.hash is None else one.hash)]
    values = _values([one.name for one in counted])

    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _values(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return what reads some fields of a record as a tuple."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


_LATER = {
    "__repr__": _Later("__repr__", _representation),
    "__eq__": _Later("__eq__", _equality),
    "__hash__": _Later("__hash__", _hashing),
}


def _beginning(cls: Any) -> Any:
    """Return the `__init__` of a class: the one method that most classes need, in one compilation."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": _FACTORY}
    kinds = _kinds_of(cls)
    given: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for at, (name, by_name, default, make) in enumerate(_plan_of(cls)):
        value = name
        known[f"_type{at}"], known[f"_default{at}"] = kinds[name], default
        start = "" if default is _MISSING else f"=_default{at}"
        if make is not _MISSING:
            known[f"_make{at}"], start = make, "=_missing"
            value = f"_make{at}() if {name} is _missing else {name}"
        (named if by_name else given).append(f"{name}: _type{at}{start}")
        lines.append(f" _set(self, {name!r}, {value})")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    words = ", ".join(["self", *given, *(["*", *named] if named else [])])
    exec(f"def __init__({words}) -> None:\n" + "\n".join(lines or [" pass"]), known)
    return known["__init__"]


def _kinds_of(cls: Any) -> dict[str, Any]:
    found = cls.__dict__[_FIELDS]
    return found.kinds if isinstance(found, _Fields) else {one.name: one.type for one in found.values()}


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

    def __get__(self, _instance: object, cls: Any) -> inspect.Signature:
        found = inspect.signature(cls.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


_SIGNATURE = _Signature()


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


def field_types(cls: type[Any]) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields, as they were written and in their order."""
    found = cls.__dict__.get(_FIELDS)
    if isinstance(found, _Fields):
        return {name: found.kinds[name] for name in found.defaults}
    return {one.name: one.type for one in dataclasses.fields(cls)}


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
