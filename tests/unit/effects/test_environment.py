"""Which variables a child gets."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.effects.child_processes import marked_environment
from workbench.effects.process_environment import agent_environment, scrubbed_environment
from workbench.secrets import scrubber

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


@each_row("name", KEPT)
def test_kept(name: str) -> None:
    assert scrubbed_environment({name: "value"}) == {name: "value"}


@each_row("name", DROPPED)
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


# --- what agents get ----------------------------------------------------------------------------

OURS = {
    "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "safe.bareRepository", "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor", "GIT_CONFIG_VALUE_1": "false", "WORKBENCH_AGENT": "1", "PWD": "/w",
}  # fmt: skip

# An environment of a desktop, a terminal, a build machine and a few programs, as people have them.
LIVED_IN = {
    "PATH": "/nix/store/4zm7q6f0xw1hgyjrmz0f9mlp3n3ssfks-git-2.42.0/bin:/home/u/.cargo/bin:/usr/bin:/bin",
    "HOME": "/home/u", "USER": "u", "LOGNAME": "u", "SHELL": "/bin/zsh", "TERM": "xterm-256color", "TZ": "UTC",
    "LANG": "en_GB.UTF-8", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp", "EDITOR": "vim", "LESSOPEN": "|lesspipe %s",
    "LS_COLORS": "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:do=01;35:bd=40;33;01:*.tar=01;31:" * 12,
    "GCC_COLORS": "error=01;31:warning=01;35:note=01;36", "LESS_TERMCAP_md": "\x1b[01;31m", "GPG_TTY": "/dev/pts/3",
    "SSH_AUTH_SOCK": "/tmp/ssh-XXXXXXabcDEF/agent.1234", "SSH_CONNECTION": "10.0.0.5 53422 10.0.0.9 22",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus,guid=5f0a3b6f7c8d9e0f1a2b3c4d5e6f7a8b",
    "XDG_RUNTIME_DIR": "/run/user/1000", "XDG_SESSION_ID": "c2", "XDG_CONFIG_HOME": "/home/u/.config",
    "XDG_DATA_DIRS": "/usr/share/gnome:/home/u/.local/share/flatpak/exports/share:/usr/local/share/",
    "XAUTHORITY": "/run/user/1000/.mutter-Xwaylandauth.ABCDEF", "DISPLAY": ":0", "WINDOWID": "83886087",
    "INVOCATION_ID": "8a4f0d2c1b3e4f5a9c8d7e6f5a4b3c2d", "JOURNAL_STREAM": "8:28391",
    "SESSION_MANAGER": "local/host:@/tmp/.ICE-unix/2049,unix/host:/tmp/.ICE-unix/2049",
    "GNOME_TERMINAL_SCREEN": "/org/gnome/Terminal/screen/6f1c2a3b_4d5e_6f70_8192_a3b4c5d6e7f8",
    "TMUX": "/tmp/tmux-1000/default,3021,0", "ITERM_SESSION_ID": "w0t0p0:E3A1B2C4-5D6E-7F80-91A2-B3C4D5E6F708",
    "VSCODE_IPC_HOOK_CLI": "/run/user/1000/vscode-ipc-0b9e6f0a-8f0f-4c7e-9d51-8a3f5d1f6f61.sock",
    "GITHUB_SHA": "ffac537e6cbbf934b08745a378932722df287a53", "GITHUB_REF": "refs/heads/main",
    "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA=", "DIRENV_WATCHES": "eJx0jsEKgzAQRP9lz0F2Y9Q1P1C89NZr",
    "CONDA_PREFIX": "/home/u/miniconda3/envs/x", "NIX_PATH": "nixpkgs=/nix/var/nix/profiles/per-user/root/channels",
    "DATABASE_URL": "postgres://user@db/x", "PGHOST": "localhost", "DOCKER_HOST": "unix:///var/run/docker.sock",
    "KUBECONFIG": "/home/u/.kube/config", "AWS_PROFILE": "dev", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/x",
    "HTTP_PROXY": "http://proxy.example:3128", "NO_PROXY": "localhost,127.0.0.1", "MAKEFLAGS": "-j8",
    "JAVA_TOOL_OPTIONS": "-Xmx2g -Dfile.encoding=UTF-8", "CFLAGS": "-O2 -g -fstack-protector-strong",
    "npm_config_user_agent": "npm/10.2.3 node/v20.10.0 linux x64", "NVM_DIR": "/home/u/.nvm",
    "npm_package_integrity": f"sha512-{'0aW1bGZ4Y3Z6' * 7}Yw==", "PYTHONPATH": "src:lib", "GIT_EDITOR": "vim",
    "FZF_DEFAULT_OPTS": "--height 40% --bind ctrl-a:select-all", "WT_PROFILE_ID": "{61c54bbd-c2c6-5271-96e7-009a87ff44bf}",
}  # fmt: skip

SECRET_BY_VALUE = {
    "STRIPE": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "OPENAI": "sk-proj-" + "abcdEFGH1234567890abcdEFGH1234567890abcdEFGH12",
    "GHPAT1": "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "HF": "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "SESSION_OF": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "DOCKER_AUTH_CONFIG": '{"auths":{"registry.example":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}',
    "SENTRY_DSN": "https://8f3b1a2c4d5e6f708192a3b4c5d6e7f8@o1.ingest.sentry.io/1",
    "JDBC": "jdbc:postgresql://db/x?user=u&password=hunter2hunter",
    "MSSQL": "Server=db;User Id=sa;Password=Sw0rdfish!x;",
    "SLACK": "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx",
    "NPMRC": "//registry.npmjs.org/:_authToken=npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "MYSQL_OPTS": "--password=Sw0rdfish9x",
    "HEADER": "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVy",
}


def test_an_environment_that_is_lived_in_stays():
    assert agent_environment(LIVED_IN, "/w") == {**LIVED_IN, **OURS}


@each_row("name", SECRET_BY_VALUE)
def test_a_variable_whose_value_is_a_secret_reaches_no_command(name):
    assert agent_environment({**LIVED_IN, name: SECRET_BY_VALUE[name]}, "/w") == {**LIVED_IN, **OURS}


def test_a_secret_that_became_known_later_reaches_no_command_from_then_on():
    base = {"PLAIN": "correct-horse-battery", "PATH": "/correct-horse-battery"}
    assert agent_environment(base, "/w") == {**base, **OURS}
    scrubber.register_secret("correct-horse-battery")
    assert agent_environment(base, "/w") == {"PATH": base["PATH"], **OURS}


def test_settings_of_git_that_the_user_gave_stay_in_front_of_ours():
    user = {
        "GIT_CONFIG_COUNT": "3", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "A",
        "GIT_CONFIG_KEY_1": "http.extraHeader", "GIT_CONFIG_VALUE_1": SECRET_BY_VALUE["HEADER"],
        "GIT_CONFIG_KEY_2": "safe.bareRepository", "GIT_CONFIG_VALUE_2": "all",
    }  # fmt: skip
    env = agent_environment({"PATH": "/usr/bin:/bin", **user}, "/w")
    settings = [
        (env[f"GIT_CONFIG_KEY_{n}"], env[f"GIT_CONFIG_VALUE_{n}"])
        for n in range(int(env["GIT_CONFIG_COUNT"]))
    ]
    ours = [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false")]
    assert settings == [("user.name", "A"), ("safe.bareRepository", "all"), *ours]
    assert "GIT_CONFIG_KEY_4" not in env
    said = subprocess.run(
        ["git", "config", "safe.bareRepository"], env=env, capture_output=True, text=True, check=True
    )
    assert said.stdout == "explicit\n"
    assert agent_environment(user, "/w", ["GIT_CONFIG_VALUE_0"])["GIT_CONFIG_COUNT"] == "3"


@pytest.mark.parametrize(
    "user",
    [
        {"GIT_CONFIG_COUNT": "two"}, {"GIT_CONFIG_COUNT": "99999"}, {"GIT_CONFIG_COUNT": ""},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name"},
    ],
)  # fmt: skip
def test_settings_that_git_would_refuse_leave_ours_alone(user):
    assert agent_environment(user, "/w") == OURS
