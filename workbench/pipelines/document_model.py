"""pydantic models over located documents: every problem told at its line, in our words, all at once.

A model reads a `DocumentPlace`. A wrong member is reported and takes its default, so one pass tells
everything. This imports pydantic: import it only where a document is read.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final, TypeVar, cast

from msgspec import Struct
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError, PydanticUseDefault

from workbench.text.located import DocumentPlace, text_at
from workbench.text.nearest import nearest_name
from workbench.text.safe import one_line

Self = TypeVar("Self", bound="DocumentModel")
_StructT = TypeVar("_StructT", bound=Struct)
_OTHER_VALUE = "other_value"
"""The error of our own validators; its message is what the value has to be."""
_EXPECTED_TYPES = {
    "string_type": "a text", "bool_type": "true or false", "int_type": "a whole number",
    "float_type": "a number", "tuple_type": "a list", "dict_type": "a mapping",
}  # fmt: skip


class Required(Struct, frozen=True):
    """Marks a member that has to be there; its default only stands in while the rest is checked."""

    name: str = ""
    """What the message calls it; empty takes the name of the member."""
    may_be_blank: bool = False


REQUIRED = Required()
PRESENT = Required(may_be_blank=True)
"""For what is checked further where it is read."""


METADATA: Final = "metadata"
"""Marks a member that no run depends on: whatever is wrong in it is a warning."""


_FLAG_WORDS: Final = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


def _plain(place: object) -> object:
    return place.node.value if isinstance(place, DocumentPlace) else place


def _text(place: object) -> object:
    value = _plain(place)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def read_text(place: DocumentPlace, name: str) -> str:
    """Return a member as a text, empty if it is absent or null; report any other type."""
    member = place.present(name)
    text = _text(member) if member else ""
    if isinstance(text, str):
        return text
    if member:
        member.error("wrong_type", f"{name} has to be a text, not {_type_name(text)}")
    return ""


def _flag(place: object) -> object:
    value = _plain(place)
    return _FLAG_WORDS.get(value.lower(), value) if isinstance(value, str) else value


def _items(place: object) -> object:
    if isinstance(place, DocumentPlace) and place.node.items is not None:
        return tuple(place.items())
    return _plain(place)


def _texts(place: object) -> object:
    if not isinstance(place, DocumentPlace):
        return place
    if isinstance(place.node.value, str):
        return (place,)
    if place.node.items is None:
        return place.node.value
    return tuple(item for item in place.items() if is_text_item(item, _member_name(place)))


def is_text_item(place: DocumentPlace, name: str) -> bool:
    """Return whether an item of a list is a text, or can stand for one; report it if not."""
    node = place.node
    if node.value is None or node.members is not None or node.items is not None:
        place.error("wrong_type", f"an item of {name} has to be a text, not {_type_name(node.value)}")
        return False
    return True


def _named(place: object) -> object:
    if isinstance(place, DocumentPlace) and place.node.members is not None:
        return {name: place.member(name) for name in place.node.members}
    return _plain(place)


def _named_texts(place: object) -> object:
    if not isinstance(place, DocumentPlace) or place.node.members is None:
        return _plain(place)
    return {name: read_text(place, name) for name in place.node.members}


def _object(place: object) -> object:
    value = _plain(place)
    return cast("object", value) if isinstance(value, Mapping) else {}


_ModelT = TypeVar("_ModelT")
Text = Annotated[str, BeforeValidator(_text)]
"""A number or a truth value is taken as its text."""
Flag = Annotated[bool, Field(strict=True), BeforeValidator(_flag)]
Whole = Annotated[int, Field(strict=True), BeforeValidator(_plain)]
Number = Annotated[float, Field(strict=True), BeforeValidator(_plain)]
Word = Annotated[_ModelT, BeforeValidator(_plain)]
Texts = Annotated[tuple[InstanceOf[DocumentPlace], ...], BeforeValidator(_texts)]
"""Places of texts; a single text counts as a list of one."""
Items = Annotated[tuple[_ModelT, ...], BeforeValidator(_items)]
Named = Annotated[dict[str, _ModelT], BeforeValidator(_named)]
"""An object whose member names are free."""
NamedTexts = Annotated[dict[str, str], BeforeValidator(_named_texts)]
Place = InstanceOf[DocumentPlace]
"""For what is read further only where it counts."""
JsonValue = Annotated[Any, BeforeValidator(_plain)]
JsonObjectValue = Annotated[dict[str, Any], BeforeValidator(_object)]


_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration_seconds(text: str) -> float | None:
    """Return a duration such as `1h30m`, `90s`, `500ms`; None if it is none."""
    compact = text.replace(" ", "")
    parts = _DURATION_PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        return None
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def between(least: int, most: int) -> AfterValidator:
    """Accept whole numbers within bounds, both included."""

    def check(value: int) -> int:
        if not least <= value <= most:
            raise PydanticCustomError(_OTHER_VALUE, f"between {least} and {most}")  # type: ignore[arg-type]
        return value

    return AfterValidator(check)


def one_of(words: Mapping[str, object]) -> BeforeValidator:
    """Accept words of a list, and read each as what it means."""

    def read(place: object) -> object:
        value = _plain(place)
        if not isinstance(value, str) or value not in words:
            expected = f"one of {', '.join(word for word in words if word)}"
            raise PydanticCustomError(_OTHER_VALUE, expected)  # type: ignore[arg-type]
        return words[value]

    return BeforeValidator(read)


class DocumentModel(BaseModel):
    """Members of one object of a document; each has a default, and `REQUIRED` marks what must be there."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())
    not_acted_on: ClassVar[Mapping[str, str]] = {}
    """Members that real files have and that are not acted on here: name to what they are."""
    reports_unknown: ClassVar[bool] = True
    _place: DocumentPlace | None = PrivateAttr(default=None)

    @property
    def is_mapping(self) -> bool:
        """Return whether it was read from an object; if not, that was reported and all is default."""
        return self._place is not None

    @property
    def place(self) -> DocumentPlace:
        """Return the place of the object that it was read from."""
        assert self._place is not None
        return self._place

    def place_of(self, name: str) -> DocumentPlace | None:
        """Return the place of a member; None if it is absent or null."""
        place = self._place
        return place.present(name) if place else None

    def require(self, name: str) -> None:
        """Report a text that has to be there under conditions that only the caller knows."""
        member = self.place_of(name)
        if member is None and self._place:
            self._place.error("missing_field", f"{_place_name(self._place)} needs {name}")
        elif member is not None and not text_at(member).strip():
            member.error("missing_field", f"{name} is empty")

    def to(self, struct: type[_StructT], **others: object) -> _StructT:
        """Return a value of a type with the members that both have, and others."""
        fields = type(self).model_fields
        same = {name: getattr(self, name) for name in struct.__struct_fields__ if name in fields}
        return struct(**{**same, **others})

    @property
    def origin(self) -> str:
        return f"{self._place.file}:{self._place.node.line}" if self._place else ""

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls: type[Self], value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, DocumentPlace):
            return handler(value)
        nodes = value.node.members
        if nodes is None:
            value.error(
                "wrong_type", f"{_place_name(value)} has to be a mapping, not {_type_name(value.node.value)}"
            )
            return handler({})
        model = handler({name: value.member(name) for name, node in nodes.items() if node.value is not None})
        model._place = value
        names, required = _member_names(cls)
        for name, called in required.items():
            if value.present(name) is None:
                value.error("missing_field", f"{_place_name(value)} needs {called}")
        if cls.reports_unknown:
            _report_unknown_members(value, names, cls.not_acted_on)
        return model

    @field_validator("*", mode="wrap")
    @classmethod
    def _read_member(
        cls, value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> object:
        metadata = cls.model_fields[info.field_name or ""].metadata
        if METADATA in metadata and isinstance(value, DocumentPlace):
            value = value.with_warnings_only()
        try:
            read = handler(value)
        except ValidationError as error:
            if not isinstance(value, DocumentPlace):
                raise
            _report_error(value, error.errors()[0])
            raise PydanticUseDefault from None
        if isinstance(read, DocumentModel) and read._place is None and isinstance(value, DocumentPlace):
            raise PydanticUseDefault  # no mapping, which the model has reported
        if (
            REQUIRED in metadata
            and isinstance(read, str)
            and isinstance(value, DocumentPlace)
            and not read.strip()
        ):
            value.error("missing_field", f"{_member_name(value)} is empty")
        return read


@cache
def _member_names(model: type[DocumentModel]) -> tuple[list[str], dict[str, str]]:
    """Return the members of a model as documents name them, and what messages call the required ones."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    required = {
        name: mark.name or name
        for name, field in fields.items()
        for mark in field.metadata
        if isinstance(mark, Required)
    }
    return list(fields), required


def _member_name(place: DocumentPlace) -> str:
    return place.path.rpartition(".")[2]


def _report_unknown_members(
    place: DocumentPlace, names: Collection[str], not_acted_on: Mapping[str, str]
) -> None:
    """Report members that are not known, with the nearest name that is, and those that are not acted on."""
    for name in place.node.members or {}:
        if name in names:
            continue
        if name in not_acted_on:
            message = f"{name} ({not_acted_on[name]}) is read and not acted on here"
            place.key(name).warn("not_run", message)
            continue
        near = nearest_name(name, names)
        hint = f"; did you mean {near}?" if near else ""
        place.key(name).warn("unknown_key", f"{one_line(name, 60)} is not a known key here{hint}")


def _report_error(place: DocumentPlace, error: ErrorDetails) -> None:
    name, value, kind = _member_name(place), place.node.value, error["type"]
    if kind in _EXPECTED_TYPES:
        name = _place_name(place) if kind == "dict_type" else name
        message = f"{name} has to be {_EXPECTED_TYPES[kind]}, not {_type_name(value)}"
        place.error("wrong_type", message)
        return
    if kind == _OTHER_VALUE:
        expected = error["msg"]
    elif kind == "literal_error":
        words = str(error.get("ctx", {}).get("expected", "")).replace(" or ", ", ").replace("'", "")
        expected = f"one of {words}" if "," in words else words
    else:
        limits = error.get("ctx", {})
        expected = f"at least {limits['ge']:.9g}" if "ge" in limits else f"at most {limits['le']:.9g}"
    place.error("wrong_value", f"{name} has to be {expected}, not {_value_text(value)}")


def _place_name(place: DocumentPlace) -> str:
    return place.path or "the document"


def _value_text(value: object) -> str:
    """Return a wrong value as messages show it."""
    return one_line(str(value), 60) if isinstance(value, str | int | float) else _type_name(value)


def _type_name(value: object) -> str:
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a text"), (list, "a list"),
        (dict, "a mapping"),
    )  # fmt: skip
    return next((name for cls, name in names if isinstance(value, cls)), "nothing")
