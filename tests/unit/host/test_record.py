"""What is recorded of exact text, and what a stream lets out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.values import Hunk
from workbench.host import redaction, stream_scrubber
from workbench.host.stream_scrubber import StreamScrubber
from workbench.secrets.scrubber import scrub

TOKEN = "ghp_" + "a1B2" * 9
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{'QUJD' * 16}\n{'REVG' * 16}\n-----END RSA PRIVATE KEY-----\n"


class Store:
    def __init__(self):
        self.kept = {}

    def record(self, data):
        raise AssertionError("nothing was cut")

    def seal(self, data):
        self.kept[f"sealed:{len(self.kept)}"] = data
        return f"sealed:{len(self.kept) - 1}"


def test_plain_text_is_recorded_as_it_is_and_nothing_is_sealed():
    store = Store()
    assert redaction.redact_and_seal_text("hello", store) == ("hello", None)
    assert store.kept == {}


class ArchiveStore(Store):
    def record(self, data):
        self.kept["recorded"] = data
        return "recorded"


@pytest.mark.spec(36)
def test_of_an_output_the_whole_is_archived_where_it_was_cut_and_the_exact_part_where_it_was_scrubbed():
    def archived(exact):
        store = ArchiveStore()
        found = redaction.redact_output(exact, scrub(exact).text, 100, store)
        return found, {name: data.decode() for name, data in store.kept.items()}

    found, kept = archived("short")
    assert (found.recorded, found.ref, found.whole, found.total_bytes, kept) == ("short", None, None, 5, {})
    found, kept = archived("x" * 500)
    assert (found.ref, found.whole, found.total_bytes) == (None, "recorded", 500)
    assert kept == {"recorded": "x" * 500} and len(found.recorded) < 500
    found, kept = archived(f"token {TOKEN}")
    assert (found.ref, found.whole, kept) == ("sealed:0", None, {"sealed:0": f"token {TOKEN}"})
    assert TOKEN not in found.recorded


@pytest.mark.spec(202)
def test_a_secret_is_replaced_and_the_exact_text_sealed():
    store = Store()
    recorded, ref = redaction.redact_and_seal_text(f"use {TOKEN}", store)
    assert TOKEN not in recorded
    assert store.kept[ref] == f"use {TOKEN}".encode()


@pytest.mark.spec(202)
def test_parameters_are_scrubbed_by_name_and_by_value():
    store = Store()
    recorded, ref = redaction.redact_parameters(
        {"path": "a", "api_key": "hunter2hunter2", "content": TOKEN}, store
    )
    assert recorded["path"] == "a"
    assert "hunter2hunter2" not in str(recorded)
    assert TOKEN not in str(recorded)
    assert b"hunter2hunter2" in store.kept[ref]


def test_long_strings_are_cut_with_their_length():
    recorded, ref = redaction.redact_parameters({"content": "x" * 5000}, Store())
    assert recorded["content"].endswith("… (5,000 characters)")
    assert ref is not None


def hunk(*lines):
    return Hunk(
        index=1,
        path="k",
        old_start=1,
        old_count=0,
        new_start=1,
        new_count=len(lines),
        lines=tuple(("+", line) for line in lines),
    )


def test_hunks_keep_their_lines_where_a_secret_is_hidden():
    (shown,), changed = redaction.redact_hunks((hunk("a = 1", f"t = {TOKEN}", "b = 2"),))
    assert changed
    assert [line for _, line in shown.lines][::2] == ["a = 1", "b = 2"]
    assert TOKEN not in str(shown)


def test_a_key_block_over_several_lines_is_hidden_line_by_line():
    lines = ["before", *PEM.splitlines(), "after"]
    (shown,), changed = redaction.redact_hunks((hunk(*lines),))
    assert changed
    assert len(shown.lines) == len(lines)
    assert "QUJD" not in str(shown)
    assert "REVG" not in str(shown)


def streamed(text, cuts):
    scrubber, out, start = StreamScrubber(), "", 0
    for cut in [*sorted(cuts), len(text)]:
        out += scrubber.feed(text[start:cut])
        start = max(start, cut)
    return out + scrubber.flush()


@pytest.mark.parametrize(
    "text",
    [
        f"a {TOKEN} b\n",
        f"key={TOKEN}",
        PEM,
        f"x\n{PEM}y\n",
        "Authorization: Bearer abcdefghijklmnop1234\nnext",
    ],
)
def test_a_secret_never_leaves_in_halves(text):
    for cut in range(len(text) + 1):
        out = streamed(text, [cut])
        assert TOKEN not in out
        assert "QUJD" not in out
        assert "abcdefghijklmnop1234" not in out


@given(st.text(alphabet="ab \n\t=:", max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_what_holds_no_secret_is_streamed_whole(text, cuts):
    if scrub(text).text == text:
        assert streamed(text, [min(cut, len(text)) for cut in cuts]) == text


def test_what_stands_around_a_key_block_is_recorded_however_it_is_cut():
    text = f"one two {PEM}three four\n"
    for cut in range(len(text) + 1):
        out = streamed(text, [cut, cut + 1])
        assert (out.count("one two"), out.count("⟨secret"), out.count("three four")) == (1, 1, 1), cut


def test_no_half_of_a_secret_is_recorded_where_a_text_is_cut():
    for longest in range(10, 60):
        recorded = redaction.redact_and_cut_text(f"one two {TOKEN} three", longest)
        assert TOKEN[:8] not in recorded, longest


def test_a_flood_of_lines_is_looked_at_once(monkeypatch):
    looks = []
    monkeypatch.setattr(stream_scrubber, "scrub", lambda text: looks.append(len(text)) or scrub(text))
    assert StreamScrubber().feed("x\n" * 30_000) == "x\n" * 30_000
    assert (sum(looks), len(looks) < 5) == (60_000, True)


def test_a_line_without_end_is_let_out_and_still_keeps_a_name_and_its_secret_together():
    scrubber, out = StreamScrubber(), ""
    for _ in range(9):
        for piece in ("word " * 13_104, "Authorization: Bearer ", "abcdefghijklmnop1234 "):
            out += scrubber.feed(piece)
            assert len(scrubber._line) < 140_000
    out += scrubber.flush()
    assert out.count("abcdefghijklmnop1234") == 0
    assert (out.count("word "), out.count("⟨secret")) == (9 * 13_104, 9)


def test_a_target_shows_where_its_lines_end_and_hides_its_secrets():
    key = "ghp_" + "x9K2mQ7vL4pR8sT1wY6zB3nC5dF0gH2jKlMq"
    assert redaction.redact_target("echo a\ntouch b\n") == "echo a⏎touch b⏎"
    assert redaction.redact_target(f"a --token={key}\nb") == "a --token=⟨secret: github-token⟩⏎b"
    assert redaction.redact_target("x" * 600).endswith("… (600 characters)")
