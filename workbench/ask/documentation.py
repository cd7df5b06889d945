"""The documentation of a folder, as far as it is about commands (seed S3, DocFile).

README, CONTRIBUTING, INSTALL, AGENTS.md, CLAUDE.md and docs/. Texts are cut at headings; a section counts if
its title or one above it speaks of doing something, or if it shows lines of a shell. Comments of HTML are
left out, as no reader sees them. Reads nothing itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line, safe_text

MOST_DOCUMENTATION_BYTES: Final = 100 * 1024
"""Of all documents together."""
MOST_DOCUMENT_BYTES: Final = 40 * 1024
"""Of one, so that a long one leaves room for the next."""
_MOST_READ: Final = 256 * 1024
_MOST_READ_IN_ALL: Final = 1024 * 1024
_MOST_DOCUMENTS: Final = 100
_TEXT_ENDINGS: Final = ("", ".md", ".markdown", ".rst", ".txt", ".adoc")
_NAMES: Final = ("readme", "agents", "claude", "contributing", "install")
"""Names of documents beside the sources, in the order in which they are sent."""
_TITLE: Final = re.compile(
    r"\b(?:install|set[ -]?up|us(?:e|age|ing)\b|run|build|compil|test|develop|deploy|command|cli\b|start|task"
    r"|script|mak(?:e|ing)\b|example|releas|publish|lint|format|debug|migrat|docker|configur|contribut"
    r"|workflow|tool|how to)",
    re.IGNORECASE,
)
_SHELL_FENCE: Final = re.compile(
    r"(?:sh|bash|zsh|fish|shell|console|shell-session|terminal|powershell|cmd)\b|$"
)
"""What stands behind the mark of a block with commands: often nothing."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6}|={1,6})[ \t]+(\S.*)")
_UNDERLINE: Final = re.compile(r"""(=|-|~|\^|"|\*|\+|')\1{2,}[ \t]*""")
_PROMPT_LINE: Final = re.compile(r"[ \t]*\$ \S")


class Document(Struct, frozen=True, kw_only=True):
    """A file of documentation, and what of it is about commands (seed S3, DocFile)."""

    path: str
    """Relative to the folder."""
    content: str
    size: int
    """Bytes of the whole file."""


class Section(Struct):
    """A heading with the lines until the next one; before the first heading `title` is empty."""

    level: int
    title: str
    lines: list[str]
    shows_shell: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def command_sections(text: str, name: str = "") -> str:
    """Return the sections of a document that are about commands.

    `name`: of a document whose name and title say what it is about, such as INSTALL; all of it counts if they
    speak of doing something. Without a name the first title is that of the project.
    """
    kept: list[str] = []
    parents: list[tuple[int, bool]] = []
    for number, section in enumerate(sections(without_comments(text), name)):
        while parents and parents[-1][0] >= section.level:
            parents.pop()
        is_name = section.level == number == 1 and not name
        is_meant = bool(_TITLE.search(section.title)) and not is_name
        parents.append((section.level, is_meant or bool(parents and parents[-1][1])))
        if parents[-1][1] or section.shows_shell:
            kept.append(section.text)
    return "\n\n".join(filter(None, kept))


def without_comments(text: str) -> str:
    """Return a document without the comments that a reader of it does not see."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + 3
    return "".join((*parts, text[position:]))


def sections(text: str, name: str = "") -> Iterator[Section]:
    """Cut a document at its headings: of Markdown, of AsciiDoc, and underlined ones. `name` is above all."""
    section, fence = Section(level=0, title=name, lines=[]), ""
    underlines = {"=": 1, "-": 2}
    for line in text.splitlines():
        if fence:
            fence = "" if line.strip().startswith(fence) and not line.strip(" `~") else fence
        elif fence_start := _FENCE.match(line):
            fence = fence_start[1]
            section.shows_shell |= bool(_SHELL_FENCE.match(fence_start[2].strip("{. \t").lower()))
        elif heading := _HEADING.fullmatch(line):
            yield section
            section = Section(level=len(heading[1]), title=heading[2], lines=[])
        elif _is_underline(line, section.lines):
            title = section.lines.pop()
            yield section
            level = underlines.setdefault(line[0], len(underlines) + 1)
            section = Section(level=level, title=title.strip(), lines=[title])
        section.shows_shell |= not fence and bool(_PROMPT_LINE.match(line))
        section.lines.append(line)
    yield section


def _is_underline(line: str, before: list[str]) -> bool:
    title = before[-1].strip() if before else ""
    is_title = 0 < len(title) < 120 and not _UNDERLINE.fullmatch(title)
    return is_title and bool(_UNDERLINE.fullmatch(line))


# --- which files, and how much of them -----------------------------------------------------------------


Reader = Callable[[str, int], bytes | None]
"""Gives the first bytes of a file, one more than the number where there are more; None: no such file."""


class Documentation(Struct, frozen=True, kw_only=True):
    """The documents of a folder, and what was left out."""

    documents: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()


def document_names(names: Iterable[str]) -> list[str]:
    """Return which of a folder's names are documentation, in the order in which they are sent."""
    ranked = sorted((_rank(name), name) for name in names)
    return [name for rank, name in ranked if rank < len(_NAMES)]


def _rank(name: str) -> int:
    stem, dot, ending = name.lower().partition(".")
    is_text = dot + ending in _TEXT_ENDINGS
    return _NAMES.index(stem) if is_text and stem in _NAMES else len(_NAMES)


def docs_names(paths: Iterable[str]) -> list[str]:
    """Return which files of docs/ are read, those whose names speak of commands first."""
    texts = (path for path in paths if path.lower().endswith(_TEXT_ENDINGS[1:]))
    return sorted(texts, key=lambda path: (not _TITLE.search(path), path.count("/"), path))


def read_documentation(paths: Iterable[str], read: Reader, size_of: Callable[[str], int]) -> Documentation:
    """Read documents in their order, as far as they may be sent; each is scrubbed."""
    documents: list[Document] = []
    notes: list[str] = []
    bytes_left, bytes_to_read = MOST_DOCUMENTATION_BYTES, _MOST_READ_IN_ALL
    seen: set[str] = set()
    for number, path in enumerate(paths):
        if bytes_left <= 0 or bytes_to_read <= 0 or number >= _MOST_DOCUMENTS:
            notes.append(
                f"The documentation from {one_line(path, 120)} on was left out: at most "
                f"{MOST_DOCUMENTATION_BYTES // 1024} KB of {_MOST_DOCUMENTS} files are sent."
            )
            break
        data = read(path, _MOST_READ) or b""
        bytes_to_read -= len(data)
        commands_text = _commands_of(path, data[:_MOST_READ])
        if not commands_text or commands_text in seen:
            continue
        seen.add(commands_text)
        # Scrubbed before it is cut, as a secret that is cut in two would not be recognised.
        text = safe_text(scrub(commands_text).text)
        most = min(bytes_left, MOST_DOCUMENT_BYTES)
        sent_text = text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
        if sent_text != text:
            notes.append(f"Of {one_line(path, 120)} only the first {most:,} bytes about commands were sent.")
        bytes_left -= len(sent_text.encode("utf-8"))
        documents.append(Document(path=path, content=sent_text, size=size_of(path)))
    return Documentation(documents=tuple(documents), notes=tuple(notes))


def _commands_of(path: str, data: bytes) -> str:
    stem = path.rpartition("/")[2].partition(".")[0].lower()
    is_of_project = stem in _NAMES and stem != "install"
    return command_sections(data.decode("utf-8", "replace"), "" if is_of_project else stem)
