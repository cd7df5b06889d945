"""Checks of a pipeline against the repository of its project, before anything of it runs.

They find the code host that `{{ forge.type }}` and the like name, and bases of worktrees that git does not
know. They run git, which reading a pipeline does not.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.effects.git import GitFailed, run_git
from workbench.pipelines.checks import template_texts
from workbench.pipelines.code_hosts import CodeHost, find_code_host, names_code_host, persona_name
from workbench.pipelines.load import LoadedPipeline, child_pipelines, load_pipeline
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.step_order import chosen_steps
from workbench.pipelines.templates import fill_templates
from workbench.text.problems import Problem
from workbench.text.safe import one_line

_SECONDS: Final = 10.0
_MOST_PIPELINES: Final = 100
"""Pipelines below one that are looked through."""


def read_code_host(manifest: Manifest | None, root: str, environment: Mapping[str, str]) -> CodeHost:
    """Return the code host of the project in a folder; blocking."""
    try:
        output = run_git(root, "remote", "get-url", "origin", environment=environment, seconds=_SECONDS)
    except GitFailed:
        output = b""
    return find_code_host(manifest.forge if manifest else "", output.decode("utf-8", "replace"))


def uses_code_host(pipeline: Pipeline, texts: Mapping[str, str]) -> bool:
    """Return whether a step names the code host; `texts` holds the prompts that are files."""
    return any(names_code_host(text) for step in pipeline.steps for text in _texts_of(step, texts))


def _texts_of(step: Step, texts: Mapping[str, str]) -> Iterator[str]:
    yield from (text for _, text in template_texts(step))
    yield from (name for name, _ in _personas_of(step))
    yield texts.get(step.source_path, "")


def _personas_of(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the personas that a step names, each with the member that names it."""
    yield step.persona, "persona"
    yield from ((contract.review.persona, "handover") for contract in step.contracts if contract.review)


class RepositoryChecks(Struct, frozen=True, kw_only=True):
    """The checks of one pipeline, in the repository that its project is in."""

    pipeline: Pipeline
    manifest: Manifest | None
    file: str
    root: str
    """Folder of the project."""
    environment: Mapping[str, str]
    host: CodeHost
    texts: Mapping[str, str] = {}
    """The prompts that are files, by path."""
    kept: Collection[str] = ()
    """Steps that do not run, as an earlier run has done them."""

    def problems(self) -> list[Problem]:
        """Return all problems, as warnings; those that a run may not start with are fatal. Blocking."""
        certain = {step.id for step in self.pipeline.steps} - chosen_steps(self.pipeline.steps)
        found = [*self._unknown_host()]
        for step in self.pipeline.steps:
            if step.id not in self.kept:
                is_certain = step.id in certain and not step.is_rework_only
                found += self._persona_problems(step, is_fatal=is_certain)
                found += self._base_problems(step, is_fatal=is_certain)
        return found

    def with_children(self) -> list[Problem]:
        """Return the problems of the pipeline and of those that its steps start. Blocking."""
        waiting: list[RepositoryChecks] = [self]
        found, seen = self.problems(), {os.path.realpath(self.file)}
        while waiting and len(seen) < _MOST_PIPELINES:
            checks = waiting.pop()
            for file in checks._child_files():
                path = os.path.realpath(file)
                loaded = load_pipeline(file, root=self.root, missing_adapters=False)
                if path not in seen and loaded.pipeline is not None:
                    seen.add(path)
                    child = checks_of(loaded, self.environment, self.host)
                    found += child.problems()
                    waiting.append(child)
        return found

    def _child_files(self) -> Iterator[str]:
        """Yield the files of pipelines that are run in any case."""
        chosen = chosen_steps(self.pipeline.steps)
        for step in self.pipeline.steps:
            if step.kind == "pipeline" and step.branch is None and step.id not in chosen:
                yield from child_pipelines(step, self.root)

    def _problem(self, step: Step | None, member: str, code: str, message: str, *, is_fatal: bool) -> Problem:
        return Problem(
            message=message, file=self.file, line=step.line if step else 0, column=1 if step else 0,
            key=f"{step.path}.{member}" if step else member, code=code, severity="warning", fatal=is_fatal,
        )  # fmt: skip

    def _unknown_host(self) -> Iterator[Problem]:
        if not self.host.kind and uses_code_host(self.pipeline, self.texts):
            message = (
                f"no code host is known ({self.host.origin}), so {{{{ forge.type }}}} and the like "
                "are empty; name it with metadata.forge in the manifest"
            )
            yield self._problem(None, "", "unknown_code_host", message, is_fatal=False)

    def _persona_problems(self, step: Step, *, is_fatal: bool) -> Iterator[Problem]:
        if self.manifest is None:
            return
        for text, member in _personas_of(step):
            if not names_code_host(text):
                continue
            name = _persona_of_host(text, self.host, self.manifest)
            if name not in self.manifest.personas:
                message = f"unknown persona {one_line(name, 60)}; code host: {self.host.summary()}"
                yield self._problem(step, member, "unknown_persona", message, is_fatal=is_fatal)

    def _base_problems(self, step: Step, *, is_fatal: bool) -> Iterator[Problem]:
        """Yield the base of a step's worktree that is neither known to git nor a branch of another step."""
        base, branch = step.workspace.base, step.workspace.branch
        made = {other.workspace.branch for other in self.pipeline.steps if other.workspace.is_worktree}
        if not step.workspace.is_worktree or not base or "{{" in base or base in made:
            return
        is_there = "{{" not in branch and branch and self._is_known(f"refs/heads/{branch}")
        if not is_there and (base.startswith("-") or not self._is_known(f"{base}^{{commit}}")):
            message = f"git does not know {one_line(base, 120)}, the base of the worktree; fetch it first"
            yield self._problem(step, "workspace.base", "unknown_base", message, is_fatal=is_fatal)

    def _is_known(self, name: str) -> bool:
        try:
            run_git(
                self.root, "rev-parse", "--verify", "--quiet", name, environment=self.environment,
                seconds=_SECONDS,
            )  # fmt: skip
        except GitFailed:
            return False
        return True


