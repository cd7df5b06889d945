"""A record is a dataclass of the standard library in everything but when its methods are made."""

import copy
import dataclasses
import inspect
import pickle
import threading
from dataclasses import field
from typing import ClassVar

import pytest

from workbench.records import dataclass


def shapes(make):
    """Return the same classes, made by one decorator."""

    @make(frozen=True, slots=True, kw_only=True)
    class Point:
        KIND: ClassVar[str] = "point"
        x: int
        y: int = 2
        tags: list = field(default_factory=list, compare=False)
        hidden: str = field(default="", repr=False)

    @make(frozen=True, slots=True, kw_only=True)
    class Deep(Point):
        z: int = 3

    @make(slots=True)
    class Open:
        name: str
        count: int = 0

        def __post_init__(self):
            self.count += 1

    @make
    class Plain:
        name: str

        def __repr__(self):
            return "its own"

    @make(frozen=True, slots=True, kw_only=True)
    class Kind:
        KIND: ClassVar[str] = ""

    @make(frozen=True, slots=True, kw_only=True)
    class OfKind(Kind):
        KIND: ClassVar[str] = "of a kind"
        name: str
        more: "Point | None" = None

    @make
    class Quoted:
        LIMIT: "ClassVar[int]" = 3
        name: "str"

    return Point, Deep, Open, Plain, OfKind, Quoted


PAIRS = list(zip(shapes(dataclass), shapes(dataclasses.dataclass), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    name: str
    values: tuple = ()


def outcome(work):
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda cls: cls.__name__)
def test_a_record_is_what_the_standard_library_makes(ours, theirs):
    given = {"x": 1} if "x" in [one.name for one in dataclasses.fields(theirs)] else {"name": "n"}
    probes = [
        lambda cls: str(inspect.signature(cls)),
        lambda cls: repr(cls(**given)),
        lambda cls: cls(**given) == cls(**given),
        lambda cls: cls(**given) == object(),
        lambda cls: cls(**given) == dataclasses.replace(cls(**given), **{next(iter(given)): 9}),
        lambda cls: hash(cls(**given)) == hash(cls(**given)),
        lambda cls: cls(),
        lambda cls: cls(**given, other=1),
        lambda cls: setattr(cls(**given), next(iter(given)), 5),
        lambda cls: delattr(cls(**given), next(iter(given))),
        lambda cls: dataclasses.asdict(cls(**given)),
        lambda cls: [(one.name, one.kw_only) for one in dataclasses.fields(cls)],
        lambda cls: cls.__match_args__,
        lambda cls: copy.deepcopy(cls(**given)) == cls(**given),
        lambda cls: cls.__init__.__qualname__,
    ]
    for number, probe in enumerate(probes):
        assert outcome(lambda p=probe: p(ours)) == outcome(lambda p=probe: p(theirs)), number


def test_nothing_is_generated_before_it_is_called():
    @dataclass(frozen=True, slots=True)
    class Lazy:
        name: str

    several = [Lazy("a") for _ in range(64)]
    assert several[-1].name == "a"
    assert [inspect.isfunction(Lazy.__dict__[name]) for name in ("__init__", "__eq__")] == [False, False]
    assert Lazy("b") != Lazy("a")
    assert [inspect.isfunction(Lazy.__dict__[name]) for name in ("__init__", "__eq__")] == [True, True]


def test_neither_a_base_without_fields_nor_a_quoted_kind_asks_the_standard_library():
    *_, of_kind, quoted = shapes(dataclass)
    late = [not isinstance(cls.__dict__["__dataclass_fields__"], dict) for cls in (of_kind, quoted)]
    assert late == [True, False], "a ClassVar in quotes is for the standard library to find"
    one = of_kind(name="n")
    assert (one.KIND, one.more, hasattr(one, "__dict__")) == ("of a kind", None, False)


def test_a_record_crosses_to_another_process():
    one = Kept(name="n", values=(1, 2))
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_subclass_with_its_own_beginning_has_its_own_signature():
    class Own(Kept):
        def __init__(self, words):
            super().__init__(name=words)

    assert str(inspect.signature(Own)) == "(words)"
    assert Own("n").name == "n"


def test_many_threads_may_be_the_first():
    @dataclass(frozen=True, slots=True)
    class Shared:
        name: str

    found = []
    threads = [threading.Thread(target=lambda: found.append(Shared("x"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [Shared("x")] * 8
