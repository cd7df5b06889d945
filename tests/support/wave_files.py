"""Projects with pipelines in the format of Wave: our own, and real ones where they exist.

Our own project is small and written for the tests, so a fresh clone runs them. Real projects are not part of the
repository; the tests read them in addition where they exist.
"""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
OWN = TESTS / "data/wave"
REAL = TESTS.parent.parent / "shared/data/wave"
PROJECTS = {"own": OWN, **({"real": REAL} if REAL.is_dir() else {})}
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
