"""The command that a wrapper such as `env` or `timeout` runs: which of its words it begins with."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.policy.shell.risk_lists import program_name


class WrapperOptions(Struct, frozen=True, kw_only=True):
    """How a program finds the command that it runs."""

    valued: str = ""
    """Letters of options that take a value."""
    long_valued: tuple[str, ...] = ()
    code: str = ""
    operands: int = 0
    """Operands in front of the command."""


PLAIN_WRAPPER: Final = WrapperOptions()
WRAPPER_OPTIONS: Final[Mapping[str, WrapperOptions]] = {
    "timeout": WrapperOptions(valued="ks", long_valued=("--kill-after", "--signal"), operands=1),
    "gtimeout": WrapperOptions(valued="ks", long_valued=("--kill-after", "--signal"), operands=1),
    "env": WrapperOptions(valued="uC", long_valued=("--unset", "--chdir"), code="S"),
    "nice": WrapperOptions(valued="n", long_valued=("--adjustment",)),
    "ionice": WrapperOptions(valued="cnp"), "stdbuf": WrapperOptions(valued="ioe"),
    "sudo": WrapperOptions(
        valued="ugpCrtTUDRh",
        long_valued=("--user", "--group", "--prompt", "--chdir", "--host", "--role"),
    ),
    "doas": WrapperOptions(valued="uC"), "time": WrapperOptions(valued="fo"),
    "exec": WrapperOptions(valued="a"),
    "chroot": WrapperOptions(operands=1), "taskset": WrapperOptions(operands=1),
    "chrt": WrapperOptions(operands=1), "setarch": WrapperOptions(operands=1),
    "strace": WrapperOptions(valued="eopsuPEaOSbI"), "su-exec": WrapperOptions(operands=1),
    "gosu": WrapperOptions(operands=1), "flock": WrapperOptions(valued="wE", code="c", operands=1),
    "xargs": WrapperOptions(
        valued="IdEnPLsa",
        long_valued=("--replace", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--arg-file"),
    ),
}  # fmt: skip
_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def wrapped_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the command that a wrapper runs; empty where it runs none."""
    rules = WRAPPER_OPTIONS.get(program_name(words[0]), PLAIN_WRAPPER)
    operands, index = rules.operands, 1
    while index < len(words):
        word = words[index]
        if word.startswith("-") and word not in ("-", "--"):
            index += 2 if _takes_next(word, rules) else 1
        elif word == "--" or _ASSIGNED.match(word):
            index += 1
        elif operands:
            operands, index = operands - 1, index + 1
        else:
            break
    return tuple(words[index:])


def _takes_next(word: str, rules: WrapperOptions) -> bool:
    if word.startswith("--"):
        return word in rules.long_valued
    place = next((place for place, letter in enumerate(word) if letter in rules.valued), None)
    return place == len(word) - 1
