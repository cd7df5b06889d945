"""`workbench docs [PAGE]`: list, show and search the pages of the documentation, without a network."""

import os
import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.text.nearest import nearest_name
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from textual.content import Content

EXAMPLE = """workbench docs
workbench docs approving
workbench docs --search key missing
workbench docs --search -- --on-approval"""
_MODULE: Final = Path(__file__)
_WIDEST: Final = 100
"""Cells of a line: longer ones are hard to read."""
_MOST_EXCERPT: Final = 160
_COMMENT: Final = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_LINK: Final = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_ENDING: Final = re.compile(r"(?<=\w{3})(s|ed|ing)\Z", re.IGNORECASE)
_PAGER: Final = "less"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="PAGE",
        help="the page to show, or the words to search; none lists the pages",
    )
    parser.add_argument("--search", action="store_true", help="list the sections that have all of the words")


def execute(options: Namespace, console: Console) -> int:
    pages = documentation_pages()
    match options.words:
        case []:
            if options.search:
                raise UsageError("nothing is searched", "there is no word", "add one behind --search")
            console.say_lines(_page_list(pages))
            return EXIT_OK
        case words if options.search:
            return _search(pages, words, console)
        case [page]:
            return _show(pages[_page_name(pages, page)], console)
        case words:
            hint = f"to search for words: workbench docs --search {shlex.join(words)}"
            raise UsageError("nothing is shown", "one page is shown at a time", hint)


def documentation_pages() -> Mapping[str, Path]:
    """Return the pages by name (`approving`, `reference/settings`), those of the reference last.

    They are next to the package in a checkout, and in it where it is installed.
    """
    inside = _MODULE.parents[1] / "docs"
    folder = inside if inside.is_dir() else _MODULE.parents[2] / "docs"
    names = {str(path.relative_to(folder).with_suffix("")): path for path in folder.rglob("*.md")}
    if not names:
        raise Refusal("nothing is shown", f"there are no pages in {folder}", "install the program again")
    return {
        name: names[name] for name in sorted(names, key=lambda name: (name != "index", "/" in name, name))
    }


def _page_name(pages: Mapping[str, Path], typed: str) -> str:
    name = typed.removesuffix(".md").strip("/").lower()
    found = [page for page in pages if name in (page, page.rpartition("/")[2])]
    if found:
        return found[0]
    near = nearest_name(name, [*pages, *(page.rpartition("/")[2] for page in pages)])
    hint = f"type workbench docs {near} if you meant that; " if near else ""
    why = f"there is no page “{one_line(typed, 60)}”"
    raise UsageError("nothing is shown", why, f"{hint}workbench docs lists them")


def _read(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


# --- the list and the search --------------------------------------------------------------------------


def _page_list(pages: Mapping[str, Path]) -> Iterator[str]:
    width = max(map(len, pages))
    for name, path in pages.items():
        yield f"{name.ljust(width)}  {_first_sentence(_read(path))}"


def _first_sentence(text: str) -> str:
    paragraph = next((part.text for part in page_parts(text) if not part.text.startswith(("#", "```"))), "")
    return re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0]


class PagePart(Struct, frozen=True, kw_only=True):
    """A paragraph, a row of a table or a line of code, in one line without markup of links."""

    heading: str
    text: str


def page_parts(text: str) -> Iterator[PagePart]:
    """Yield the parts of a page in their order, headings left out."""
    heading, lines, is_code = "", list[str](), False
    for line in [*text.splitlines(), ""]:
        is_fence = line.startswith("```")
        is_heading = line.startswith("#") and not is_code
        ends = is_fence or is_heading or is_code or not line.strip() or line.startswith(("|", "- "))
        if ends and lines:
            yield PagePart(heading=heading, text=_plain(" ".join(lines)))
            lines = []
        if is_heading:
            heading = _plain(line.lstrip("# "))
        elif line.strip() and not is_fence:
            lines.append(line.strip())
        is_code ^= is_fence


def _plain(text: str) -> str:
    """Return text without links and code marks, and the cells of a row with spaces between."""
    text = _LINK.sub(r"\1", text).replace("`", "")
    return re.sub(r"(?<!\\)\s*\|\s*", "  ", text).strip() if text.startswith("|") else text


class _Section(Struct, frozen=True, kw_only=True):
    """A heading with the text below it, down to the next heading."""

    page: str
    heading: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join((self.heading, *self.parts))


