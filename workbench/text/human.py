"""Durations, sizes and counts in the words of the screen, and ISO 8601 times in both directions."""

import contextlib
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Final

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND_MICROS: Final = 1_000_000
"""Microseconds of a second; all times of the journal are in microseconds."""
MINUTE_MICROS: Final = 60 * SECOND_MICROS
HOUR_MICROS: Final = 60 * MINUTE_MICROS
DAY_MICROS: Final = 24 * HOUR_MICROS
_MICROSECOND = timedelta(microseconds=1)


def duration_text(seconds: float, *, counts_on: bool = False) -> str:
    """Write how long something took: `12 ms`, `4.1 s`, `41 s`, `1:12`, `2 h 5 min`, `3 d 4 h`.

    What still counts on is said in whole seconds, `4 s`, so that it moves once a second.
    """
    seconds = max(0.0, seconds)
    if counts_on and seconds < 10:
        return f"{int(seconds)} s"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    minutes = whole // 60
    if minutes < 2880:
        return _pair(minutes // 60, "h", minutes % 60, "min")
    return _pair(minutes // 1440, "d", minutes % 1440 // 60, "h")


def size_text(n: int) -> str:
    """Write a number of bytes: `512 B`, `1.1 KB`, `10 KB`, `3 GB`; 1 KB is 1,024 bytes."""
    return _scaled(n, 1024, (" B", " KB", " MB", " GB", " TB", " PB"))


def token_text(n: int) -> str:
    """Write a number of tokens: `812`, `41.2k`, `1.3M`."""
    return _scaled(n, 1000, ("", "k", "M", "G", "T", "P"))


def countdown_text(seconds: float) -> str:
    """Write the time that is left or, in whole seconds, has passed: `4:52`, `1:02:03`."""
    total = math.ceil(max(0.0, seconds))
    if total < 3600:
        return f"{total // 60}:{total % 60:02}"
    return f"{total // 3600}:{total % 3600 // 60:02}:{total % 60:02}"


def spoken_duration(seconds: float) -> str:
    """Write the time that is left for reading aloud: `30 seconds`, `4 minutes`, `1 hour 5 minutes`."""
    total = int(max(0.0, seconds))
    if total < 60:
        return counted(total, "second")
    hours, minutes = divmod(total // 60, 60)
    parts = [counted(n, word) for n, word in ((hours, "hour"), (minutes, "minute")) if n]
    return " ".join(parts)


def spoken_time_left(seconds: float) -> str:
    """Write the same of a countdown, to the nearest minute: at 14:59 it is 15 minutes."""
    return spoken_duration(seconds if seconds < 60 else 60 * int(seconds / 60 + 0.5))


def iso_time(micros: int) -> str:
    """Write microseconds since the epoch as `2026-11-21T12:00:00.123456Z`.

    Raises ValueError: outside the years 1 to 9999.
    """
    try:
        moment = _EPOCH + micros * _MICROSECOND
    except OverflowError:
        raise ValueError(f"{micros} microseconds are outside the years 1 to 9999") from None
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_iso_time(text: str) -> int:
    """Read an ISO 8601 time (RFC 3339 and its looser relatives) as microseconds since the epoch.

    `text`: with `Z`, an offset, or neither (taken as UTC); fractions beyond microseconds are dropped. Raises
    ValueError: for anything that is no such time.
    """
    if _usual_pattern().fullmatch(text):
        with contextlib.suppress(ValueError):  # the long way says what is wrong
            return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
    match = _iso_pattern().fullmatch(text)
    if match is None:
        raise ValueError(f"no ISO 8601 time: {text[:40]!a}")
    fraction = (match["fraction"] or "")[:6].ljust(6, "0")
    try:
        fields = [int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
        year, month, day, hour, minute, second = fields
        moment = datetime(year, month, day, hour, minute, second, int(fraction), _zone(match["zone"]))
        return (moment - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError) as error:
        raise ValueError(f"no time: {text[:40]!a} ({error})") from None


@cache
def _usual_pattern() -> re.Pattern[str]:
    """Match times as nearly all programs write them, of which a history holds one a line."""
    return re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.(?:\d{3}|\d{6})Z", re.ASCII)


@cache
def _iso_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[Tt ](?P<hour>\d\d):(?P<minute>\d\d)"
        r"(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,18}))?)? ?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?",
        re.ASCII,
    )


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    if int(digits[2:]) > 59:
        raise ValueError("an offset has at most 59 minutes")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text.startswith("-") else offset)


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}th" if number % 100 in (11, 12, 13) else f"{number}{suffix}"


def try_text(attempt: int, attempts: int) -> str:
    """Return `2nd try of 3`; `4th try` beyond what was planned."""
    return f"{ordinal(attempt)} try" + (f" of {attempts}" if 1 < attempts >= attempt else "")


def counted(n: int, word: str) -> str:
    """Write a number of things whose plural ends in s: `1 rule`, `2,000 rules`."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


EFFECT_VERBS: Final = {"allow": "allows", "ask": "asks about", "deny": "denies"}
"""What a rule does, by its effect."""


def _scaled(n: int, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while power < len(units) - 1 and abs(_rounded(n / base**power)) >= base:
        power += 1
    return f"{_rounded(n / base**power) if power else n:g}{units[power]}"


def _rounded(value: float) -> float:
    return round(value, 1) if abs(value) < 99.95 else float(round(value))


def time_left_text(seconds: float | None, *, in_minutes: bool = False) -> str:
    """Return a countdown, empty for what does not expire; without motion in whole minutes: `14 min`."""
    if seconds is None:
        return ""
    if not in_minutes:
        return countdown_text(seconds)
    return f"{int(seconds / 60 + 0.5)} min" if seconds >= 60 else "<1 min"


def clock_time(micros: int | None, now: int | None = None) -> str:
    """Return a time of day; of another day its weekday within a week, else `12 Nov`."""
    if micros is None:
        return ""
    then = datetime.fromtimestamp(micros / SECOND_MICROS)
    if now is None:
        return then.strftime("%H:%M")
    today = datetime.fromtimestamp(now / SECOND_MICROS)
    days = (today.date() - then.date()).days
    if days == 0:
        return then.strftime("%H:%M")
    return then.strftime("%a") if 0 < days < 7 else f"{then.day} {then.strftime('%b')}"


def clock_time_seconds(micros: int) -> str:
    return datetime.fromtimestamp(micros // SECOND_MICROS).strftime("%H:%M:%S")


def clock_time_millis(micros: int) -> str:
    return datetime.fromtimestamp(micros / SECOND_MICROS).strftime("%H:%M:%S.%f")[:-3]


def sentence(words: str) -> str:
    """Return words with a capital in front and a full stop behind; names stay as they are."""
    first = words.partition(" ")[0].rstrip(",:;.")
    is_word = len(first) > 1 and first.isalpha() and first.islower() and not words.startswith("workbench ")
    begun = f"{words[:1].upper()}{words[1:]}" if is_word else words
    return begun if not begun or begun.endswith((".", "?", "!", ":", "…", "”")) else f"{begun}."


def home_as_tilde(path: str, home: str) -> str:
    """Return a path with the home folder as `~`."""
    home = home.rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def place_wait_text(before: int) -> str:
    """Say how long the queue for a place is; `before` stand before it."""
    return f"waits for a place: {before} before it" if before else "waits for a place: it is next"


def error_sentence(text: str) -> str:
    """Return a text as a sentence: a capital first, a full stop last."""
    text = " ".join(text.split())
    if text[:1].islower() and not _is_name(text.split(" ", 1)[0]):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?", ":")) else text + "."


def _is_name(word: str) -> bool:
    """Paths, commands, keys and ids keep their case."""
    is_marked = any(character in "/.:_=" or character.isdigit() for character in word)
    return is_marked or word == "workbench"
