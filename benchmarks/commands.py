"""Times what the gate does with a command, as a multiple of a floor in the same run: processor time.

Measures commands of every day, each seen for the first time: reading one (`check command`, at most 2 ms a
line), and all that the gate does with it under ten patterns and two denials. The floor splits the same lines
by `shlex`.
"""

import shlex
import statistics
import time
from collections.abc import Callable, Iterator

from tests.unit.policy.daily_commands import HARMLESS
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, GateContext, ScreenedCall, judge_screened_call, screen_call
from workbench.policy.shell.analysis import view_command
from workbench.tools.execution import RunInTerminal

_ROUNDS = 5
_PATTERNS = (
    "git status",
    "git diff *",
    "ls *",
    "cat *",
    "pytest *",
    "npm test",
    "make *",
    "grep *",
    "rg *",
    "sed *",
)


def _context() -> GateContext:
    return GateContext(
        descriptors={RunInTerminal.descriptor.id: RunInTerminal.descriptor}, provider="recorded",
        workspace="/", session_id="s", now=0,
        allow=tuple(PermissionPattern(text=f"Bash({pattern})") for pattern in _PATTERNS),
        deny=(PermissionPattern(text="Bash(rm *)"), PermissionPattern(text="Bash(git push*)")),
    )  # fmt: skip


def _judge(line: str, context: GateContext) -> None:
    passed = screen_call(GateCall(tool=RunInTerminal.descriptor.id, parameters={"command": line}), context)
    if isinstance(passed, ScreenedCall):
        judge_screened_call(passed, context)


def _split(line: str) -> None:
    try:
        shlex.split(line)
    except ValueError:
        return


def _times(work: Callable[[str], object], number: int) -> Iterator[float]:
    """Yield milliseconds for each line; a comment with a number makes it a line that was never seen."""
    for line in HARMLESS:
        fresh = f"{line} # {number}"
        start = time.process_time_ns()
        work(fresh)
        yield (time.process_time_ns() - start) / 1e6


def main() -> None:
    """Print the mean and the ninety-fifth of a hundred for each, and the mean as a multiple of the floor."""
    context = _context()
    ways: dict[str, Callable[[str], object]] = {
        "floor": _split, "read": view_command, "gate": lambda line: _judge(line, context)
    }  # fmt: skip
    floor = 0.0
    for place, (name, work) in enumerate(ways.items()):
        rounds = [sorted(_times(work, place * _ROUNDS + number)) for number in range(_ROUNDS)]
        best = min(rounds, key=sum)
        mean, most = statistics.mean(best), best[int(len(best) * 0.95)]
        floor = floor or mean
        print(f"{name:6} mean {mean:6.3f} ms, 95 of 100 {most:6.3f} ms, {mean / floor:6.1f} x floor")


if __name__ == "__main__":
    main()
