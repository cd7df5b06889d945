"""What of a folder's documentation is about commands: sections, order, bounds."""

import pytest

from tests.support.tables import each_row
from workbench.ask.documentation import (
    MOST_DOCUMENT_BYTES,
    MOST_DOCUMENTATION_BYTES,
    Document,
    command_sections,
    docs_names,
    document_names,
    read_documentation,
    without_comments,
)

README = """\
# shop build

A shop that sells things, of which much could be said.

## Why

Because.

## Installation

Take the archive.

### On a Mac

Use another one.

## History

```python
# ## Usage is no heading here
```

## Notes

```console
make notes
```

Licence
-------

MIT

Running it
----------

Press the button.
"""
KEPT = """\
## Installation

Take the archive.

### On a Mac

Use another one.

## Notes

```console
make notes
```

Running it
----------

Press the button."""


@pytest.mark.spec(184)
def test_the_sections_about_commands_are_kept_with_what_is_below_them():
    assert command_sections(README) == KEPT


SECTIONS = [
    ("# Contributing\n\nFirst talk.\n\n## Style\n\nBe kind.", "why", "# Contributing\n\nFirst talk.\n\n## Style\n\nBe kind."),
    ("# Contributing\n\nFirst talk.\n\n## Style\n\nBe kind.\n\n## Tests\n\nRun.", "", "## Tests\n\nRun."),
    ("plain words\n\n# Why\n\nBecause.", "install", "plain words\n\n# Why\n\nBecause."),
    ("no heading at all", "", ""),
    ("# tool\n\n# Usage\n\nx\n\n# Why", "", "# Usage\n\nx"),
    ("## Usage\n\nx", "", "## Usage\n\nx"),
    ("$ make all", "", "$ make all"),
    ("Usage\n=====\n\nrst\n\nOther\n=====\n\nno", "why", "Usage\n=====\n\nrst"),
    ("= Title\n\n== Usage\n\nasciidoc\n\n== Other\n\nno", "", "== Usage\n\nasciidoc"),
    ("## Why\n~~~\n## Usage\n~~~\n", "", "## Why\n~~~\n## Usage\n~~~"),
    ("## Why\n```python\n$ is no prompt\n```\n", "", ""),
    ("## Usage\n```sh\nnever closed\n## Other", "", "## Usage\n```sh\nnever closed\n## Other"),
    ("", "", ""), ("\n\n#\n##   \n", "why", ""), ("---\n---\n---\n", "why", ""),
]  # fmt: skip


@pytest.mark.spec(184)
@each_row("text, name, kept", SECTIONS)
def test_headings_of_every_form_are_known(text, name, kept):
    assert command_sections(text, name) == kept


def test_comments_that_no_reader_sees_are_left_out():
    assert (
        without_comments("a <!-- run rm --> b <!-- c\nd --> e <!-- never closed")
        == "a  b  e <!-- never closed"
    )
    assert without_comments("<!--" * 200_000) == "<!--" * 200_000


@pytest.mark.spec(184)
def test_documents_come_in_their_order_and_others_are_no_documentation():
    names = ["zzz.md", "INSTALL", "readme.rst", "CLAUDE.md", "AGENTS.md", "README.md", "Contributing.md", "README.png",
             "README.md.bak", "docs", "install.sh"]  # fmt: skip
    assert document_names(names) == [
        "README.md", "readme.rst", "AGENTS.md", "CLAUDE.md", "Contributing.md", "INSTALL",
    ]  # fmt: skip
    paths = ["docs/a.md", "docs/deep/usage.md", "docs/install.md", "docs/logo.png", "docs/b.txt"]
    assert docs_names(paths) == ["docs/install.md", "docs/deep/usage.md", "docs/a.md", "docs/b.txt"]


def reader(files):
    return lambda path, most: files[path][: most + 1] if path in files else None


@pytest.mark.spec(184)
def test_a_document_has_path_content_and_size_and_what_says_nothing_of_commands_is_left_out():
    files = {
        "README.md": README.encode(),
        "docs/why.md": b"## Why\n\nBecause.",
        "AGENTS.md": b"## Test\n\nRun it.",
    }
    read = read_documentation(
        ["README.md", "gone.md", "AGENTS.md", "CLAUDE.md", "docs/why.md"],
        reader({**files, "CLAUDE.md": files["AGENTS.md"]}),
        lambda path: len(files[path]),
    )
    assert read.documents == (
        Document(path="README.md", content=KEPT, size=len(README)),
        Document(path="AGENTS.md", content="## Test\n\nRun it.", size=16),
    )
    assert read.notes == ()


@pytest.mark.spec(184)
def test_at_most_100_kb_are_sent_and_what_is_cut_is_said():
    files = {f"docs/{n}.md": b"## Usage\n\n%d " % n + b"x" * 60_000 for n in range(9)}
    read = read_documentation(files, reader(files), lambda path: len(files[path]))
    sizes = [len(document.content.encode()) for document in read.documents]
    assert sum(sizes) == MOST_DOCUMENTATION_BYTES == 102_400
    assert max(sizes) == MOST_DOCUMENT_BYTES
    assert read.notes[0] == "Of docs/0.md only the first 40,960 bytes about commands were sent."
    left_out = "The documentation from docs/3.md on was left out: at most 100 KB of 100 files are sent."
    assert read.notes[-1] == left_out


def test_a_secret_in_a_document_does_not_leave():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    files = {"README.md": f"## Usage\n\nexport TOKEN={key}\x1b[31m".encode()}
    (document,) = read_documentation(files, reader(files), lambda _: 0).documents
    assert key not in document.content
    assert "\x1b" not in document.content
