"""Reading members of a located object: typed, with every complaint at its own line.

Owns the words for wrong types and missing or unknown members. It never stops at the first problem: what
cannot be read is reported and given as absent.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import TypeVar

from workbench.domain.values import Json
from workbench.pipelines.problems import Place
from workbench.text.safe import one_line

T = TypeVar("T")


class Fields:
    """The members of one object; which of them were asked for is remembered."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._known: set[str] = set()
        self._is_object = place.node.members is not None
        if not self._is_object:
            place.error("wrong_type", f"{_what(place)} has to be a mapping, not {_kind(place.node.value)}")

    def has(self, name: str) -> bool:
        """Return whether a member is there and not null."""
        self._known.add(name)
        found = self.place.member(name)
        return found is not None and found.node.value is not None

    def get(self, name: str) -> Place | None:
        """Return the place of a member; None if it is absent or null."""
        return self.place.member(name) if self.has(name) else None

    def required(self, name: str) -> Place | None:
        """Return the place of a member, reporting it as missing if it is not there."""
        found = self.get(name)
        if found is None and self._is_object:
            self.place.error("missing_field", f"{_what(self.place)} needs {name}")
        return found

    def text(self, name: str, default: str = "", *, required: bool = False) -> str:
        """Return a text; a number or a truth value is taken as its text."""
        found = self.required(name) if required else self.get(name)
        if found is None:
            return default
        value = found.node.value
        if found.node.members is not None or found.node.items is not None:
            found.error("wrong_type", f"{name} has to be a text, not {_kind(value)}")
            return default
        if isinstance(value, bool):
            return "true" if value else "false"
        text = str(value)
        if required and not text.strip():
            found.error("missing_field", f"{name} is empty")
        return text

    def flag(self, name: str, default: bool) -> bool:
        """Return a truth value."""
        found = self.get(name)
        if found is None:
            return default
        value = found.node.value
        if isinstance(value, str) and value.lower() in _FLAGS:
            return _FLAGS[value.lower()]
        if not isinstance(value, bool):
            found.error("wrong_type", f"{name} has to be true or false, not {_kind(value)}")
            return default
        return value

    def whole(self, name: str, default: int, least: int = 0, most: int = 1_000_000_000) -> int:
        """Return a whole number within bounds."""
        found = self.get(name)
        if found is None:
            return default
        value = found.node.value
        if isinstance(value, bool) or not isinstance(value, int):
            found.error("wrong_type", f"{name} has to be a whole number, not {_kind(value)}")
            return default
        if not least <= value <= most:
            found.error("wrong_value", f"{name} has to be between {least} and {most}, not {value}")
            return default
        return value

    def number(self, name: str, least: float, most: float) -> float | None:
        """Return a number within bounds; None if it is absent or wrong."""
        found = self.get(name)
        if found is None:
            return None
        value = found.node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            found.error("wrong_type", f"{name} has to be a number, not {_kind(value)}")
            return None
        if not least <= value <= most:
            found.error("wrong_value", f"{name} has to be between {least:g} and {most:g}, not {value:g}")
            return None
        return float(value)

    def word(self, name: str, allowed: Mapping[str, T], default: T) -> T:
        """Return what a word out of a list means."""
        found = self.get(name)
        if found is None:
            return default
        value = found.node.value
        if not isinstance(value, str) or value not in allowed:
            words = ", ".join(word for word in allowed if word)
            found.error("wrong_value", f"{name} has to be one of {words}, not {_shown(value)}")
            return default
        return allowed[value]

    def texts(self, name: str) -> tuple[Place, ...]:
        """Return the places of a list of texts; a single text counts as a list of one."""
        found = self.get(name)
        if found is None:
            return ()
        if isinstance(found.node.value, str):
            return (found,)
        if found.node.items is None:
            found.error("wrong_type", f"{name} has to be a list, not {_kind(found.node.value)}")
            return ()
        return tuple(item for item in found.items() if _is_text(item, name))

    def objects(self, name: str) -> tuple[Place, ...]:
        """Return the places of a list's items."""
        found = self.get(name)
        if found is None:
            return ()
        if found.node.items is None:
            found.error("wrong_type", f"{name} has to be a list, not {_kind(found.node.value)}")
            return ()
        return tuple(found.items())

    def below(self, name: str) -> "Fields | None":
        """Return the members of an object; None if it is absent or none."""
        found = self.get(name)
        if found is None:
            return None
        fields = Fields(found)
        return fields if found.node.members is not None else None

    def named(self, name: str) -> Iterator[tuple[str, Place]]:
        """Yield name and place of every member of an object."""
        below = self.below(name)
        for key in (below.place.node.members or {}) if below else ():
            place = below.place.member(key) if below else None
            if place is not None:
                yield key, place

    def json(self, name: str) -> Json:
        """Return a value as it is."""
        found = self.get(name)
        return None if found is None else found.node.value

    def unknown(self, known: Mapping[str, str] | None = None) -> None:
        """Report the members that nobody asked for.

        Args:
            known: Members that real files have and that are not acted on here: name to what they are.
        """
        for name in self.place.node.members or {}:
            if name in self._known:
                continue
            if known and name in known:
                self.place.key(name).warn("not_run", f"{name} ({known[name]}) is read and not acted on here")
                continue
            close = difflib.get_close_matches(name, self._known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            self.place.key(name).warn("unknown_key", f"{one_line(name, 60)} is no known key here{hint}")


_FLAGS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


def _is_text(place: Place, name: str) -> bool:
    node = place.node
    if node.value is None or node.members is not None or node.items is not None:
        place.error("wrong_type", f"an item of {name} has to be a text, not {_kind(node.value)}")
        return False
    return True


def _what(place: Place) -> str:
    return place.path or "the document"


def _shown(value: object) -> str:
    return one_line(str(value), 60) if isinstance(value, str | int | float) else _kind(value)


def _kind(value: object) -> str:
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a text"), (list, "a list"),
        (dict, "a mapping"),
    )  # fmt: skip
    return next((name for cls, name in names if isinstance(value, cls)), "nothing")


def text_of(place: Place) -> str:
    """Return the value of a place as a text."""
    return str(place.node.value)
