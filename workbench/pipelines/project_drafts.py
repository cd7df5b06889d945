"""New files of a project: a pipeline or a persona as it would be written, checked, shown as a diff, written.

Nothing is overwritten: a new file needs a free name, and a manifest is only changed as it was read.
"""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.domain.values import Refused
from workbench.effects.file_primitives import BaseMoved, FileRefused
from workbench.effects.files import Root
from workbench.pipelines.documents import DiskFiles, find_manifest, path_inside_root, project_folder
from workbench.pipelines.load import load_from_texts
from workbench.pipelines.manifest_edit import PersonaEntry, with_personas
from workbench.secrets.scrubber import scrub
from workbench.text.human import sentence
from workbench.text.problems import Problem, ProblemReport
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import MOST_YAML_BYTES

NOT_WRITTEN: Final = "Nothing was written."
_MODE: Final = 0o644
_NEW_MANIFEST: Final = "workbench.yaml"
_PROJECT_FOLDERS: Final = (".workbench", ".wave")


class DraftRefused(Refused):
    """New files cannot be made or written; nothing was changed."""


class FileDraft(Struct, frozen=True, kw_only=True):
    """A file as it would be."""

    path: str
    """Relative to the project."""
    text: str
    before: str | None = None
    """The text that it has now; None for a new file."""


