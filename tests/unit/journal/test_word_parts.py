"""Words of code taken apart, so that what stands within them is found."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
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


@each_row("piece", ["aB", "a", "A", "aB ", "é"])
def test_the_work_grows_with_the_text_and_not_faster(piece):
    assert_grows_with_length(with_word_parts, piece * 8_000, piece * 64_000)
