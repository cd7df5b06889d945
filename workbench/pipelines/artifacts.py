"""What a step hands to later ones: taken from its workspace, sealed by digest, and put into theirs.

Owns that later steps get exactly the bytes that were sealed. It reads and writes only below the workspaces
that it is given.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from workbench.domain.runs import ArtifactStored, StepOutcome
from workbench.domain.values import Json
from workbench.effects.files import FileRefused, NothingThere, Root
from workbench.effects.trees import files_below, put_file
from workbench.pipelines import templates
from workbench.pipelines.executor import Ledger
from workbench.pipelines.model import ArtifactSpec, PipelineOutput
from workbench.text.human import size

MOST_FILES: Final = 2_000
"""Files of a folder that is an artifact."""
MOST_STDOUT: Final = 16 * 1024 * 1024
"""Bytes of a standard output that is an artifact: a part of it would be another artifact."""
SHOWN: Final = 102_400
"""Characters of an artifact that a template puts into a prompt."""
WHOLE: Final = 1 << 40
"""As many as there are."""


class ArtifactGone(Exception):
    """The sealed bytes of an artifact are missing or are not those that were sealed."""


def place(name: str) -> str:
    """Return where an injected artifact lies, relative to the workspace of the step that it is given to."""
    return f"artifacts/{name}"


@dataclass(slots=True)
class Collected:
    """What was found in a workspace."""

    stored: list[ArtifactStored] = field(default_factory=list[ArtifactStored])
    missing: list[str] = field(default_factory=list[str])
    """Required ones that are not there, in words."""
    left_out: list[str] = field(default_factory=list[str])
    """Others that are there and were not taken, in words."""


def collect(
    ledger: Ledger, workspace: str, outputs: Sequence[ArtifactSpec], outcome: StepOutcome, attempt: int
) -> Collected:
    """Seal what a step declares; blocking."""
    found = Collected()
    for output in outputs:
        try:
            stored = _stored(ledger, workspace, output, outcome, attempt)
        except FileRefused as error:
            found.missing.append(f"{output.name} cannot be read: {error.why}; {error.remedy}")
            continue
        if stored is not None:
            found.stored.append(stored)
        elif output.is_required:
            found.missing.append(_missing(output, outcome))
        elif output.kind == "stdout" and outcome.stdout_bytes:
            found.left_out.append(_missing(output, outcome))
    return found


def _missing(output: ArtifactSpec, outcome: StepOutcome) -> str:
    if output.kind != "stdout":
        return f"{output.name} was not left at {output.path}"
    if not outcome.stdout_bytes:
        return f"{output.name} was not left on its standard output"
    return (
        f"{output.name} is {size(outcome.stdout_bytes)}, and no more than {size(MOST_STDOUT)} are kept of a "
        "standard output; write it to a file and give the artifact its path"
    )


def _stored(
    ledger: Ledger, workspace: str, output: ArtifactSpec, outcome: StepOutcome, attempt: int
) -> ArtifactStored | None:
    if output.kind == "stdout":
        data = ledger.unseal(outcome.stdout_ref) if outcome.stdout_ref else None
        return None if data is None else sealed(ledger, output, data, attempt)
    with Root(workspace) as root:
        path = output.path.strip("/")
        kind = root.stat(path).kind
        if kind == "folder":
            return _folder(ledger, root, output, path, attempt)
        image = root.image(path) if kind is not None else None
    return None if image is None else sealed(ledger, output, image.data, attempt)


def sealed(ledger: Ledger, output: ArtifactSpec, data: bytes, attempt: int) -> ArtifactStored:
    """Seal the bytes of a file as an artifact."""
    return ArtifactStored(
        name=output.name, artifact_kind="stdout" if output.kind == "stdout" else "file", path=output.path,
        digest=ledger.keyed(data), type=output.type, content_ref=ledger.seal(data), size_bytes=len(data),
        attempt=attempt,
    )  # fmt: skip


def _folder(ledger: Ledger, root: Root, output: ArtifactSpec, path: str, attempt: int) -> ArtifactStored:
    members: dict[str, str] = {}
    lines: list[str] = []
    total = 0
    for name in files_below(f"{root.path}/{path}", MOST_FILES):
        image = root.image(f"{path}/{name}")
        if image is not None:
            members[name] = ledger.seal(image.data)
            lines.append(f"{name}\0{ledger.keyed(image.data)}\n")
            total += image.size
    listed = json.dumps(members, sort_keys=True).encode()
    return ArtifactStored(
        name=output.name, artifact_kind="folder", path=output.path, type=output.type,
        digest=ledger.keyed("".join(sorted(lines)).encode()), content_ref=ledger.seal(listed),
        member_refs=tuple(sorted(set(members.values()))), size_bytes=total, files=len(members),
        attempt=attempt,
    )  # fmt: skip


def value(ledger: Ledger, output: ArtifactSpec, content: Json, attempt: int) -> ArtifactStored:
    """Seal a JSON value as an artifact."""
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return sealed(ledger, output, data, attempt)


def selected(ledger: Ledger, artifact: ArtifactStored, output: PipelineOutput) -> ArtifactStored:
    """Return an artifact under the name of a pipeline's output; with a field, only that, sealed anew."""
    if not output.field:
        return replace(artifact, name=output.name)
    content = templates.member(parsed(read(ledger, artifact)), output.field.removeprefix("."))
    named = ArtifactSpec(name=output.name, type="text" if isinstance(content, str) else "json")
    if isinstance(content, str):
        return sealed(ledger, named, content.encode("utf-8", "surrogatepass"), artifact.attempt)
    return value(ledger, named, content, artifact.attempt)


