"""Films as files: a terminal reads a cast back, a browser's parser finds a page that loads and runs nothing."""

import base64
import hashlib
import json
import re
import tracemalloc
from html.parser import HTMLParser
from xml.etree import ElementTree

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.browser import CHROMIUM, chromium
from workbench.formats import film as formats_film
from workbench.formats.film import (
    Film,
    FilmFrame,
    FilmGap,
    FilmMark,
    FramePart,
    TextStyle,
    screen_row,
    text_pieces,
)
from workbench.formats.film.svg import SvgWriter, frame_svg
from workbench.text.width import cell_width

PLAIN = TextStyle(ink="#d8dee7", paper="#0f1217")
LOUD = TextStyle(ink="#ff6470", paper="#2c1719", bold=True, italic=True, underline=True, strike=True)
HOSTILE = "</script><script>alert(1)</script><!--"
WIDTH = 60


def film(*screens, **more):
    frames = tuple(
        FilmFrame(
            at=n * 500_000,
            recorded=1_700_000_000_000_000 + n,
            rows=tuple(screen_row(row, WIDTH) for row in rows),
        )
        for n, rows in enumerate(screens)
    )
    return Film(
        title=f"a {HOSTILE} \x1b]0;x\x07 title", width=WIDTH, height=len(screens[0]), ink=PLAIN.ink,
        paper=PLAIN.paper, frames=frames, length=len(screens) * 500_000, **more,
    )  # fmt: skip


TWO = film(
    [
        [("one ", PLAIN), ("two", LOUD)],
        [(HOSTILE, PLAIN)],
        [("漢字 and é́ 🎉 end", PLAIN)],
        [("│ a ┃", PLAIN)],
    ],
    [
        [("one ", PLAIN), ("three", PLAIN)],
        [(HOSTILE, LOUD)],
        [("漢字 and é́ 🎉 end", PLAIN)],
        [("│ a ┃", PLAIN)],
    ],
    marks=(FilmMark(at=400_000, kind="approval", sign="waiting"),),
    gaps=(FilmGap(at=100_000, saved=90_000_000),),
)


def text(row):
    return "".join(part for part, _ in row)


# --- rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        ([("a\x1b[2Jb", PLAIN)], "a⟨ESC[2J⟩b"),
        ([("x\u202ey", PLAIN)], "x⟨U+202E⟩y"),
        ([("key ", PLAIN), ("sk-ant-api03-" + "A1b2" * 23 + "AA", LOUD)], "key ⟨secret: anthropic key⟩"),
    ],
)
def test_a_row_is_fit_to_leave(runs, shown):
    row = screen_row(runs, WIDTH)
    assert cell_width(text(row)) == WIDTH
    assert text(row).rstrip()[:5] == shown[:5]
    assert "A1b2A1b2" not in text(row)
    assert text(row).isprintable()


@given(
    st.lists(st.tuples(st.text(max_size=20), st.sampled_from([PLAIN, LOUD])), max_size=6), st.integers(1, 40)
)
def test_a_row_has_its_width_and_pieces_are_the_text(runs, width):
    row = screen_row(runs, width)
    assert cell_width(text(row)) == width
    for part, _ in row:
        found = list(text_pieces(part))
        assert "".join(piece for piece, _ in found) == part
        assert all(wide == cell_width(piece) for piece, wide in found)


def test_what_stands_before_a_secret_keeps_its_look():
    row = screen_row([("name ", PLAIN), ("ghp_" + "a1B2c3D4e5" * 4, LOUD)], WIDTH)
    assert row[0][1] == PLAIN
    assert row[0][0].startswith("name ")
    assert "a1B2" not in text(row)


def written(film, writer):
    for frame in film.frames:
        writer.add(frame)
    return list(writer.end())


def cast_lines(film):
    return written(film, formats_film.CastWriter(film))


def html_document(film, start=0):
    return "".join(written(film, formats_film.HtmlWriter(film, start)))


# --- svg --------------------------------------------------------------------------------------------


def test_a_picture_is_well_formed_and_says_all_of_the_frame():
    picture = frame_svg(TWO, TWO.frames[0])
    root = ElementTree.fromstring(picture)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names == {"svg", "title", "desc", "rect", "g", "text", "path"}
    said = "".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text"))
    assert HOSTILE in said
    assert "漢字" in said
    assert not re.search(r"href|url\(|<script|\x1b|onload", picture)


