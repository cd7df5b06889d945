"""A table of texts as they are shown to who approves a command, with and without a warning."""

import sys
import unicodedata

import pytest

from tests.support.tables import each_row
from workbench.cli.check import check_text
from workbench.text.display import DISPLAY_PLACES

SHOWN = [
    ('a\xa0b', 'a\u27e8U+00A0\u27e9b', True),
    ('a\u2009b', 'a\u27e8U+2009\u27e9b', True),
    ('a\u3000b', 'a\u27e8U+3000\u27e9b', True),
    ('a\u3164b', 'a\u27e8U+3164\u27e9b', True),
    ('\u05e9\u05dc\u05d5\u05dd', '\u05e9\u05dc\u05d5\u05dd', False),
    ('\u0645\u0631\u062d\u0628\u0627', '\u0645\u0631\u062d\u0628\u0627', False),
    ('\U0001f468\u200d\U0001f469\u200d\U0001f467', '\U0001f468\u27e8U+200D\u27e9\U0001f469\u27e8U+200D\u27e9\U0001f467', True),
    ('\U0001f1e9\U0001f1ea', '\U0001f1e9\U0001f1ea', False),
    ('1\ufe0f\u20e3', '1\ufe0f\u20e3', False),
    ('\u2764\ufe0f', '\u2764\ufe0f', False),
    ('p\u0430ypal', 'p\u0430ypal', True),
    ('e\u0301', 'e\u0301', False),
    ('e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301', 'e\u0301\u0301\u0301\u0301\u27e816 more marks\u27e9', True),
    ('e\u0301\u0316\u0489\u20dd\ufe20\u1dc4\u0301\u0316\u0489\u20dd\ufe20\u1dc4\u0301\u0316\u0489\u20dd\ufe20\u1dc4', 'e\u0301\u0316\u0489\u20dd\u27e814 more marks\u27e9', True),
    ('\u0915\u094d\u0937\u093f', '\u0915\u094d\u0937\u093f', False),
    ('\u0e17\u0e35\u0e48', '\u0e17\u0e35\u0e48', False),
    ('\u1ebf', '\u1ebf', False),
    ('\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645', '\u0645\u06cc\u27e8U+200C\u27e9\u062e\u0648\u0627\u0647\u0645', True),
    ('a\r\nb', 'a\u27e8U+000D\u27e9\nb', True),
    ('safe\rrm', 'safe\u27e8U+000D\u27e9rm', True),
    ('a\x08b', 'a\u27e8U+0008\u27e9b', True),
    ('a\tb', 'a\tb', False),
    ('\x1b]0;x\x07', '\u27e8ESC]0;x\u27e9', True),
    ('\x1b[2J', '\u27e8ESC[2J\u27e9', True),
    ('\x9b31m', '\u27e8ESC[31m\u27e9', True),
    ('\x1b]8;;http://e\x1b\\x\x1b]8;;\x1b\\', '\u27e8ESC]8;;http://e\u27e9x\u27e8ESC]8;;\u27e9', True),
    ('\x1b', '\u27e8U+001B\u27e9', True),
    ('a\ue000b', 'a\ue000b', False),
    ('\uf121', '\uf121', False),
    ('a' * 5000, 'a' * 5000, True),
    ('ls                                                                                                                                                                                                                                                                                                            ; rm', 'ls \u27e8300 blanks\u27e9 ; rm', True),
    ('ls\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\trm', 'ls \u27e8100 blanks\u27e9 rm', True),
    ('ls\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nrm', 'ls\n\u27e899 empty lines\u27e9\nrm', True),
    ('a\ud800b', 'a\u27e8U+D800\u27e9b', True),
    ('a\U000e0041b', 'a\u27e8U+E0041\u27e9b', True),
    ('a\U000e0100b', 'a\u27e8U+E0100\u27e9b', True),
    ('a\ufff9b', 'a\u27e8U+FFF9\u27e9b', True),
    ('a\ufffcb', 'a\ufffcb', False),
    ('a\ufffdb', 'a\ufffdb', False),
    ('a\u2800b', 'a\u27e8U+2800\u27e9b', True),
    ('a\u180eb', 'a\u27e8U+180E\u27e9b', True),
    ('a\U0001d173b', 'a\u27e8U+1D173\u27e9b', True),
    ('a\u17b4b', 'a\u27e8U+17B4\u27e9b', True),
    ('a\x85b', 'a\u27e8U+0085\u27e9b', True),
    ('a\u2028b', 'a\u27e8U+2028\u27e9b', True),
    ('a\x0bb', 'a\u27e8U+000B\u27e9b', True),
    ('a\x0cb', 'a\u27e8U+000C\u27e9b', True),
    ('a\u2066b\u2069', 'a\u27e8U+2066\u27e9b\u27e8U+2069\u27e9', True),
    ('a\u061cb', 'a\u27e8U+061C\u27e9b', True),
    ('if access != "user\u202e \u2066// Check\u2069 \u2066"', 'if access != "user\u27e8U+202E\u27e9 \u27e8U+2066\u27e9// Check\u27e8U+2069\u27e9 \u27e8U+2066\u27e9"', True),
    ('a\xadb', 'a\u27e8U+00AD\u27e9b', True),
    ('a\u2060b', 'a\u27e8U+2060\u27e9b', True),
    ('a\u2062b', 'a\u27e8U+2062\u27e9b', True),
    ('x\u034fx', 'x\u27e8U+034F\u27e9x', True),
    ('a\U00013430b', 'a\u27e8U+13430\u27e9b', True),
    ('a\U000110bdb', 'a\u27e8U+110BD\u27e9b', True),
    ('\u0661\u0662', '\u0661\u0662', False),
    ('\uff52\uff4d', '\uff52\uff4d', False),
    ('\U0001d4c7\U0001d4c2', '\U0001d4c7\U0001d4c2', False),
    ('x\xb2', 'x\xb2', False),
    ('\u2502\u2500\u250c', '\u2502\u2500\u250c', False),
    ('\u6f22\u5b57\u304b\u306a\u4ea4\u3058\u308a\u6587', '\u6f22\u5b57\u304b\u306a\u4ea4\u3058\u308a\u6587', False),
    ('\ud55c\uad6d\uc5b4', '\ud55c\uad6d\uc5b4', False),
    ('\u1112\u1161\u11ab', '\u1112\u1161\u11ab', False),
    ('\u27e8U+202E\u27e9', '\u27e8U+202E\u27e9', False),
    ('ls   ', 'ls   ', False),
    ('    indented', '    indented', False),
    ('a    b    c', 'a    b    c', False),
]  # fmt: skip
"""A text, how it is shown, and whether there is a warning."""


@each_row(("given", "shown", "warn"), SHOWN, ids=lambda value: ascii(value)[:24])
def test_an_odd_text_is_shown_and_warned_of(given, shown, warn):
    assert check_text({"text": given, "where": "approval_command"}) == {"shown": shown, "warn": warn}
    for where in DISPLAY_PLACES:
        once = check_text({"text": given, "where": where})["shown"]
        assert check_text({"text": once, "where": where})["shown"] == once


def _is_unseen(code):
    is_listed = unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return is_listed or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


@pytest.mark.parametrize("where", DISPLAY_PLACES)
def test_no_control_format_or_noncharacter_of_unicode_is_shown_as_it_is(where):
    unseen = [chr(code) for code in range(sys.maxunicode + 1) if _is_unseen(code) and code not in (9, 10)]
    shown = check_text({"text": "a" + "b".join(unseen[:1500]) + "c", "where": "diff_preview"})
    assert shown["warn"]
    for sign in unseen:
        found = check_text({"text": f"a{sign}b", "where": where})
        assert sign not in found["shown"]
        assert found["warn"]
