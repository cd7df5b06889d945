"""Every documented form of a key, every way of giving one, and what only looks like one."""

import pytest

from tests.support.tables import each_row
from tests.unit.secrets import given_secrets as given
from tests.unit.secrets.secret_forms import (
    CONTEXTS,
    HARMLESS,
    KEYS_OF_PARAMETERS,
    PLAIN_PARAMETERS,
    SERVICES,
    VALUE,
)
from workbench.secrets.scrubber import scrub, scrub_value

KEYS = [(name, key) for name, keys in SERVICES.items() for key in keys]


@pytest.mark.spec(202)
@each_row(("name", "key"), KEYS, ids=[f"{name} {key[:9]}" for name, key in KEYS])
def test_a_documented_key_is_taken_in_whatever_it_stands(name, key):
    for text in (key, f"found {key} here", f'"{key}"', f"x={key}\n", f"a\\n{key}\\nb"):
        shown = scrub(text).text
        assert key[-12:-1] not in shown or (name == "azure" and "\u27e8secret" in shown)
        assert scrub(shown).text == shown


@pytest.mark.spec(202)
@each_row("context", CONTEXTS)
def test_a_value_is_taken_by_its_name_or_its_place(context):
    shown = scrub(context.format(VALUE)).text
    assert VALUE not in shown
    assert scrub(shown).text == shown


@pytest.mark.spec(202)
@each_row("name", KEYS_OF_PARAMETERS)
def test_a_parameter_is_taken_by_its_name(name):
    value, kinds = scrub_value({"outer": [{name: "hunter2"}], name: ["hunter2"]})
    assert "hunter2" not in str(value)
    assert len(kinds) == 1


def test_other_parameters_stay():
    assert scrub_value(PLAIN_PARAMETERS) == (PLAIN_PARAMETERS, ())


@each_row("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays_to_the_letter(text):
    assert scrub(text).text == text
    assert scrub_value({"content": text}) == ({"content": text}, ())


PUT = [(way, key) for ways, key in ((given.KEYS, given.LONG), (given.HASHES, given.HASH)) for way in ways]
PUT += [(way, value) for way in given.PASSWORDS for value in ("made-up12", "Mad3#up&it")]
PUT += [('{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}', given.PAIR)]


@pytest.mark.spec(202)
@each_row(("way", "value"), PUT)
def test_a_value_is_taken_as_programs_are_given_it(way, value):
    shown = scrub(way.format(value)).text
    assert value not in shown
    assert scrub(shown).text == shown


@pytest.mark.spec(202)
@each_row(("text", "part"), given.WHOLE)
def test_a_value_of_its_own_kind_is_taken(text, part):
    shown = scrub(text).text
    assert part not in shown
    assert scrub(shown).text == shown


@pytest.mark.spec(202)
@each_row("key", given.SERVICES)
def test_a_newer_form_of_key_is_taken(key):
    for text in (key, f"a {key} b", f'"{key}"', f"a\\n{key}"):
        shown = scrub(text).text
        assert key.split()[0][-12:] not in shown
        assert scrub(shown).text == shown


@each_row("text", given.HARMLESS)
def test_what_is_written_alike_stays_to_the_letter(text):
    assert scrub(text).text == text
    many = f"{text}\n\n" * (5_000 // len(text))
    assert scrub(many).text == many


def test_members_of_a_manifest_in_json_are_taken_and_the_rest_stays():
    text = '{"kind": "Secret", "data": {"a": "made", "b": "up"}, "type": "Opaque", "x": {"a": "made"}}'
    mark = "⟨secret: manifest-secret⟩"
    assert scrub(text).text == text.replace('{"a": "made", "b": "up"}', f'{{"a": "{mark}", "b": "{mark}"}}')
