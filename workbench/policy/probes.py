"""Calls that nobody would make, to find out whether a pattern allows whatever comes.

Owns the samples: parameters of the right shape with unrelated values. Owns no judgement about any
pattern but the one question: does it match most of what it has no reason to match?
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from workbench.domain.values import Json, JsonObject, ToolDescriptor

_WORDS: Final = (
    "qvx7kd", "Zt/wob3/Hn.q8z", "9jf-mu/_xl.tqk", "kyw ~ PLO 41", "éß漢字-07", "deep/er/and/still/B.hh4",
    "..", "m", "#{}[]()|&;$<>!", "X" * 300, "two\nlines\t2", "-u --vv=3 ./0w",
)  # fmt: skip
_COMMANDS: Final = (
    "qvxkd", "zt-wob --hn q8z", "/opt/jf/mu _xl.tqk", "KYW plo 41 42", "m -u", "./deep/er/b.hh4 --x=1",
    "9jf", "lubz wepo tam rin", "hoq -a -b -c", "Xq7 @zz", "brv.9 /", "oo11 ..",
)  # fmt: skip
_URLS: Final = (
    "https://qvx7kd.example/", "http://zt.wob3.invalid:8080/Hn?q=8z", "https://[2001:db8::9]/mu",
    "https://KYW.test", "http://192.0.2.41/", "https://e.f.g.h.example/i/j.k#l", "https://m.invalid",
    "https://u:p@x.test/", "http://xn--zca.test/", "https://a-b-c.example/d.e", "https://0w.test:1/", "https://9.test",
)  # fmt: skip
_INTEGERS: Final = (7, 41, 190003, 2, 88, 1, 640, 12, 5, 33, 9, 271)


def shapes(descriptor: ToolDescriptor) -> Iterator[tuple[JsonObject, ...]]:
    """Yield samples by shape: first with the required parameters only, then with all."""
    properties = cast("dict[str, JsonObject]", dict(descriptor.input_schema.get("properties", {})))
    required = [name for name in properties if name in descriptor.input_schema.get("required", ())]
    yield _samples(descriptor, required, properties)
    if len(required) < len(properties):
        yield _samples(descriptor, list(properties), properties)


def is_blanket(covers: Callable[[JsonObject], bool], descriptor: ToolDescriptor) -> bool:
    """Say whether something matches more than half of the samples of any shape."""
    return any(sum(map(covers, samples)) * 2 > len(samples) for samples in shapes(descriptor))


def _samples(
    descriptor: ToolDescriptor, names: list[str], properties: dict[str, JsonObject]
) -> tuple[JsonObject, ...]:
    return tuple(
        {name: _value(descriptor, name, properties[name], turn) for name in names}
        for turn in range(len(_WORDS))
    )


def _value(descriptor: ToolDescriptor, name: str, schema: JsonObject, turn: int) -> Json:
    kind: Any = schema.get("type", "string")
    if "enum" in schema:
        return schema["enum"][turn % len(schema["enum"])]
    match kind:
        case "integer" | "number":
            return _INTEGERS[turn]
        case "boolean":
            return turn % 2 == 0
        case "array":
            return [_WORDS[turn]]
        case "object":
            return {"k": _WORDS[turn]}
        case _:
            return _text(descriptor, name, turn)


def _text(descriptor: ToolDescriptor, name: str, turn: int) -> str:
    if name == descriptor.command_parameter:
        return _COMMANDS[turn]
    return _URLS[turn] if name == descriptor.url_parameter else _WORDS[turn]