def _persona_of_host(text: str, host: CodeHost, manifest: Manifest | None) -> str:
    """Return the persona that a text names in a project with this code host."""

    def filled(text: str) -> str:
        return fill_templates(text, lambda name: host.facts.get(name.removeprefix("forge."), ""))

    return persona_name(text, host.kind, filled, manifest.personas if manifest else ())


def with_personas_of_host(pipeline: Pipeline, manifest: Manifest | None, host: CodeHost | None) -> Pipeline:
    """Return a pipeline whose steps name the personas that they have with this code host.

    Where its kind is not known, the names stay as they are written, and so name no persona.
    """
    if host is None or not host.kind:
        return pipeline
    steps = tuple(
        replace(step, persona=_persona_of_host(step.persona, host, manifest))
        if names_code_host(step.persona)
        else step
        for step in pipeline.steps
    )
    return replace(pipeline, steps=steps)


def with_personas(loaded: LoadedPipeline, environment: Mapping[str, str]) -> LoadedPipeline:
    """Return a pipeline that was loaded with its personas by the code host of the project; blocking."""
    pipeline = loaded.pipeline
    if pipeline is None or not any(names_code_host(step.persona) for step in pipeline.steps):
        return loaded
    host = read_code_host(loaded.manifest, loaded.root, environment)
    return replace(loaded, pipeline=with_personas_of_host(pipeline, loaded.manifest, host))


def check_repository(loaded: LoadedPipeline, environment: Mapping[str, str]) -> CodeHost | None:
    """Add the problems of a pipeline, and of those that it starts, to its report; return the code host.

    None where no step names it. Blocking.
    """
    if loaded.pipeline is None:
        return None
    checks = checks_of(loaded, environment)
    for problem in checks.with_children():
        loaded.report.add(problem)
    return checks.host if uses_code_host(loaded.pipeline, loaded.texts) else None


def checks_of(
    loaded: LoadedPipeline, environment: Mapping[str, str], host: CodeHost | None = None
) -> RepositoryChecks:
    """Return the checks of a pipeline that was loaded, with the host that was found or with its own."""
    assert loaded.pipeline is not None
    return RepositoryChecks(
        pipeline=loaded.pipeline, manifest=loaded.manifest, file=loaded.file, root=loaded.root,
        environment=environment, host=host or read_code_host(loaded.manifest, loaded.root, environment),
        texts=loaded.texts,
    )  # fmt: skip
