"""Finds the files that a command writes under names that are not words of its line.

`gunzip .envrc.gz` writes `.envrc`. A command whose names cannot be told from its words is reported as such.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from workbench.policy.shell.reading_commands import git_command
from workbench.policy.shell.risk_lists import program_name

_SUFFIX_START: Final = re.compile(r"[._-]")
_ADDRESS_PART: Final = re.compile(r"[/:]")
_PACKED_ENDING: Final = re.compile(r"\.(?:git|bundle)\Z")
_NAME_RESTORED: Final = re.compile(r"-[A-Za-z0-9]*[rNS].*|--(?:rec|na|su)[a-z]*(?:=.*)?")
_SUFFIX_OPTION: Final = re.compile(r"-[A-Za-z]*S.*|--suf[a-z]*(?:=.*)?")
_NAME_OF_ADDRESS: Final = re.compile(r"-[A-Za-z0-9#]*O[A-Za-z0-9]*|--remote-n[a-z-]*")
_NAME_FROM_SERVER: Final = re.compile(r"-[A-Za-z0-9#]*J[A-Za-z0-9]*|--remote-h[a-z-]*")
_FIXED_OUTPUT: Final = re.compile(r"-[A-Za-z0-9]*O.*|--output-document(?:=.*)?|--spider")
_MANY_PAGES: Final = re.compile(
    r"-[A-Za-z0-9]*[rmpiHExPN][A-Za-z0-9]*"
    r"|--(?:recursive|mirror|page|input|content|trust|adjust|span|force|default|protocol)[a-z-]*(?:=.*)?"
)
_ADDRESS_PATTERN: Final = re.compile(r"[{}\[\]]")
_TYPESCRIPT_ENDING: Final = re.compile(r"\.([cm]?)tsx?\Z")
_PATCH_IS_READ: Final = frozenset({"--check", "--stat", "--numstat", "--summary"})
_MAIL_IS_KNOWN: Final = frozenset({"--abort", "--skip", "--quit", "--continue", "--show-current-patch"})


class UnknownNames(Exception):
    """The names that a command writes are not on its line; the message says where they come from."""


def derived_names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that a command may write besides those that are words of its line.

    Paths count from the folder in which the command runs. Raises `UnknownNames` where an archive, a patch, a
    server or an expression gives the names.
    """
    words = _as_module(words)
    name = program_name(words[0])
    if name in _SOURCE_OF_NAMES and not _only_lists(name, words):
        raise UnknownNames(f"it writes names that {_SOURCE_OF_NAMES[name]}")
    if _starts(words, _WRITES_CONFIGURATION):
        raise UnknownNames("it writes files that run automatically")
    if name in COMPRESSORS:
        return tuple(_compressed_names(words))
    if name in _WITH_BACKUPS and any(map(_SUFFIX_OPTION.fullmatch, words[1:])):
        raise UnknownNames("it writes names with a suffix of its own")
    if "clone" in words[1:3]:
        return tuple(_cloned_folder(words))
    reader = _READERS.get(f"git {git_command(words)}" if name == "git" else name)
    return tuple(reader(words)) if reader is not None else ()


def _as_module(words: Sequence[str]) -> Sequence[str]:
    """Return `python -m gzip -d x` as `gzip -d x`."""
    if program_name(words[0]) not in ("python", "pypy") or "-m" not in words[1:]:
        return words
    return words[words.index("-m") + 1 :] or words


def _starts(words: Sequence[str], commands: frozenset[str]) -> bool:
    """Return whether a command is listed by its program, or by that and its first operands."""
    name = program_name(words[0])
    operands = [word for word in words[1:] if not word.startswith("-")]
    return any(" ".join((name, *operands[:count])) in commands for count in range(3))


_SOURCE_OF_NAMES: Final = {
    **dict.fromkeys(
        (
            "tar", "bsdtar", "unzip", "cpio", "pax", "7z", "7za", "7zr", "7zz", "unrar", "rar", "unar", "jar",
            "ar", "lha", "dtrx", "dpkg", "dpkg-deb", "zipfile", "tarfile",
        ),
        "an archive gives",
    ),
    **dict.fromkeys(("patch", "gpatch", "quilt", "apply_patch", "applypatch"), "a patch gives"),
    **dict.fromkeys(
        ("rename", "rename.ul", "prename", "file-rename", "perl-rename", "mmv", "zmv"), "an expression gives"
    ),
    **dict.fromkeys(("split", "csplit"), "it makes from a prefix and a suffix"),
    **dict.fromkeys(("uudecode", "jupyter", "cython", "aria2c"), "its input gives"),
}  # fmt: skip
_WRITES_CONFIGURATION: Final = frozenset({
    "bundle config", "claude mcp", "codex mcp", "direnv", "dotnet new", "dvc install", "gemini mcp",
    "git-lfs install", "git-lfs track", "git lfs install", "git lfs track", "husky", "lefthook", "mise",
    "mvn wrapper:wrapper", "overcommit", "pre-commit install", "pre-commit init-templatedir", "qwen mcp",
    "rtx", "yarn policies", "yarn set",
})  # fmt: skip
"""Commands that write a file which runs automatically without naming it."""
_WITH_BACKUPS: Final = frozenset({"cp", "mv", "ln", "install", "rsync", "patch"})
COMPRESSORS: Final = frozenset({
    "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "zstd", "unzstd", "lz4", "unlz4",
    "uncompress", "compress", "brotli", "unpigz", "pigz", "pbzip2", "lbunzip2", "lbzip2", "lzip", "lunzip",
    "plzip", "lzop", "lrunzip", "lrzip", "ccdecrypt", "ccrypt", "gpg",
})  # fmt: skip
"""Programs that replace a file by one with another ending."""


