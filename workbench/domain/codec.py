"""Events as JSON text and back.

Events from outside and events of our own before an append are validated. What our journal stored is read
even where it breaks a rule of this version. An unknown kind becomes `Unknown`; an unknown field keeps the
stored text in `Event.raw`.
"""

import functools
import json
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from workbench.domain.events import Event, EventBody, KnownBody, Unknown
from workbench.domain.values import (
    Actor,
    BlobRef,
    Body,
    FilePlan,
    GateVerdict,
    Json,
    SandboxRefusal,
    StepPlan,
    Usage,
)
from workbench.text.human import iso_time, parse_iso_time
from workbench.text.safe import escape_json

EVENT_FORMAT_VERSION = 2
"""The version of the vocabulary of events, in the first line of a session's file."""
TIME_FIELDS = frozenset({"at", "created_at", "expires_at", "approved_until", "recorded_at"})
"""Fields that hold microseconds inside and ISO 8601 in lines."""
_ENVELOPE = (
    "position", "id", "session_id", "sequence_number", "at", "recorded_at", "actor",
    "turn_id", "call_id", "action_id", "step",
)  # fmt: skip
# `json.dumps` makes an encoder at every call that wants other separators, a third of the time of one event.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_Scan = Callable[[str, int], tuple[Any, int]]
_scan: _Scan = getattr(json.JSONDecoder(), "scan_once")  # noqa: B009 -- typeshed does not know it


class MalformedEventError(ValueError):
    """A line or a body is no event of any known shape; says where and why."""


# --- out ---------------------------------------------------------------------------------------


