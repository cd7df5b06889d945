"""read_file: ranges, limits, binary, other encodings, and memory that stays flat."""

import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.effects.files import Root
from workbench.tools.base import CallContext, ReadTool, ToolLimits, ToolRefused
from workbench.tools.file_read import ReadFile


@pytest.fixture
def read(tmp_path):
    def reading(data=None, limits=ToolLimits(), **parameters):  # noqa: B008 -- frozen
        if data is not None:
            (tmp_path / "f").write_bytes(data)
        with Root(tmp_path) as root:
            return ReadFile().read({"path": "f", **parameters}, CallContext(root=root, limits=limits))

    return reading


TEN = b"".join(b"line %d\n" % n for n in range(1, 11))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, TEN.decode()),
        ({"start_line": 1, "end_line": 1}, "line 1\n"),
        ({"start_line": 3, "end_line": 5}, "line 3\nline 4\nline 5\n"),
        ({"start_line": 10}, "line 10\n"),
        ({"end_line": 2}, "line 1\nline 2\n"),
        ({"start_line": 9, "end_line": 99}, "line 9\nline 10\n"),
        ({"start_line": 2.0, "end_line": 2.0}, "line 2\n"),
    ],
)
def test_lines_count_from_one_and_both_ends_belong(read, given, text):
    assert read(TEN, **given).text == text


@pytest.mark.parametrize(
    ("data", "given", "words"),
    [
        (TEN, {"start_line": 11}, "has 10 lines, so there is no line 11"),
        (TEN[:-1], {"start_line": 11}, "has 10 lines"),
        (TEN, {"start_line": 500}, "has 10 lines"),
        (b"", {"start_line": 2}, "has 0 lines"),
        (TEN, {"start_line": 4, "end_line": 3}, "end_line 3 is before start_line 4"),
    ],
)
def test_lines_that_are_not_there_are_said(read, data, given, words):
    with pytest.raises(ToolRefused, match=words):
        read(data, **given)


def test_an_empty_file_is_empty(read):
    assert read(b"").text == ""


def test_a_missing_file_a_folder_and_a_link_are_refused_in_words(read, tmp_path):
    with pytest.raises(ToolRefused, match="Not read: f"):
        read()
    (tmp_path / "f").mkdir()
    with pytest.raises(ToolRefused, match="Not read: f"):
        read()
    (tmp_path / "f").rmdir()
    (tmp_path / "f").symlink_to("/etc/passwd")
    with pytest.raises(ToolRefused, match="Not read: f"):
        read()


@pytest.mark.spec(69)
def test_a_file_over_the_limit_is_cut_at_a_line_and_says_how_to_go_on(read):
    data = b"".join(b"%07d\n" % n for n in range(20_000))
    output = read(data)
    body, _, words = output.text.rpartition("\n")
    assert len(body.encode()) <= 102_400
    assert body.endswith("0012799")
    assert (
        words
        == "[… cut: 100 KB of the 156 KB of f are shown, to line 12800; read on with start_line 12801 …]"
    )
    assert output.metadata["truncated"] is True
    assert read(start_line=12_801).text.startswith("0012800\n")


def test_exactly_the_limit_is_not_cut(read):
    limits = ToolLimits(context_file_bytes=10)
    assert read(b"a" * 10, limits).text == "a" * 10
    cut = read(b"a" * 11, limits).text
    assert cut.startswith("a" * 10 + "\n[… cut")
    assert "line 1 is longer than that" in cut


@pytest.mark.spec(33)
def test_a_cut_never_halves_a_character(read):
    assert read("\u6f22".encode() * 5, ToolLimits(context_file_bytes=10)).text.startswith(
        "\u6f22" * 3 + "\n["
    )


def test_a_binary_file_is_shown_as_the_hex_of_its_first_kilobyte(read):
    output = read(b"\x7fELF\0\1" + b"\xab" * 5000)
    lines = output.text.splitlines()
    assert lines[0] == "[f is binary: 4.9 KB; its first 1024 bytes in hexadecimal]"
    assert lines[1].startswith("7f 45 4c 46 00 01 ab")
    assert len(lines) == 1 + 64
    assert output.metadata["encoding"] == "binary"


@pytest.mark.spec(68)
def test_text_that_is_not_utf8_is_named(read):
    output = read(b"caf\xe9\n")
    assert output.text == "[f is not UTF-8; shown as Latin-1]\ncaf\u00e9\n"
    assert output.metadata["encoding"] == "latin-1"
    assert "encoding" not in read("caf\u00e9\n".encode()).metadata


@pytest.mark.spec(220)
def test_a_range_in_a_large_file_keeps_memory_flat(read, tmp_path):
    with (tmp_path / "f").open("wb") as file:
        os.truncate(file.fileno(), 0)
        block = b"x" * 99 + b"\n"
        for _ in range(40):
            file.write(block * 10_000)
        file.write(b"the end\n")
    tracemalloc.start()
    try:
        output = read(start_line=400_001)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert output.text == "the end\n"
    assert peak < 2_000_000


@pytest.mark.spec(220)
@given(
    st.lists(st.sampled_from(["", "a", "bb", "\u00e9"]), max_size=8),
    st.booleans(),
    st.integers(1, 9),
    st.integers(0, 9),
)
def test_a_range_is_what_splitting_lines_gives(tmp_path_factory, lines, is_ended, start, more):
    text = "\n".join(lines) + ("\n" if is_ended and lines else "")
    folder = tmp_path_factory.mktemp("r")
    (folder / "f").write_text(text, encoding="utf-8", newline="")
    expected = text.split("\n")
    expected = [line + "\n" for line in expected[:-1]] + ([expected[-1]] if expected[-1] else [])
    with Root(folder) as root:
        given_range = {"path": "f", "start_line": start, "end_line": start + more}
        if start > 1 and start > len(expected):
            with pytest.raises(ToolRefused, match=f"has {len(expected)} lines"):
                ReadFile().read(given_range, CallContext(root=root))
        else:
            output = ReadFile().read(given_range, CallContext(root=root))
            assert output.text == "".join(expected[start - 1 : start + more])
            assert output.metadata["end_line"] == min(len(expected), start + more)


def test_it_is_a_reading_tool():
    assert isinstance(ReadFile(), ReadTool)
