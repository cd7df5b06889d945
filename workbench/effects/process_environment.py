"""The environment of child processes: without secrets, and without variables that inject code."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from workbench.effects.process_marks import AGENT_VARIABLE

_SECRET_NAME: Final = re.compile(
    r"API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|MASTER_?KEY|SECRET|TOKEN|PASSW|PASSPHRASE"
    r"|CREDENTIAL|CONNECTION_?STRING|(^|_)(KEY|PAT|AUTH|PASS|COOKIE)$|_PWD$",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(r"://[^/\s:@]*:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY")
# What makes a shell, the loader or an interpreter run something before the command that was approved.
_INJECTING_NAME: Final = re.compile(
    r"WORKBENCH_.*|LD_(PRELOAD|AUDIT|DEBUG|PROFILE)|DYLD_.*|GCONV_PATH|BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND"
    r"|SHELLOPTS|BASHOPTS|PS[0-4]|IFS|CDPATH|GLOBIGNORE|ZDOTDIR|PYTHONSTARTUP|PYTHONINSPECT|PERL5OPT|PERL5DB"
    r"|GIT_(DIR|WORK_TREE|INDEX_FILE|CONFIG.*)",
    re.DOTALL,
)


# A command cannot do without these, and where a program is looked for is no secret.
_NEEDED_NAMES: Final = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TZ", "PWD",
})  # fmt: skip
_GIT_SETTINGS: Final = (("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"))
"""Below every command of an agent: no folder becomes a repository by its looks, and none names a monitor."""
_COUNT: Final = re.compile(r"[0-9]{1,4}")


def agent_environment(base: Mapping[str, str], folder: str, extra_drop: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment of an agent's command, hook or adapter in a folder, without `extra_drop`."""
    dropped = frozenset(extra_drop)
    passed = {
        name: value
        for name, value in scrubbed_environment(base, dropped).items()
        if not holds_secret(name, value)
    }
    return {**passed, **_git_settings(base, dropped), AGENT_VARIABLE: "1", "PWD": folder}


def scrubbed_environment(base: Mapping[str, str], extra_drop: Iterable[str] = ()) -> dict[str, str]:
    """Return an environment without our own variables, secrets by name, and what makes a shell run code."""
    dropped = set(extra_drop)
    return {name: value for name, value in base.items() if name not in dropped and _may_pass(name, value)}


def _may_pass(name: str, value: str) -> bool:
    return not (_INJECTING_NAME.fullmatch(name) or _SECRET_NAME.search(name) or _SECRET_VALUE.search(value))


def holds_secret(name: str, value: str) -> bool:
    """Say whether a variable's value is, or holds, what the record would leave out as a secret."""
    if name in _NEEDED_NAMES:
        return False
    from workbench.secrets import scrubber

    return scrubber.replace_registered_secrets(value) != value or _looks_secret(value)


@lru_cache(maxsize=2_000)
def _looks_secret(value: str) -> bool:
    from workbench.secrets.scrubber import scrub  # every host has it; who only starts one does not load it

    return bool(scrub(value).found)


def _git_settings(base: Mapping[str, str], dropped: frozenset[str]) -> dict[str, str]:
    """Return the settings of git that the environment holds, with ours behind them, where they count."""
    settings = [*_settings_of_user(base, dropped), *_GIT_SETTINGS]
    pairs = {
        f"GIT_CONFIG_{kind}_{number}": text
        for number, setting in enumerate(settings)
        for kind, text in zip(("KEY", "VALUE"), setting, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **pairs}


def _settings_of_user(base: Mapping[str, str], dropped: frozenset[str]) -> Iterator[tuple[str, str]]:
    count = base.get("GIT_CONFIG_COUNT", "")
    if not _COUNT.fullmatch(count):
        return
    names = [(f"GIT_CONFIG_KEY_{number}", f"GIT_CONFIG_VALUE_{number}") for number in range(int(count))]
    if not all(key in base and value in base for key, value in names):
        return
    for key, value in names:
        is_secret = _SECRET_VALUE.search(base[value]) or holds_secret(key, f"{base[key]}={base[value]}")
        if not is_secret and not dropped & {key, value}:
            yield base[key], base[value]