def to_json_value(value: object) -> Json:
    """Return a Struct, tuple or mapping as JSON values; members that came later only where they are set."""
    if type(value) in _SCALARS:
        return typing.cast("Json", value)
    if isinstance(value, Usage | FilePlan | GateVerdict | SandboxRefusal | StepPlan):
        members = {name: to_json_value(getattr(value, name)) for name in value.__struct_fields__}
        return {name: part for name, part in members.items() if part or name not in value.LEFT_OUT_WHEN_EMPTY}
    if isinstance(value, Struct):
        return {name: to_json_value(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple | list):
        return [to_json_value(item) for item in typing.cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        return {key: to_json_value(item) for key, item in typing.cast("Mapping[str, object]", value).items()}
    return value


def body_json(event: Event) -> str:
    """Return the body as the journal stores it; what was not understood is returned as it came."""
    if event.raw is not None:
        return event.raw
    content = event.body.content if isinstance(event.body, Unknown) else _without_defaults(event.body)
    return _encode(content)


def event_to_object(event: Event) -> dict[str, Json]:
    """Return an event as `stream-json` prints it: ISO times, absent fields left out."""
    line: dict[str, Json] = {}
    for name in _ENVELOPE:
        value = getattr(event, name)
        if value is not None:
            line[name] = _without_defaults(value) if isinstance(value, Actor) else value
    line["at"] = iso_time(event.at)
    if event.recorded_at is not None:
        line["recorded_at"] = iso_time(event.recorded_at)
    line["kind"] = event.kind
    line["body"] = _with_iso_times(json.loads(body_json(event)))
    return line


def event_to_line(event: Event) -> str:
    """Return an event as one line of JSON without line end; nothing in it steers a terminal."""
    line = json.dumps(event_to_object(event), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return escape_json(line)


def _without_defaults(value: object) -> dict[str, Json]:
    """Leave out fields that have their default; `omit_defaults` of msgspec compares tuples by identity."""
    return {
        name: content if type(content) in _SCALARS else to_json_value(content)
        for name, default in _defaults(type(value))
        if (content := getattr(value, name)) != default
    }


def _with_iso_times(body: Json) -> Json:
    if not isinstance(body, dict):
        return body
    return {
        key: iso_time(item) if key in TIME_FIELDS and isinstance(item, int) else item
        for key, item in typing.cast("dict[str, Json]", body).items()
    }


# --- in, from our own journal ------------------------------------------------------------------------


def decode_stored_body(kind: str, text: str) -> tuple[EventBody, str | None]:
    """Build a body from stored text; the second value is the text when not all of it was understood."""
    decode = _body_decoder(kind)
    if decode is None:
        return Unknown(original_kind=kind, content=_scan(text, 0)[0]), None
    try:
        return decode(text), None
    except (ValueError, RecursionError):
        lost: list[str] = []
        body = _plain_struct(BODY_BY_KIND[kind], _scan(text, 0)[0], lost)
        return body, text if lost else None


def json_decoder(hint: Any) -> Callable[[str], Any]:
    """Return what builds a value of an annotation from its JSON, ignoring fields that it does not have."""
    decode = msgspec.json.Decoder[Any](hint).decode

    def read(text: str) -> Any:
        try:
            return decode(text)
        except (ValueError, RecursionError):
            return _plain_value(hint, _scan(text, 0)[0], [], _plain_struct)

    return read


@functools.cache
def _body_decoder(kind: str) -> Callable[[str], EventBody] | None:
    """Return the decoder of a kind: it accepts what this version knows in full, and nothing else."""
    cls = BODY_BY_KIND.get(kind)
    return None if cls is None else msgspec.json.Decoder(cls).decode


# --- in, member by member: slower, and it takes whatever msgspec refuses --------------------------------

_Build = Callable[[type[Struct], Any, list[str]], Any]
"""Takes a class, the JSON of one value and a list that gets the names of unknown members."""


def _plain_struct(cls: type[Struct], content: Any, lost: list[str]) -> Any:
    return cls(**_known_members(cls, content, lost, _plain_struct))


def _pruned(cls: type[Struct], content: Any, lost: list[str]) -> Any:
    if not isinstance(content, dict):
        return content
    return _known_members(cls, typing.cast("dict[str, Any]", content), lost, _pruned)


def _known_members(
    cls: type[Struct], content: dict[str, Any], lost: list[str], build: _Build
) -> dict[str, Any]:
    hints = _hints(cls)
    lost += [name for name in content if name not in hints]
    return {
        name: _plain_value(hint, content[name], lost, build)
        for name, hint in hints.items()
        if name in content
    }


def _plain_value(hint: Any, value: Any, lost: list[str], build: _Build) -> Any:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        hint = next(part for part in parts if part is not type(None))
        return _plain_value(hint, value, lost, build)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return build(hint, value, lost)
    if origin is tuple and isinstance(value, list):
        items = typing.cast("list[Any]", value)
        return tuple(_plain_value(parts[0], item, lost, build) for item in items)
    return value


@functools.cache
def _hints(cls: type[Struct]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {name: hints[name] for name in cls.__struct_fields__}


@functools.lru_cache(maxsize=4096)
def decode_stored_actor(text: str) -> Actor:
    """Build an actor from stored text; actors repeat, so they are kept."""
    return _ACTOR_DECODER(text)


_ACTOR_DECODER: Final = json_decoder(Actor)


def actor_json(actor: Actor) -> str:
    return json.dumps(_without_defaults(actor), separators=(",", ":"))


# --- in, from outside --------------------------------------------------------------------------------


def event_from_line(text: str | bytes) -> Event:
    """Read and validate a line of `event_to_line`. Raises MalformedEventError with what is wrong."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedEventError(f"not JSON: {error}") from None
    if not isinstance(line, dict):
        raise MalformedEventError("not a JSON object")
    return event_from_object(typing.cast("dict[str, Json]", line))


def event_from_object(line: Mapping[str, Json]) -> Event:
    """Validate an event from outside. Raises MalformedEventError with the field that is wrong."""
    kind, content = line.get("kind"), line.get("body", {})
    if not isinstance(kind, str) or not kind:
        raise MalformedEventError("kind: missing")
    body, raw = _parse_body(kind, _without_iso_times(content))
    envelope = {key: line[key] for key in _ENVELOPE if line.get(key) is not None}
    for key in ("at", "recorded_at"):
        if key in envelope:
            envelope[key] = _micros(key, envelope[key])
    checked = _converted(_Envelope, envelope)
    members: dict[str, Any] = {name: getattr(checked, name) for name in _ENVELOPE}
    return Event(body=body, raw=raw, **members)


def validate_event(event: Event) -> Event:
    """Check an event of our own before it is appended: constructing a Struct checks nothing.

    Raises MalformedEventError with the field that is wrong.
    """
    try:
        text = body_json(event)
    except (ValueError, TypeError) as error:
        raise MalformedEventError(f"body: {error}") from None
    validate_body(event, text)
    return event


def validate_body(event: Event, text: str) -> None:
    """Check the stored text of an event's body. Raises MalformedEventError with the field that is wrong."""
    if not isinstance(event.body, Unknown):
        _checked_body(event.kind, text)


class _Envelope(Struct, frozen=True, kw_only=True):
    id: str
    session_id: str
    at: int
    actor: Actor
    position: int = 0
    sequence_number: int = 0
    turn_id: str | None = None
    call_id: str | None = None
    action_id: str | None = None
    step: str | None = None
    recorded_at: int | None = None


def _parse_body(kind: str, content: Json) -> tuple[EventBody, str | None]:
    try:
        text = _encode(content)
    except ValueError as error:  # NaN and infinity, which JSON does not have
        raise MalformedEventError(f"body: {error}") from None
    if kind not in BODY_BY_KIND:
        return Unknown(original_kind=kind, content=content), None
    body, is_understood = _checked_body(kind, text)
    return body, None if is_understood else text


def _checked_body(kind: str, text: str) -> tuple[EventBody, bool]:
    """Return a validated body, and whether every member of its JSON, at any depth, is known."""
    decode = typing.cast("Callable[[str], EventBody]", _body_decoder(kind))
    try:
        return decode(text), True
    except msgspec.ValidationError:
        lost: list[str] = []
        cls = BODY_BY_KIND[kind]
        return _converted(cls, _pruned(cls, json.loads(text), lost)), not lost
    except ValueError as error:
        raise MalformedEventError(f"body: {error}") from None


def _without_iso_times(content: Json) -> Json:
    if not isinstance(content, dict):
        return content
    return {
        key: _micros(key, item) if key in TIME_FIELDS and isinstance(item, str) else item
        for key, item in typing.cast("dict[str, Json]", content).items()
    }


def _micros(key: str, value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_iso_time(str(value))
    except ValueError as error:
        raise MalformedEventError(f"{key}: {error}") from None


def _converted(cls: type[Any], content: Any) -> Any:
    try:
        return msgspec.convert(content, cls)
    except msgspec.ValidationError as error:
        raise MalformedEventError(_with_field_first(str(error))) from None


def _with_field_first(complaint: str) -> str:
    """Turn "Expected `int` - at `$.hunks[0].index`" into "hunks.0.index: Expected `int`"."""
    problem, _, path = complaint.partition(" - at `$")
    names = re.findall(r"\w+", path)
    missing = _MISSING_FIELD.fullmatch(problem)
    if missing:
        names, problem = [*names, missing[1]], "missing"
    return f"{'.'.join(names) or 'body'}: {problem}"


_MISSING_FIELD: Final = re.compile(r"Object missing required field `(\w+)`")


# --- what an event holds -----------------------------------------------------------------------------


def blob_refs(body: Body) -> Iterator[BlobRef]:
    """Yield the blobs that an event keeps alive: what fields named `…_ref` or `…_refs` hold, at any depth."""
    yield from filter(None, _possible_refs(body))


def _possible_refs(holder: Struct) -> Iterator[BlobRef | None]:
    for name, kind in _ref_fields(type(holder)):
        value = getattr(holder, name)
        if kind == "ref":
            yield value
        elif kind == "refs":
            yield from value
        elif kind == "mapping":
            yield from (value or {}).values()
        else:
            for member in value:
                yield from _possible_refs(member)


@functools.cache
def _ref_fields(cls: type[Struct]) -> tuple[tuple[str, Literal["ref", "refs", "mapping", "members"]], ...]:
    """Return the fields in which a class holds references to blobs, each with how it holds them."""
    fields: list[tuple[str, Literal["ref", "refs", "mapping", "members"]]] = []
    for name, hint in _hints(cls).items():
        member = next(iter(typing.get_args(hint)), None)
        if name.endswith("_ref"):
            fields.append((name, "ref"))
        elif name.endswith("_refs"):
            fields.append((name, "refs"))
        elif name == "edited":
            fields.append((name, "mapping"))
        elif isinstance(member, type) and issubclass(member, Struct) and _ref_fields(member):
            fields.append((name, "members"))
    return tuple(sorted(fields, key=lambda field: field[1] == "members"))


@functools.cache
def _defaults(cls: type[Struct]) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, _default(field)) for field in msgspec.structs.fields(cls))


def _default(field: FieldInfo) -> object:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


EVENT_BODIES: tuple[type[KnownBody], ...] = typing.get_args(KnownBody)
"""Every known kind but `unknown`."""
BODY_BY_KIND = {body.KIND: body for body in EVENT_BODIES}
