"""Colours derived for a foreign theme: readable in 24 bits, and in the 256 colours of a terminal.

Loaded when a theme of Textual or of a user is taken; our own need none of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Final

from msgspec import Struct, convert
from textual.color import Color

from workbench.render.theme import OWN_THEMES_256, ColorName, ThemeColors

TEXT_NAMES: Final[tuple[ColorName, ...]] = (
    "foreground", "muted", "faint", "info", "added", "removed", "waiting", "failed", "keyword", "string",
    "function", "number", "comment",
)  # fmt: skip
GROUND_NAMES: Final[tuple[ColorName, ...]] = ("panel", "cursor_row", "cursor_blur", "added_bg", "removed_bg")
TEXT_CONTRAST: Final = 4.5
FAINT_CONTRAST: Final = 3.6
_FOREGROUND_CONTRAST: Final = 6.0
"""More than what every text has: in a pale theme content would look as muted as its labels."""
LEAST_LIFT: Final = 1.12
"""Contrast with the background from which a ground is seen."""
_LIFT_TO_KEEP: Final = 1.3
"""Contrast with the background that texts make room for, where a theme's own grounds have more."""
_CONTRAST_STEPS: Final = 25
_WHITE, _BLACK = Color(255, 255, 255), Color(0, 0, 0)
_MOST_LIFT: Final = 1.6
"""Contrast with the background up to which one of the 256 is taken for a ground."""
_CUBE_LEVELS: Final = (0, 95, 135, 175, 215, 255)


def derive_colors(generated: Mapping[str, str], *, is_dark: bool) -> ThemeColors:
    """Return colours for a foreign theme from the variables that Textual generates for it.

    Grounds are pulled to the background until the quieter texts can be read on them, yet stay visible; then
    every text moves away from the worst ground until it can be read there.
    """
    background = Color.parse(generated["background"])
    names = ("foreground", "primary", "success", "error", "warning", "accent")
    foreground, primary, success, error, warning, accent = (
        _over(background, generated.get(name, generated["foreground"])) for name in names
    )
    shades = _Shades.of(background, foreground, is_dark=is_dark)
    grounds = {
        "panel": shades.ground(generated["panel"], foreground),
        "cursor_row": shades.ground(generated["primary-muted"], primary),
        "cursor_blur": shades.ground(generated["surface-active"], foreground),
        "added_bg": shades.ground(generated["success-muted"], success),
        "removed_bg": shades.ground(generated["error-muted"], error),
    }
    worst = shades.worst(grounds.values())
    texts = {
        "foreground": foreground, "muted": shades.muted, "faint": shades.faint, "info": primary,
        "added": success, "removed": error.blend(foreground, 0.3), "waiting": warning, "failed": error,
        "keyword": accent, "string": success, "function": primary, "number": warning,
        "comment": background.blend(foreground, 0.6),
    }  # fmt: skip
    readable = {name: shades.text(color, worst, least_contrast(name)) for name, color in texts.items()}
    words = {
        f"{name}_word": shades.word(grounds[f"{name}_bg"], color, readable["foreground"])
        for name, color in (("added", success), ("removed", error))
    }
    colors = {
        **grounds, **readable, **words, "background": background, "surface": background,
        "rule": background.blend(readable["foreground"], 0.2),
    }  # fmt: skip
    hexes = {name: color.hex for name, color in colors.items()}
    return convert({**hexes, "is_dark": is_dark}, ThemeColors)


def least_contrast(name: str) -> float:
    """Return the contrast that a text has at least on every ground of a foreign theme."""
    return {"foreground": _FOREGROUND_CONTRAST, "faint": FAINT_CONTRAST}.get(name, TEXT_CONTRAST)


