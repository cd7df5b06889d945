"""Keys that this process was told of, in every form in which they may be written."""

import json
from urllib.parse import quote

import pytest

from workbench.text import known

KEY = 'fabricated/"key"+with%odd=signs'


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(known, "_forms", [])


@pytest.mark.parametrize(
    "form", [KEY, json.dumps(KEY), json.dumps(KEY).replace("/", "\\/"), quote(KEY), quote(KEY, safe="")]
)
def test_a_key_is_replaced_in_each_of_its_forms(form):
    known.remember(KEY)
    shown = known.replaced(f"before {form} after")
    assert known.MARK in shown
    assert "fabricated" not in shown
    assert shown.startswith("before ") and shown.endswith(" after")


def test_of_two_keys_the_longer_goes_first():
    known.remember("fabricated-key")
    known.remember("fabricated-key-that-goes-on")
    assert known.replaced("fabricated-key-that-goes-on") == known.MARK


@pytest.mark.parametrize("word", ["", "none", "ollama", "1234567", "secret: provider-key"])
def test_placeholders_and_the_mark_itself_are_left_alone(word):
    known.remember(word)
    assert known.replaced(f"a {word} b") == f"a {word} b"
