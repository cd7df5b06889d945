"""The words of messages: plain English, by the list in CONTRIBUTING.md."""

import ast
import re

import pytest

from benchmarks import house

NOT_SAID = re.compile(
    r"\b(begun|began|begins?|mend(s|ed)?|anew|stands? in for|go on|goes on|going on|went on|lets? \w+ pass|let pass"
    r"|drives|driven|drove|govern(s|ed|ing)?|so many|from here on|not there any more"
    r"|(the|a|an|no|its|this|another) hosts?(?! of )|(?<!there )(is|are) no (?!longer\b|such\b|other\b|more\b))\b",
    re.IGNORECASE,
)
WITHOUT_MESSAGES = (
    # What is looked for in texts of others, and what a model reads.
    "workbench.secrets.", "workbench.agents.prompt", "workbench.pipelines.compaction", "workbench.providers.recording",
    # A host is a computer there.
    "workbench.policy.urls", "workbench.policy.autorun_files", "workbench.effects.web_fetch",
    "workbench.providers.errors", "workbench.pipelines.parse_manifest", "workbench.config.sections", "workbench.config.types",
)  # fmt: skip


def said(module):
    """Yield the texts of a module that have several words, without docstrings."""
    docs = {
        id(node.value)
        for node in module.nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in module.nodes:
        if isinstance(node, ast.JoinedStr):
            # With a word for what is put in, so that a phrase around it is seen.
            pieces = [part.value if isinstance(part, ast.Constant) else "it" for part in node.values]
            if any(" " in piece for piece in pieces):
                yield node.lineno, "".join(pieces)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            text = node.value.strip()
            if " " in text and not re.search(r"<!doctype|BEGIN (IMMEDIATE|PATCH|\[)", text, re.IGNORECASE):
                yield node.lineno, text


def test_no_message_uses_a_word_of_the_private_dialect():
    found = [
        f"{module.name}:{line}: {match[0]!r} in {text[:80]!r}"
        for module in house.modules().values()
        if not module.name.startswith(WITHOUT_MESSAGES)
        for line, text in said(module)
        if (match := NOT_SAID.search(text)) is not None
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("No session was begun.", False), ("it is no regular file", False), ("The host (pid 7) still runs.", False),
        ("there is no pipeline", True), ("it is no longer trusted", True), ("workbench host status", True),
        ("agents go on", False), ("rules let calls pass", False), ("so many hours", False), ("Start it again.", True),
    ],
)  # fmt: skip
def test_the_list_knows_the_words_and_nothing_else(text, is_said):
    assert (NOT_SAID.search(text) is None) == is_said