def _only_lists(name: str, words: Sequence[str]) -> bool:
    """Return whether an archive or a patch is only made, listed or tried."""
    options = words[1:]
    match name:
        case "tar" | "bsdtar":
            modes = [word for index, word in enumerate(options) if not index or re.match(r"-[^-]", word)]
            long = any(word.startswith(("--ext", "--ge")) for word in options)
            return not long and not any("x" in word for word in modes)
        case "unzip":
            return any(re.fullmatch(r"-[qCM12]*[lvtZp][lvtZpqsmhCM12]*", word) for word in options)
        case "cpio" | "pax":
            return not any(re.match(r"-[a-zA-Z]*[iprw]|--ext|--pa", word) for word in options)
        case "7z" | "7za" | "7zr" | "7zz" | "unrar" | "rar":
            return next((word for word in options if not word.startswith("-")), "") not in ("x", "e")
        case "jar" | "ar":
            modes = [word for index, word in enumerate(options) if not index or word.startswith("-")]
            return not any(re.match(r"-*[a-zA-Z]*x|--ext", word) for word in modes)
        case "dpkg" | "dpkg-deb":
            return not any(
                re.match(r"-[a-zA-Z]*[xXRe]|--(?:vext|ext|raw|con|ctrl)", word) for word in options
            )
        case "zipfile" | "tarfile":
            return not any(re.match(r"-[a-zA-Z]*e|--ex", word) for word in options)
        case "patch" | "gpatch":
            return "--dry-run" in words
        case _:
            return len(words) == 1


def _operands(words: Sequence[str]) -> Iterator[str]:
    """Yield the words that name something; behind `--` a word with a dash does too."""
    ended = False
    for word in words[1:]:
        if ended or not word.startswith("-"):
            yield word
        ended = ended or word == "--"


def _compressed_names(words: Sequence[str]) -> Iterator[str]:
    if any(_NAME_RESTORED.fullmatch(word) for word in words[1:]):
        raise UnknownNames("it writes names that the packed files or a folder give")
    for word in _operands(words):
        yield from (word[: ending.start()] for ending in _SUFFIX_START.finditer(word))


def _cloned_folder(words: Sequence[str]) -> Iterator[str]:
    for word in _operands(words):
        address = re.sub(r"(?:[/\s]|/\.git)+\Z", "", word)
        name = _ADDRESS_PART.split(address)[-1].strip()
        if not name:
            raise UnknownNames("it writes a folder whose name git makes from the address")
        yield from dict.fromkeys((name, _PACKED_ENDING.sub("", name)))


def _patched_names(words: Sequence[str]) -> Iterator[str]:
    if _PATCH_IS_READ.isdisjoint(words):
        raise UnknownNames("it writes names that a patch gives")
    yield from ()


def _mailed_names(words: Sequence[str]) -> Iterator[str]:
    if _MAIL_IS_KNOWN.isdisjoint(words):
        raise UnknownNames("it writes names that a patch gives")
    yield from ()


def _curl_names(words: Sequence[str]) -> Iterator[str]:
    if not any(_NAME_OF_ADDRESS.fullmatch(word) for word in words[1:]):
        return
    if any(_NAME_FROM_SERVER.fullmatch(word) or _ADDRESS_PATTERN.search(word) for word in words[1:]):
        raise UnknownNames("it writes names that a server or a pattern gives")
    yield from _names_in_addresses(words)


def _wget_names(words: Sequence[str]) -> Iterator[str]:
    if any(_MANY_PAGES.fullmatch(word) for word in words[1:]):
        raise UnknownNames("it writes names that a server gives")
    if not any(_FIXED_OUTPUT.fullmatch(word) for word in words[1:]):
        yield from _names_in_addresses(words)


def _names_in_addresses(words: Sequence[str]) -> Iterator[str]:
    for word in _operands(words):
        for address in dict.fromkeys((word, re.split(r"[?#]", word)[0])):
            name = address.rsplit("/", 1)[-1]
            yield from dict.fromkeys((name, unquote(name)))


def _compiled_names(words: Sequence[str]) -> Iterator[str]:
    for word in _operands(words):
        yield _TYPESCRIPT_ENDING.sub(r".\1js", word)


_READERS: Final[dict[str, Callable[[Sequence[str]], Iterator[str]]]] = {
    "git apply": _patched_names, "git am": _mailed_names, "curl": _curl_names, "wget": _wget_names,
    "tsc": _compiled_names,
}  # fmt: skip
