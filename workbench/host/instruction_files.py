"""Instructions of a trusted folder for a new session: AGENTS.md and CLAUDE.md, there and up to its git root.

They join the system prompt when a session, also that of a step, begins; a later edit changes nothing.
Each is bounded, scrubbed of secrets and made visible; a link is not followed. A folder that is not
trusted gives none.
"""

# Source of the names: agents.md, and Claude Code's memory files. The nearest file is read last and so counts
# most, as both say. They are words for a model: they grant nothing, and the gate does not know them.

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.agents.prompt import system_prompt
from workbench.domain.values import Json
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.host.workspace_trust import is_trusted
from workbench.journal.journal import Journal
from workbench.secrets.scrubber import scrub
from workbench.text.safe import safe_text

MAX_FILE_BYTES: Final = 32 * 1024
"""Of one file; the rest is left out, and the text says so."""
MAX_ALL_BYTES: Final = 64 * 1024
_MAX_READ: Final = 1024 * 1024
_MOST_FOLDERS: Final = 12
"""Folders above the workspace in which a git root is looked for."""
_HEAD: Final = "Instructions that the people of this project keep for agents, in {name}:"


class SessionInstructions(Struct, frozen=True, kw_only=True):
    """How a new session begins."""

    system_prompt: str
    files: tuple[str, ...] = ()
    """The instruction files in it, relative to the workspace."""

    @property
    def configuration(self) -> dict[str, Json]:
        """Return what the session's configuration names of it."""
        return {"instructions": list(self.files)} if self.files else {}


def session_instructions(journal: Journal, workspace: str, names: Sequence[str]) -> SessionInstructions:
    """Return the system prompt of a new session, with the instruction files of a trusted workspace.

    `names` are the files that are looked for in each folder (`instruction_files` of the configuration).
    """
    prompt = system_prompt(workspace)
    if not names or not is_trusted(journal, workspace):
        return SessionInstructions(system_prompt=prompt)
    return _with_files(prompt, Path(workspace), names)


def step_instructions(
    journal: Journal, prompt: str, folders: Sequence[str], names: Sequence[str]
) -> SessionInstructions:
    """Return a persona's prompt, with the instruction files of the first of these folders that is trusted.

    A workspace that was made for a step is not trusted: its project is.
    """
    folder = next((folder for folder in folders if names and is_trusted(journal, folder)), None)
    if folder is None:
        return SessionInstructions(system_prompt=prompt)
    return _with_files(prompt, Path(folder), names)


def _with_files(prompt: str, workspace: Path, names: Sequence[str]) -> SessionInstructions:
    texts: dict[str, str] = {}
    bytes_left = MAX_ALL_BYTES
    # The nearest counts most, so it is read first and stands last.
    for name, data in _nearest_first(workspace, names):
        part = data[: min(MAX_FILE_BYTES, bytes_left)]
        text = _shown_text(part)
        if text.strip() and text not in texts.values():
            bytes_left -= len(part)
            texts[name] = text if len(part) == len(data) else f"{text}\n[The rest of {name} is left out.]"
    parts = [f"{_HEAD.format(name=name)}\n\n{text.strip()}" for name, text in reversed(texts.items())]
    return SessionInstructions(
        system_prompt="\n\n".join(filter(None, (prompt, *parts))), files=tuple(reversed(texts))
    )


def _shown_text(data: bytes) -> str:
    return safe_text(scrub(data.decode("utf-8", "replace")).text)


def _nearest_first(workspace: Path, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for depth, folder in enumerate(_folders_up_to_git_root(workspace)):
        for name in reversed(names):
            data = _read(folder, name)
            if data is not None:
                yield "../" * depth + name, data


def _folders_up_to_git_root(workspace: Path) -> list[Path]:
    """Return the workspace and the folders above it up to its git root; without one, only the workspace."""
    folders = [workspace, *workspace.parents][: _MOST_FOLDERS + 1]
    for number, folder in enumerate(folders):
        if (folder / ".git").exists():
            return folders[: number + 1]
    return folders[:1]


def _read(folder: Path, name: str) -> bytes | None:
    """Return a file's bytes; None where none may be read: it is a link, a folder or larger than 1 MB."""
    try:
        with Root(folder) as root:
            image = root.image(name, _MAX_READ)
    except FileRefused:
        return None
    return image.data if image else None
