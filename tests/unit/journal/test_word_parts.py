"""Words of code taken apart, so that what stands within them is found."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.journal.database import with_word_parts


@each_row(
    ("text", "ends"),
    [
        ("HTTPErrorHandler", "ErrorHandler Handler"),
        ("createRequestHandler()", "RequestHandler Handler"),
        ("see parseURL and parseURL", "URL"),
        ("toUTF8 9f86d081884c sha256", "UTF8"),
        ("snake_case path/to/file.py Title WORDS lower 2026", ""),
        ("x" * 500, ""),
        ("aB", ""),
        ("iOS", "OS"),
        ("", ""),
    ],
)
def test_ends_of_compound_words_follow_the_text(text, ends):
    assert with_word_parts(text) == f"{text} {ends}".rstrip() if ends else with_word_parts(text) == text


@given(st.text())
def test_the_text_stays_and_every_end_is_one_of_a_word_of_it(text):
    found = with_word_parts(text)
    assert found.startswith(text)
    assert all(end in text for end in found[len(text) :].split())


def test_no_text_takes_long():
    begin = time.process_time()
    for text in ("aB" * 32_000, "a" * 65_536, "A" * 65_536, "aB " * 21_000, "é" * 65_536):
        with_word_parts(text)
    assert time.process_time() - begin < 2
