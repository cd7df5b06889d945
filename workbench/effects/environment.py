"""What a child process may know of our environment.

Owns the one list of variables that are withheld from commands and hooks. It reads no environment by
itself, and it never lets a variable through because its value looks harmless.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from workbench.effects.marks import CALL

_SECRET_NAME: Final = re.compile(
    r"API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|MASTER_?KEY|SECRET|TOKEN|PASSW|PASSPHRASE"
    r"|CREDENTIAL|CONNECTION_?STRING|(^|_)(KEY|PAT|AUTH|PASS|COOKIE)$|_PWD$",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(r"://[^/\s:@]*:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY")

# What makes a shell, the loader or an interpreter run something before the command that was approved.
_INJECTING: Final = re.compile(
    r"WORKBENCH_.*|LD_(PRELOAD|AUDIT|DEBUG|PROFILE)|DYLD_.*|GCONV_PATH|BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND"
    r"|SHELLOPTS|BASHOPTS|PS[0-4]|IFS|CDPATH|GLOBIGNORE|ZDOTDIR|PYTHONSTARTUP|PYTHONINSPECT|PERL5OPT|PERL5DB"
    r"|GIT_(DIR|WORK_TREE|INDEX_FILE|CONFIG.*)",
    re.DOTALL,
)

# Enough to make the shell of the gate itself misbehave; taken away whatever the caller passes.
_GATE: Final = re.compile(r"BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|WORKBENCH_CALL", re.DOTALL)


def scrubbed_environment(base: Mapping[str, str], extra_drop: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment that a command or hook may have.

    Dropped are: our own variables, what is named or looks like a secret (keys, tokens, passwords,
    addresses with a password in them), and what makes a shell or loader run code of its own.

    Args:
        base: Usually `os.environ`.
        extra_drop: Further names, exactly; the key variables of the configured providers.
    """
    dropped = set(extra_drop)
    return {name: value for name, value in base.items() if name not in dropped and _may_pass(name, value)}


def _may_pass(name: str, value: str) -> bool:
    return not (_INJECTING.fullmatch(name) or _SECRET_NAME.search(name) or _SECRET_VALUE.search(value))


def marked_environment(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return an environment for the gate of a command: nothing its shell obeys, and the mark."""
    return {**{name: value for name, value in env.items() if not _GATE.fullmatch(name)}, CALL: mark}
