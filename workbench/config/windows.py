"""How long a question waits before it expires, by what it is about and where it comes from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from workbench.config.types import ApprovalSettings, ApprovalWindow, WindowKind

_KIND_OF_VERB: Final[Mapping[str, WindowKind]] = {
    "read": "read", "edit": "edit", "write": "edit", "move": "edit", "del": "edit", "run": "command",
    "fetch": "fetch", "gate": "gate",
}  # fmt: skip
GATE_MINUTES: Final = 24 * 60.0
"""Minutes that a gate of a pipeline waits where neither its file nor a window of the user says it."""


def approval_window_minutes(settings: ApprovalSettings, verb: str, workspace: str) -> float:
    """Return the minutes that a question waits: of the user's windows the most specific one counts.

    A folder is more specific than a kind, a longer folder than a shorter one; of two alike the last counts.
    What a workspace says of itself only shortens it. A gate that nothing is said of waits for `GATE_MINUTES`:
    the run it stands in was started by a human, who may be at lunch, and nothing else of it is at stake.

    Args:
        settings: All layers taken together.
        verb: What is asked for, as the queue says it: `edit`, `run`, `gate`.
        workspace: Real path of the folder that the question comes from.
    """
    fitting = [window for window in settings.windows if _fits(window, _KIND_OF_VERB.get(verb), workspace)]
    own = [window for window in fitting if window.origin.layer != "workspace"]
    # The sort is stable: of windows that are alike the one that was said last stands last.
    usual = max(settings.window_minutes, GATE_MINUTES) if verb == "gate" else settings.window_minutes
    minutes = sorted(own, key=_specificity)[-1].minutes if own else usual
    shorter = (window.minutes for window in fitting if window.origin.layer == "workspace")
    return min([minutes, *shorter])


def longest_window_minutes(settings: ApprovalSettings) -> float:
    """Return the longest that a question of an agent waits, wherever it comes from."""
    own = (window.minutes for window in settings.windows if window.kind != "gate")
    return max((settings.window_minutes, *own))


def _fits(window: ApprovalWindow, kind: WindowKind | None, workspace: str) -> bool:
    if window.kind is not None and window.kind != kind:
        return False
    return window.folder is None or (workspace + "/").startswith(
        _real_folder(window.folder).rstrip("/") + "/"
    )


def _specificity(window: ApprovalWindow) -> tuple[int, bool]:
    return len(_real_folder(window.folder)) if window.folder else 0, window.kind is not None


def _real_folder(folder: str) -> str:
    return os.path.realpath(Path(folder).expanduser())
