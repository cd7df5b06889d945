"""Markdown tables and code."""

import re
from collections.abc import Iterable, Iterator, Sequence

GENERATED = "<!-- Made by `python -m docs.make`; change the source that it names, not this page. -->"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table and an empty line after it. A table without rows has no lines."""
    lines = [_row(row) for row in rows]
    if lines:
        yield from (_row(heads), "|" + "---|" * len(heads), *lines, "")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(text: str) -> str:
    """Return text as a code span; plain where it has a bar, which code in a table cannot have everywhere."""
    if "|" in text:
        return prose(text)
    mark = "``" if "`" in text else "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{pad}{text}{pad}{mark}"


def sentence(text: str) -> str:
    """Return words as a sentence: a capital letter first and a full stop last."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".") if text else ""


def prose(text: str) -> str:
    """Return plain words with what markdown would read as a mark escaped."""
    return re.sub(r"([\\*<\[\]])", r"\\\1", text)


def anchor(title: str) -> str:
    """Return the anchor of a heading as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
