"""A folder full of modules that are named like ours, the standard library's and our dependencies'.

Each leaves a mark when it is imported, so that a test sees whether anything was taken from there.
"""

import os
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

STRANGER = 65534
"""The number of a user that is not the one who tests."""
_TEXT = "with open({mark!r}, 'a') as file:\n    file.write(__name__ + '\\n')\n"


class Shadows:
    """Such a folder; `marks` are the modules that were imported from it."""

    def __init__(self, folder: Path, names: set[str] | None = None) -> None:
        self.folder = folder
        self._mark = folder.parent / f"{folder.name}.marks"
        folder.mkdir()
        for name in sorted(names or module_names()):
            (folder / f"{name}.py").write_text(_TEXT.format(mark=str(self._mark)))
        if names is None:
            for name in ("workbench", "textual", "pydantic"):
                (folder / name).mkdir()
                (folder / name / "__init__.py").write_text(_TEXT.format(mark=str(self._mark)))
        if os.geteuid() == 0:
            os.chown(folder, STRANGER, STRANGER)
            self._mark.touch()

    @property
    def marks(self) -> list[str]:
        return self._mark.read_text().splitlines() if self._mark.exists() else []


def module_names() -> set[str]:
    own = {path.stem for path in (Path(__file__).parents[2] / "workbench").iterdir()} - {"__init__"}
    every = {*sys.stdlib_module_names, *packages_distributions(), *own, "sitecustomize", "usercustomize"}
    return {name for name in every if name.isidentifier()}