def test_a_picture_places_text_by_cells():
    root = ElementTree.fromstring(frame_svg(TWO, TWO.frames[0]))
    found = {element.text: element for element in root.iter() if element.tag.endswith("}text")}
    assert float(found["two"].get("x")) == pytest.approx(4 * 8.4)
    assert float(found["漢"].get("textLength")) == pytest.approx(2 * 8.4)
    assert float(found["end"].get("x")) == pytest.approx((cell_width("漢字 and é́ 🎉 ")) * 8.4)
    assert found["two"].get("text-decoration") == "underline line-through"


def test_words_with_blanks_between_keep_them_and_lines_are_no_letters():
    blanks = film([[("run   python3", PLAIN)], [("a──┬─╮═╗", PLAIN)]])
    picture = frame_svg(blanks, blanks.frames[0])
    texts = [element for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("}text")]
    space = "{http://www.w3.org/XML/1998/namespace}space"
    assert [(element.text, element.get(space)) for element in texts] == [
        ("run   python3", "preserve"),
        ("a", None),
    ]
    # Each line reaches the edge of its cell, where the next one begins.
    boxes = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)", picture)
    ends = sorted(float(left) + float(wide) for left, wide in boxes)
    assert [end for end in ends if abs(end / 8.4 - 3) < 0.01]


