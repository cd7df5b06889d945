"""Paths that the words of a command may name, and whether a granted command may touch them."""

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from workbench.policy.autorun_files import may_match_closed
from workbench.policy.paths import (
    MAX_PATH_LENGTH,
    ResolvedPath,
    folded_path,
    folders_obeyed_by_git,
    is_bare_repository,
    is_below,
    protection_reason,
    real_path,
)
from workbench.policy.shell.analysis import SimpleCommand
from workbench.policy.shell.derived_names import UnknownNames, derived_names
from workbench.policy.shell.reading_commands import git_command, only_reads
from workbench.policy.shell.risk_lists import (
    INPUT_DEVICES,
    LETTERS_WITH_VALUE,
    NETWORK_PROGRAMS,
    OUTPUT_SINKS,
    SINGLE_DASH_LONG_OPTIONS,
    program_and_subcommand,
    program_name,
)
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

_MAX_CUTS: Final = 8
_MAX_PARTS: Final = 500
_SHORT_WORD: Final = 200
_PATH_SEPARATORS: Final = re.compile(r"[=:,;]")
_URL_START: Final = re.compile(
    r"(?:https?|ftps?|ssh|git|wss?|git\+ssh|git\+https?|rediss?|postgres(?:ql)?|mysql|mongodb|amqps?|ldaps?|s3|gs)"
    r"://[^/\s,][^\s,]*",
    re.IGNORECASE,
)
_LETTER_GROUP: Final = re.compile(r"-[A-Za-z0-9]+")
_EVERY_LETTER: Final = "*"
_FILE_PREFIXES: Final = "@<"
_LABEL_PROGRAMS: Final = frozenset({"bazel", "buck", "buck2"})
"""Programs to which `//x` is a target within the workspace."""


def words_that_may_be_paths(simple: SimpleCommand) -> Iterator[str]:
    yield from simple.values
    has_labels = program_name(simple.words[0]) in _LABEL_PROGRAMS
    for index, word in enumerate(simple.words[1:], 1):
        if index not in simple.text and not (has_labels and word.startswith("//")):
            yield word


def path_operands(simple: SimpleCommand) -> list[str]:
    """Return the words of a command that are no options and may name a path."""
    return [
        word
        for index, word in enumerate(simple.words)
        if index and index not in simple.text and (not word.startswith("-") or "--" in simple.words[:index])
    ]


def path_candidates(word: str, ends: str = "") -> tuple[str, ...] | None:
    """Return everything in a word that a program may take for a path; None if there is too much to check.

    That is the word itself, any part between `=`, `:`, `,` and `;`, what follows the letters of an option or
    git's `:(top)`, each also without `@` or `<`. `ends` are option letters that take the rest of a word.
    """
    if len(word) <= _SHORT_WORD:
        return _path_candidates_cached(word, ends)
    return None if len(_PATH_SEPARATORS.findall(word)) > _MAX_PARTS else _all_path_candidates(word, ends)


@lru_cache(maxsize=4096)
def _path_candidates_cached(word: str, ends: str) -> tuple[str, ...]:
    return _all_path_candidates(word, ends)


def _all_path_candidates(word: str, ends: str) -> tuple[str, ...]:
    parts = dict.fromkeys((word, *_separated_parts(word)))
    if "file:" in word.lower() and "%" in word:
        parts.update(dict.fromkeys(map(unquote, tuple(parts))))
    for part in tuple(parts):
        parts.update(dict.fromkeys(_values_behind_letters(part, ends)))
    if word.startswith(":("):
        parts[word.partition(")")[2]] = None
    parts.update(dict.fromkeys(part.lstrip(_FILE_PREFIXES) for part in tuple(parts)))
    return tuple(parts)


def _values_behind_letters(word: str, ends: str) -> Iterator[str]:
    group = _LETTER_GROUP.match(word)
    for position in range(2, min(group.end() + 1, len(word)) if group else 0):
        yield word[position:]
        if ends == _EVERY_LETTER or word[position - 1] in ends:
            return


def value_option_letters(words: Sequence[str]) -> str:
    """Return the option letters of a program that take the rest of their word as a value."""
    name = program_name(words[0])
    listed = LETTERS_WITH_VALUE.get(name) or LETTERS_WITH_VALUE.get(" ".join((name, *words[1:2])))
    return listed or (_EVERY_LETTER if name in SINGLE_DASH_LONG_OPTIONS else "")


