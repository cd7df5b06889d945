"""A lexer is found by the name of a file, else by that of a language."""

import pygments.lexers

from tests.support.tables import each_row
from workbench.render.syntax import lexer_for

NAMES = [
    "a.py", "a.pyi", "SConstruct", "BUILD.bazel", "a.c", "a.h", "a.hpp", "a.m", "a.pl", "a.t", "a.sql",
    "a.html", "a.htm.j2", "a.xml", "a.js", "a.ts", "a.tsx", "a.rs", "a.go", "a.sh", ".bashrc", "Makefile",
    "GNUmakefile", "CMakeLists.txt", "Dockerfile", "a.dockerfile", "a.yaml", "a.json", "a.toml", "a.md",
    "a.txt", "a.cfg", "a.ini", "nginx.conf", "a.1", "a.b.c.d.py", "a.S", "a.s", "A.PY", "a", "", "a.zzz",
]  # fmt: skip
LANGUAGES = ["python", "py", "Python", "js", "c++", "sh", "bash", "console", "diff", "text", "none-such"]


def theirs(look, name):
    try:
        return type(look(name))
    except pygments.util.ClassNotFound:
        return None


def expected(name):
    return theirs(pygments.lexers.get_lexer_for_filename, name) or theirs(
        pygments.lexers.get_lexer_by_name, name
    )


@each_row("name", [*NAMES, *LANGUAGES])
def test_the_lexer_is_the_one_that_pygments_would_choose(name):
    found = lexer_for(name)
    assert (type(found) if found else None) is expected(name)
