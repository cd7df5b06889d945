"""The gate of a step: what a human is asked, the answers it offers, and where they lead.

Owns gates that ask a human. Those that wait for something else are named and not run.
"""

import re
from typing import Final

from workbench.domain.values import Choice
from workbench.pipelines.fields import Fields, text_of
from workbench.pipelines.model import GateSpec

_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST: Final = 366 * 24 * 60.0


def seconds_of(text: str) -> float | None:
    """Return a duration such as `1h30m`, `90s`, `500ms`; None if it is none."""
    compact = text.replace(" ", "")
    parts = _SPAN.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def read_gate(step: Fields) -> GateSpec:
    """Return what a gate asks; without `gate` the step's own words are used."""
    fields = step.below("gate")
    if fields is None:
        return GateSpec()
    kind = fields.get("type")
    word = text_of(kind) if kind else "approval"
    if word == "timer":
        return _timer(fields)
    if kind is not None and word != "approval":
        kind.warn("not_run", f"gates of type {word} are not run here", stops_run=True)
    if fields.has("auto") and fields.flag("auto", False):
        fields.place.key("auto").warn("not_run", "auto is not followed: only a human answers a gate")
    if fields.has("default"):
        fields.place.key("default").warn("not_run", "default is not followed: a gate never answers itself")
    choices, targets = _choices(fields)
    found = GateSpec(
        type=word, prompt=fields.text("prompt") or fields.text("message"), choices=choices, targets=targets,
        is_freeform=fields.flag("freeform", False), window_minutes=_window(fields),
    )  # fmt: skip
    if fields.has("freeform") and found.is_freeform and found.choices:
        message = "freeform is not offered beside choices here; a reason may be given with any answer"
        fields.place.key("freeform").warn("not_run", message)
    fields.has("message")
    fields.unknown(
        {
            "tui_action": "an action of another screen", "pr_number": "a number", "repo": "a repository",
            "branch": "a branch", "interval": "an interval",
        }
    )  # fmt: skip
    return found


def _timer(fields: Fields) -> GateSpec:
    """Return a gate that waits by itself and asks nobody."""
    minutes = _window(fields)
    if minutes is None and not fields.has("timeout"):
        fields.place.error("missing_field", f"{fields.place.path} needs timeout, how long the timer waits")
    for name in ("auto", "message", "prompt"):
        fields.has(name)
    fields.unknown({"tui_action": "an action of another screen"})
    return GateSpec(type="timer", wait_seconds=(minutes or 0) * 60)


def _choices(fields: Fields) -> tuple[tuple[Choice, ...], dict[str, str]]:
    choices: list[Choice] = []
    targets: dict[str, str] = {}
    for place in fields.objects("choices"):
        item = Fields(place)
        key = item.text("key", required=True)
        if any(choice.key == key for choice in choices):
            place.error("wrong_value", f"the choice {key} is there twice")
            continue
        choices.append(Choice(key=key, label=item.text("label", key)))
        target = item.text("target")
        if target:
            targets[key] = target
        item.unknown()
    return tuple(choices), targets


def _window(fields: Fields) -> float | None:
    found = fields.get("timeout")
    if found is None:
        return None
    seconds = seconds_of(text_of(found))
    if seconds is None or not 0 < seconds <= _LONGEST * 60:
        found.error("wrong_value", "timeout has to be a duration such as 30m or 1h")
        return None
    return seconds / 60
