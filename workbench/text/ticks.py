"""Where a scale of time has its ticks, in steps that people count in."""

from typing import Final

from workbench.text.human import countdown_text

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_COUNTED: Final = (1, 2, 5, 10, 15, 30)
_STEPS: Final = (*_COUNTED, *(n * _MINUTE for n in _COUNTED), *(n * _HOUR for n in (1, 2, 6, 12)))
_DAY_COUNTS: Final = (1, 2, 5)


def tick_step(seconds: float, most: int) -> int:
    """Return the smallest step in seconds of which at most `most` fit into a time: 30 s, 5 min, 2 h, 1 d."""
    least = seconds / max(1, most)
    for step in _STEPS:
        if step >= least:
            return step
    days = 1
    while True:
        for count in _DAY_COUNTS:
            if count * days * _DAY >= least:
                return count * days * _DAY
        days *= 10


def tick_text(at: int, step: int) -> str:
    """Write a tick of a scale with such a step: `1:30`, `12 h`, `3 d`."""
    if step >= _DAY:
        return f"{at // _DAY} d"
    return f"{at // _HOUR} h" if step >= _HOUR else countdown_text(at)
