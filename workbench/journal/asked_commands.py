"""Commands about which a human was asked, read from the index tables, the newest first."""

from collections.abc import Sequence
from typing import Final

import msgspec

from workbench.domain.rows import AskedCommand
from workbench.domain.values import Json
from workbench.journal.database import Database
from workbench.journal.session_queries import CALL_NOT_COPIED
from workbench.journal.storage import placeholders

_PARAMETERS: Final = msgspec.json.Decoder(dict[str, Json])


def asked_commands(
    database: Database, tools: Sequence[str], *, workspace: str | None, since: int, imported: bool, most: int
) -> list[AskedCommand]:
    """Return the newest commands that asked, of own sessions or of imported ones.

    Commands of connected agents are left out: those execute their own calls.

    Args:
        database: A snapshot.
        tools: Names of tools that run commands, in lower case.
        workspace: Only of its sessions; None is all.
        since: Microseconds: only those of that time or later.
        imported: Whether of imported sessions, and else of own ones.
        most: At most so many.
    """
    statement = (
        # In this order the newest calls are looked at first, and no more than needed.
        "SELECT tool, parameters, workspace, cwd, verdict_by, rule FROM call"  # noqa: S608 ours
        " CROSS JOIN session ON session.id = call.session_id"
        f" WHERE action_id IS NOT NULL AND replaced_by IS NULL AND lower(tool) IN ({placeholders(tools)})"
        " AND session.kind != 'supervised' AND (session.origin IS NOT NULL) = ? AND requested_at >= ?"
        f" AND (?{len(tools) + 3} IS NULL OR workspace = ?{len(tools) + 3}) AND {CALL_NOT_COPIED}"
        f" ORDER BY call.rowid DESC LIMIT ?{len(tools) + 4}"
    )
    rows = database.execute(statement, (*tools, imported, since, workspace, most))
    return [
        AskedCommand(
            tool=str(tool), parameters=_PARAMETERS.decode(str(parameters or "{}")),
            workspace=str(place or ""), folder=str(folder or ""), verdict_by=str(by or ""),
            rule=None if rule is None else str(rule),
        )
        for tool, parameters, place, folder, by, rule in rows
    ]  # fmt: skip