class ProjectDraft(Struct, frozen=True, kw_only=True):
    """Files that are written together, in this order."""

    root: str
    """Real path of the project."""
    files: tuple[FileDraft, ...]
    warnings: tuple[str, ...] = ()
    """What is known to be missing before a run can start."""

    def diff_lines(self) -> list[str]:
        """Return the change as a unified diff with the last file first.

        Added lines are as they would be written; secrets in the others are replaced.
        """
        return scrub("\n".join(self._exact_lines())).text.split("\n")

    def hidden_kinds(self) -> tuple[str, ...]:
        """Return the kinds of secrets because of which the diff would not show what is added."""
        exact = self._exact_lines()
        shown = scrub("\n".join(exact))
        return () if _added(exact) == _added(shown.text.split("\n")) else shown.found

    def _exact_lines(self) -> list[str]:
        lines: list[str] = []
        for file in (*self.files[-1:], *self.files[:-1]):
            before = [] if file.before is None else _lines(file.before)
            old = "/dev/null" if file.before is None else f"a/{file.path}"
            lines += difflib.unified_diff(before, _lines(file.text), old, f"b/{file.path}", lineterm="")
        return lines


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends one, so that no other character is left out."""
    return text.removesuffix("\n").split("\n") if text else []


def _added(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("+")]


def draft_root(workspace: str) -> str:
    """Return the folder of the project that new pipelines of a workspace belong to."""
    manifest = find_manifest(workspace)
    return os.path.realpath(project_folder(manifest) if manifest else workspace)


def draft_project(
    workspace: str, *, pipeline: tuple[str, str] | None, personas: Sequence[PersonaEntry]
) -> ProjectDraft:
    """Return the files of a pipeline (its name and text) and of personas that the manifest does not have yet.

    Raises DraftRefused: a file is there already, the manifest cannot be extended, the result has errors, or
    the diff would not show all of it.
    """
    root, manifest_file = draft_root(workspace), find_manifest(workspace)
    before = _text_of(manifest_file) if manifest_file else None
    prompts = [FileDraft(path=_path(root, "personas", f"{one.name}.md"), text=one.prompt) for one in personas]
    after = with_personas(
        before, os.path.basename(root) or "project",  # noqa: PTH119 a name, not a path
        {prompt.path: persona for persona, prompt in zip(personas, prompts, strict=True)},
    )  # fmt: skip
    manifest = _relative(manifest_file, root) if manifest_file else _NEW_MANIFEST
    files = [prompt for prompt in prompts if Path(prompt.path).stem in after.names]
    if after.text:
        files.append(FileDraft(path=manifest, text=after.text, before=before))
    if pipeline is not None:
        files.append(FileDraft(path=_path(root, "pipelines", f"{pipeline[0]}.yaml"), text=pipeline[1]))
    for file in files:
        _require_free(root, file)
    report = _checked(root, files, manifest, after.text or before, pipeline is not None)
    draft = ProjectDraft(
        root=root, files=tuple(files), warnings=tuple(problem.message for problem in report.stopping)
    )
    if hidden := draft.hidden_kinds():
        why = f"It would hold what looks like a secret ({', '.join(hidden)}), which is not shown in a diff."
        raise DraftRefused(NOT_WRITTEN, why, "Take it out, and let the command read it from its environment.")
    return draft


def _path(root: str, kind: str, name: str) -> str:
    """Return the path of a new file in the folder that the project has for its kind."""
    folders = [f"{folder}/{kind}" for folder in _PROJECT_FOLDERS]
    present = next((folder for folder in folders if (Path(root) / folder).is_dir()), folders[0])
    return path_inside_root(f"{present}/{name}")


def _relative(file: str, root: str) -> str:
    return os.path.relpath(os.path.realpath(file), root)


def _text_of(file: str) -> str:
    try:
        data = Path(file).read_bytes()[: MOST_YAML_BYTES + 1]
        if len(data) <= MOST_YAML_BYTES:
            return data.decode("utf-8")
        why = "it is too large"
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"
    remedy = "workbench pipeline validate names what is wrong with it"
    raise DraftRefused(NOT_WRITTEN, f"The manifest {one_line(file, 120)} cannot be read: {why}.", remedy)


def _require_free(root: str, file: FileDraft) -> None:
    if file.before is None and os.path.lexists(Path(root) / file.path):
        why = f"{one_line(file.path, 160)} is there already, and no file is overwritten."
        raise DraftRefused(NOT_WRITTEN, why, "Choose another name.")


class _DraftFiles(Struct, frozen=True, kw_only=True):
    """The files of a project with drafts over them."""

    drafts: dict[str, str]
    disk: DiskFiles

    def text(self, path: str) -> str | None:
        draft = self.drafts.get(path_inside_root(path))
        return draft if draft is not None else self.disk.text(path)

    def is_folder(self, path: str) -> bool:
        return self.disk.is_folder(path)

    def named(self, pattern: str) -> bool:
        return pattern in self.drafts or self.disk.named(pattern)

    def seen(self) -> dict[str, str]:
        return self.disk.seen()


def _checked(
    root: str, files: Sequence[FileDraft], manifest: str, manifest_text: str | None, has_pipeline: bool
) -> ProblemReport:
    """Check the project as it would be, and return what was found."""
    project = _DraftFiles(drafts={file.path: file.text for file in files}, disk=DiskFiles(root))
    if has_pipeline:
        names = (files[-1].path, manifest)
        report = load_from_texts(files[-1].text, manifest_text, project, names)[2]
    else:
        report = load_from_texts("", manifest_text, project, ("", manifest))[2]
        report = ProblemReport([problem for problem in report.found if problem.file])
    if report.errors:
        first: Problem = report.errors[0]
        raise DraftRefused(NOT_WRITTEN, f"It would not be valid: {first}.", "Correct that, then do it again.")
    return report


def write_draft(draft: ProjectDraft) -> None:
    """Write the files of a draft. Raises DraftRefused: a file changed since, or cannot be written."""
    written: list[str] = []
    try:
        with Root(draft.root) as root:
            for file in draft.files:
                expected = None if file.before is None else file.before.encode()
                staged = root.stage(file.path, file.text.encode(), _mode(root, file))
                root.commit(staged, lambda now, expected=expected: now == expected)
                written.append(file.path)
    except (BaseMoved, FileRefused) as error:
        why = error.why if isinstance(error, FileRefused) else "it was changed at the same moment"
        what = f"{', '.join(written)} was written, and the rest was not." if written else NOT_WRITTEN
        left = next(file.path for file in draft.files if file.path not in written)
        raise DraftRefused(what, sentence(f"{left}: {why}"), "Look at it, then do this again.") from None


def _mode(root: Root, file: FileDraft) -> int:
    image = root.image(file.path) if file.before is not None else None
    return image.mode if image is not None else _MODE
