"""Times as the screen says them: countdowns, fuses, clock times, how long ago.

Pure but for the local time zone, in which clock times are written.
"""

from datetime import datetime

from workbench.text.human import countdown

_MICROS = 1_000_000


def left(seconds: float | None, *, in_minutes: bool = False) -> str:
    """Return a countdown, empty for what does not expire; without motion in whole minutes: `14 min`."""
    if seconds is None:
        return ""
    if not in_minutes:
        return countdown(seconds)
    return f"{int(seconds) // 60} min" if seconds >= 60 else "<1 min"


def clock(micros: int | None, now: int | None = None) -> str:
    """Return a time of day; of another day its weekday within a week, else `12 Nov`.

    Args:
        micros: the moment; None is empty.
        now: tells other days; None writes the time of day alone.
    """
    if micros is None:
        return ""
    then = datetime.fromtimestamp(micros / _MICROS)
    if now is None:
        return then.strftime("%H:%M")
    today = datetime.fromtimestamp(now / _MICROS)
    days = (today.date() - then.date()).days
    if days == 0:
        return then.strftime("%H:%M")
    return then.strftime("%a") if 0 < days < 7 else f"{then.day} {then.strftime('%b')}"


def clock_second(micros: int) -> str:
    """Return a time of day to the second: `12:01:19`."""
    return datetime.fromtimestamp(micros // _MICROS).strftime("%H:%M:%S")


def clock_exact(micros: int) -> str:
    """Return a time of day to the millisecond: `12:01:19.204`."""
    return datetime.fromtimestamp(micros / _MICROS).strftime("%H:%M:%S.%f")[:-3]
