"""A class that a docstring or comment names in backticks exists."""

import re
from pathlib import Path

import workbench

SOURCE = Path(workbench.__file__).parent
QUOTED = re.compile(r"`([^`\n]+)`")
CLASS_NAME = re.compile(r"\b_?[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
"""Names of at least two words: a single one may be a word of a format or a language."""


def unknown_names(texts: dict[str, str]) -> list[str]:
    """Return names in backticks that no module defines, uses or has in a string."""
    known = {word for text in texts.values() for word in CLASS_NAME.findall(QUOTED.sub("", text))}
    return [
        f"{name}: {word}"
        for name, text in texts.items()
        for quoted in QUOTED.findall(text)
        for word in CLASS_NAME.findall(quoted)
        if word not in known
    ]


def test_each_class_that_a_docstring_names_exists():
    texts = {str(path.relative_to(SOURCE)): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
    assert unknown_names(texts) == []


def test_a_class_that_is_gone_is_noticed():
    text = '"""Answered by `show(ToolShown)`, see `PaneKeys` and `Other`."""\n\nclass PaneKeys: ...  # `OldKeys`\n'
    assert unknown_names({"a": text}) == ["a: ToolShown", "a: OldKeys"]
