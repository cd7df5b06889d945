"""Keys that this process was told of, in every form in which they may be written."""

import json
from urllib.parse import quote

import pytest

from workbench.secrets import scrubber

KEY = 'fabricated/"key"+with%odd=signs'


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(scrubber, "_registered_forms", [])


@pytest.mark.parametrize(
    "form", [KEY, json.dumps(KEY), json.dumps(KEY).replace("/", "\\/"), quote(KEY), quote(KEY, safe="")]
)
def test_a_key_is_replaced_in_each_of_its_forms(form):
    scrubber.register_secret(KEY)
    shown = scrubber.replace_registered_secrets(f"before {form} after")
    assert scrubber.REGISTERED_MARK in shown
    assert "fabricated" not in shown
    assert shown.startswith("before ") and shown.endswith(" after")


def test_of_two_keys_the_longer_goes_first():
    scrubber.register_secret("fabricated-key")
    scrubber.register_secret("fabricated-key-that-goes-on")
    assert scrubber.replace_registered_secrets("fabricated-key-that-goes-on") == scrubber.REGISTERED_MARK


@pytest.mark.parametrize("word", ["", "none", "ollama", "1234567", "secret: provider-key"])
def test_placeholders_and_the_mark_itself_are_left_alone(word):
    scrubber.register_secret(word)
    assert scrubber.replace_registered_secrets(f"a {word} b") == f"a {word} b"