def read(ledger: Ledger, artifact: ArtifactStored) -> bytes:
    """Return the bytes of an artifact; of a folder, the JSON object of its files.

    Raises:
        ArtifactGone: They are not there, or are others.
    """
    data = ledger.unseal(artifact.content_ref) if artifact.content_ref else None
    if data is None:
        raise ArtifactGone(f"the artifact {artifact.name} is not there any more; run its step again")
    if artifact.artifact_kind != "folder" and ledger.keyed(data) != artifact.digest:
        raise ArtifactGone(f"the artifact {artifact.name} is damaged; run its step again")
    return data


def put(ledger: Ledger, artifact: ArtifactStored, workspace: str, path: str) -> None:
    """Write an artifact into a workspace, below `path`; blocking.

    Raises:
        ArtifactGone: Its bytes are gone.
        FileRefused: They cannot be written.
    """
    data = read(ledger, artifact)
    if artifact.artifact_kind != "folder":
        put_file(workspace, path, data)
        return
    for name, ref in cast("dict[str, str]", json.loads(data)).items():
        found = ledger.unseal(ref)
        if found is None:
            raise ArtifactGone(f"{name} of the artifact {artifact.name} is not there any more")
        put_file(workspace, f"{path}/{name}", found)


def text(ledger: Ledger, artifact: ArtifactStored, longest: int = SHOWN) -> str:
    """Return an artifact as a template shows it: its text, or the names of a folder's files."""
    data = read(ledger, artifact)
    if artifact.artifact_kind == "folder":
        return "\n".join(sorted(cast("dict[str, str]", json.loads(data))))
    found = data.decode("utf-8", "replace")
    if len(found) <= longest:
        return found
    return f"{found[:longest]}\n… {len(found) - longest:,} more characters; the whole is in its file"


def parsed(data: bytes) -> Json:
    """Return an artifact as JSON, or as text where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def exists(workspace: str, path: str) -> str | None:
    """Return `file` or `folder` for what is at a path of a workspace; None for nothing."""
    try:
        with Root(workspace) as root:
            return root.stat(path.strip("/")).kind
    except (FileRefused, NothingThere):
        return None
