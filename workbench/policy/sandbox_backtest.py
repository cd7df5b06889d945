"""Count which past questions about commands the sandbox would have answered, and why the others stay."""

from collections.abc import Callable, Iterable
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.rows import AskedCommand
from workbench.domain.values import SandboxLevel
from workbench.policy.gate import OUTSIDE_PARAMETER
from workbench.policy.rule_suggestions import as_own_call
from workbench.policy.shell.sandbox_needs import NeedKind, line_needs
from workbench.text.display import text_warnings
from workbench.text.human import counted
from workbench.text.safe import one_line

StayReason = NeedKind | Literal["rule", "request", "text"]
STAY_NAMES: Final[dict[StayReason, str]] = {
    "network": "network",
    "git": ".git",
    "outside": "outside the workspace",
    "privilege": "privileges",
    "daemon": "programs outside",
    "rule": "a rule, a denial or a hold",
    "request": "asked for by the agent",
    "text": "odd characters",
}
_MOST_EXAMPLES: Final = 5
_EXAMPLE_CELLS: Final = 100
_PROGRESS_STEP: Final = 500


class StayCount(Struct, frozen=True, kw_only=True):
    """Questions that the sandbox leaves to a human for one reason."""

    reason: StayReason
    count: int
    examples: tuple[str, ...]
    """Different commands, the newest first."""


class CommandQuestions(Struct, frozen=True, kw_only=True):
    """Questions about commands, and those that would not have been asked."""

    asked: int = 0
    spared: int = 0
    stays: tuple[StayCount, ...] = ()
    """A question counts once, by the first thing that its line needs; the most frequent reason first."""

    @property
    def share(self) -> float:
        """Return which part of the questions would not have been asked."""
        return self.spared / self.asked if self.asked else 0.0


class SandboxBacktest(Struct, frozen=True, kw_only=True):
    """What `approvals.sandboxed = auto` would have changed."""

    own: CommandQuestions
    imported: CommandQuestions
    """Of imported sessions; their agents asked."""
    is_cut: bool
    """Whether there are older questions that were not looked at."""


def count_questions(
    commands: Iterable[AskedCommand],
    level: SandboxLevel,
    *,
    imported: bool,
    on_progress: Callable[[int], None] = lambda _: None,
) -> CommandQuestions:
    """Count past questions by what would have become of them; `on_progress` gets how many were looked at."""
    known: dict[tuple[str, str, str], StayReason | None] = {}
    counts: dict[StayReason, int] = {}
    examples: dict[StayReason, dict[str, None]] = {}
    asked = 0
    for asked, command in enumerate(commands, 1):
        if asked % _PROGRESS_STEP == 0:
            on_progress(asked)
        reason, line = _stay_reason(command, level, known, imported=imported)
        if reason is None:
            continue
        counts[reason] = counts.get(reason, 0) + 1
        shown = examples.setdefault(reason, {})
        if len(shown) < _MOST_EXAMPLES:
            shown[one_line(line, _EXAMPLE_CELLS)] = None
    stays = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return CommandQuestions(
        asked=asked, spared=asked - sum(counts.values()),
        stays=tuple(
            StayCount(reason=reason, count=count, examples=tuple(examples[reason])) for reason, count in stays
        ),
    )  # fmt: skip


def _stay_reason(
    command: AskedCommand,
    level: SandboxLevel,
    known: dict[tuple[str, str, str], StayReason | None],
    *,
    imported: bool,
) -> tuple[StayReason | None, str]:
    """Return why a question stays, None if it would not have been asked; and the line."""
    _, parameters = as_own_call(command.tool, command.parameters)
    line = str(parameters.get("command", ""))
    if command.rule is not None or (not imported and command.verdict_by != "default"):
        return "rule", line
    if parameters.get(OUTSIDE_PARAMETER) is True:
        return "request", line
    key = (line, command.workspace, command.folder)
    if key not in known:
        known[key] = _line_reason(*key, level)
    return known[key], line


def _line_reason(line: str, workspace: str, folder: str, level: SandboxLevel) -> StayReason | None:
    is_ordinary = line.isascii() and line.isprintable() and "  " not in line
    if not is_ordinary and any(odd != "long" for odd in text_warnings(line, "approval_command")):
        return "text"
    needs = line_needs(line, "" if level == "read-only" else workspace, folder or workspace)
    return needs[0].kind if needs else None


def backtest_text(counts: CommandQuestions, about: str = "about commands") -> str:
    """Return in a sentence how many questions would not have been asked."""
    return (
        f"Of {counted(counts.asked, 'question')} {about} {counts.spared:,} would not have been asked with"
        f" approvals.sandboxed = auto ({counts.share:.0%})."
    )
