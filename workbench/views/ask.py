"""A command that a model made of words: what the gate says of it, how it reads, and the row of its log."""

import re
from typing import Final

from msgspec import Struct

from workbench.domain.events import CommandSuggested
from workbench.domain.values import GateVerdict
from workbench.text.human import sentence
from workbench.text.safe import one_line

MOST_PREVIEW_CHARACTERS: Final = 80
_PREVIEW_CUT: Final = 77
_HEADS: Final = {
    "allowed": "allowed",
    "ask": "asks first",
    "denied": "denied",
    "refused": "denied",
}


def verdict_head(verdict: GateVerdict) -> str:
    """Return in a word or two whether an agent could run the command."""
    return _HEADS[verdict.outcome]


def verdict_text(verdict: GateVerdict) -> str:
    """Return who allows, asks or denies, where that is written, and why, as one sentence."""
    by = verdict.by if verdict.by not in ("", "default") and verdict.by not in verdict.reason else ""
    where = f"{by}: " if by else ""
    return sentence(f"{verdict_head(verdict)}: {where}{verdict.reason or 'nothing allows it'}")


def suggestion_markdown(body: CommandSuggested) -> str:
    """Return a suggested command as Markdown: in a fence that it cannot end, with what is said of it."""
    longest = max((len(run) for run in re.findall(r"`+", body.command)), default=0)
    fence = "`" * max(3, longest + 1)
    verdict = [f"The gate: {verdict_text(body.verdict)}"] if body.verdict else []
    return "\n\n".join([f"{fence}sh\n{body.command}\n{fence}", body.explanation, *verdict])


def command_preview(command: str) -> str:
    """Return a command as a log's row has it (S3 LogSummary): above 80 characters its first 77 and `...`."""
    if len(command) <= MOST_PREVIEW_CHARACTERS:
        return command
    return f"{command[:_PREVIEW_CUT]}..."


class LogSummary(Struct, frozen=True, kw_only=True):
    """A row of the list of logs; S3 LogSummary."""

    id: str
    user_query: str
    final_status: str
    model: str
    timestamp: int
    iteration_count: int
    command_preview: str


def summary_line(row: LogSummary, key: str, when: str) -> str:
    """Return one line of the list of logs."""
    command = one_line(row.command_preview, MOST_PREVIEW_CHARACTERS) or "no command"
    count = f"  {row.iteration_count} tries" if row.iteration_count > 1 else ""
    return f"{key}  {when:<16}  {row.final_status:<8}  {command}{count}  {one_line(row.user_query, 60)}"


def log_name(at: str, session_id: str) -> str:
    """Return the id of a log, a safe file name as in S3: `2026-02-01T10-30-00-abc123`; `at` is ISO 8601."""
    return f"{at[:19].replace(':', '-')}-{session_id.replace('-', '')[-6:]}"
