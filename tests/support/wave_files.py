"""Projects with pipelines as the program has them that this format comes from: ours, and real ones where they lie.

Ours is small and written for the tests, so that a fresh clone proves what it can; the real ones are no part of the
project and are read in addition.
"""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
OWN = TESTS / "data/wave"
BESIDE = TESTS.parent.parent / "shared/data/wave"
PROJECTS = {"own": OWN, **({"real": BESIDE} if BESIDE.is_dir() else {})}
NO_PROMPTS = {"own": ("inspector",), "real": ("auditor", "craftsman", "debugger")}
"""Personas whose prompts the repository of a project kept elsewhere."""
CANNOT_RUN = {"unready.yaml", "speckit-flow.yaml", "code-review.yaml"}
"""A schema is not there for any of them, for two neither is a folder that they mount."""


def pipelines_of(project):
    """Return the files of a project's pipelines, in order."""
    folder = PROJECTS[project]
    return sorted([*folder.glob(".wave/pipelines/*.yaml"), *folder.glob("examples/*.yaml")])


FILES = [(project, file) for project in PROJECTS for file in pipelines_of(project)]
NAMES = [f"{project}-{file.name}" for project, file in FILES]
