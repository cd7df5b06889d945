"""Artifacts: taken from the workspace of a step, sealed by digest, written into the workspace of a later one.

Later steps get exactly the bytes that were sealed.
"""

import json
from collections.abc import Sequence
from typing import Final, cast

from msgspec.structs import replace

from workbench.domain.events import ArtifactStored, ContractChecked
from workbench.domain.step_messages import StepOutcome
from workbench.domain.values import Json
from workbench.effects.file_primitives import FileMissing, FileRefused
from workbench.effects.files import Root
from workbench.effects.folders import files_below, put_file
from workbench.pipelines import templates
from workbench.pipelines.documents import OutsideRoot, path_inside_root
from workbench.pipelines.executor import StepResults
from workbench.pipelines.model import ArtifactSpec, PipelineOutput
from workbench.pipelines.run_journal import ExactBlobs
from workbench.text.human import size_text

MOST_FILES: Final = 2_000
"""Files of a folder that is an artifact."""
MOST_STDOUT: Final = 16 * 1024 * 1024
"""Bytes of a standard output that is an artifact: a part of it would be another artifact."""
MOST_SHOWN: Final = 102_400
"""Characters of an artifact that a template puts into a prompt."""
NO_LIMIT: Final = 1 << 40
"""As many as there are."""


class ArtifactMissing(Exception):
    """The bytes of an artifact, or of a file in a workspace, are missing or not those that were sealed."""


def injected_path(name: str) -> str:
    """Return where an injected artifact lies, relative to the workspace of the step that it is given to."""
    return f"artifacts/{name}"


def seal_repaired(blobs: ExactBlobs, stored: list[ArtifactStored], check: ContractChecked, text: str) -> None:
    """Seal repaired JSON instead of what a step wrote to the file that was checked.

    The file in the workspace stays as it was written, and so do its bytes beside the artifact.
    """
    data = text.encode("utf-8", "surrogatepass")
    for index, artifact in enumerate(stored):
        if check.source in (artifact.path, injected_path(artifact.name)):
            stored[index] = replace(
                artifact, content_ref=blobs.seal(data), digest=blobs.keyed(data),
                size_bytes=len(data), repairs=check.repairs,
                written_ref=artifact.written_ref or artifact.content_ref,
            )  # fmt: skip


def collect_artifacts(
    blobs: ExactBlobs, workspace: str, outputs: Sequence[ArtifactSpec], outcome: StepOutcome, attempt: int
) -> StepResults:
    """Seal what a step declares; blocking."""
    results_stored: list[ArtifactStored] = []
    missing: list[str] = []
    left_out: list[str] = []
    for output in outputs:
        try:
            stored = _seal_output(blobs, workspace, output, outcome, attempt)
        except FileRefused as error:
            missing.append(f"{output.name} cannot be read: {error.why}; {error.remedy}")
            continue
        if stored is not None:
            results_stored.append(stored)
        elif output.is_required:
            missing.append(_missing_reason(output, outcome))
        elif output.kind == "stdout" and outcome.stdout_bytes:
            left_out.append(_missing_reason(output, outcome))
    return StepResults(stored=tuple(results_stored), missing=tuple(missing), left_out=tuple(left_out))


def _missing_reason(output: ArtifactSpec, outcome: StepOutcome) -> str:
    if output.kind != "stdout":
        return f"it ended without writing {output.path}{_why_unwritten(output.path, outcome)}"
    if not outcome.stdout_bytes:
        return f"{output.name} was not left on its standard output"
    return (
        f"{output.name} is {size_text(outcome.stdout_bytes)}, and no more than {size_text(MOST_STDOUT)}"
        " are kept of a standard output; write it to a file and give the artifact its path"
    )


_BY_YOU: Final = ": you rejected the write"


def failure_for_agent(reason: str) -> str:
    """Return why an attempt failed in words for its agent, for whom `you` is not the human."""
    return reason.replace(_BY_YOU, ": the human rejected the write")


def _why_unwritten(path: str, outcome: StepOutcome) -> str:
    """Return which answer kept a file from being written: `: you rejected the write twice`."""
    name = path.strip("/")
    times = sum(one == name or one.startswith(f"{name}/") for one in outcome.rejected)
    if times:
        often = {1: "", 2: " twice"}.get(times, f" {times} times")
        return f"{_BY_YOU}{often}"
    if any(one == name or one.startswith(f"{name}/") for one in outcome.denied):
        return ": the write was not allowed"
    is_late = any(one == name or one.startswith(f"{name}/") for one in outcome.unanswered)
    return ": nobody answered about the write in time" if is_late else ""


def _seal_output(
    blobs: ExactBlobs, workspace: str, output: ArtifactSpec, outcome: StepOutcome, attempt: int
) -> ArtifactStored | None:
    if output.kind == "stdout":
        data = blobs.unseal(outcome.stdout_ref) if outcome.stdout_ref else None
        return None if data is None else seal_artifact(blobs, output, data, attempt)
    with Root(workspace) as root:
        path = output.path.strip("/")
        kind = root.stat(path).kind
        if kind == "folder":
            return _seal_folder(blobs, root, output, path, attempt)
        image = root.image(path) if kind is not None else None
    return None if image is None else seal_artifact(blobs, output, image.data, attempt)