def seen_at(picture, percent):
    """Return the words of a moving picture at a moment, or of its poster with None."""
    root = ElementTree.fromstring(picture)
    style = next(element.text for element in root.iter() if element.tag.endswith("}style"))
    rules = {
        name: [(float(at), state) for at, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", steps)]
        for name, steps in re.findall(r"@keyframes (\w+)\{((?:[^{}]*\{[^{}]*\})*)\}", style)
    }
    words = []
    for group in next(element for element in root if element.tag.endswith("}g")):
        name = (group.get("style") or "").removeprefix("animation-name:")
        state = "hidden" if group.get("visibility") else "visible"
        if percent is not None and name:
            state = [step for at, step in rules[name] if at <= percent][-1]
        if state == "visible":
            words += [element.text for element in group.iter() if element.tag.endswith("}text")]
    return words


def test_a_moving_picture_shows_each_frame_in_its_time_and_stands_still_where_it_is_asked_to():
    story = film(*([[(f"one {n // 2}", PLAIN)], [(f"two {n}", LOUD)], [("same", PLAIN)]] for n in range(4)))
    writer = SvgWriter(story, 1.0, poster=600_000)
    for frame in story.frames:
        writer.add(frame)
    picture = "".join(writer.end())
    # Two seconds in one, and the last frame stands for two and a half more.
    assert "animation:3.50s step-end infinite" in picture
    assert "prefers-reduced-motion" in picture
    assert not re.search(r"href|url\(|<script|onload|@import", picture)
    for n in range(4):
        moment = (0.25 * n + 0.1) / 3.5 * 100
        assert sorted(seen_at(picture, moment)) == [f"one {n // 2}", "same", f"two {n}"]
    assert sorted(seen_at(picture, 99)) == ["one 1", "same", "two 3"]
    assert sorted(seen_at(picture, None)) == ["one 0", "same", "two 1"]
    assert picture.count(">same<") == 1


def test_of_frames_too_short_to_be_seen_the_last_is_shown():
    story = film(*([[(f"n {n}", PLAIN)]] for n in range(100)))
    writer = SvgWriter(story, 1.0)
    for frame in story.frames:
        writer.add(frame)
    picture = "".join(writer.end())
    assert picture.count("<text") <= 15
    assert seen_at(picture, 99) == ["n 99"]
    assert seen_at(picture, 0) == ["n 0"]


# --- cast -------------------------------------------------------------------------------------------


def test_a_terminal_reads_a_cast_back():
    head, *lines = [json.loads(line) for line in cast_lines(TWO)]
    assert (head["version"], head["width"], head["height"]) == (2, WIDTH, 4)
    assert "\x1b" not in head["title"]
    screen = pyte.Screen(WIDTH, 4)
    stream = pyte.Stream(screen)
    assert [line[0] for line in lines] == sorted(line[0] for line in lines)
    shown = []
    for at, code, data in lines:
        if code == "o":
            stream.feed(data)
            shown.append((at, [row.rstrip() for row in screen.display]))
    assert [at for at, _ in shown] == [0, 0.5, 1.0]
    for (_, rows), frame in zip(shown, TWO.frames, strict=False):
        for row, told in zip(rows, frame.rows, strict=True):
            assert [part for part in row.split() if part.isascii()] == [
                part for part in text(told).split() if part.isascii()
            ]
    assert screen.buffer[1][0].fg == "ff6470"
    assert screen.buffer[1][0].bold
    assert [line[1:] for line in lines if line[1] == "m"] == [["m", "approval: waiting"]]


def test_a_cast_paints_only_what_changed_and_has_no_other_controls():
    lines = [json.loads(line) for line in cast_lines(TWO)][1:]
    painted = [line[2] for line in lines if line[1] == "o"]
    assert "漢" in painted[0]
    assert "漢" not in painted[1]
    for data in painted:
        assert "\x1b" not in re.sub(r"\x1b\[(\?(25|7)[hl]|2J|\d+(;\d+)*m|\d+;1H|\d+G)", "", data)


# --- html -------------------------------------------------------------------------------------------


class Page(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.tags, self.blocks, self._open = [], [], None
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag in ("script", "style"):
            self.blocks.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open in ("script", "style"):
            self.blocks[-1][2] += data


def test_a_page_forbids_everything_but_its_own_script_and_style():
    page = Page(html_document(TWO))
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag, attrs, code in page.blocks:
        if attrs.get("type") != "application/json":
            digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_of_a_session_is_run_or_fetched():
    source = html_document(TWO)
    page = Page(source)
    assert [block[0] for block in page.blocks] == ["style", "script", "script"]
    names = {name for _, attrs in page.tags for name in attrs}
    assert not names & {"src", "href", "srcset", "action", "style", "onclick", "onload"}
    assert not re.search(r"https?:|//[a-z]|url\(|@import|innerHTML|eval\(|fetch\(", source)
    assert "alert(1)" not in page.blocks[2][2]
    assert source.count("<script") == 2


def test_frames_come_back_from_the_data_of_a_page():
    data = json.loads(Page(html_document(TWO, 500_000)).blocks[1][2])
    shown = [None] * TWO.height
    for (at, recorded, changed, part), frame in zip(data["frames"], TWO.frames, strict=True):
        assert (at, recorded, part) == (frame.at, frame.recorded, -1)
        for row, number in zip(changed[::2], changed[1::2], strict=True):
            cells_of = data["rows"][number]
            shown[row] = "".join(cells_of[3::4])
        assert shown == [text(row) for row in frame.rows]
    assert data["start"] == 500_000
    assert data["marks"] == [[400_000, "approval", "waiting", "•"]]
    assert data["gaps"] == [[100_000, 90_000_000]]
    assert [255 > flags >= 0 for _, _, flags in data["looks"]] == [True] * len(data["looks"])


RIGHT, LEFT = (
    FramePart(left=20, top=1, width=40, height=3),
    FramePart(left=0, top=1, width=19, height=3),
)


def test_a_page_says_which_part_of_each_frame_a_narrow_window_shows():
    shown = (RIGHT, LEFT, None, RIGHT)
    frames = tuple(
        replace(TWO.frames[0], at=n, part=part, rows=TWO.frames[n % 2].rows) for n, part in enumerate(shown)
    )
    data = json.loads(Page(html_document(replace(TWO, frames=frames))).blocks[1][2])
    parts = [FramePart(left=a, top=b, width=c, height=d) for a, b, c, d in data["parts"]]
    assert parts == [RIGHT, LEFT]
    assert [None if frame[3] < 0 else parts[frame[3]] for frame in data["frames"]] == list(shown)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.campaign
def test_text_lies_above_all_backgrounds_and_a_narrow_window_shows_one_part(tmp_path):
    target = tmp_path / "film.html"
    frames = (replace(TWO.frames[0], part=RIGHT), replace(TWO.frames[1], part=LEFT))
    target.write_text(html_document(replace(TWO, frames=frames)), encoding="utf-8")
    size = "parseFloat(document.getElementById('screen').style.fontSize)"
    layers = (
        "[...new Set([...document.querySelectorAll('#sheet {}')].map((one) => getComputedStyle(one).zIndex))]"
    )
    with chromium(tmp_path) as tab:
        tab.open(target.as_uri(), width=1280)
        assert [tab.value(layers.format(name)) for name in (">div", "b", "span")] == [
            ["auto"],
            ["-1"],
            ["auto"],
        ]
        assert tab.value("document.querySelectorAll('#sheet .drawn').length") == 2
        assert tab.value("document.getElementById('screen').style.width") == f"{WIDTH}ch"
        for width in (390, 500):
            tab.open(target.as_uri(), width=width)
            assert tab.value("document.documentElement.scrollWidth") == width
            assert tab.value("document.getElementById('screen').style.width") == f"{RIGHT.width}ch"
            assert tab.value(size) >= 10
            tab.press("End")
            tab.wait(f"document.getElementById('screen').style.width === '{LEFT.width}ch'")
        assert tab.complaints == []


# --- long films -------------------------------------------------------------------------------------


def long_film(count):
    """Yield frames of rows that are made anew each time, one of which is another one each time."""
    for n in range(count):
        rows = [
            screen_row([(f"{'same' if at else n} {at} {part} ", (PLAIN, LOUD)[part % 2]) for part in range(6)], WIDTH)
            for at in range(24)
        ]  # fmt: skip
        yield FilmFrame(at=n * 1_000, recorded=n, rows=tuple(rows))


@pytest.mark.parametrize("writer", [formats_film.CastWriter, formats_film.HtmlWriter])
def test_of_a_long_film_no_more_is_kept_than_what_is_written(writer):
    head = replace(TWO, frames=(), height=24, length=2_000_000)
    made = writer(head)
    frames = long_film(300)
    made.add(next(frames))
    tracemalloc.start()
    try:
        for frame in frames:
            made.add(frame)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    written = sum(map(len, made.end()))
    assert kept < 2 * written + 500_000


# --- the format, read by a reader of its own ----------------------------------------------------------


def cast_faults(lines):
    """Return what is wrong in an asciicast of version 2, by its description and nothing of ours.

    Source: docs.asciinema.org/manual/asciicast/v2: a header object, then [time, code, data] a line.
    """
    head, *found = [json.loads(line) for line in lines]
    faults = [name for name in ("version", "width", "height") if type(head.get(name)) is not int]
    faults += ["version"] if head["version"] != 2 else []
    faults += [name for name in ("width", "height") if head[name] <= 0]
    kinds = {"timestamp": int, "duration": (int, float), "title": str, "env": dict, "command": str,
             "idle_time_limit": (int, float), "theme": dict, "version": int, "width": int, "height": int}  # fmt: skip
    faults += [name for name, value in head.items() if not isinstance(value, kinds.get(name, ()))]
    faults += [f"env {name}" for name, value in head["env"].items() if not isinstance(value, str)]
    before = 0.0
    for number, line in enumerate(found):
        at, code, data = line
        if (
            type(at) not in (int, float)
            or at < before
            or code not in ("o", "i", "m", "r")
            or type(data) is not str
        ):
            faults.append(f"line {number}")
        before = at
    if found and found[-1][0] > head["duration"]:
        faults.append("duration")
    return faults


def test_a_cast_is_what_its_format_says():
    lines = list(cast_lines(TWO))
    assert all("\n" not in line and line.isprintable() for line in lines)
    assert cast_faults(lines) == []
    odd = replace(TWO, marks=(FilmMark(at=9_000_000, kind="edit", sign="ok"), *TWO.marks))
    assert cast_faults(cast_lines(odd)) == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.campaign
def test_a_browser_plays_it_offline_and_has_nothing_to_complain_of(tmp_path):
    target = tmp_path / "film.html"
    target.write_text(html_document(TWO), encoding="utf-8")
    with chromium(tmp_path) as tab:
        tab.open(target.as_uri())
        assert "two" in tab.value("document.getElementById('screen').textContent")
        tab.press("End")
        tab.wait("document.getElementById('screen').textContent.includes('three')")
        assert tab.value("document.querySelectorAll('#screen script, #screen img').length") == 0
        assert (tab.requests, tab.complaints) == ([target.as_uri()], [])
