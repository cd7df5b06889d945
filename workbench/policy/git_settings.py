"""Settings of git, read from its files, and the files of a work tree that git runs or obeys because of them.

Git is not started. Conditions of `includeIf` are not evaluated: what may be included counts.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.search_path import link_chain
from workbench.effects.settled_times import is_settled
from workbench.policy.paths import git_config_folders, is_bare_repository, read_short_text

_MAX_CONFIG_BYTES: Final = 262_144
_MOST_FILES: Final = 50
_TOKEN: Final = re.compile(
    r"\s+|[#;][^\n]*"
    r'|\[\s*(?P<section>[a-z0-9.-]+)(?:\s+"(?P<middle>(?:[^"\\\n]|\\.)*)")?\s*\]'
    r'|(?P<name>[a-z][a-z0-9-]*)[ \t]*(?:=(?P<value>(?:"(?:\\.|[^"\\\n])*"?|\\.|[^"\\\n#;])*))?'
    r"|[^\n]+",
    re.IGNORECASE | re.DOTALL,
)
"""White space, a comment, the start of a section, a setting, or the rest of a line that git cannot read."""
_VALUE_PART: Final = re.compile(r'"|\\(.)|[^"\\]+|\\', re.DOTALL)
"""A quote, an escaped character, or plain text (git-config, section Values)."""
_COMMAND_NAMES: Final = re.compile(
    r".*(command|cmd|program|prog|hook|pager|askpass)"
    r"|core\.(fsmonitor|editor|gitproxy|attributesfile)|sequence\.editor"
    r"|diff\.(external|textconv)|filter\.(clean|smudge|process)|merge\.driver"
    r"|(difftool|mergetool|man|browser)\.path|credential\.helper|interactive\.difffilter"
    r"|remote\.(uploadpack|receivepack)|submodule\.update|imap\.tunnel|sendemail\.smtpserver"
    r"|lfs\.(path|args|clean|smudge)|instaweb\.(httpd|browser)|(web|help)\.browser|secrets\.providers"
    r"|gpg\.(allowedsignersfile|revocationfile)|(http|sendemail)\..*ssl(cainfo|cert|certpath)"
)
"""Settings whose value is a command, or a file that git obeys, without their middle part.

