"""The form that adds a provider: what is a key, what is wrong in a field, which name is suggested."""

import pytest
from msgspec.structs import replace

from workbench.views.provider_form import (
    ProviderFields,
    draft_problems,
    is_on_this_machine,
    looks_like_key,
    matching_models,
    suggested_name,
)

GOOD = ProviderFields(
    base_url="http://127.0.0.1:8080/v1", model="qwen3-8b", key_env="MODELS_API_KEY", name="local"
)
KINDS = ("openai-compatible", "ollama")


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-" + "aB3dE5fG7hI9" * 4, "gsk_" + "aB3dE5fG7hI9" * 2, "xai-AbCdEf0123456789abcdef",
        "Bearer abcdefghijklmnop", "pass insert x sk-abcdefghijkl12",
    ],
)  # fmt: skip
def test_a_key_is_known_in_every_field(text):
    assert looks_like_key(text) and looks_like_key(f" {text} ")


@pytest.mark.parametrize(
    "text", ["d41d8cd98f00b204e9800998ecf8427e", "sk-", "a-b-c-d-e-f-g-h-i-j", "AbCdEfGh12345678"]
)
def test_where_a_variable_is_wanted_whatever_is_long_and_no_name_counts_as_a_key(text):
    assert looks_like_key(text, is_variable=True) and not looks_like_key(text)


@pytest.mark.parametrize(
    "text",
    ["OPENAI_API_KEY", "A_VERY_LONG_VARIABLE_NAME_2", "qwen3-coder:30b-a3b-q4_K_M", "http://127.0.0.1:8080/v1",
     "pass show models/openai", "my-provider", "hf_", "skate-park", "desk-openai-key-of-mine"],
)  # fmt: skip
def test_names_models_addresses_and_commands_are_no_keys(text):
    assert not looks_like_key(text)
    assert not looks_like_key("OPENAI_API_KEY", is_variable=True)


def test_a_form_without_a_fault_has_no_problem():
    assert draft_problems(GOOD, KINDS, ("far",)) == {}
    assert draft_problems(replace(GOOD, key_env="", key_command="pass show x"), KINDS, ()) == {}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"kind": "x"}, "kind", "Choose one: openai-compatible, ollama."),
        ({"base_url": ""}, "base_url", "Give its address"),
        ({"base_url": "127.0.0.1:8080"}, "base_url", "starts with http"),
        ({"base_url": "http://"}, "base_url", "is not an address"),
        ({"base_url": "http://a b"}, "base_url", "is not an address"),
        ({"base_url": "http://x:99999"}, "base_url", "is not an address"),
        ({"base_url": "http://x:0"}, "base_url", "is not an address"),
        ({"base_url": "http://[x"}, "base_url", "is not an address"),
        ({"base_url": "http://me:pw@x/v1"}, "base_url", "No user or password"),
        ({"base_url": "http://x/v1?a=b"}, "base_url", "from ? or #"),
        ({"model": " "}, "model", "Name the model"),
        ({"key_env": "MY-KEY"}, "key_env", "letters, digits and _"),
        ({"key_command": "x"}, "key_command", "not both"),
        ({"name": ""}, "name", "Give it a name"),
        ({"name": "a b"}, "name", "letters, digits, - and _"),
        ({"name": "far"}, "name", "already"),
    ],
)
def test_each_fault_has_one_sentence_at_its_field(changes, field, words):
    problems = draft_problems(replace(GOOD, **changes), KINDS, ("far",))
    assert list(problems) == [field] and words in problems[field]


@pytest.mark.parametrize(
    ("kind", "address", "name"),
    [
        ("openai-compatible", "http://127.0.0.1:8080/v1", "local-2"),
        ("ollama", "http://localhost:11434", "ollama"),
        ("openai-compatible", "https://api.example.com/v1", "example"),
        ("openai-compatible", "not an address", "openai-compatible"),
        ("openai-compatible", "http://[x", "openai-compatible"),
    ],
)
def test_a_name_is_suggested_that_is_free(kind, address, name):
    assert suggested_name(ProviderFields(kind=kind, base_url=address), ("local",)) == name


def test_an_address_of_this_machine_is_known_by_its_host():
    assert is_on_this_machine("http://[::1]:8080/v1") and not is_on_this_machine(
        "http://localhost.example/v1"
    )


def test_models_that_hold_what_is_typed_come_first_and_all_stay_where_none_does():
    assert matching_models(("big-qwen", "qwen3", "smol"), "QWEN") == ["qwen3", "big-qwen"]
    assert matching_models(("a", "b"), "zzz") == ["a", "b"]
