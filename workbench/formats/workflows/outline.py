"""The outline of a file that is not known: its members or front matter if it has any, and its text. Pure."""

import json
import re
from typing import Final, cast

from msgspec import Struct

from workbench.text.yaml_nodes import Outline, OutlineValue, outline_yaml

MOST_BYTES: Final = 1_048_576
"""Bytes of a file that are looked at."""
_DEPTH: Final = 3
_MOST_FRONT_MATTER: Final = 65_536
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


class FileOutline(Struct, frozen=True, kw_only=True):
    """What a file shows of itself."""

    name: str
    """Of the file, without its folder."""
    folder: str
    """The name of its folder."""
    members: Outline
    front: Outline
    """Members of the front matter of a text."""
    text: str


class FrontMatter(Struct, frozen=True, kw_only=True):
    """A text with YAML between lines of three hyphens at its beginning."""

    yaml: str
    body: str


def read_outline(path: str, data: bytes) -> FileOutline | None:
    """Return the outline of a file's bytes; None if they are not text."""
    if b"\0" in data[:MOST_BYTES]:
        return None
    text = data[:MOST_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    folder, _, name = path.rpartition("/")
    front = split_front_matter(text)
    return FileOutline(
        name=name, folder=folder.rpartition("/")[2], text=text,
        members={} if front else _members(text), front=outline_yaml(front.yaml) if front else {},
    )  # fmt: skip


def split_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text with what follows it; None if there is none."""
    if not text.startswith("---"):
        return None
    match = _FRONT_MATTER.match(text, 0, _MOST_FRONT_MATTER)
    if match is None or not text[match.end() :].strip():
        return None
    return FrontMatter(yaml=match[1], body=text[match.end() :].strip("\n") + "\n")


def _members(text: str) -> Outline:
    if text.lstrip().startswith("{"):
        try:
            value = _outlined(json.loads(text), _DEPTH)
        except (ValueError, RecursionError):
            return outline_yaml(text)
        return value if isinstance(value, dict) else {}
    return outline_yaml(text)


def _outlined(value: object, depth: int) -> OutlineValue:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value) if depth else {}
        return {name: _outlined(member, depth - 1) for name, member in members.items()}
    return () if isinstance(value, list) else str(value)
