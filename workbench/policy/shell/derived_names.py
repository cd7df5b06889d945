"""Finds the files that a command writes under names that are not words of its line.

`gunzip .envrc.gz` writes `.envrc`. A command whose names cannot be told from its words is reported as such.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from workbench.policy.shell.reading_commands import git_command
from workbench.policy.shell.risk_lists import program_name

_SUFFIX_START: Final = re.compile(r"[._-]")
_ADDRESS_PART: Final = re.compile(r"[/:]")
_PACKED_ENDING: Final = re.compile(r"\.(?:git|bundle)\Z")
_NAME_RESTORED: Final = re.compile(r"-[A-Za-z0-9]*[rN][A-Za-z0-9]*|--(?:rec|na)[a-z]*")
_NAME_OF_ADDRESS: Final = re.compile(r"-[A-Za-z#]*O[A-Za-z]*|--remote-name(?:-all)?")
_NAME_FROM_SERVER: Final = re.compile(r"-[A-Za-z#]*J[A-Za-z]*|--remote-header-name")
_FIXED_OUTPUT: Final = re.compile(r"-[A-Za-z]*O.*|--output-document(?:=.*)?|--spider")
_MANY_PAGES: Final = re.compile(
    r"-[A-Za-z]*[rmpiHE][A-Za-z]*|--(?:recursive|mirror|page|input|content-disp|trust|adjust|span)[a-z-]*(?:=.*)?"
)
_ADDRESS_PATTERN: Final = re.compile(r"[{}\[\]]")
_TYPESCRIPT_ENDING: Final = re.compile(r"\.([cm]?)tsx?\Z")


class UnknownNames(Exception):
    """The names that a command writes are not on its line; the message says where they come from."""


def derived_names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that a command may write besides those that are words of its line.

    Paths count from the folder in which the command runs. Raises `UnknownNames` where an archive, a patch, a
    server or an expression gives the names.
    """
    name = program_name(words[0])
    if name in _SOURCE_OF_NAMES and not _only_lists(name, words):
        raise UnknownNames(f"it writes names that {_SOURCE_OF_NAMES[name]}")
    if name in COMPRESSORS:
        return tuple(_compressed_names(words))
    reader = _READERS.get(f"git {git_command(words)}" if name == "git" else name)
    return tuple(reader(words)) if reader is not None else ()


_SOURCE_OF_NAMES: Final = {
    **dict.fromkeys(
        ("tar", "bsdtar", "unzip", "cpio", "pax", "7z", "7za", "7zz", "unrar", "unar", "jar", "ar", "lha"),
        "an archive gives",
    ),
    **dict.fromkeys(("patch", "apply_patch", "applypatch"), "a patch gives"),
    **dict.fromkeys(("rename", "prename", "file-rename", "perl-rename", "mmv", "zmv"), "an expression gives"),
    **dict.fromkeys(("split", "csplit"), "it makes from a prefix and a suffix"),
}
COMPRESSORS: Final = frozenset({
    "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "zstd", "unzstd", "lz4", "unlz4",
    "uncompress", "compress", "brotli", "unpigz", "pigz", "pbzip2", "lzip", "lunzip",
})  # fmt: skip
"""Programs that replace a file by one with another ending."""


def _only_lists(name: str, words: Sequence[str]) -> bool:
    """Return whether an archive or a patch is only made, listed or tried."""
    match name:
        case "tar" | "bsdtar":
            modes = [word for index, word in enumerate(words[1:]) if not index or re.match(r"-[^-]", word)]
            long = any(word.startswith(("--ext", "--ge")) for word in words[1:])
            return not long and not any("x" in word for word in modes)
        case "unzip":
            return any(re.fullmatch(r"-[a-zA-Z0-9]*[ltpvZ][a-zA-Z0-9]*", word) for word in words[1:])
        case "cpio" | "pax":
            return not any(re.match(r"-[a-zA-Z]*[iprw]|--extract|--pass", word) for word in words[1:])
        case "7z" | "7za" | "7zz" | "unrar" | "jar" | "ar":
            return not words[1:] or re.match(r"-*[a-zA-Z]*[xe]", words[1]) is None
        case "patch":
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
        name = _ADDRESS_PART.split(word.rstrip("/").removesuffix("/.git"))[-1]
        yield from dict.fromkeys((name, _PACKED_ENDING.sub("", name)))


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
        path = re.split(r"[?#]", word)[0]
        yield from dict.fromkeys((path.rsplit("/", 1)[-1], word.rsplit("/", 1)[-1]))


def _compiled_names(words: Sequence[str]) -> Iterator[str]:
    for word in _operands(words):
        yield _TYPESCRIPT_ENDING.sub(r".\1js", word)


_READERS: Final[dict[str, Callable[[Sequence[str]], Iterator[str]]]] = {
    "git clone": _cloned_folder, "curl": _curl_names, "wget": _wget_names, "tsc": _compiled_names,
}  # fmt: skip
