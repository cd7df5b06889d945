"""Count how often the same call of a turn ended the same way while nothing changed in between."""

# What starts the count again: another result of the call; a written file; and anything else that may have
# changed the workspace, which is a command or an act that was not seen with this result before. So a
# test between two edits is never a loop, and neither is one between two different commands; two commands
# that take turns with the same results are. A word of the human starts everything again.

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

MOST_KEPT_CALLS: Final = 200
"""Different calls of a turn that are remembered; a longer loop is not noticed."""


class CountedCall(Struct, frozen=True):
    """The newest result of a call, and how often it came since something changed."""

    result: str
    times: int


class RepetitionCount(Struct, frozen=True):
    """The calls of a turn by their key, the one that ended last at the end."""

    calls: Mapping[str, CountedCall] = field(default_factory=dict[str, CountedCall])

    def with_call(self, key: str, result: str, *, may_change: bool) -> "RepetitionCount":
        """Return the count after a call ended; `may_change`: it may have changed the workspace unseen."""
        before = self.calls.get(key)
        is_same = before is not None and before.result == result
        times = before.times + 1 if before is not None and is_same else 1
        others = {name: call for name, call in self.calls.items() if name != key}
        if may_change and not is_same:
            others = {name: CountedCall(call.result, 0) for name, call in others.items()}
        if len(others) >= MOST_KEPT_CALLS:
            del others[next(iter(others))]
        return RepetitionCount({**others, key: CountedCall(result, times)})

    def times(self, key: str) -> int:
        """Return how often a call ended with its newest result since something changed."""
        call = self.calls.get(key)
        return call.times if call else 0


NOTHING_COUNTED: Final = RepetitionCount()


def repetition_digest(*facts: object) -> str:
    """Return a digest of plain values, for comparing calls and results with one another."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def repetition_note(times: int) -> str:
    """Return what a model is told in the result of a call that repeats itself."""
    return (
        f"Note of the workbench: this exact call has now given this exact result {times} times in this turn."
        " Do something else, or say what keeps you from it."
    )
