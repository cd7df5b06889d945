"""What the sandbox refused to a command, read from the end of its output; the output is untrusted text."""

# Programs say it in their own words. A line counts only where it has the form of such a message, and where
# the sandbox does refuse such a thing: a write only outside the places where it lets a command write. That a
# path is not there counts only where a sandbox shows nothing; whether it is there outside is not looked at.
# The messages were collected from the programs themselves (`tests/unit/policy/refusal_messages.py`).

import re
from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import (
    SOME_FILE,
    SOME_NETWORK,
    RefusalKind,
    SandboxLevel,
    SandboxRefusal,
    quoted_target,
)
from workbench.effects.sandbox import SYSTEM_FOLDERS
from workbench.policy.paths import is_below
from workbench.policy.shell.sandbox_written_paths import SandboxPlaces, place_of
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

MOST_REFUSALS: Final = 8
_MAX_OUTPUT: Final = 32_768
"""Characters at the end of the output that are read."""
_MAX_LINES: Final = 120
_MAX_LINE: Final = 1_000
_TARGET_CELLS: Final = 200

Found = tuple[RefusalKind, str]


def read_refusals(
    output: str, exit_code: int | None, level: SandboxLevel, workspace: str
) -> tuple[SandboxRefusal, ...]:
    """Return what the sandbox refused to a command, the first things first, as far as its output says so.

    Args:
        output: What the command printed.
        exit_code: None where it was ended; to a command that succeeded nothing was refused that counts.
        level: The level of its sandbox.
        workspace: Real path.
    """
    if exit_code == 0 or level == "outside":
        return ()
    reader = _OutputReader(workspace, is_writable=level == "workspace")
    found: dict[Found, None] = {}
    for line in _ESCAPE.sub("", output[-_MAX_OUTPUT:]).splitlines()[-_MAX_LINES:]:
        found.update(dict.fromkeys(reader.refusals(line[:_MAX_LINE].strip())))
    named = {kind for kind, target in found if target}
    kept = [each for each in found if each[1] or each[0] not in named]
    return tuple(
        SandboxRefusal(kind=kind, target=target or _NOT_NAMED[kind]) for kind, target in kept[:MOST_REFUSALS]
    )


_NOT_NAMED: Final[dict[RefusalKind, str]] = {"write": SOME_FILE, "network": SOME_NETWORK}
"""The target where no message names one."""
_CLAUSES: Final[dict[RefusalKind, str]] = {
    "write": "{} cannot be written",
    "read": "{} is not visible",
    "network": "{} cannot be reached",
    "closed": "{} controls the workspace and was moved out",
    "privilege": "{} cannot be used",
}
_HOW_TO_LEAVE: Final = (
    'If the command needs that, call again with "outside": true and a "reason"; a human is asked.'
)


def refusal_note(refusals: Iterable[SandboxRefusal]) -> str:
    """Return for a model what the sandbox refused and how to ask for leaving; empty for nothing."""
    clauses: dict[bool, list[str]] = {True: [], False: []}
    for refusal in refusals:
        clauses[refusal.is_observed].append(_clause(refusal))
    sentences = [f"{_SAID_BY[key]} {'; '.join(said)}." for key, said in clauses.items() if said]
    return " ".join((*sentences, _HOW_TO_LEAVE)) if sentences else ""


_SAID_BY: Final = {True: "In the sandbox", False: "According to what the command printed, in the sandbox"}


def _clause(refusal: SandboxRefusal) -> str:
    if refusal.more:
        return f"{refusal.more:,} more control the workspace too"
    target = quoted_target(refusal.target)
    return f"{target} {refusal.remark}" if refusal.remark else _CLAUSES[refusal.kind].format(target)


_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