def _separated_parts(word: str) -> Iterator[str]:
    cuts = [separator.end() for separator in _PATH_SEPARATORS.finditer(word)]
    if not cuts:
        return
    for address in _URL_START.finditer(word) if "://" in word else ():
        first, last = address.span()
        colon = word.index(":", first) + 1
        cuts = [cut for cut in cuts if cut != colon and not (first < cut < last and word[cut - 1] in "=;")]
    starts, ends = [0, *cuts], [*(cut - 1 for cut in cuts), len(word)]
    if len(cuts) > _MAX_CUTS:
        yield from (word[start:end] for start, end in zip(starts, ends, strict=True))
        yield from (word[start : start + MAX_PATH_LENGTH + 1] for start in starts)
        yield from (word[:end] for end in ends if end <= MAX_PATH_LENGTH)
        return
    yield from (word[start:end] for start in starts for end in ends if end > start)


def copied_paths(words: Sequence[str], operands: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each path that a copy reads or writes, and whether it may be a whole folder."""
    folders = list(operands[-1:])
    for index, word in enumerate(words):
        if word.startswith("--target-directory="):
            folders.append(word.partition("=")[2])
        elif re.fullmatch(r"-[A-Za-z]*t", word) or word == "--target-directory":
            folders.extend(words[index + 1 : index + 2])
        elif word.startswith("-t"):
            folders.append(word[2:])
    is_merged = any(re.fullmatch(r"-[A-Za-z]*T[A-Za-z]*|--no-target-directory", word) for word in words)
    if len(operands) == 1:
        yield f"./{operands[0].rstrip('/').rpartition('/')[2]}", False
    for source in operands:
        yield source, source not in folders
        name = source.rstrip("/").rpartition("/")[2]
        for folder in folders:
            if folder == source and len(operands) > 1:
                continue
            yield f"{folder}/{name}", True
            if is_merged or source.endswith("/") or name in ("", ".", ".."):
                yield folder, True


ALWAYS_ALLOWED_PLACES: Final = OUTPUT_SINKS | INPUT_DEVICES | {"/dev/tty"}
_MAX_FOLDERS: Final = 16
_MAX_LOOKUP_COST: Final = 300_000
_COST_PER_PATH: Final = 20
"""Cost of looking up one path besides its length, in characters."""
_FOLDER_OPTIONS: Final = frozenset({
    "-C", "--directory", "--cwd", "--chdir", "-chdir", "--dir", "--prefix", "--working-directory",
    "--project-dir", "--root",
})  # fmt: skip
"""Options that name the folder in which a program takes its other words."""
COPYING_PROGRAMS: Final = frozenset({"cp", "mv", "ln", "install", "rsync", "git mv"})
"""Programs that write into their last word under the names of the others."""
_PACKERS: Final = frozenset({
    "cp", "mv", "ln", "rsync", "install", "git mv", "git archive", "tar", "bsdtar", "zip", "7z", "7za", "7zz",
    "cpio", "pax", "jar", "ar", "rar", "mksquashfs", "shar", "ditto", "gcp", "zipfile", "tarfile",
})  # fmt: skip
"""Programs that copy whole folders, so that a file that may not be read gets another name."""
_GIT_SHOWS_FILES: Final = frozenset({
    "annotate", "archive", "blame", "cat-file", "diff", "diff-files", "diff-index", "diff-tree", "grep",
    "log", "range-diff", "reflog", "rev-parse", "show", "stash", "whatchanged",
})  # fmt: skip
"""Subcommands of git that print what files hold or held."""
_MOST_PACKED: Final = 2_000
"""Files of a folder that are compared with the denials before it is packed."""
_FOLDER_CHANGERS: Final = frozenset({
    "rm", "rmdir", "shred", "srm", "trash", "trash-put", "chmod", "chown", "chgrp", "chcon", "chattr",
    "setfacl",
})  # fmt: skip
_FOLDER_WRITERS: Final = _FOLDER_CHANGERS | COPYING_PROGRAMS | {"git checkout", "git restore", "git rm"}
"""Programs that change whole folders, so that a file in them is written that may not be."""
_NAME_MAKERS: Final = COPYING_PROGRAMS | {"touch", "mkdir", "tee", "truncate", "mkfifo", "mknod"}
"""Programs that make files under names that are words of the line."""
_FOLDER_WALKERS: Final = frozenset({"rg", "ag", "ack", "fd", "find", "tree", "grep", "ls", "du"})
"""Programs that look through the folder they run in when nothing else is named."""
_GIT_TAKES_PATTERNS: Final = frozenset({
    "git checkout", "git restore", "git rm", "git stash", "git clean", "git mv", "git reset",
})  # fmt: skip
"""Subcommands of git that change each file of the working tree that a pattern matches."""
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{4,64}")
_PATHSPEC_MAGIC: Final = re.compile(r"\([^)]*\)|[/!^]+")
_PATHSPEC_PATTERN: Final = re.compile(r"[*?\[]")
_PROTECTED_SIGNS: Final = re.compile(r"/\.|/git~1|\A/(?:workbench|wave)\.yaml")
"""A folded path from the workspace without one of these holds no protected name."""
_CD_OPTIONS: Final = frozenset({"--", "-L", "-P", "-e", "-@"})


class CommandBoundary(Struct, frozen=True, kw_only=True):
    """What commands may touch without a question."""

    workspace: str
    folder: str = ""
    """Where a line runs; empty is the workspace."""
    closed: tuple[str, ...] = ()
    """Folders that agents may neither read nor write: the data folder."""
    governing: Callable[[], Iterable[str]] = tuple
    """Returns further absolute paths that govern the workspace, such as its hook scripts."""
    is_denied: Callable[[ResolvedPath], bool] | None = None
    is_write_denied: Callable[[ResolvedPath], bool] | None = None
    unwritable: Callable[[str], str] | None = None
    """Returns why no grant covers writing a real path, such as one that runs automatically."""
    odd_name: Callable[[str], str] | None = None
    """Returns why no grant covers making a file with such a real path, such as one that mixes alphabets."""
    holds_unwritable: Callable[[str], str] | None = None
    """Returns why no grant covers moving or replacing a real folder with all that it holds."""

    @property
    def has_denials(self) -> bool:
        return self.is_denied is not None or self.is_write_denied is not None


def boundary_objections(commands: Sequence[SimpleCommand], boundary: CommandBoundary) -> tuple[str, ...]:
    """Return for each command of a line why no grant covers it, empty where nothing is wrong."""
    line = _LineWalk(boundary)
    return tuple(line.shown_reason(line.reason(simple)) for simple in commands)


def boundary_objection(commands: Sequence[SimpleCommand], boundary: CommandBoundary) -> str:
    """Return why no grant covers a line because of the paths it touches, empty where nothing is wrong."""
    line = _LineWalk(boundary)
    for simple in commands:
        if why := line.reason(simple):
            if line.left_by is not None and simple is not commands[-1]:
                return line.shown_reason(_OUTSIDE_WORKSPACE)
            return f"{_command_words(simple)}: {line.shown_reason(why)}"
    return ""


def objection_inside(commands: Sequence[SimpleCommand], boundary: CommandBoundary) -> str:
    """Return why a line asks although it runs inside a sandbox: a path that is denied or controls something.

    Paths outside the workspace are no reason: the sandbox hides them or keeps them from being written.
    """
    line = _LineWalk(boundary)
    return next((line.shown_reason(why) for simple in commands if (why := line.reason_inside(simple))), "")


def is_within_boundary(commands: Sequence[SimpleCommand], boundary: CommandBoundary) -> bool:
    """Say whether a grant may cover a line as far as the paths it touches are concerned."""
    line = _LineWalk(boundary)
    return not any(map(line.reason, commands))


class _LineWalk:
    """Follows a line from the first command to the last, each in every folder in which it may run."""

    def __init__(self, boundary: CommandBoundary) -> None:
        self._places = _PathLookup(boundary)
        start = os.path.realpath(boundary.folder) if boundary.folder else self._places.root
        self._now = self._every = {start: start}
        self._starts_outside = not is_below(start, self._places.root)
        self._moved_last = False
        self._made: dict[str, None] = {}
        """Paths, links not followed, that a command before on the line links, moves or copies to."""
        self.left_by: SimpleCommand | None = None
        """The `cd` that leads out of the workspace: everything after it asks."""

    def reason(self, simple: SimpleCommand) -> str:
        if self._starts_outside or self.left_by is not None:
            return _OUTSIDE_WORKSPACE
        is_chained = simple.behind == "&&" or (simple.behind in ("|", "|&") and not self._moved_last)
        self._now = self._now if is_chained else self._every
        self._moved_last = simple.moves
        why = next(self._reasons(simple), "") or (self._move(simple) if simple.moves else "")
        self._made.update(dict.fromkeys(self._made_by(simple)))
        return why

    def reason_inside(self, simple: SimpleCommand) -> str:
        """Return a reason that is about more than leaving the workspace.

        Where files may not be read, leaving it is one too: what is named from elsewhere is not followed.
        """
        if self._starts_outside or self.left_by is not None:
            return _OUTSIDE_WORKSPACE if self._places.has_denials else ""
        ways_out = (_LEAVES_WORKSPACE, _OUTSIDE_WORKSPACE)
        why = next((why for why in self._reasons(simple) if not why.endswith(ways_out)), "")
        first = self.reason(simple)
        return why or (first if self._places.has_denials or not first.endswith(ways_out) else "")

    def shown_reason(self, why: str) -> str:
        """Return a reason without secrets and in one line."""
        if why == _OUTSIDE_WORKSPACE and self.left_by is not None:
            return f"after {_command_words(self.left_by)}: {_OUTSIDE_WORKSPACE}"
        return one_line(scrub(why).text, 200)

    # --- where it runs ---------------------------------------------------------------------------

    def _move(self, simple: SimpleCommand) -> str:
        targets = [word for word in simple.words[1:] if word not in _CD_OPTIONS]
        if len(targets) != 1 or targets[0].startswith("-"):
            return self._leave(simple, "it")
        if simple.is_repeated and not simple.stays:
            return "a cd in a loop cannot be followed"
        reached: dict[str, str] = {}
        for logical, real in self._now.items():
            for path in self._places.reached(logical, real, targets[0]):
                if not is_below(path[1], self._places.root):
                    return self._leave(simple, targets[0])
                reached[path[0]] = path[1]
        self._every = {**self._every, **reached}
        if len(self._every) > _MAX_FOLDERS:
            return "it changes the folder too often to follow"
        is_sure = {"|", "|&", "||", "!"}.isdisjoint(simple.behind.split(" "))
        self._now = reached if is_sure else self._every
        return ""

    def _leave(self, simple: SimpleCommand, where: str) -> str:
        self.left_by = simple
        return f"{_shortened_path(where)} {_LEAVES_WORKSPACE}"

    # --- what it touches -------------------------------------------------------------------------

    def _reasons(self, simple: SimpleCommand) -> Iterator[str]:
        folders = tuple(dict.fromkeys(self._now.values()))
        yield from self._places.program(folders, simple.words[0])
        if program_name(simple.words[0]) == "git":
            yield from self._places.other_repository(folders)
        inner = tuple(self._places.inner(folders, simple.words))
        letters = value_option_letters(simple.words)
        for word in (*simple.sources, *words_that_may_be_paths(simple)):
            why = self._places.first_reason((*folders, *inner), word, letters)
            if why:
                self.left_by = simple if simple.moves and why.endswith(_LEAVES_WORKSPACE) else None
                yield why
            if self._leads_through_made(simple, word, (*folders, *inner), letters):
                yield f"{_shortened_path(word)} leads through what the line itself makes"
        if not only_reads(simple):
            yield from self._written(simple, (*folders, *inner), letters)
        if not simple.moves:
            yield from self._whole_folders(simple, folders)
        if self._places.has_denials:
            yield from self._denied(simple, (*folders, *inner))

    def _made_by(self, simple: SimpleCommand) -> Iterator[str]:
        """Yield the paths that a command makes by copying, moving or linking, its links not followed."""
        if _command_name(simple.words) not in COPYING_PROGRAMS:
            return
        operands = path_operands(simple)
        for path, _ in copied_paths(simple.words[1:], operands):
            for folder in self._now.values():
                place = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 -- text
                is_source = path in operands[:-1]
                is_folder = os.path.isdir(place) and not os.path.islink(place)  # noqa: PTH112, PTH114 -- text
                if not is_source and not is_folder:
                    yield place

    def _leads_through_made(
        self, simple: SimpleCommand, word: str, folders: Sequence[str], letters: str
    ) -> bool:
        """Return whether a word names something below a path that the line itself makes.

        Where such a path leads is not known before the line runs.
        """
        if not self._made:
            return False
        is_whole = simple.moves or _command_name(simple.words) in _PACKERS
        for path in path_candidates(word, letters) or ():
            for folder in folders:
                place = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 -- text
                if any(is_below(place, made) and (is_whole or place != made) for made in self._made):
                    return True
        return False

    def _written(self, simple: SimpleCommand, folders: Sequence[str], letters: str) -> Iterator[str]:
        """Yield why no grant covers a path that the command may write."""
        yield from (why for folder in folders for why in self._places.working_in(folder))
        is_network = bool(program_and_subcommand(simple.words) & NETWORK_PROGRAMS)
        for word in words_that_may_be_paths(simple):
            if why := _pattern_reason(simple, word):
                yield f"{_shortened_path(word)} {why}"
            if not (is_network and _URL_START.fullmatch(word)):
                for path in path_candidates(word, letters) or ():
                    yield from self._places.writing(folders, path)
        try:
            names = derived_names(simple.words)
        except UnknownNames as error:
            yield str(error)
        else:
            for name in names:
                yield from self._places.reasons(folders, name)
                yield from self._places.writing(folders, name)

    def _whole_folders(self, simple: SimpleCommand, folders: Sequence[str]) -> Iterator[str]:
        name, places = _command_name(simple.words), self._places
        operands = path_operands(simple)
        if name in _NAME_MAKERS:
            copied = copied_paths(simple.words[1:], operands) if name in COPYING_PROGRAMS else ()
            for path in (*operands, *(path for path, _ in copied)):
                yield from places.making(folders, path)
        if name in COPYING_PROGRAMS:
            yield from self._copied(simple, folders, operands)
        elif name in _FOLDER_CHANGERS:
            yield from (why for path in operands for why in places.holding(folders, path))
        if name in _FOLDER_WRITERS:
            yield from (why for path in operands for why in places.holding_write_denied(folders, path))
        if places.closed_inside:
            start = (".",) if name in _FOLDER_WALKERS else ()
            yield from (why for path in (*start, *operands) for why in places.holding_closed(folders, path))

    def _denied(self, simple: SimpleCommand, folders: Sequence[str]) -> Iterator[str]:
        """Yield how a command shows or copies files that may not be read."""
        name = _command_name(simple.words)
        if name in _PACKERS:
            operands = path_operands(simple)
            whole = (".",) if name == "git archive" and len(operands) < 3 else ()
            for path in (*whole, *operands):
                yield from self._places.holding_denied(folders, path)
        if program_name(simple.words[0]) == "git" and git_command(simple.words) in _GIT_SHOWS_FILES:
            for index, word in enumerate(simple.words[1:], 1):
                if index not in simple.text and self._places.may_name_denied(folders, word):
                    yield f"{_shortened_path(word)} may name files that may not be read"
                for path in _paths_in_objects(word):
                    yield from self._places.reasons(folders, path)
            if name == "git cat-file" and any(map(_OBJECT_ID.fullmatch, simple.words)):
                yield "an object of git may hold a file that may not be read"

    def _copied(
        self, simple: SimpleCommand, folders: Sequence[str], operands: Sequence[str]
    ) -> Iterator[str]:
        for path, is_whole in copied_paths(simple.words[1:], operands):
            yield from self._places.reasons(folders, path)
            yield from self._places.writing(folders, path)
            if is_whole:
                yield from self._places.holding(folders, path)
        if program_name(simple.words[0]) == "ln":
            yield from self._linked(folders, operands)

    def _linked(self, folders: Sequence[str], operands: Sequence[str]) -> Iterator[str]:
        """A relative target of a link counts from where the link is."""
        for target in operands[-1:]:
            places = [
                place
                for start in (target, f"{target}/..")
                for place in self._places.real_folders(folders, start)
            ]
            for path in operands[:-1]:
                yield from self._places.reasons(places, path)


_LEAVES_WORKSPACE: Final = "leaves the workspace"
_OUTSIDE_WORKSPACE: Final = "outside the workspace"


class _PathLookup:
    """Tells whether a path leads to something that may not be touched; looks each path up once."""

    def __init__(self, boundary: CommandBoundary) -> None:
        self._boundary = boundary
        self.root = _real_path_cached(boundary.workspace)
        self._start = self.root.rstrip("/") + "/"
        self._closed = tuple(folded_path(_real_path_cached(place)) for place in boundary.closed)
        self.closed_inside = any(is_below(place, folded_path(self.root)) for place in self._closed)
        self.has_denials = boundary.is_denied is not None
        self._known: dict[tuple[str, str], str] = {}
        self._why_unwritable: dict[str, str] = {}
        self._write_denials: dict[tuple[str, str], bool] = {}
        self._bare: dict[str, bool] = {}
        self._left = _MAX_LOOKUP_COST

    @cached_property
    def _git(self) -> tuple[str, ...]:
        return tuple(map(folded_path, folders_obeyed_by_git(self.root)))

    @cached_property
    def _governing(self) -> frozenset[str]:
        return frozenset(folded_path(os.path.realpath(path)) for path in self._boundary.governing())

    # --- paths -----------------------------------------------------------------------------------

    def first_reason(self, folders: Sequence[str], word: str, letters: str) -> str:
        parts = path_candidates(word, letters)
        if parts is None:
            return _TOO_MUCH_TO_LOOK_AT
        return next((why for path in parts for why in self.reasons(folders, path)), "")

    def reasons(self, folders: Sequence[str], path: str) -> Iterator[str]:
        for folder in folders:
            reason = self._known.get((folder, path))
            if reason is None:
                reason = self._known[folder, path] = self._reason(folder, path)
            if reason:
                yield reason

    def program(self, folders: Sequence[str], word: str) -> Iterator[str]:
        """Yield why a relative program may not be run: its folder is not in the workspace."""
        folder, sign, _ = word.rpartition("/")
        if sign and not word.startswith("/"):
            for start in folders:
                real = self._real(start, folder)
                if real is None or not is_below(real, self.root):
                    yield f"{_shortened_path(word)} {_LEAVES_WORKSPACE}"

    def other_repository(self, folders: Sequence[str]) -> Iterator[str]:
        """Yield why git may not run in a folder: it obeys a repository that begins below the workspace."""
        for folder in folders:
            if any(map(_is_repository, self._folders_up_to_root(folder))):
                yield f"git obeys the configuration of another repository in {_shortened_path(folder)}"

    def _folders_up_to_root(self, folder: str) -> Iterator[str]:
        while folder != self.root:
            yield folder
            folder = folder.rpartition("/")[0]

    def inner(self, folders: Sequence[str], words: Sequence[str]) -> Iterator[str]:
        """Yield the folders that options such as `-C` name."""
        for index, word in enumerate(words[1:], 1):
            option, sign, value = word.partition("=")
            if word in _FOLDER_OPTIONS:
                value = "".join(words[index + 1 : index + 2])
            elif word.startswith("-C"):
                value = word[2:]
            elif not sign or option not in _FOLDER_OPTIONS:
                continue
            yield from self.real_folders(folders, value)

    def real_folders(self, folders: Iterable[str], path: str) -> Iterator[str]:
        """Yield where a path leads from some folders, as far as that is in the workspace."""
        for folder in folders:
            real = self._real(folder, path)
            if real is not None and is_below(real, self.root):
                yield real

    def reached(self, logical: str, real: str, target: str) -> Iterator[tuple[str, str]]:
        """Yield where a `cd` may lead: a shell takes `..` off the name it knows, or off the real one."""
        path = os.path.normpath(os.path.join(logical, target))  # noqa: PTH118 -- text, as the shell has it
        yield path, self._real("/", path) or path
        physical = self._real(real, target) or path
        yield physical, physical

    def _real(self, folder: str, path: str) -> str | None:
        try:
            followed = real_path(folder, path)
        except (OSError, ValueError):
            return None
        return followed and followed[0]

    def _reason(self, folder: str, path: str) -> str:
        self._left -= len(path) + _COST_PER_PATH
        if self._left < 0:
            return _TOO_MUCH_TO_LOOK_AT
        if not path or path in ALWAYS_ALLOWED_PLACES or len(path) > MAX_PATH_LENGTH:
            return ""
        if "\ufffd" in path:
            return f"{_shortened_path(path)} is not valid text"
        try:
            followed = real_path(folder, path)
        except OSError as error:
            # No file can have such a name.
            return "" if error.errno == errno.ENAMETOOLONG else f"{_shortened_path(path)} cannot be looked up"
        except ValueError:
            return f"{_shortened_path(path)} cannot be looked up"
        if followed is None:
            return f"{_shortened_path(path)}: its links lead in a circle"
        return self._where(folder, path, *followed) or self._at_home(folder, path)

    def _at_home(self, folder: str, path: str) -> str:
        """Some programs expand `~` by themselves."""
        expanded = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111 -- text
        return "" if expanded == path else self._reason(folder, expanded)

    def _where(self, folder: str, path: str, real: str, exists: bool) -> str:
        name = folded_path(real)
        if any(is_below(name, place) for place in self._closed):
            return f"{_shortened_path(path)} is in the data folder, which is closed to agents"
        relative = "." if real == self.root else real[len(self._start) :]
        if real != self.root:
            if not real.startswith(self._start):
                return f"{_shortened_path(path)} {_LEAVES_WORKSPACE}"
            if why := self._by_name(real, relative) or self._by_place(real, name, exists):
                return f"{_shortened_path(path)} {why}"
        if self._boundary.is_denied is not None:
            spelled = os.path.relpath(os.path.join(folder, path), self.root)  # noqa: PTH118 -- text
            target = ResolvedPath(path=real, relative=relative, exists=exists, given=spelled)
            if self._boundary.is_denied(target):
                return f"reading {_shortened_path(path)} is denied here"
        return ""

    def _by_name(self, real: str, relative: str) -> str | None:
        folded = f"/{folded_path(relative)}"
        home = _real_path_cached(os.path.expanduser("~"))  # noqa: PTH111 -- text
        if not _PROTECTED_SIGNS.search(folded) and not _one_holds_other(self.root, home):
            return None
        return protection_reason(real, relative, home)

    def _by_place(self, real: str, name: str, exists: bool) -> str | None:
        if any(is_below(name, place) for place in self._git) or self._is_in_bare(real):
            return "belongs to git"
        if exists and name in self._governing:
            return "is run by the configuration of this workspace"
        return None

    def _is_in_bare(self, real: str) -> bool:
        current = real
        while current != self.root:
            current = os.path.dirname(current)  # noqa: PTH120 -- text, not a file
            if current not in self._bare:
                self._bare[current] = is_bare_repository(current)
            if self._bare[current]:
                return True
        return False

    # --- folders ---------------------------------------------------------------------------------

    def writing(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why no grant covers writing a path."""
        if not path or path in ALWAYS_ALLOWED_PLACES or len(path) > MAX_PATH_LENGTH:
            return
        for folder in folders:
            for real in self.real_folders((folder,), path):
                if why := self._unwritable_reason(real):
                    yield f"{_shortened_path(path)}: {why}"
                elif self._is_write_denied(folder, path, real):
                    yield f"writing {_shortened_path(path)} is denied here"

    def making(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why no grant covers making a file of this name."""
        if self._boundary.odd_name is not None:
            for real in self.real_folders(folders, path):
                if why := self._boundary.odd_name(real):
                    yield f"{_shortened_path(path)}: {why}"

    def working_in(self, folder: str) -> Iterator[str]:
        """Yield why a command that may write runs in no folder whose files run automatically."""
        if folder != self.root and (why := self._unwritable_reason(folder)):
            yield f"it runs in {_shortened_path(folder)}: {why}"

    def may_name_denied(self, folders: Sequence[str], word: str) -> bool:
        """Return whether git may expand a word to files that may not be read."""
        if _PATHSPEC_PATTERN.search(word) is None:
            return False
        return not any(os.path.lexists(f"{folder}/{word}") for folder in folders)

    def _unwritable_reason(self, real: str) -> str:
        if self._boundary.unwritable is None:
            return ""
        if real not in self._why_unwritable:
            self._why_unwritable[real] = self._boundary.unwritable(real)
        return self._why_unwritable[real]

    def _is_write_denied(self, folder: str, path: str, real: str) -> bool:
        denied = self._boundary.is_write_denied
        if denied is None:
            return False
        if (real, path) not in self._write_denials:
            relative, spelled = (
                os.path.relpath(place, self.root)
                for place in (real, os.path.join(folder, path))  # noqa: PTH118 -- text
            )
            target = ResolvedPath(path=real, relative=relative, exists=os.path.lexists(real), given=spelled)
            self._write_denials[real, path] = denied(target)
        return self._write_denials[real, path]

    def holding_write_denied(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why a folder may not be changed as a whole: it holds a file that may not be written."""
        denied = self._boundary.is_write_denied
        for real in self.real_folders(folders, path) if denied is not None else ():
            if why := self._denied_inside(real, denied, "written"):
                yield f"{_shortened_path(path)} {why}"

    def holding(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield what is protected in a folder, which may not be changed as a whole."""
        for folder in folders:
            real = self._real(folder, path)
            if real is None:
                continue
            name = folded_path(real)
            inside = (*self._closed, *self._git, *self._governing)
            if real == self.root or any(is_below(place, name) for place in inside):
                yield f"{_shortened_path(path)} holds what controls this workspace"
            elif os.path.lexists(f"{real}/.git"):
                yield f"{_shortened_path(path)} holds a repository of git"
            elif self._boundary.holds_unwritable is not None and (
                why := self._boundary.holds_unwritable(real)
            ):
                yield f"{_shortened_path(path)}: {why}"

    def holding_denied(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why a folder may not be copied as a whole: it holds a file that may not be read."""
        for real in self.real_folders(folders, path):
            if why := self._denied_inside(real, self._boundary.is_denied, "read"):
                yield f"{_shortened_path(path)} {why}"

    def _denied_inside(self, folder: str, denied: Callable[[ResolvedPath], bool] | None, done: str) -> str:
        """Return why a folder may not be copied or changed as a whole; links in it are followed once."""
        left, waiting, seen = _MOST_PACKED, [folder], {folder}
        while waiting:
            for entry in _entries(waiting.pop()):
                left -= 1
                if left < 0:
                    return f"holds too many files to compare with what may not be {done}"
                real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if denied is not None and any(
                    denied(self._existing_target(place)) for place in (entry.path, real)
                ):
                    return f"holds files that may not be {done}"
                if real not in seen and is_below(real, self.root) and os.path.isdir(real):  # noqa: PTH112 -- text
                    seen.add(real)
                    waiting.append(real)
        return ""

    def _existing_target(self, real: str) -> ResolvedPath:
        relative = os.path.relpath(real, self.root)
        return ResolvedPath(path=real, relative=relative, exists=True, given=relative)

    def holding_closed(self, folders: Sequence[str], path: str) -> Iterator[str]:
        for folder in folders:
            real = self._real(folder, path)
            if real is not None and any(is_below(place, folded_path(real)) for place in self._closed):
                yield f"{_shortened_path(path)} holds the data folder, which is closed to agents"


@lru_cache(maxsize=64)
def _one_holds_other(folder: str, other: str) -> bool:
    return is_below(folded_path(folder), folded_path(other)) or is_below(
        folded_path(other), folded_path(folder)
    )


@lru_cache(maxsize=64)
def _real_path_cached(path: str) -> str:
    """Cached: the workspace, the home and the data folder do not move while the program runs."""
    return os.path.realpath(path)


_TOO_MUCH_TO_LOOK_AT: Final = "its paths are too many or too long to check"


def _command_name(words: Sequence[str]) -> str:
    """Return the program of a command, of git with its subcommand."""
    name = program_name(words[0])
    return f"git {git_command(words)}" if name == "git" else name


def _pattern_reason(simple: SimpleCommand, word: str) -> str:
    """Return why a program may not expand a pattern: it may match a file that runs automatically."""
    is_pathspec = word.startswith((":(", ":!", ":^")) or _PATHSPEC_PATTERN.search(word) is not None
    if is_pathspec and _command_name(simple.words) in _GIT_TAKES_PATTERNS:
        return "is a pattern that git expands, also to files that run automatically"
    return "may name a file that runs automatically" if may_match_closed(word) else ""


def _paths_in_objects(word: str) -> Iterator[str]:
    """Yield what git may take for a path in `HEAD:path`, `-L1,3:path` or `:(top)path`."""
    for colon in re.finditer(":", word):
        path = word[colon.end() :]
        yield path
        if magic := _PATHSPEC_MAGIC.match(path):
            yield path[magic.end() :]


def _is_repository(folder: str) -> bool:
    return os.path.lexists(f"{folder}/.git") or is_bare_repository(folder)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _command_words(simple: SimpleCommand) -> str:
    return one_line(scrub(simple.source[:4000]).text, 60)


def _shortened_path(path: str) -> str:
    return path if len(path) <= 64 else f"{path[:16]}…{path[-47:]}"
