"""Every documented form of a key, every way of giving one, and what only looks like one."""

import pytest

from tests.unit.text.secret_forms import (
    CONTEXTS,
    HARMLESS,
    KEYS_OF_PARAMETERS,
    PLAIN_PARAMETERS,
    SERVICES,
    VALUE,
)
from workbench.text.scrub import scrub, scrub_value

KEYS = [(name, key) for name, keys in SERVICES.items() for key in keys]


@pytest.mark.spec(202)
@pytest.mark.parametrize(("name", "key"), KEYS, ids=[f"{name} {key[:9]}" for name, key in KEYS])
def test_a_documented_key_is_taken_in_whatever_it_stands(name, key):
    for text in (key, f"found {key} here", f'"{key}"', f"x={key}\n", f"a\\n{key}\\nb"):
        shown = scrub(text).text
        assert key[-12:-1] not in shown or (name == "azure" and "\u27e8secret" in shown)
        assert scrub(shown).text == shown


@pytest.mark.spec(202)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_value_is_taken_by_its_name_or_its_place(context):
    shown = scrub(context.format(VALUE)).text
    assert VALUE not in shown
    assert scrub(shown).text == shown


@pytest.mark.spec(202)
@pytest.mark.parametrize("name", KEYS_OF_PARAMETERS)
def test_a_parameter_is_taken_by_its_name(name):
    value, kinds = scrub_value({"outer": [{name: "hunter2"}], name: ["hunter2"]})
    assert "hunter2" not in str(value)
    assert len(kinds) == 1


def test_other_parameters_stay():
    assert scrub_value(PLAIN_PARAMETERS) == (PLAIN_PARAMETERS, ())


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays_to_the_letter(text):
    assert scrub(text).text == text
    assert scrub_value({"content": text}) == ({"content": text}, ())
