"""A film as one HTML file that plays itself: no network, no other file, nothing but its own script.

Pure. Owns the page and its policy: a content security policy forbids everything but this one script and this
one style sheet, by their digests. Text of a session is data in a block that no browser runs, and reaches the
page as text only. What plays it is `player.js`.
"""

import base64
import hashlib
import json
from collections.abc import Hashable
from html import escape
from pathlib import Path
from typing import Final, TypeVar

from workbench.domain.values import Json
from workbench.formats.film.model import Film, Frame, Look, Row, pieces
from workbench.text.human import iso
from workbench.text.safe import one_line

_HERE: Final = Path(__file__).resolve().parent
_FLAGS: Final = ("bold", "italic", "underline", "strike")
K = TypeVar("K", bound=Hashable)


def write(film: Film, start: int = 0) -> str:
    """Return a film as a complete HTML document.

    Args:
        film: What is played.
        start: Where the player stands when it is opened, microseconds of the film.
    """
    script, style = _asset("player.js"), _asset("player.css")
    style += f":root{{--ink:{film.ink};--paper:{film.paper}}}\n"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = film.frame_at(start)
    text = "\n".join("".join(part for part, _ in row).rstrip() for row in shown.rows)
    title = escape(one_line(film.title, 200))
    return _PAGE.format(
        policy=escape(policy), title=title, style=style, script=script, text=escape(text, quote=False),
        when=iso(shown.recorded), data=_data(film, start),
    )  # fmt: skip


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p id="when">{when}</p></header>
<main><pre id="screen" tabindex="0" aria-label="The recorded screen">{text}</pre></main>
<div id="bar" hidden>
<button id="play" type="button">play</button>
<div id="track"><div id="marks"></div>
<input id="seek" type="range" min="0" max="1000" step="any" value="0" aria-label="Time"></div>
<output id="clock"></output>
<label>speed <select id="speed"></select></label>
<label>mark <select id="kind"></select></label>
<button id="back" type="button" aria-label="Previous mark">[</button>
<button id="forth" type="button" aria-label="Next mark">]</button>
</div>
<p id="note"></p>
<p id="keys">space play, ← → 5 s, , . frame, [ ] mark, - + speed, 0 to 9 tenths, home end</p>
<noscript><p>One moment is shown. Playing needs the script of this file; it loads nothing.</p></noscript>
<script type="application/json" id="film">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"


# --- the film as data -------------------------------------------------------------------------------


def _data(film: Film, start: int) -> str:
    looks, rows = dict[Look, int](), dict[Row, int]()
    frames: list[str] = []
    before: Frame | None = None
    for frame in film.frames:
        changed: list[Json] = []
        for number, row in enumerate(frame.rows):
            if before is None or before.rows[number] != row:
                changed += [number, _number(rows, row)]
        frames.append(_json([frame.at, frame.recorded, changed]))
        before = frame
    # One by one: as a whole, the encoder would hold every number as a text of its own.
    lines = [_json(_line(row, looks)) for row in rows]
    rest = _json({
        "width": film.width, "height": film.height, "length": film.length, "start": start,
        "looks": [_look(look) for look in looks],
        "marks": [[mark.at, mark.kind, mark.sign] for mark in film.marks],
        "gaps": [[gap.at, gap.saved] for gap in film.gaps],
    })  # fmt: skip
    return f'{{"frames":[{",".join(frames)}],"rows":[{",".join(lines)}],{rest[1:]}'


def _json(value: Json) -> str:
    return _inert(json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def _inert(text: str) -> str:
    """Return JSON that means the same and can end no element and begin no comment."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _number(known: dict[K, int], key: K) -> int:
    return known.setdefault(key, len(known))


def _line(row: Row, looks: dict[Look, int]) -> Json:
    """Return a row as column, look and text of each piece; plain blanks are left out."""
    found: list[Json] = []
    column = 0
    for text, look in row:
        number = _number(looks, look)
        for piece, wide in pieces(text):
            found += [column, wide, number, piece]
            column += wide
    return found


def _look(look: Look) -> Json:
    return [look.ink, look.paper, sum(1 << at for at, name in enumerate(_FLAGS) if getattr(look, name))]
