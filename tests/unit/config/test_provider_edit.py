"""The providers in the text of a config.json: what is written, what stays, what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.provider_edit import (
    ProviderDraft,
    ProviderRefused,
    looks_like_key,
    require_valid_draft,
    with_default,
    with_provider,
    without_provider,
)

LOCAL = ProviderDraft(name="local", base_url="http://127.0.0.1:8080/v1", model="m")
URL = "http://127.0.0.1:8080/v1"


def config(**members):
    return json.dumps({"config_version": 1, **members}, indent=2) + "\n"


def read(text):
    return json.loads(text)


def test_an_empty_file_becomes_one_of_this_version():
    for text in ("", " \n"):
        made = with_provider(text, LOCAL)
        assert read(made) == {
            "config_version": 1,
            "providers": {"local": {"kind": "openai-compatible", "base_url": URL, "model": "m"}},
        }
        assert made.endswith("}\n")


def test_a_provider_that_is_there_keeps_what_the_draft_does_not_know():
    before = config(
        providers={
            "local": {"kind": "openai-compatible", "base_url": URL, "key_command": "pass show x", "num_ctx": 4096,
                      "headers": {"X-Team": "tools"}},
            "other": {"kind": "ollama"},
        },
        unknown=[1],
    )  # fmt: skip
    draft = ProviderDraft(name="local", base_url=URL, model="m", key_env="MYKEY")
    changed = read(with_provider(before, draft))
    assert changed["providers"]["local"] == {
        "kind": "openai-compatible", "base_url": URL, "num_ctx": 4096, "headers": {"X-Team": "tools"},
        "model": "m", "key_env": "MYKEY",
    }  # fmt: skip
    assert (changed["providers"]["other"], changed["unknown"]) == ({"kind": "ollama"}, [1])


def test_keys_and_headers_do_not_go_to_another_address():
    local = {"kind": "openai-compatible", "base_url": URL, "key_env": "MYKEY", "headers": {"X-Key": "k"}}
    draft = ProviderDraft(name="local", base_url="https://elsewhere.example/v1")
    changed = read(with_provider(config(providers={"local": local}), draft))
    assert changed["providers"]["local"] == {
        "kind": "openai-compatible", "base_url": "https://elsewhere.example/v1"
    }  # fmt: skip


def test_removing_takes_the_default_along_only_where_it_names_it():
    providers = {"a": {"kind": "ollama"}, "b": {"kind": "ollama"}}
    before = config(default_model="m", default_provider="a", providers=providers)
    assert read(without_provider(before, "a")) == {
        "config_version": 1,
        "providers": {"b": {"kind": "ollama"}},
    }
    kept = read(without_provider(before, "b"))
    assert (kept["default_provider"], kept["default_model"]) == ("a", "m")
    with pytest.raises(ProviderRefused, match="has no provider “c”"):
        without_provider(before, "c")


def test_a_default_model_of_another_provider_does_not_stay():
    providers = {"a": {"kind": "ollama"}, "b": {"kind": "ollama", "model": "old"}}
    with_model = config(default_model="m", default_provider="a", providers=providers)
    changed = read(with_default(with_model, "b"))
    assert ("default_model" in changed, changed["default_provider"]) == (False, "b")
    assert read(with_default(with_model, "b", "new"))["default_model"] == "new"
    named = read(with_default(config(providers=providers), "b", "new"))
    assert named["providers"]["b"]["model"] == "new" and named["default_provider"] == "b"


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1,}', '{"a": 1} x'])
@pytest.mark.parametrize(
    "edit",
    [lambda text: with_provider(text, LOCAL), lambda text: without_provider(text, "a"),
     lambda text: with_default(text, "a", "m")],
)  # fmt: skip
def test_a_file_that_is_not_json_is_refused_with_its_line(text, edit):
    with pytest.raises(ProviderRefused) as refused:
        edit(text)
    assert refused.value.why.startswith("Line 1, column ") and "Fix the file" in refused.value.remedy


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (ProviderDraft(name="a b", base_url=URL), "not a name"),
        (ProviderDraft(name="", base_url=URL), "not a name"),
        (ProviderDraft(name="a"), "no base_url"),
        (ProviderDraft(name="a", base_url="localhost:80"), "base_url must be a URL"),
        (ProviderDraft(name="a", base_url="http://me:secret@h/"), "without user and password"),
        (ProviderDraft(name="a", base_url=URL, kind="smoke"), "kind must be"),
        (ProviderDraft(name="a", base_url=URL, key_env="A", key_command="b"), "both key_env and key_command"),
        (ProviderDraft(name="a", base_url=URL, key_env="MY KEY"), "key_env must be the name"),
        (ProviderDraft(name="a", base_url=URL, model="a\nb"), "on one line"),
        (ProviderDraft(name="a", base_url=URL, key_env="gsk_abc123ABCdef456"), "looks like a key"),
        (ProviderDraft(name="a", base_url=URL, key_command="echo sk-proj-" + "Ab1" * 16), "holds a key"),
    ],
)
def test_a_draft_that_config_json_would_not_take_is_refused(draft, words):
    with pytest.raises(ProviderRefused) as refused:
        require_valid_draft(draft, {})
    assert words in refused.value.why
    for secret in ("gsk_abc", "sk-proj", "me:secret"):
        assert secret not in str(refused.value)


def test_a_name_of_a_variable_that_is_set_is_taken_however_it_looks():
    draft = ProviderDraft(name="a", base_url=URL, key_env="gsk_abc123ABCdef456")
    require_valid_draft(draft, {"gsk_abc123ABCdef456": "x"})
    require_valid_draft(ProviderDraft(name="ollama", kind="ollama"), {})


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY_2024_01", "MYKEY", "my_key", "K", "HF_TOKEN", "KEY_1"]
)
def test_names_do_not_look_like_keys(name):
    assert not looks_like_key(name)


@pytest.mark.parametrize(
    "key", ["sk-a", "gsk_1234567890abcdef", "AIzaSyA1234567890abcdefghij", "0123456789abcdef0123", "AKIA1234567890ABCDEF"]
)  # fmt: skip
def test_keys_do(key):
    assert looks_like_key(key)


NAMES = st.from_regex("[a-z][a-z0-9_-]{0,8}", fullmatch=True)


@given(st.dictionaries(NAMES, st.fixed_dictionaries({"kind": st.just("ollama")}), max_size=4), NAMES)
def test_adding_and_removing_gives_the_same_providers(providers, name):
    before = config(providers=providers)
    draft = ProviderDraft(name=name, base_url=URL)
    added = with_provider(before, draft)
    assert with_provider(added, draft) == added
    if name not in providers:
        assert read(without_provider(added, name)) == read(before)
        assert without_provider(added, name) == before or not providers