def contrast_ratio(first: Color, second: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=4096)
def _luminance(color: Color) -> float:
    parts = [value / 255 for value in color.rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _over(background: Color, color: str) -> Color:
    parsed = Color.parse(color)
    return background.blend(parsed, parsed.a, alpha=1.0)


class _Shades(Struct, frozen=True, kw_only=True):
    """Finds readable shades of a theme's colours: grounds near its background, texts away from it."""

    background: Color
    end: Color
    """White in a dark theme, black in a light one."""
    muted: Color
    faint: Color

    @classmethod
    def of(cls, background: Color, foreground: Color, *, is_dark: bool) -> "_Shades":
        end = _WHITE if is_dark else _BLACK
        muted, faint = (
            _readable(background.blend(foreground, share), end, background, least * _LIFT_TO_KEEP)
            for share, least in ((0.7, TEXT_CONTRAST), (0.5, FAINT_CONTRAST))
        )
        return cls(background=background, end=end, muted=muted, faint=faint)

    def ground(self, color: str, toward: Color) -> Color:
        """Return a ground no nearer to the background than needed; `toward` raises one that is not seen."""
        start = _over(self.background, color)
        if self._lift(start) < LEAST_LIFT:
            raised = _blends(start, toward)
            return next((shade for shade in raised if self._lift(shade) >= LEAST_LIFT), toward)
        seen = [shade for shade in _blends(start, self.background) if self._lift(shade) >= LEAST_LIFT]
        return next((shade for shade in seen if self._is_quiet(shade)), seen[-1])

    def worst(self, grounds: Iterable[Color]) -> Color:
        """Return the ground on which a text has the least contrast."""
        return min(grounds, key=lambda ground: contrast_ratio(self.end, ground))

    def text(self, color: Color, ground: Color, least: float) -> Color:
        """Return a colour that has a contrast with a ground."""
        return _readable(color, self.end, ground, least)

    def word(self, ground: Color, color: Color, foreground: Color) -> Color:
        """Return the tint of changed words on the ground of their line."""
        shades = _blends(ground.blend(color, 0.4), ground)
        return next((shade for shade in shades if contrast_ratio(foreground, shade) >= TEXT_CONTRAST), ground)

    def _is_quiet(self, ground: Color) -> bool:
        is_muted_read = contrast_ratio(self.muted, ground) >= TEXT_CONTRAST
        return is_muted_read and contrast_ratio(self.faint, ground) >= FAINT_CONTRAST

    def _lift(self, ground: Color) -> float:
        return contrast_ratio(ground, self.background)


def _readable(color: Color, end: Color, ground: Color, least: float) -> Color:
    return next((shade for shade in _blends(color, end) if contrast_ratio(shade, ground) >= least), end)


def _blends(start: Color, end: Color) -> Iterator[Color]:
    return (start.blend(end, step / _CONTRAST_STEPS, alpha=1.0) for step in range(_CONTRAST_STEPS + 1))


def nearest_of_256(colors: ThemeColors) -> ThemeColors:
    """Return colours out of the 256; tints of changed lines are ours, as there are few dark ones."""
    ours = OWN_THEMES_256["workbench-dark" if colors.is_dark else "workbench-light"]
    end = _WHITE if colors.is_dark else _BLACK
    tints = {
        name: Color.parse(getattr(ours, name))
        for name in ("added_bg", "added_word", "removed_bg", "removed_word")
    }
    background = _by_distance(colors.background)[0]
    rows = {"background": background}
    for name in ("panel", "cursor_row", "cursor_blur"):
        seen = (
            shade
            for shade in _by_distance(getattr(colors, name))
            if LEAST_LIFT <= contrast_ratio(shade, background) <= _MOST_LIFT and shade not in rows.values()
        )
        rows[name] = next(seen, background)
    also = {
        "foreground": tuple(tints.values()),
        "added": (tints["added_bg"],),
        "removed": (tints["removed_bg"],),
    }
    texts: dict[str, Color] = {}
    for name in TEXT_NAMES:
        grounds = (*rows.values(), *also.get(name, ()))
        least = least_contrast(name)
        texts[name] = next(
            (
                shade
                for shade in _by_distance(getattr(colors, name))
                if all(contrast_ratio(shade, ground) >= least for ground in grounds)
            ),
            end,
        )
    shown = {**rows, **tints, **texts, "surface": background, "rule": _by_distance(colors.rule)[0]}
    hexes = {name: color.hex for name, color in shown.items()}
    return convert({**hexes, "is_dark": colors.is_dark, "tints_lines": ours.tints_lines}, ThemeColors)


@cache
def _palette_of_256() -> Sequence[Color]:
    """Return the colours that no terminal lets its user change: a cube and greys."""
    cube = [Color(red, green, blue) for red, green, blue in product(_CUBE_LEVELS, repeat=3)]
    return [*cube, *(Color(grey, grey, grey) for grey in range(8, 248, 10))]


def _by_distance(color: str) -> Sequence[Color]:
    wanted = Color.parse(color).rgb
    return sorted(
        _palette_of_256(),
        key=lambda shade: sum((one - other) ** 2 for one, other in zip(shade.rgb, wanted, strict=True)),
    )
