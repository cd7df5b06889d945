"""Which events of a recording are marks, and where they stand: compact columns, for there may be 100,000.

Pure. A mark is made when somebody asks for it; what looks for one, or for the most important of a stretch,
reads bytes. It knows no time and no event's body.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Final, Literal, overload

from workbench.records import dataclass
from workbench.views.signs import SignName

Jump = Literal["approval", "edit", "error", "expiry", "prompt", "step", "note"]
"""What a mark is, and what there are keys for."""

FACTS: Final = {
    "call.finished": "state",
    "action.approved": "selection",
    "step.changed": "state",
}
"""Kinds whose mark needs a field of their body, and which."""

RANK: Final[tuple[SignName, ...]] = (
    "failed", "waiting", "expired", "rejected", "partly", "ok", "prompt", "running", "todo", "cancelled",
)  # fmt: skip
"""Signs by importance: of several marks on one cell the first is drawn (UX section 6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event worth a place on the bar."""

    index: int
    """How many events are shown when it has just happened."""
    jump: Jump
    sign: SignName


def mark_of(kind: str, fact: object) -> tuple[Jump, SignName] | None:
    """Return what an event is marked as; None for most."""
    match kind:
        case "call.finished":
            return ("error", "failed") if fact in ("failed", "interrupted") else None
        case "action.approved":
            return "approval", "partly" if fact else "ok"
        case "step.changed":
            return _STEPS.get(str(fact))
        case _:
            return _MARKS.get(kind)


_MARKS: Final[dict[str, tuple[Jump, SignName]]] = {
    "prompt.submitted": ("prompt", "prompt"),
    "action.opened": ("approval", "waiting"),
    "action.rejected": ("approval", "rejected"),
    "action.expired": ("expiry", "expired"),
    "action.cancelled": ("approval", "cancelled"),
    "file.changed": ("edit", "ok"),
    "error.raised": ("error", "failed"),
    "mark.added": ("note", "ok"),
}
TURN_ENDED: Final = "turn.ended"
TOLD: Final = frozenset({*_MARKS, *FACTS, TURN_ENDED})
"""Kinds that are more than a moment: all others are only counted."""
WANTED: Final[Mapping[str, str | None]] = {**dict.fromkeys(sorted(TOLD)), **FACTS}
"""What a recording is asked for: those kinds, and the field of each that matters."""
_STEPS: Final[dict[str, tuple[Jump, SignName]]] = {
    "running": ("step", "running"),
    "completed": ("step", "ok"),
    "failed": ("error", "failed"),
    "waiting": ("step", "waiting"),
}

_PAIRS: Final[tuple[tuple[Jump, SignName], ...]] = tuple(
    sorted(
        {*_MARKS.values(), *_STEPS.values(), ("approval", "ok"), ("approval", "partly")},
        key=lambda pair: (RANK.index(pair[1]), pair[0]),
    )
)
"""Every mark there can be, the most important first: a byte of the column is a place in this."""
_CODES: Final = {pair: code for code, pair in enumerate(_PAIRS)}


class Marks(Sequence[Mark]):
    """The marks of a recording, in order."""

    def __init__(self) -> None:
        self._indices, self._codes = array("q"), bytearray()

    def add(self, index: int, pair: tuple[Jump, SignName]) -> None:
        """Add what `mark_of` found, behind all that were added before."""
        self._indices.append(index)
        self._codes.append(_CODES[pair])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._codes)

    @overload
    def __getitem__(self, at: int) -> Mark: ...
    @overload
    def __getitem__(self, at: slice) -> list[Mark]: ...
    def __getitem__(self, at: int | slice) -> Mark | list[Mark]:
        """Return a mark, or some."""
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        jump, sign = _PAIRS[self._codes[at]]
        return Mark(index=self._indices[at], jump=jump, sign=sign)

    def of(self, kind: Jump) -> list[Mark]:
        """Return the marks of a kind."""
        wanted = _of(kind)
        return [self[at] for at, code in enumerate(self._codes) if code in wanted]

    def jump(self, index: int, kind: Jump | None, step: int) -> Mark | None:
        """Return the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        wanted = range(len(_PAIRS)) if kind is None else _of(kind)
        if step > 0:
            first = bisect_right(self._indices, index)
            found = [first] if kind is None else [self._codes.find(code, first) for code in wanted]
            at = min((one for one in found if 0 <= one < len(self)), default=-1)
        else:
            last = bisect_left(self._indices, index)
            at = last - 1 if kind is None else max(self._codes.rfind(code, 0, last) for code in wanted)
        return self[at] if at >= 0 else None

    def best(self, after: int, until: int) -> SignName | None:
        """Return the most important sign of the marks behind one moment and up to another."""
        low, high = bisect_right(self._indices, after), bisect_right(self._indices, until)
        return _PAIRS[min(self._codes[low:high])][1] if low < high else None


def _of(kind: Jump) -> tuple[int, ...]:
    return tuple(code for code, pair in enumerate(_PAIRS) if pair[0] == kind)