class _OutputReader:
    """Reads the lines of one output."""

    def __init__(self, workspace: str, *, is_writable: bool) -> None:
        self._workspace = workspace
        self._places = SandboxPlaces(workspace if is_writable else "")

    def refusals(self, line: str) -> Iterator[Found]:
        folded = line.lower()
        if privilege := next((name for name, said in _PRIVILEGES.items() if said.search(folded)), None):
            yield "privilege", privilege
        elif message := _READ_ONLY.search(folded):
            yield from self._write(line, message.start())
        elif message := _DENIED.search(folded):
            yield from self._denied(line, message.start())
        elif message := _MISSING.search(folded):
            yield from self._read(line, message.start())
        if any(sign in folded for sign in _NETWORK_SIGNS):
            yield from _network(line)

    def _write(self, line: str, end: int) -> Iterator[Found]:
        path = _named_path(line, end)
        place = place_of(path, None)
        if place is None or self._places.need(place) is not None:
            yield "write", shown_target(path)

    def _denied(self, line: str, end: int) -> Iterator[Found]:
        """Yield what may be a refusal: folders of the system are closed to a user without a sandbox too."""
        path = _named_path(line, end)
        place = place_of(path, None)
        if place is not None and self._places.need(place) == "outside" and not _is_system(place):
            yield "write", shown_target(path)

    def _read(self, line: str, end: int) -> Iterator[Found]:
        path = _named_path(line, end)
        place = place_of(path, None)
        if place is None or is_below(place, self._workspace) or _isshown_target(place):
            return
        if self._places.need(place) is not None:
            yield "read", shown_target(path)


# --- files -------------------------------------------------------------------------------------------

_READ_ONLY: Final = re.compile(
    r"read-only file system(?:$|[.)\"',;:]| \(| @ | at path | at -e | in | - )|\berofs\b|os error 30\b"
    r"|\[errno 30\]|readonlyfilesystem"
)
_DENIED: Final = re.compile(r"permission denied(?:$|[.)\"',;:]| \(| @ | - )|\beacces\b|\[errno 13\]")
_MISSING: Final = re.compile(
    r"no such file or directory(?:$|[.)\"',;:]| \(| @ | - )|\benoent\b|\[errno 2\]|docker daemon at unix:"
)
_QUOTED: Final = re.compile(r"[‘'\"`“]([^‘’'\"`“”]{1,400})[’'\"`”]")
_DELIMITERS: Final = re.compile(r"[\s'\"`‘’“”():,]+")
_NAME: Final = re.compile(r"['‘]([^\s'‘’]{1,200})['’]")
_ERROR_NAME: Final = re.compile(r"E[A-Z]+")


def _named_path(line: str, end: int) -> str:
    """Return the path that a message names: the last quoted one, the word before it, or the first path.

    `end` is where the message itself begins.
    """
    paths = [word for word in _QUOTED.findall(line) if "/" in word]
    if paths:
        return paths[-1]
    before = line[:end].rstrip(" :(").split(" ")[-1].strip("()'\"`‘’")
    if "/" in before and "://" not in before:
        return before
    if path := next((word for word in _DELIMITERS.split(line) if "/" in word), ""):
        return "/" + path.lstrip("/").rstrip(".") if path.startswith("//") else path
    names = [word for word in _NAME.findall(line) if not _ERROR_NAME.fullmatch(word)]
    return names[-1] if names else ""


def _is_system(place: str) -> bool:
    return any(is_below(place, folder) for folder in (*SYSTEM_FOLDERS, "/var", "/root", "/boot", "/run"))


def _isshown_target(place: str) -> bool:
    return place == "/" or any(is_below(place, folder) for folder in (*SYSTEM_FOLDERS, "/proc", "/dev"))


# --- the network -------------------------------------------------------------------------------------

