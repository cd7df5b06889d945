"""Spaces that are not the plain one are marked where a command or a path is shown, and nowhere else."""

import random
import unicodedata

import pytest

from workbench.text.display import displayed_text, text_warnings
from workbench.text.safe import has_odd_spaces, marked_spaces, safe_text


@pytest.fixture(scope="module")
def odd():
    """Return every space of Unicode but the plain one; every worker would go through all of it at collection."""
    return [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == "Zs" and chr(n) != " "]


@pytest.mark.parametrize("seed", range(20))
def test_every_odd_space_of_unicode_is_marked_and_the_plain_one_is_not(seed, odd):
    random_ = random.Random(seed)
    words = random_.choices(["rm", "-rf", "x y", "é"], k=6)
    spaces = random_.choices([*odd, " "], k=5)
    text = "".join(word + space for word, space in zip(words, [*spaces, ""], strict=True))
    marked = text
    for space in odd:
        marked = marked.replace(space, f"⟨U+{ord(space):04X}⟩")
    assert marked_spaces(text) == marked
    assert has_odd_spaces(text) == (marked != text)
    for place in ("approval_command", "file_name"):
        assert displayed_text(text, place).text == marked
        assert ("odd spaces" in text_warnings(text, place)) == (marked != text)


def test_each_of_them_is_known(odd):
    assert len(odd) == 16 and all(has_odd_spaces(f"a{space}b") for space in odd)


def test_prose_with_them_stays_as_it_is():
    text = "Voulez-vous continuer\u202f? «\u00a0oui\u00a0» 日本\u3000語"
    assert safe_text(text) == text
    for place in ("diff_preview", "tool_output", "log_line", "tool_title"):
        assert displayed_text(text, place).text == text and not text_warnings(text, place)
