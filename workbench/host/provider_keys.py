"""Keys of providers: where they are read from, which variables hold them, and that no record has them.

A key is registered with the scrubber before it is used, and is never stored.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from workbench.config.types import Config
from workbench.providers.base import KeyMissing
from workbench.secrets import scrubber

_KEY_COMMAND_SECONDS: Final = 60.0
_COMMAND_KEY_SECONDS: Final = 1_800.0
"""Seconds that a key of a command is used: tokens of services end after an hour at the soonest."""
_COMMAND_KEYS: Final[dict[tuple[str, str], tuple[str, float]]] = {}
"""By command and folder, the key and when it was printed."""
_SECRET_HEADERS: Final = ("auth", "key", "token", "secret", "cookie")


class KeyEnvironment(Struct, frozen=True, kw_only=True):
    """The variables that hold keys, and whose they are."""

    variables: Mapping[str, str]
    in_background: bool = False
    """They are those of the background process, not of the command or screen that somebody uses."""


def register_secrets(config: Config, env: Mapping[str, str] = os.environ) -> None:
    """Register every key that the settings name with the scrubber."""
    for provider in config.providers.values():
        if provider.key_env:
            scrubber.register_secret(env.get(provider.key_env, ""))
        for header, value in provider.headers.items():
            if any(word in header.lower() for word in _SECRET_HEADERS):
                scrubber.register_secret(value.rpartition(" ")[2])


def key_variables(config: Config) -> tuple[str, ...]:
    """Return the variables that hold keys: no command of an agent gets them."""
    return tuple(provider.key_env for provider in config.providers.values() if provider.key_env)


def key_from_environment(name: str, env: KeyEnvironment) -> str:
    """Return the key in a variable. Raises KeyMissing: says which process does not have it."""
    value = env.variables.get(name, "").strip()
    if not value and env.in_background:
        why = f"the background process of this folder does not have {name}, which should hold the key"
        remedy = "In a shell that has it: workbench host restart; on a screen: /restart. Then continue."
        raise KeyMissing(why, remedy)
    if not value:
        why = f"the variable {name} is not set here, and it should hold the key"
        raise KeyMissing(why, f"Set it (export {name}=…), then continue.")
    return _checked_key(value, f"the variable {name}")


def key_from_command(command: str, folder: str, now: Callable[[], float] = time.monotonic) -> str:
    """Return what the user's key command prints, run in the folder of the file that names it.

    A key is kept for 30 minutes, for it may be a token that ends; `forget_command_key` asks for a new one
    before. Raises KeyMissing.
    """
    cached = _COMMAND_KEYS.get((command, folder))
    if cached is None or now() - cached[1] > _COMMAND_KEY_SECONDS:
        cached = _COMMAND_KEYS[command, folder] = (_printed_key(command, folder), now())
    return cached[0]


def forget_command_key(command: str, folder: str) -> bool:
    """Drop a key that was refused; return whether there was one."""
    return _COMMAND_KEYS.pop((command, folder), None) is not None


def _printed_key(command: str, folder: str) -> str:
    from workbench.effects.terminal_programs import capture_output

    output = capture_output(["/bin/sh", "-c", command], folder, _KEY_COMMAND_SECONDS, most=65_536)
    value = (output or b"").decode("utf-8", "replace").strip()
    if not value:
        raise KeyMissing("key_command gave no key", "Run it in a shell to see why, then continue.")
    return _checked_key(value.splitlines()[0].strip(), "what key_command printed")


def _checked_key(value: str, place: str) -> str:
    scrubber.register_secret(value)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise KeyMissing(
            f"{place} is not a key: it has spaces or other characters", "Set it again, then continue."
        )
    return value
