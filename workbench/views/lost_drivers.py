"""Sessions and runs as they are listed: `lost` where the process that drove them is gone.

The row of such a session says that it is under way until another process takes it, which may be never.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from workbench.domain.machines import LOST
from workbench.domain.rows import PipelineState, Session
from workbench.domain.values import SessionKind
from workbench.views.sessions import BUSY_STATUSES

IsDriverGone = Callable[[str], bool]
"""Says of a session whether a process drove it and none does now."""


def listed_session(session: Session, is_driver_gone: IsDriverGone) -> Session:
    """Return a session as lists show it."""
    is_lost = session.status in BUSY_STATUSES and not session.is_supervised and is_driver_gone(session.id)
    return replace(session, status=LOST) if is_lost else session


def listed_run(run: PipelineState, is_driver_gone: IsDriverGone) -> PipelineState:
    """Return a run as lists show it."""
    is_lost = run.status == "running" and is_driver_gone(run.pipeline_id)
    return replace(run, status=LOST) if is_lost else run


_RESUMED_BY: Final[Mapping[SessionKind, str]] = {
    "chat": "workbench run --session", "pipeline": "workbench pipeline resume",
    "incidents": "workbench incidents resume",
}  # fmt: skip


def lost_sentence(session: Session) -> str:
    """Return what happened to a lost session and the command that continues it, where there is one."""
    command = _RESUMED_BY.get(session.kind)
    continues = f" {command} {session.id[:8]} continues it." if command else ""
    return f"The process that ran it is gone.{continues}"
