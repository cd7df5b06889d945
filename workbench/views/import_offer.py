"""What other agents of this machine have that is not imported yet, in words of the screen."""

from collections.abc import Sequence

from msgspec import Struct

from workbench.text.human import counted, size_text

_MOST_NAMED = 3


class ImportOffer(Struct, frozen=True, kw_only=True):
    """What an import of everything would read."""

    agents: tuple[str, ...]
    """Names of the agents that have sessions here."""
    files: int
    """New and changed files of all of them."""
    size: int
    """Their bytes."""

    @property
    def question(self) -> str:
        """Return what is asked before a path is typed."""
        if not self.files:
            return f"All of {names_text(self.agents)} is imported. Another file or folder"
        new = f"{counted(self.files, 'file')} of {names_text(self.agents)}, {size_text(self.size)}"
        return f"Enter imports {new}; or a path"


def names_text(agents: Sequence[str]) -> str:
    """Return the first names of several agents: `Claude Code, Codex and 2 more`."""
    more = len(agents) - _MOST_NAMED
    shown = ", ".join(agents[:_MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
