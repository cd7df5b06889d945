"""Events as text and back: one definition, two doors.

`parse` validates what comes from outside and what a host appends, through pydantic, which is loaded at
its first use. `trusted` builds from what our own journal returned and checks nothing. Both keep what
they do not know: an unknown kind becomes `Unknown`, an unknown field keeps the stored text in `Event.raw`.
"""

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from workbench.domain.events import (
    BY_KIND,
    ActionApproved,
    ActionOpened,
    Body,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    Unknown,
)
from workbench.domain.runs import ArtifactStored, RunRequested, RunStarted, StepChanged
from workbench.domain.values import Actor, BlobRef, FilePlan, Json, PlanStep
from workbench.records import dataclass, field_types
from workbench.text.human import iso, parse_iso
from workbench.text.safe import escaped_json

EVENTS_VERSION = 2
"""The version of the vocabulary of events, in the first line of a session's file."""

TIMES = frozenset({"at", "created_at", "expires_at", "approved_until", "recorded_at"})
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


def plain(value: object) -> Json:
    """Return a dataclass, tuple or mapping as JSON values, every field named."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _field_names(type(value))}
    if isinstance(value, tuple | list):
        return [plain(item) for item in typing.cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in typing.cast("Mapping[str, object]", value).items()}
    return value


def body_json(event: Event) -> str:
    """Return the body as the journal stores it; what was not understood is returned as it came."""
    if event.raw is not None:
        return event.raw
    content = event.body.content if isinstance(event.body, Unknown) else _sparse(event.body)
    return _encode(content)


def to_object(event: Event) -> dict[str, Json]:
    """Return an event as `stream-json` prints it: ISO times, absent fields left out."""
    line: dict[str, Json] = {}
    for name in _ENVELOPE:
        value = getattr(event, name)
        if value is not None:
            line[name] = _sparse(value) if isinstance(value, Actor) else value
    line["at"] = iso(event.at)
    if event.recorded_at is not None:
        line["recorded_at"] = iso(event.recorded_at)
    line["kind"] = event.kind
    line["body"] = _with_iso_times(json.loads(body_json(event)))
    return line


def to_line(event: Event) -> str:
    """Return an event as one line of JSON without line end; nothing in it steers a terminal."""
    line = json.dumps(to_object(event), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return escaped_json(line)


def _sparse(value: object) -> dict[str, Json]:
    """Return a dataclass as an object without the fields that have their default value."""
    return {
        name: found if type(found) in _SCALARS else plain(found)
        for name, default in _defaults(type(value))
        if (found := getattr(value, name)) != default
    }


def _with_iso_times(body: Json) -> Json:
    if not isinstance(body, dict):
        return body
    return {
        key: iso(item) if key in TIMES and isinstance(item, int) else item
        for key, item in typing.cast("dict[str, Json]", body).items()
    }


# --- in, from our own journal ------------------------------------------------------------------------


def trusted_body(kind: str, text: str) -> tuple[Body, str | None]:
    """Build a body from stored text; the second value is the text when not all of it was understood."""
    content = _scan(text, 0)[0]
    flat = _flat(kind)
    if flat is not None:
        try:
            return flat(**content), None
        except TypeError:
            pass
    cls = BY_KIND.get(kind)
    if cls is None:
        return Unknown(original_kind=kind, content=content), None
    lost: list[str] = []
    body = _build(cls, content, lost)
    return body, text if lost else None


def build(cls: type[Any], content: Mapping[str, Json]) -> Any:
    """Build any dataclass of the domain from JSON values, ignoring fields that it does not have."""
    return _build(cls, content, [])


def reader(hint: Any) -> Callable[[str], Any]:
    """Return what builds a value of an annotation from its JSON, ignoring fields that it does not have."""
    convert = _converter(hint)

    def read(text: str) -> Any:
        value = _scan(text, 0)[0]
        return value if convert is None or value is None else convert(value, [])

    return read


def _build(cls: type[Any], content: Mapping[str, Json], lost: list[str]) -> Any:
    plan = _plan(cls)
    given: dict[str, Any] = {}
    for key, value in content.items():
        if key not in plan:
            lost.append(key)
            continue
        convert = plan[key]
        given[key] = value if convert is None or value is None else convert(value, lost)
    return cls(**given)


_Convert = Callable[[Any, list[str]], Any]


@functools.cache
def _plan(cls: type[Any]) -> dict[str, _Convert | None]:
    hints = field_types(cls)
    if not all(map(_is_whole, hints.values())):
        known = typing.get_type_hints(cls)
        hints = {name: known[name] for name in hints}
    return {name: _converter(hint) for name, hint in hints.items()}


def _is_whole(hint: Any) -> bool:
    """Return whether an annotation names no type by a string: looking those up takes longer than decoding."""
    if isinstance(hint, str | typing.ForwardRef):
        return False
    return typing.get_origin(hint) is typing.Literal or all(map(_is_whole, typing.get_args(hint)))


def _converter(hint: Any) -> _Convert | None:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        found = [_converter(part) for part in typing.get_args(hint) if part is not type(None)]
        return next((convert for convert in found if convert), None)
    if origin is typing.Annotated:
        return _converter(typing.get_args(hint)[0])
    if dataclasses.is_dataclass(hint):
        return functools.partial(_build, typing.cast("type[Any]", hint))
    if origin is tuple:
        return _tuple_converter(typing.get_args(hint))
    return None


def _tuple_converter(args: tuple[Any, ...]) -> _Convert:
    inner = _converter(args[0]) if len(args) == 2 and args[1] is Ellipsis else None
    if inner is None:
        return lambda value, _lost: tuple(value)
    return lambda value, lost: tuple(inner(item, lost) for item in value)


@functools.cache
def _flat(kind: str) -> type[Body] | None:
    """Return the class of a kind whose stored values are its fields as they are."""
    cls = BY_KIND.get(kind)
    return cls if cls is not None and not any(_plan(cls).values()) else None


@functools.lru_cache(maxsize=4096)
def trusted_actor(text: str) -> Actor:
    """Build an actor from stored text; actors repeat, so they are kept."""
    return typing.cast("Actor", build(Actor, _scan(text, 0)[0]))


def actor_json(actor: Actor) -> str:
    """Return an actor as the journal stores it."""
    return json.dumps(_sparse(actor), separators=(",", ":"))


# --- in, from outside --------------------------------------------------------------------------------


def parse_line(text: str | bytes) -> Event:
    """Read one line as `to_line` wrote it, validating every field.

    Raises:
        MalformedEventError: The line is no JSON object, or a field has a wrong type or value.
    """
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedEventError(f"not JSON: {error}") from None
    if not isinstance(line, dict):
        raise MalformedEventError("not a JSON object")
    return parse(typing.cast("dict[str, Json]", line))


def parse(line: Mapping[str, Json]) -> Event:
    """Validate an event that came from outside.

    Raises:
        MalformedEventError: A field is missing or has a wrong type or value; names it.
    """
    kind, content = line.get("kind"), line.get("body", {})
    if not isinstance(kind, str) or not kind:
        raise MalformedEventError("kind: missing")
    body, raw = _parse_body(kind, _without_iso_times(content))
    envelope = {key: line[key] for key in _ENVELOPE if line.get(key) is not None}
    for key in ("at", "recorded_at"):
        if key in envelope:
            envelope[key] = _micros(key, envelope[key])
    envelope["body"] = {}
    checked = _validated(_Envelope, json.dumps(envelope))
    known: dict[str, Any] = {name: getattr(checked, name) for name in _ENVELOPE}
    return Event(body=body, raw=raw, **known)


def validate(event: Event) -> Event:
    """Check an event of our own making by the same door; hosts do this before every append.

    Raises:
        MalformedEventError: A field has a wrong type or value; names it.
    """
    if not isinstance(event.body, Unknown):
        _validated(type(event.body), body_json(event))
    return event


@dataclass(frozen=True, slots=True, kw_only=True)
class _Envelope:
    id: str
    session_id: str
    at: int
    actor: Actor
    body: dict[str, Any]
    position: int = 0
    sequence_number: int = 0
    turn_id: str | None = None
    call_id: str | None = None
    action_id: str | None = None
    step: str | None = None
    recorded_at: int | None = None


def _parse_body(kind: str, content: Json) -> tuple[Body, str | None]:
    cls = BY_KIND.get(kind)
    if cls is None:
        return Unknown(original_kind=kind, content=content), None
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    body = _validated(cls, text)
    return body, None if _covers(plain(body), content) else text


def _covers(known: Json, given: Json) -> bool:
    """Return whether every key of `given`, at any depth, is one that was understood."""
    if isinstance(given, dict) and isinstance(known, dict):
        mine = typing.cast("dict[str, Json]", known)
        return all(
            key in mine and _covers(mine[key], item)
            for key, item in typing.cast("dict[str, Json]", given).items()
        )
    if isinstance(given, list) and isinstance(known, list):
        return all(map(_covers, typing.cast("list[Json]", known), typing.cast("list[Json]", given)))
    return True


def _without_iso_times(content: Json) -> Json:
    if not isinstance(content, dict):
        return content
    return {
        key: _micros(key, item) if key in TIMES and isinstance(item, str) else item
        for key, item in typing.cast("dict[str, Json]", content).items()
    }


def _micros(key: str, value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_iso(str(value))
    except ValueError as error:
        raise MalformedEventError(f"{key}: {error}") from None


def _validated(cls: type[Any], text: str) -> Any:
    import pydantic

    try:
        return _adapter(cls).validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise MalformedEventError(f"{where}: {first['msg']}") from None


@functools.cache
def _adapter(cls: type[Any]) -> Any:
    import pydantic

    return pydantic.TypeAdapter(cls)


# --- what an event holds -----------------------------------------------------------------------------


def blob_refs(body: Body) -> Iterator[BlobRef]:
    """Yield the blobs that an event keeps alive."""
    for ref in _candidates(body):
        if ref is not None:
            yield ref


def _candidates(body: Body) -> Iterator[BlobRef | None]:
    match body:
        case SessionCreated():
            yield body.system_prompt_ref
        case PromptSubmitted():
            yield body.text_ref
        case ReplyCompleted():
            yield body.text_ref
            yield from (call.arguments_ref for call in body.calls)
        case CallProposed():
            yield body.parameters_ref
            yield from _plan_refs(body.files)
        case ActionOpened():
            yield from (body.parameters_ref, body.hunks_ref)
            yield from _plan_refs(body.files)
        case ActionApproved():
            yield from (body.edited or {}).values()
        case CallExecuting():
            yield from _plan_refs(body.plan)
        case FileChanged():
            yield from (body.before_ref, body.after_ref)
        case CallFinished():
            yield from (body.result_ref, body.output_ref)
        case _:
            yield from _run_candidates(body)


def _run_candidates(body: Body) -> Iterator[BlobRef | None]:
    match body:
        case RunRequested():
            yield body.input_ref
        case RunStarted():
            yield body.definition_ref
        case StepChanged():
            yield body.output_ref
        case ArtifactStored():
            yield body.content_ref
            yield from body.member_refs
        case _:
            return


def _plan_refs(files: tuple[FilePlan | PlanStep, ...]) -> Iterator[BlobRef | None]:
    for plan in files:
        yield plan.base_ref
        if isinstance(plan, FilePlan):
            yield plan.after_ref


@functools.cache
def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


@functools.cache
def _defaults(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, _default(field)) for field in dataclasses.fields(cls))


def _default(field: "dataclasses.Field[Any]") -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