The first line covers settings of programs that extend git too.
"""
_FOLDER_NAMES: Final = frozenset({
    "core.hookspath", "init.templatedir", "gitflow.hooks", "instaweb.modulepath", "http.sslcapath",
})  # fmt: skip
"""Settings whose value is a folder whose files git runs, copies to where it runs them, or trusts."""
_INCLUDES: Final = ("include.path", "includeif.path")
_NAMES_BY_VARIABLE: Final = {
    **dict.fromkeys(
        (
            "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND",
            "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL",
        ),
        "core.editor",
    ),
    "GIT_EXEC_PATH": "core.hookspath", "GIT_TEMPLATE_DIR": "init.templatedir",
}  # fmt: skip
"""Variables that name a program or a folder to git, and a setting that is read alike."""
_MOST_VARIABLES: Final = 1000
_ESCAPES: Final = {"n": " ", "t": " ", "b": " ", "\n": ""}
_ADDRESS_NAMES: Final = frozenset({"remote.url", "remote.pushurl", "submodule.url"})
_COMMAND_ADDRESS: Final = "ext::"
"""The start of an address that is a command (git-remote-ext)."""
_RUNNING_ALIAS: Final = re.compile(
    r"!|(?:.*\s)?(-c|-x|--exec|--extcmd|--upload-pack|--receive-pack|foreach|run)[\s=]", re.DOTALL
)
"""What an alias begins with that runs a command: a shell command, or git with options that name one."""
_WORD_ENDS: Final = re.compile(r"[\s;&|()<>\"'`$!={}]+")
_MODULE_WORD: Final = re.compile(r"\s-[A-Za-z]*?m[\s'\"]*([A-Za-z_][\w.]*)")
"""The option of Python that runs a module."""
_QUOTED_PARTS: Final = (re.compile(r'"([^"]+)"'), re.compile(r"'([^']+)'"))
_FOLDER_WORD: Final = re.compile(
    r"(?:(?<![\w.-])(?:cd|pushd|-C)|--directory|--cwd|--chdir|PYTHONPATH)[\s='\"]+([^\s;&|'\"]+)"
)
"""The folder from which the rest of a command is looked for, or folders with a colon between them."""
_STARTED_FILES: Final = (
    (re.compile(r"(python|pypy)[\w.]*"), ("/__main__.py",)),
    (re.compile(r"node|nodejs|bun|deno|tsx|ts-node"), (".js", ".ts", "/index.js", "/index.ts")),
)
"""What interpreters add to the name that they are given."""
_SCRIPT_NAME: Final = re.compile(r"[\w.-]+\.(py|sh|bash|zsh|pl|rb|php|lua|[cm]?js|ts|bat|cmd|ps1)")
"""What is a file also where it is missing now, such as a script of another branch."""
_SYSTEM_FILES: Final = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")


class GitSetting(Struct, frozen=True, kw_only=True):
    """One setting; its name is `section.name` in lower case, without a middle part."""

    name: str
    value: str
    middle: str = ""
    """Such as the name of a remote, as it is written."""


def user_git_files(home: str) -> tuple[str, ...]:
    """Return the settings files that hold for all repositories of a user."""
    of_variables = filter(None, map(os.environ.get, ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")))
    settings = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    own = (f"{home}/.gitconfig", f"{home}/.config/git/config", f"{settings}/git/config")
    return tuple(dict.fromkeys((*own, *_SYSTEM_FILES, *of_variables)))


def repository_git_files(top: str) -> tuple[str, ...]:
    """Return the settings files of the repository whose work tree is at a folder, or which is that folder."""
    return tuple(f"{place}/{name}" for place in _git_folders(top) for name in ("config", "config.worktree"))


def _git_folders(top: str) -> tuple[str, ...]:
    folders = git_config_folders(top)
    return (*folders, top) if is_bare_repository(top) else folders


def read_git_settings(file: str) -> tuple[GitSetting, ...]:
    """Return the settings in one file, without those of included files; it is read again when it changed."""
    try:
        status = os.stat(file)  # noqa: PTH116 -- text
    except (OSError, ValueError):
        return ()
    if not is_settled(status.st_ctime_ns):
        return tuple(_parse_settings(file))
    stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size, status.st_ctime_ns)
    return _known_settings(file, stamp)


@lru_cache(maxsize=1024)
def _known_settings(file: str, _stamp: tuple[int, ...]) -> tuple[GitSetting, ...]:
    return tuple(_parse_settings(file))


def _parse_settings(file: str) -> Iterator[GitSetting]:
    section = middle = ""
    text = (read_short_text(file, _MAX_CONFIG_BYTES) or "").removeprefix("\ufeff")
    for token in _TOKEN.finditer(text.replace("\r\n", "\n")):
        if token["section"]:
            section, _, dotted = token["section"].lower().partition(".")
            middle = token["middle"] or dotted
        elif token["value"]:
            value = _plain_value(token["value"])
            if value and "\0" not in value:
                yield GitSetting(name=f"{section}.{token['name'].lower()}", value=value, middle=middle)


def _plain_value(written: str) -> str:
    """Return a value without quotes and escapes."""
    value = ""
    for part in _VALUE_PART.finditer(written):
        if part[1] is not None:
            value += _ESCAPES.get(part[1], part[1])
        elif part[0] != '"':
            value += part[0]
    return value.strip()


def settings_of_environment(variables: Mapping[str, str]) -> Iterator[GitSetting]:
    """Yield the settings that variables give to git, those that name programs as the settings that do so."""
    for number in range(_whole_number(variables.get("GIT_CONFIG_COUNT", ""))):
        name, value = (variables.get(f"GIT_CONFIG_{part}_{number}", "") for part in ("KEY", "VALUE"))
        yield _setting_of(name, value)
    with suppress(ValueError):  # quotes that do not end
        for word in shlex.split(variables.get("GIT_CONFIG_PARAMETERS", "")):
            name, _, value = word.partition("=")
            yield _setting_of(name, value)
    for variable, name in _NAMES_BY_VARIABLE.items():
        yield GitSetting(name=name, value=variables.get(variable, ""))


def _whole_number(text: str) -> int:
    return min(int(text), _MOST_VARIABLES) if text.isascii() and text.isdigit() else 0


def _setting_of(whole_name: str, value: str) -> GitSetting:
    section, _, rest = whole_name.partition(".")
    middle, _, name = rest.rpartition(".")
    return GitSetting(name=f"{section}.{name}".lower(), value=value, middle=middle)


def files_named_by_git(top: str, home: str) -> frozenset[str]:
    """Return what git runs or obeys for a repository outside `.git`, as it is named and where it leads.

    Included settings, programs that settings name, and what links in the repository's folder lead to. It may
    be elsewhere, and some of it may not exist. `top`: the folder of its work tree, or of a repository that
    has none.
    """
    named = {*_linked_from_repository(top)}
    tops, others = {top}, list[GitSetting]()
    for folder, setting in _settings_in_force(top, home):
        if setting.name in _INCLUDES:
            named.update(_chain(_joined(folder, setting.value)))
        elif setting.name == "core.worktree":
            tops.add(os.path.realpath(_joined(folder, setting.value)))
        elif setting.value:
            others.append(setting)
    for setting, place in product(others, tops):
        named.update(*map(_chain, _files_of_setting(setting, place)))
    return frozenset(named)


def _settings_in_force(top: str, home: str) -> Iterator[tuple[str, GitSetting]]:
    """Yield the settings that may hold for a repository, each with the folder of its file."""
    yield from ((top, setting) for setting in settings_of_environment(os.environ))
    due, seen = [*repository_git_files(top), *user_git_files(home)], set[str]()
    while due and len(seen) < _MOST_FILES:
        file = due.pop(0)
        if file in seen:
            continue
        seen.add(file)
        folder = os.path.dirname(file)  # noqa: PTH120 -- text
        for setting in read_git_settings(file):
            if setting.name in _INCLUDES:
                due.append(_joined(folder, setting.value))
            yield folder, setting


def _files_of_setting(setting: GitSetting, top: str) -> Iterator[str]:
    if setting.name in _FOLDER_NAMES:
        yield _joined(top, setting.value)
        return
    command = _command_of(setting)
    named = _FOLDER_WORD.findall(command)
    folders = (top, *(_joined(top, folder) for word in named for folder in word.split(":")))
    for folder in folders:
        yield from _files_in_command(command, folder, is_start=folder == top)
        for module in _MODULE_WORD.findall(command):
            yield from (_joined(folder, path) for path in _files_of_module(module))


def _files_of_module(module: str) -> Iterator[str]:
    """Yield the files that `python -m` runs for a module, from the folder where it is started."""
    *packages, last = filter(None, module.split("."))
    for count in range(1, len(packages) + 1):
        package = "/".join(packages[:count])
        yield from (f"{package}.py", f"{package}/__init__.py")
    whole = "/".join((*packages, last))
    yield from (f"{whole}.py", f"{whole}/__init__.py", f"{whole}/__main__.py")


def _command_of(setting: GitSetting) -> str:
    """Return the command that a setting names; empty for all other settings."""
    if setting.name.startswith("alias."):
        return setting.value if _RUNNING_ALIAS.match(setting.value) else ""
    if setting.name in _ADDRESS_NAMES or setting.name.startswith("url."):
        address = setting.middle if setting.name.startswith("url.") else setting.value
        return address.removeprefix(_COMMAND_ADDRESS) if address.startswith(_COMMAND_ADDRESS) else ""
    is_command = setting.name.startswith("pager.") or _COMMAND_NAMES.fullmatch(setting.name)
    return setting.value if is_command else ""


def _files_in_command(command: str, folder: str, *, is_start: bool) -> Iterator[str]:
    """Yield the files that the words of a command name in a folder.

    `is_start`: whether it starts there; only then what is missing counts.
    """
    words = tuple(dict.fromkeys(_words(command)))
    endings = _endings(words)
    for word in words:
        path = _joined(folder, word)
        is_file = os.path.isfile(path)  # noqa: PTH113 -- text
        is_path = ("/" in word and " " not in word) or _SCRIPT_NAME.fullmatch(word) is not None
        if is_file or (is_start and is_path and not os.path.isdir(path)):  # noqa: PTH112 -- text
            yield path
        if not is_file:
            yield from filter(os.path.isfile, (f"{path}{ending}" for ending in endings))
            if "$" in command or "`" in command:
                yield from _files_below(folder, word)


def _words(command: str) -> Iterator[str]:
    """Yield the words of a command, and those in which quotes keep spaces; it may be one path as a whole."""
    yield from filter(None, _WORD_ENDS.split(command))
    quoted = [part for pattern in _QUOTED_PARTS for part in pattern.findall(command)]
    with suppress(ValueError):  # quotes that do not end
        quoted += shlex.split(command)
    yield from (word for word in (command, *quoted) if " " in word)


def _endings(words: Iterable[str]) -> tuple[str, ...]:
    """Return what the interpreters in a command add to names."""
    programs = {word.rpartition("/")[2] for word in words}
    added = (
        endings for pattern, endings in _STARTED_FILES if any(pattern.fullmatch(name) for name in programs)
    )
    return tuple(chain.from_iterable(added))


def _files_below(top: str, word: str) -> Iterator[str]:
    """Yield the files that a word names behind a folder that the shell puts in, such as `$PWD/tools/x`."""
    names = word.split("/")
    ends = (_joined(top, "/".join(names[start:])) for start in range(1, len(names)) if names[start])
    return filter(os.path.isfile, ends)


def _linked_from_repository(top: str) -> Iterator[str]:
    for place in _git_folders(top):
        for folder in (place, f"{place}/hooks", f"{place}/info"):
            yield from _links_in(folder)


def _links_in(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            links = [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return
    for link in links:
        yield from _chain(link)


def _chain(path: str) -> tuple[str, ...]:
    """Return a path, the links that it leads through, and where it ends."""
    return (path, *link_chain(path))


def _joined(folder: str, path: str) -> str:
    home = str(Path.home())
    expanded = f"{home}{path[1:]}" if path.startswith("~/") else path
    joined = os.path.join(folder, expanded)  # noqa: PTH118 -- text
    # A folder before two dots may become a link, which leads elsewhere from there.
    return joined if ".." in expanded.split("/") else os.path.normpath(joined)