def _sections(pages: Mapping[str, Path]) -> Iterator[_Section]:
    for page, path in pages.items():
        for heading, parts in groupby(page_parts(_read(path)), key=lambda part: part.heading):
            texts = (part.text for part in parts)
            yield _Section(page=page, heading=heading, parts=tuple(filter(_is_shown, texts)))


def _is_shown(text: str) -> bool:
    """Return whether text is more than the line below the head of a table."""
    return not set(text) <= set("-: |")


def _search(pages: Mapping[str, Path], words: Sequence[str], console: Console) -> int:
    wanted = [_word_pattern(word) for word in " ".join(words).split()]
    sections = [(section, _matches(section.text, wanted)) for section in _sections(pages)]
    most = max(count for _, count in sections)
    if not most:
        console.note(f"No section of the documentation has: {' '.join(words)}.")
        return EXIT_FAILED
    if most < len(wanted):
        console.note("No section has all words; these have most:")
    found = [section for section, count in sections if count == most]
    for section in sorted(found, key=lambda section: -_matches(section.heading, wanted)):
        text = max(section.parts, key=lambda part: _matches(part, wanted), default="")
        console.say(f"{section.page}, {section.heading}: {_excerpt(text, wanted)}")
    return EXIT_OK


def _word_pattern(word: str) -> re.Pattern[str]:
    """Return a pattern for words that start with a word, or with it without a final s, ed or ing."""
    stem = _ENDING.sub("", word)
    start = r"(?<![^\W_])" if word[0].isalnum() else ""
    return re.compile(start + re.escape(stem), re.IGNORECASE)


def _matches(text: str, wanted: Sequence[re.Pattern[str]]) -> int:
    """Return how many of the words a text has."""
    return sum(1 for pattern in wanted if pattern.search(text))


def _excerpt(text: str, wanted: Sequence[re.Pattern[str]]) -> str:
    """Return a text around its first word, in at most 160 characters and the signs of what is cut."""
    if len(text) <= _MOST_EXCERPT:
        return text
    first = min((found.start() for pattern in wanted if (found := pattern.search(text))), default=0)
    start = max(0, min(first - _MOST_EXCERPT // 3, len(text) - _MOST_EXCERPT))
    end = start + _MOST_EXCERPT
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


# --- one page -----------------------------------------------------------------------------------------


def _show(path: Path, console: Console) -> int:
    """Show a page in the pager; where no person reads, print its markdown."""
    text = _read(path)
    if not console.is_terminal:
        console.write(text)
        return EXIT_OK
    is_styled = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    lines = _rendered_lines(text, console)
    shown = "".join(f"{_styled(line) if is_styled else line.plain}\n" for line in lines)
    if not _show_in_pager(shown):
        console.say_lines(line.plain for line in lines)
    return EXIT_OK


def _rendered_lines(text: str, console: Console) -> "list[Content]":
    from shutil import get_terminal_size

    from workbench.render.glyphs import glyphs_for
    from workbench.render.markdown import markdown_lines
    from workbench.render.theme import own_theme_ink

    width = min(get_terminal_size().columns, _WIDEST)
    glyphs = glyphs_for("auto", console.out.encoding)
    return markdown_lines(_LINK.sub(_link_text, text), width, own_theme_ink("workbench-dark"), glyphs)


def _link_text(match: re.Match[str]) -> str:
    """Return the text of a link, with the page that it leads to as `workbench docs` names it."""
    text, target = match[1], match[2]
    if not target.endswith(".md") or ":" in target:
        return text if not target else match[0]
    name = target.removesuffix(".md").lstrip("./")
    return text if name.rpartition("/")[2] == text.lower() else f"{text} ({name})"


def _styled(line: "Content") -> str:
    """Return a line with the sequences of bold and underlined text; a pager shows no other styles."""
    text = line.plain
    for span in reversed(line.spans):
        style = span.style
        if not isinstance(style, str) and style.bold:
            text = f"{text[: span.start]}\x1b[1m{text[span.start : span.end]}\x1b[0m{text[span.end :]}"
    return text


def _show_in_pager(text: str) -> bool:
    """Show text in the user's pager; False where there is none to start."""
    from workbench.effects.terminal_programs import NOT_FOUND, run_with_input

    pager = os.environ.get("PAGER", "").strip() or _PAGER
    # `less` ends where all fits on the screen, shows the styles, and leaves the text on the terminal.
    command = f"LESS=${{LESS-FRX}}; export LESS; {pager}"
    return run_with_input(command, text.encode("utf-8", "replace"), "/") != NOT_FOUND
