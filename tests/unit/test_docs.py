"""The documentation says what the program does: generated pages, links, command lines, settings and keys."""

from docs import make


def test_the_reference_is_what_the_program_says():
    differing = [
        name for name, page in make.PAGES.items() if (make.FOLDER / name).read_text(encoding="utf-8") != page()
    ]
    assert differing == [], "python -m docs.make writes them"
