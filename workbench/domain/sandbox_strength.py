"""How much a sandbox holds, and what a command in it can do, in words."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from workbench.domain.values import SandboxBackend, SandboxLevel

SandboxStrength = Literal["full", "files", "none"]
"""Both close the network. `full` hides files and spares `.git`; `files` only keeps other files from being
written."""
BACKEND_BY_STRENGTH: Final[Mapping[SandboxStrength, SandboxBackend]] = {
    "full": "bubblewrap", "files": "landlock", "none": "none",
}  # fmt: skip


def strength_of(backend: SandboxBackend) -> SandboxStrength:
    """Return how much a backend holds."""
    return next(strength for strength, other in BACKEND_BY_STRENGTH.items() if other == backend)


def is_weaker(one: SandboxStrength, other: SandboxStrength) -> bool:
    """Return whether one strength holds less than another."""
    strengths: tuple[SandboxStrength, ...] = get_args(SandboxStrength)
    return strengths.index(one) > strengths.index(other)


def held_text(level: SandboxLevel, strength: SandboxStrength, have: str = "has") -> str:
    """Return what a command inside can do, without its subject: `can write nothing, and has no network`."""
    writes = _WRITES[strength == "full", level == "read-only"]
    return f"{writes}, and {have} no network"


_WRITES: Final = {
    (True, True): "can write nothing",
    (True, False): "can write only in the workspace",
    (False, True): "can change the contents of no file, can read all that you can",
    (False, False): "can change the contents of files only in the workspace, also in .git, can read all that "
    "you can",
}