_NETWORK_SIGNS: Final = (
    "resolv", "unreach", "eai_again", "enotfound", "getaddrinfo", "[errno -", "[errno 101]",
    "refused", "failed to connect to", "unable to connect to", "all attempts to connect",
    "unknownhost", "unknown host", "dial ", "query", "error sending request for url", "bad hostname",
    "connection to server at", "name or service not known", "failed to lookup address",
)  # fmt: skip
_HOST: Final = r"(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?|\[?[0-9a-fA-F:]{2,45}\]?)"
_DOTTED: Final = rf"(?=[\w-]+\.){_HOST}"
"""Where an ordinary word may be in its place."""
_PORT: Final = r"(?P<port>[0-9]{1,5})"
_HOST_MESSAGES: Final = tuple(
    re.compile(pattern.replace("DOTTED", _DOTTED).replace("HOST", _HOST).replace("PORT", _PORT), re.I)
    for pattern in (
        r"could not resolve host(?:name)?:? HOST(?:$|[:,;) ])",
        r"unable to resolve host address [‘'`]HOST",
        r"failed to resolve 'HOST'",
        r"temporary failure resolving 'HOST'",
        r"getaddrinfo (?:EAI_AGAIN|ENOTFOUND) HOST",
        r"query[A-Z][A-Za-z]* (?:ECONNREFUSED|ENOTFOUND|ETIMEOUT) HOST",
        r"getaddrinfo for (?:host \")?HOST",
        r"dial (?:tcp|udp)[46]?: lookup HOST(?: on |: )",
        r"dial (?:tcp|udp)[46]? \[?HOST\]?:PORT: connect: ",
        r"bad hostname 'HOST",
        r"unknownhostexception: HOST",
        r"unknown host DOTTED(?::|$)",
        r"tcp connection to HOST:PORT",
        r"connect (?:ENETUNREACH|ECONNREFUSED) HOST:PORT",
        r"connect\(2\) for \"HOST\" port PORT",
        r"(?:failed to connect to|connect to host) HOST port PORT",
        r"connecting to HOST:PORT\.\.\. failed",
        r"connection to server at \"HOST\"[^,]{0,80}, port PORT failed",
        r"all attempts to connect to DOTTED failed",
        r"unable to connect to DOTTED:$",
    )
)
"""Messages that name a host."""
_NO_NETWORK: Final = re.compile(
    r"temporary failure in name resolution|name or service not known|network ?is ?unreachable"
    r"|networkunreachable|\[errno -[23]\]|\[errno 101\]|\beai_again\b|\benetunreach\b"
    r"|unresolvedaddressexception|failed to lookup address information|error sending request for url",
    re.I,
)
"""Says that the network failed and need not name a host."""
_ADDRESS: Final = re.compile(
    rf"(?:https?://(?:[^/@\s'\"]{{0,80}}@)?|host='){_HOST}(?:(?::|', port=){_PORT})?(?![\w.-])", re.I
)


def _network(line: str) -> Iterator[Found]:
    named = next(filter(None, (message.search(line) for message in _HOST_MESSAGES)), None)
    if named is None:
        if not _NO_NETWORK.search(line):
            return
        named = _ADDRESS.search(line)
    yield "network", "" if named is None else shown_target(_host_and_port(**named.groupdict()))


def _host_and_port(host: str, port: str | None = None) -> str:
    """Return a host with its port, one of numbers and colons in brackets."""
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


# --- privileges --------------------------------------------------------------------------------------

_PRIVILEGES: Final[dict[str, re.Pattern[str]]] = {
    "sudo": re.compile(
        r"^sudo: (?:the \"no new privileges\"|perm_|unable to|effective uid|.{0,200}\bowned by uid)"
    ),
    "su": re.compile(r"^su: cannot set"),
    "doas": re.compile(r"^doas: "),
    "mount": re.compile(r"^mount: .{0,300}(?:permission denied|superuser)"),
    "chroot": re.compile(r"^chroot: cannot change root"),
    "ip": re.compile(r"^rtnetlink answers: operation not permitted"),
    "ssh-agent": re.compile(r"^could not open a connection to your authentication agent"),
    "D-Bus": re.compile(r"^failed to connect to bus"),
}
"""What is said in lower case where there is no right, by the program that has none or cannot be reached."""


def shown_target(target: str) -> str:
    """Return a path or host as one safe line without secrets."""
    return one_line(scrub(target).text, _TARGET_CELLS)
