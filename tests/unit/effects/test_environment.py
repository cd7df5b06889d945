"""Which variables a child gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.effects.environment import marked_environment, scrubbed_environment

# fmt: off
KEPT = [
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ",
    "PWD", "OLDPWD", "COLORTERM", "NO_COLOR", "VIRTUAL_ENV", "CARGO_HOME", "JAVA_HOME", "GOPATH",
    "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "KEYBOARD", "MONKEY", "AUTHOR", "HTTP_PROXY",
]
# fmt: on

# fmt: off
DROPPED = [
    "WORKBENCH_HOME", "WORKBENCH_FAULTS", "WORKBENCH_CALL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_APIKEY", "GITHUB_TOKEN", "NPM_TOKEN_READ", "token", "MY_SECRET",
    "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "DB_PASSWORD", "PASSWORD", "MYSQL_PWD", "PGPASSWORD",
    "SSH_PASSPHRASE", "GOOGLE_APPLICATION_CREDENTIALS", "DEPLOY_KEY", "GH_PAT", "REDISCLI_AUTH",
    "SESSION_COOKIE", "AZURE_STORAGE_CONNECTION_STRING", "LD_PRELOAD", "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS",
    "CDPATH", "BASH_FUNC_read%%", "PYTHONSTARTUP", "PERL5OPT", "GIT_DIR", "GIT_CONFIG_COUNT",
]
# fmt: on


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert scrubbed_environment({name: "value"}) == {name: "value"}


@pytest.mark.parametrize("name", DROPPED)
def test_dropped(name: str) -> None:
    assert scrubbed_environment({name: "value"}) == {}


@pytest.mark.parametrize(
    "value",
    ["postgres://user:hunter2@db/x", "redis://:hunter2@cache", "a\n-----BEGIN RSA PRIVATE KEY-----\nb"],
)
def test_values_that_carry_secrets_are_dropped(value: str) -> None:
    assert scrubbed_environment({"DATABASE_URL": value}) == {}


@pytest.mark.parametrize("value", ["postgres://user@db/x", "http://proxy:3128", "git@host:repo"])
def test_other_addresses_are_kept(value: str) -> None:
    assert scrubbed_environment({"DATABASE_URL": value}) == {"DATABASE_URL": value}


def test_further_names_are_dropped_exactly() -> None:
    base = {"CORP_LLM": "x", "CORP_LLM_HOST": "y"}
    assert scrubbed_environment(base, ["CORP_LLM"]) == {"CORP_LLM_HOST": "y"}


@given(st.dictionaries(st.text(), st.text()))
def test_nothing_is_added_and_again_changes_nothing(base: dict[str, str]) -> None:
    once = scrubbed_environment(base)
    assert once.items() <= base.items()
    assert scrubbed_environment(once) == once


def test_the_gate_gets_its_own_mark_and_nothing_its_shell_obeys() -> None:
    env = {
        "WORKBENCH_CALL": "other",
        "SHELLOPTS": "noexec",
        "BASH_FUNC_read%%": "() { :; }",
        "A_TOKEN": "kept here",
    }
    assert marked_environment(env, "c1") == {"WORKBENCH_CALL": "c1", "A_TOKEN": "kept here"}
