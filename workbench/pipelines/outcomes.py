"""Outcomes of a run: links to what came of it, found in what its steps left.

A link is an `http` or `https` address without a password, or a file of the step; anything else is a text.
"""

# Addresses come from agents. One that holds what looks like a secret is not kept at all: without it the link
# would lead elsewhere, and with it the record would hold the secret.

import re
from collections.abc import Iterator, Sequence
from typing import Final, cast
from urllib.parse import urlsplit

from workbench.domain.events import ArtifactStored
from workbench.domain.values import Json, JsonObject, RunLink
from workbench.pipelines import artifacts
from workbench.pipelines.documents import OutsideRoot, path_inside_root
from workbench.pipelines.json_repair import NotJson, read_json
from workbench.pipelines.model import OutcomeSpec
from workbench.pipelines.run_journal import ExactBlobs
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

FILE_TYPES: Final = ("file", "artifact")
ADDRESS_TYPES: Final = ("pr", "issue", "url", "deployment")
LABELS: Final = {
    "pr": "Pull request", "issue": "Issue", "url": "Link", "deployment": "Deployment", "file": "File",
    "artifact": "Artifact",
}  # fmt: skip
MOST_LINKS: Final = 50
"""Links of one step."""
_LONGEST_ADDRESS: Final = 2_000
_LONGEST_LABEL: Final = 120
_PATH_PART: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,6}|\*|)\]")
_EACH_ITEM: Final = ("*", "")
"""Indexes of all items of a list: `[*]` and `[]`."""


class NoOutcome(ValueError):
    """An outcome was not found; says why."""


def find_links(
    blobs: ExactBlobs,
    specs: Sequence[OutcomeSpec],
    workspace: str,
    stored: Sequence[ArtifactStored],
) -> tuple[tuple[RunLink, ...], tuple[str, ...]]:
    """Return the links of a step and a sentence for each outcome that was not found; blocking."""
    links: list[RunLink] = []
    missing: list[str] = []
    for spec in specs:
        try:
            path = spec.source.strip()
            if spec.type in FILE_TYPES:
                links.append(_file_link(spec, workspace, path))
            else:
                links += _json_links(spec, _content(blobs, workspace, stored, path))
        except NoOutcome as error:
            missing.append(_scrubbed(f"outcome {one_line(spec.type, 40)}: {error}"))
    return tuple(dict.fromkeys(links))[:MOST_LINKS], tuple(missing)


def _file_link(spec: OutcomeSpec, workspace: str, path: str) -> RunLink:
    try:
        kind = artifacts.path_kind(workspace, path_inside_root(path))
    except OutsideRoot:
        raise NoOutcome(f"{one_line(path, 200)} leads out of the workspace") from None
    if kind is None:
        raise NoOutcome(f"{one_line(path, 200)} is not there")
    return RunLink(
        type=spec.type, label=_label(spec, ""), kind="file",
        target=_scrubbed(one_line(path.strip("/"), 500)),
    )  # fmt: skip


def _content(blobs: ExactBlobs, workspace: str, stored: Sequence[ArtifactStored], path: str) -> Json:
    artifact = next((candidate for candidate in stored if path in (candidate.path, candidate.name)), None)
    try:
        if artifact is not None:
            data = artifacts.read_artifact(blobs, artifact)
        else:
            data = artifacts.workspace_file(workspace, path)
        return read_json(data.decode("utf-8", "replace"), lambda _: True).value
    except artifacts.ArtifactMissing as error:
        raise NoOutcome(one_line(str(error), 300)) from None
    except NotJson as error:
        raise NoOutcome(f"{one_line(path, 200)} is not JSON: {one_line(str(error), 120)}") from None


def _json_links(spec: OutcomeSpec, value: Json) -> Iterator[RunLink]:
    matches = values_at(value, spec.json_path)
    if not matches:
        raise NoOutcome(f"there is nothing at {one_line(spec.json_path, 120)}")
    labels = _labels(value, spec, [item for _, item in matches])
    for (text, _), label in zip(matches, labels, strict=True):
        yield _value_link(spec, text, label)


def _value_link(spec: OutcomeSpec, value: Json, label: str) -> RunLink:
    text = value.strip() if isinstance(value, str) else ""
    if isinstance(value, int) and not isinstance(value, bool):
        text = str(value)
    if not text:
        raise NoOutcome(f"what is at {one_line(spec.json_path, 120)} is neither a text nor a number")
    is_address = is_web_address(text)
    if not is_address and spec.type in ADDRESS_TYPES:
        raise NoOutcome(f"{one_line(text, 120)} is not an http or https address")
    clean = _scrubbed(one_line(text, _LONGEST_ADDRESS))
    if is_address and clean != text:
        raise NoOutcome("its address holds what looks like a secret, so it is not kept")
    kind = "address" if is_address else "text"
    return RunLink(type=spec.type, label=_label(spec, label), kind=kind, target=clean)


def _scrubbed(text: str) -> str:
    return scrub(text).text


def _label(spec: OutcomeSpec, own: str) -> str:
    head = spec.label or LABELS.get(spec.type, spec.type)
    return _scrubbed(one_line(f"{head}: {own}" if own else head, _LONGEST_LABEL))


def _labels(value: Json, spec: OutcomeSpec, items: list[Json]) -> list[str]:
    """Return the label of each item of a list: a path from the item, or from the top of the document."""
    path = spec.label_path
    if not path or not _has_many(spec.json_path):
        return [""] * len(items)
    if _has_many(path):
        named = [label for label, _ in values_at(value, path)]
    else:
        named = [next((label for label, _ in values_at(item, path)), None) for item in items]
    texts = [name if isinstance(name, str) else "" for name in named]
    return [*texts, *[""] * len(items)][: len(items)]


def _has_many(path: str) -> bool:
    return any(part[1] is None and part[2] in _EACH_ITEM for part in _PATH_PART.finditer(path))


def values_at(value: Json, path: str) -> list[tuple[Json, Json]]:
    """Return the values at a path such as `.a.b`, `.list[0].c`, `.list[*].c`, each with its list item.

    `[]` is read as `[*]`. Raises NoOutcome where it is not such a path.
    """
    text = path.strip().removeprefix("$")
    parts = list(_PATH_PART.finditer(text))
    if not text or "".join(part[0] for part in parts) != text:
        raise NoOutcome(f"{one_line(path, 120)} is not a path such as .pr_url or .items[*].url")
    matches: list[tuple[Json, Json]] = [(value, value)]
    for part in parts:
        matches = [
            step for match_value, item in matches for step in _steps(match_value, item, part[1], part[2])
        ]
        matches = matches[:MOST_LINKS]
    return [(match_value, item) for match_value, item in matches if match_value is not None]


def _steps(value: Json, item: Json, name: str | None, index: str | None) -> Iterator[tuple[Json, Json]]:
    if name is not None:
        if isinstance(value, dict):
            yield cast("JsonObject", value).get(name), item
        return
    if not isinstance(value, list):
        return
    elements = cast("list[Json]", value)
    if index in _EACH_ITEM:
        yield from ((element, element) for element in elements)
    elif int(index or 0) < len(elements):
        yield elements[int(index or 0)], item


def is_web_address(text: str) -> bool:
    """Return whether a text is an `http` or `https` address that may be shown and opened (RFC 3986)."""
    if len(text) > _LONGEST_ADDRESS or not text.isascii() or not text.isprintable() or " " in text:
        return False
    if any(sign in text for sign in '"<>\\^`{|}'):
        return False
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and has_port
