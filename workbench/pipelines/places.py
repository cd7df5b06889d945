"""Where pipelines and manifests of a project lie: names of folders and files, and what is there.

Owns those names. It reads no file, so that a screen may ask whether there is anything to read.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

MANIFESTS: Final = ("workbench.yaml", "wave.yaml", ".wave/wave.yaml")
FOLDERS: Final = (".workbench/pipelines", ".wave/pipelines", ".agents/pipelines", "pipelines")
"""Where the pipelines of a project are looked for, below its root."""
SUFFIXES: Final = (".yaml", ".yml")
_MOST: Final = 500
"""Pipelines of a project that are looked at."""


def find_manifest(file: str) -> str | None:
    """Return the nearest manifest of a file or folder, looking upwards; None if there is none."""
    here = Path(os.path.realpath(file))
    if not here.is_dir():
        here = here.parent
    for folder in (here, *here.parents):
        for name in MANIFESTS:
            if (folder / name).is_file():
                return str(folder / name)
    return None


def project_of(manifest_file: str) -> str:
    """Return the folder that a manifest's paths are relative to."""
    folder = Path(manifest_file).parent
    return str(folder.parent if folder.name == ".wave" else folder)


def files_of(root: str) -> Iterator[str]:
    """Yield the files of a project's folders of pipelines, relative to the project."""
    for folder in FOLDERS:
        try:
            names = sorted(path.name for path in (Path(root) / folder).iterdir() if path.suffix in SUFFIXES)
        except OSError:
            continue
        yield from (f"{folder}/{name}" for name in names)


def watched(root: str) -> Iterator[str]:
    """Yield the paths of manifests and pipelines of a project, of manifests also where there is none."""
    yield from (f"{root}/{name}" for name in MANIFESTS)
    yield from (f"{root}/{file}" for file in islice(files_of(root), _MOST))
