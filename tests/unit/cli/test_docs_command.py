"""`workbench docs`: the list, one page in the pager or as markdown, the search, and wrong names."""

import pytest

from tests.support.tables import each_row
from workbench.cli import docs
from workbench.cli.errors import UsageError

PAGE = """# Approving

<!-- not for readers -->

How to answer. More of it.

## Reject with a reason

Press `R` and write why;
the agent reads it. See [rules](rules.md#deny) and [above](#approving).

| key | does |
|---|---|
| `a` | approve |

```sh
# no heading
workbench approvals list
```

A setting decides.
"""


@pytest.fixture
def pages(tmp_path, monkeypatch):
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    for name, text in {
        "approving": PAGE,
        "index": "# Start\n\nWhat this is.\n",
        "reference/settings": "# Settings\n\nEvery setting asks.\n\nThe agent reads them.\n\n"
        "Pass --on-approval.\n\n## CI\n\nA runner.\n",
    }.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(docs, "_MODULE", tmp_path / "workbench" / "cli.py")
    return tmp_path


def test_without_a_page_each_is_named_with_its_first_sentence(shell, pages):
    assert shell("docs") == 0
    assert shell.out.splitlines() == [
        "index               What this is.",
        "approving           How to answer.",
        "reference/settings  Every setting asks.",
    ]


def test_the_pages_of_the_program_are_found_in_a_checkout():
    assert {"reference/commands", "reference/settings", "reference/keys"} <= docs.documentation_pages().keys()


def test_where_no_person_reads_a_page_is_its_markdown(shell, pages):
    assert shell("docs", "approving.md") == 0
    assert shell.out == PAGE.replace("<!-- not for readers -->\n\n", "")


@each_row("typed", ["settings", "reference/settings", "Settings.md"])
def test_a_page_is_named_with_its_folder_or_without(pages, typed):
    assert docs._page_name(docs.documentation_pages(), typed) == "reference/settings"


def test_a_wrong_name_is_answered_with_the_nearest(pages):
    with pytest.raises(UsageError, match="setings") as refused:
        docs._page_name(docs.documentation_pages(), "setings")
    assert "workbench docs settings" in str(refused.value.remedy)


@each_row(
    "words, found",
    [
        (
            ["READS", "agent"],
            [
                "approving, Reject with a reason: Press R and write why; the agent reads it.",
                "reference/settings, Settings: The agent reads",
            ],
        ),
        (["reason", "approve"], ["approving, Reject with a reason: "]),  # the heading, and a row of its table
        (["approvals list"], ["approving, Reject with a reason: workbench approvals list"]),
        (["--", "--on-approval"], ["reference/settings, Settings: Pass --on-approval"]),
        (["asked"], ["reference/settings, Settings: Every setting asks"]),
        (["ci"], ["reference/settings, CI"]),  # not “decides”
        (["settings"], ["reference/settings, Settings: ", "approving, Reject with a reason: "]),
    ],
)
def test_the_search_names_page_and_section(shell, pages, words, found):
    assert shell("docs", "--search", *words) == 0
    lines = shell.out.splitlines()
    assert len(lines) == len(found), lines
    assert all(line.startswith(start) for line, start in zip(lines, found, strict=True)), lines


def test_a_search_without_a_section_for_all_words_says_which_have_most(shell, pages):
    assert shell("docs", "--search", "zebra", "reason", "write") == 0
    assert [line.partition(": ")[0] for line in shell.out.splitlines()] == ["approving, Reject with a reason"]
    assert "No section has all words; these have most:" in shell.err


@each_row("word", ["zebra", "---"])  # the line below the head of a table is not text
def test_a_search_for_what_is_nowhere_says_so_and_fails(shell, pages, word):
    assert shell("docs", "--search", "--", word) == 1
    assert shell.out == "" and word in shell.err


@each_row("words", [["--search"], ["approving", "index"]])
def test_a_search_has_words_and_a_page_is_one(shell, pages, words):
    assert shell("docs", *words) == 2


def test_an_excerpt_is_short_and_holds_the_word():
    text = "x " * 300 + "needle" + " y" * 300
    found = docs._excerpt(text, [docs._word_pattern("needles")])
    assert "needle" in found and len(found) <= docs._MOST_EXCERPT + 2 and found[0] == found[-1] == "…"


def shown(monkeypatch, pages, pager, **env):
    """Return what a terminal gets of a page, with the pager of the user."""
    from tests.unit.cli.test_dispatch import Stream
    from workbench.cli.console import Console
    from workbench.cli.dispatch import dispatch

    class Terminal(Stream):
        def isatty(self):
            return True

    for name, value in {"PAGER": pager, "TERM": "xterm", "COLUMNS": "60", **env}.items():
        monkeypatch.setenv(name, value)
    console = Console(Terminal(), Terminal())
    assert dispatch(["docs", "approving"], console) == 0
    return console.out.getvalue()


def test_at_a_terminal_a_page_is_text_in_the_users_pager(monkeypatch, pages):
    target = pages / "paged"
    assert shown(monkeypatch, pages, f"cat > '{target}'", NO_COLOR="1") == ""
    text = target.read_text(encoding="utf-8")
    assert text.startswith("Approving\n\nHow to answer. More of it.\n")
    assert "See rules and above." in " ".join(text.split()) and "│" not in text and "\x1b" not in text
    assert all(len(line) <= 60 for line in text.splitlines())


def test_titles_are_bold_in_the_pager(monkeypatch, pages):
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown(monkeypatch, pages, f"cat > '{pages / 'paged'}'")
    assert "\x1b[1mReject with a reason\x1b[0m\n" in (pages / "paged").read_text(encoding="utf-8")


def test_without_a_pager_the_text_is_printed(monkeypatch, pages):
    assert shown(monkeypatch, pages, "no-such-pager 2>/dev/null").startswith("Approving\n\nHow to answer.")
