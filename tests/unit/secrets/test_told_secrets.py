"""A secret is taken however a tool is told it; names, translations and placeholders stay."""

import pytest

from tests.unit.secrets.told_secrets import HARMLESS, SHORT, WHOLE
from workbench.formats import sanitize
from workbench.secrets.scrubber import scrub

PUT = [(way, value) for way in SHORT for value in ("hunter2", "Tr0ub4dor&3")] + WHOLE


@pytest.mark.spec(202)
def test_a_secret_is_taken_as_manuals_write_it():
    for way, value in PUT:
        shown = scrub(way.replace("@@", value)).text
        assert value not in shown.replace("⟨secret: ", ""), way
        assert scrub(shown).text == shown, way


@pytest.mark.spec(202)
def test_what_is_written_like_a_secret_stays():
    for text in HARMLESS:
        assert scrub(text).text == text
        many = f"{text}\n\n" * (4_200 // (len(text) + 2) + 1)
        assert scrub(many).text == many, text


@pytest.mark.spec(202)
def test_the_quick_look_of_an_import_misses_none_of_them():
    for way, value in PUT:
        text = way.replace("@@", value)
        assert sanitize.sanitize_text(f"{text}\n{'.' * 121}") == scrub(f"{text}\n{'.' * 121}").text, way
