"""A table of edits: what is replaced once, in the file's own line ends, and what is refused by which name."""

from tests.support.tables import each_row
from workbench.cli.check import check_edit

CODES = {"ambiguous", "not_found", "empty_old", "no_change", "not_text"}

EDITS = [
    ('a\r\nb', '\n', 'X', 'aXb'),
    ('a\r\nb', 'a', 'x\ny', 'x\r\ny\r\nb'),
    ('a\nb', '\n', 'X', 'aXb'),
    ('a\r\nb\nc', 'b\nc', 'Z', 'a\r\nZ'),
    ('a\r\nb\r\n', 'a\nb', 'c\nd', 'c\r\nd\r\n'),
    ('a\r\nb\r\n', 'a\r\nb', 'c\nd', 'c\nd\r\n'),
    ('abc', 'b', '', 'ac'),
    ('aaa', 'aa', 'b', 'ambiguous'),
    ('abab', 'ab', 'c', 'ambiguous'),
    ('abc', 'x', 'y', 'not_found'),
    ('abc', '', 'y', 'empty_old'),
    ('abc', 'b', 'b', 'no_change'),
    ('a\x00b', 'a', 'c', 'not_text'),
    ('\ufeffabc', 'abc', 'd', '\ufeffd'),
    ('\ufeffabc', '\ufeffabc', 'd', 'd'),
    ('caf\xe9', '\xe9', 'e', 'cafe'),
    ('cafe\u0301', '\xe9', 'e', 'not_found'),
    ('a\\1b', '\\1', '\\g<0>', 'a\\g<0>b'),
    ('$1', '$1', '$2', '$2'),
    ('a', 'a', 'a\x00b', 'not_text'),
    ('', '', 'x', 'empty_old'),
    ('', 'a', 'x', 'not_found'),
    ('a\r', 'a', 'b', 'b\r'),
    ('x\u2028y', '\u2028', 'z', 'xzy'),
    ('a\n', 'a\n', 'b', 'b'),
    ('\U0001f600', '\U0001f600', 'x', 'x'),
    ('a', 'a', '\ud800', 'not_text'),
    ('line\nline\nline\n', 'line\n', 'x', 'ambiguous'),
    ('a\rb\rc', 'a\nb', 'x', 'not_found'),
    ('tab\tx', 'tab x', 'y', 'not_found'),
    ('a\r\nb\r\nc', '\n', 'X', 'ambiguous'),
    ('a\r\n', '\r\n', '', 'a'),
    ('a\r\nb\n', 'a\nb\n', 'c\n', 'not_found'),
    ('a\nb\r\nc', 'a', 'x\ny', 'x\ny\nb\r\nc'),
    ('xxxxxxxxxx\n', 'xxxxxxxxxx', 'y', 'y\n'),
    ('  indented\n', 'indented', 'z', '  z\n'),
    ('a.b', 'a.b', 'c', 'c'),
    ('a.b', 'axb', 'c', 'not_found'),
    ('[x]', '[x]', '(y)', '(y)'),
    ('a\tb', 'a\tb', 'a b', 'a b'),
    ('\n\n\n', '\n\n\n', '\n', '\n'),
    ('a\n\nb', '\n\n', '\n', 'a\nb'),
    ('end', 'end', 'end\n', 'end\n'),
    ('\xc4\xd6', '\xd6', '\xf6', '\xc4\xf6'),
    ('\u65e5\u672c\u8a9e', '\u672c', '\u6728', '\u65e5\u6728\u8a9e'),
    ('e\u0301', 'e', 'a', 'a\u0301'),
    ('a' * 5000, 'a' * 4999, 'b', 'ambiguous'),
    ('x y', 'x  y', 'z', 'not_found'),
]  # fmt: skip
"""Before, old and new string, and what comes of it: the file, or why not."""


@each_row(("before", "old", "new", "result"), EDITS, ids=lambda text: ascii(text)[:20])
def test_an_edit_replaces_one_place_or_says_why_not(before, old, new, result):
    found = check_edit({"before": before, "old_string": old, "new_string": new})
    is_error = result in CODES
    assert found == ({"result": "error", "code": result} if is_error else {"result": "ok", "after": result})
