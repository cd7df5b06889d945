"""The bundled example: where it is in the package, and copying it into a folder of its own.

Owns the layout of a demo folder: `home`, `project`, `recording.json`. A folder that has them already is left
as it is, so that a demo goes on where it stood.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.cli.errors import Refusal
from workbench.effects.files import FileRefused, Root, private_folder, read_bounded

SOURCE: Final = Path(__file__).resolve().parents[2] / "examples" / "demo"
_PYTHON: Final = b"python3 -m unittest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folder of one demo."""

    folder: Path

    @property
    def home(self) -> Path:
        """Its own data folder."""
        return self.folder / "home"

    @property
    def project(self) -> Path:
        """The workspace."""
        return self.folder / "project"

    @property
    def recording(self) -> Path:
        """What its agent plays."""
        return self.folder / "recording.json"


def laid_out(folder: Path) -> Place:
    """Copy the example into a folder unless it is there.

    Raises:
        Refusal: The folder cannot be used, or holds something else.
    """
    try:
        place = Place(folder=private_folder(folder.expanduser().absolute()))
        if not place.recording.exists():
            _refuse_foreign(place.folder)
            _copy(place.folder)
    except FileRefused as error:
        raise Refusal("the demo was not laid out", f"{error.path}: {error.why}", error.remedy) from None
    return place


def _refuse_foreign(folder: Path) -> None:
    if any(folder.iterdir()):
        why = f"{folder} holds other things"
        raise Refusal("the demo was not laid out", why, "name a new or an empty folder with --at")


def _copy(folder: Path) -> None:
    with Root(folder) as root:
        for name, data in _files():
            root.commit(root.stage(name, data, 0o644), lambda found: found is None)


def _files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the example, the recording last: where it is, everything is."""
    for path in sorted((SOURCE / "project").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(SOURCE)), read_bounded(path) or b""
    yield "recording.json", _runnable(read_bounded(SOURCE / "recording.json") or b"")


def _runnable(recording: bytes) -> bytes:
    """Name this Python where there is no `python3` to be found."""
    if shutil.which("python3"):
        return recording
    return recording.replace(_PYTHON, f"{sys.executable} -m unittest".encode())