def seal_artifact(blobs: ExactBlobs, output: ArtifactSpec, data: bytes, attempt: int) -> ArtifactStored:
    """Seal the bytes of a file as an artifact."""
    return ArtifactStored(
        name=output.name, artifact_kind="stdout" if output.kind == "stdout" else "file", path=output.path,
        digest=blobs.keyed(data), type=output.type, content_ref=blobs.seal(data), size_bytes=len(data),
        attempt=attempt,
    )  # fmt: skip


def _seal_folder(
    blobs: ExactBlobs, root: Root, output: ArtifactSpec, path: str, attempt: int
) -> ArtifactStored:
    members: dict[str, str] = {}
    lines: list[str] = []
    total = 0
    for name in files_below(f"{root.path}/{path}", MOST_FILES):
        image = root.image(f"{path}/{name}")
        if image is not None:
            members[name] = blobs.seal(image.data)
            lines.append(f"{name}\0{blobs.keyed(image.data)}\n")
            total += image.size
    listed = json.dumps(members, sort_keys=True).encode()
    return ArtifactStored(
        name=output.name, artifact_kind="folder", path=output.path, type=output.type,
        digest=blobs.keyed("".join(sorted(lines)).encode()), content_ref=blobs.seal(listed),
        member_refs=tuple(sorted(set(members.values()))), size_bytes=total, files=len(members),
        attempt=attempt,
    )  # fmt: skip


def seal_value(blobs: ExactBlobs, output: ArtifactSpec, content: Json, attempt: int) -> ArtifactStored:
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return seal_artifact(blobs, output, data, attempt)


def select_output(blobs: ExactBlobs, artifact: ArtifactStored, output: PipelineOutput) -> ArtifactStored:
    """Return an artifact under the name of a pipeline's output; with a field, only that, sealed again."""
    if not output.field:
        return replace(artifact, name=output.name)
    content = templates.member_value(artifact_content(blobs, artifact), output.field.removeprefix("."))
    named = ArtifactSpec(name=output.name, type="text" if isinstance(content, str) else "json")
    if isinstance(content, str):
        return seal_artifact(blobs, named, content.encode("utf-8", "surrogatepass"), artifact.attempt)
    return seal_value(blobs, named, content, artifact.attempt)


def read_artifact(blobs: ExactBlobs, artifact: ArtifactStored) -> bytes:
    """Return the bytes of an artifact; of a folder, the JSON object of its files. Raises ArtifactMissing."""
    data = blobs.unseal(artifact.content_ref) if artifact.content_ref else None
    if data is None:
        raise ArtifactMissing(f"the artifact {artifact.name} no longer exists; run its step again")
    if artifact.artifact_kind != "folder" and blobs.keyed(data) != artifact.digest:
        raise ArtifactMissing(f"the artifact {artifact.name} is damaged; run its step again")
    return data


def artifact_content(blobs: ExactBlobs, artifact: ArtifactStored) -> Json:
    """Return an artifact as JSON, or as text where it is none. Raises ArtifactMissing."""
    return parse_content(read_artifact(blobs, artifact))


def write_artifact(blobs: ExactBlobs, artifact: ArtifactStored, workspace: str, path: str) -> None:
    """Write an artifact into a workspace, below `path`; blocking. Raises ArtifactMissing or FileRefused."""
    data = read_artifact(blobs, artifact)
    if artifact.artifact_kind != "folder":
        put_file(workspace, path, data)
        return
    for name, ref in cast("dict[str, str]", json.loads(data)).items():
        content = blobs.unseal(ref)
        if content is None:
            raise ArtifactMissing(f"{name} of the artifact {artifact.name} no longer exists")
        put_file(workspace, f"{path}/{name}", content)


def artifact_text(blobs: ExactBlobs, artifact: ArtifactStored, longest: int = MOST_SHOWN) -> str:
    """Return an artifact as a template shows it: its text, or the names of a folder's files."""
    data = read_artifact(blobs, artifact)
    if artifact.artifact_kind == "folder":
        return "\n".join(sorted(cast("dict[str, str]", json.loads(data))))
    text = data.decode("utf-8", "replace")
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n… {len(text) - longest:,} more characters; the whole is in its file"


def parse_content(data: bytes) -> Json:
    """Return an artifact as JSON, or as text where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def workspace_file(workspace: str, path: str) -> bytes:
    """Return the bytes of a file of a workspace. Raises ArtifactMissing: none is there, or it is not read."""
    try:
        with Root(workspace) as root:
            image = root.image(path_inside_root(path))
    except (FileRefused, OutsideRoot) as error:
        raise ArtifactMissing(str(error)) from None
    if image is None:
        raise ArtifactMissing(f"{path} is not there")
    return image.data


def path_kind(workspace: str, path: str) -> str | None:
    """Return `file` or `folder` for what is at a path of a workspace; None for nothing."""
    try:
        with Root(workspace) as root:
            return root.stat(path.strip("/")).kind
    except (FileRefused, FileMissing):
        return None
