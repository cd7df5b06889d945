"""The moving picture of README: what an image may hold where README is shown, and that the program makes it."""

import re
import time
import xml.etree.ElementTree as ET

import pytest

from screenshots import bridge, make

PICTURE = make.HERE / "bridge.svg"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {f"{SVG}{name}" for name in ("svg", "title", "desc", "rect", "g", "text", "path", "style")}
MOST_BYTES = 400_000


@pytest.fixture(scope="module")
def picture():
    return ET.fromstring(PICTURE.read_bytes())


def squeezed(text):
    return "".join(text.split())


def test_it_is_one_file_without_scripts_and_references(picture):
    assert {element.tag for element in picture.iter()} == ELEMENTS
    names = {name for element in picture.iter() for name in element.attrib}
    assert not [name for name in names if "href" in name or name.startswith("on")]
    written = PICTURE.read_text(encoding="utf-8").replace(SVG.strip("{}"), "")
    assert not re.search(r"url\(|@import|://|&(?!amp;|lt;|gt;|quot;)", written)
    assert len(written.encode()) <= MOST_BYTES


def test_it_moves_without_end_and_stands_still_for_who_wants_no_motion(picture):
    (style,) = picture.iter(f"{SVG}style")
    assert (
        "infinite" in style.text
        and "@media(prefers-reduced-motion:reduce){g g{animation:none}}" in style.text
    )
    still = [group for group in picture.find(f"{SVG}g") if group.get("visibility") != "hidden"]
    text = "".join("".join(group.itertext()) for group in still)
    shown = [moment for moment in bridge.STORY if squeezed(moment.caption) in squeezed(text)]
    assert [moment.shows for moment in shown] == [bridge.POSTER]


def test_it_holds_each_moment_of_the_story(picture):
    rows = [squeezed("".join(group.itertext())) for group in picture.find(f"{SVG}g")]
    for moment in (*bridge.STORY, bridge.LAST):
        caption = squeezed(moment.caption.partition("{")[0])
        assert any(caption in row for row in rows), moment.caption
    assert squeezed(f"reads: “The user rejected this: {bridge.REASON}") in "".join(rows)


@pytest.mark.campaign
def test_the_program_makes_the_same_picture_again(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        assert bridge.make() == PICTURE.read_text(encoding="utf-8")
    finally:
        monkeypatch.undo()
        time.tzset()
