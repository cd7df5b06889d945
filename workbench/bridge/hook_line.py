"""The shell line by which an agent's settings name the hook, and how it is found there again."""

import shlex
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_CLIENT_NAME: Final = "hook_client.py"
_EXEC: Final = "exec"
_OTHERWISE_PLACE: Final = 7
_LONGEST_LINE: Final = 20_000
"""Characters of a command in settings of others that are looked at."""


class HookLine(Struct, frozen=True, kw_only=True):
    """What a hook's shell line names."""

    python: str
    client: str
    agent: str
    event: str
    data: str
    """The data folder."""
    otherwise: str
    seconds: int
    """The hook's own timeout; 0 if it has none."""


def hook_line(words: Sequence[str]) -> str:
    """Return the shell line that runs the words of `hook_arguments`, with the exit code of the client.

    Without the client's file it falls through in silence. Without the interpreter it leaves the question to
    the agent, or denies. Each part means the same in sh, bash, zsh, fish and csh: agents use the user's own.
    """
    python, client = shlex.quote(words[0]), shlex.quote(words[3])
    gone = "exit 0"
    if words[_OTHERWISE_PLACE] == "deny":
        why = f"The Python that workbench was connected with is gone: {words[0]}"
        gone = "exec /bin/sh -c " + shlex.quote(f"echo {shlex.quote(why)} >&2; exit 2")
    return f"[ -f {client} ] || exit 0; [ -x {python} ] || {gone}; {_EXEC} {shlex.join(words)}"


def parse_hook_line(command: object) -> HookLine | None:
    """Return what a shell line of ours names; None for any other command."""
    if not isinstance(command, str) or _CLIENT_NAME not in command or len(command) > _LONGEST_LINE:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    last = len(words) - 1 - words[::-1].index(_EXEC) if _EXEC in words else len(words)
    match words[last + 1 :]:
        case [python, "-I", "-S", client, agent, event, data, otherwise, seconds, *_] if (
            client.endswith("/" + _CLIENT_NAME) and seconds.isdecimal() and seconds.isascii()
        ):
            return HookLine(
                python=python, client=client, agent=agent, event=event, data=data, otherwise=otherwise,
                seconds=int(seconds),
            )  # fmt: skip
        case _:
            return None
