"""Words of mixed alphabets: named where a program or a host is, and no more than that."""

import pytest

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.text.display import has_mixed_script_host, has_mixed_scripts, text_warnings

MIXED = [
    "g\u0456t status", "p\u0430ypal", "\u0441url x", "ls && \u0433it push", "npm run t\u0435st", "g\u03bfogle",
    "pyth\u043en3", "a1\u0430", "\uff47it", "\u13a1un",
]  # fmt: skip
PLAIN = [
    "git status", "git commit -m '\u041f\u0440\u0438\u0432\u0435\u0442, world'", "echo 10 k\u03a9",
    "echo \u0394x", "echo 5 \u03bcs 5 \u00b5s", "caf\u00e9 na\u00efve", "grep \u65e5\u672c\u8a9e abc\u65e5",
    "echo x-\u043f\u0440\u0438\u0432\u0435\u0442", "\u03b1 \u03b2 a", "",
]  # fmt: skip


@each_row("text", MIXED)
def test_a_word_of_two_alphabets_is_named_in_a_command(text):
    assert has_mixed_scripts(text)
    assert text_warnings(text, "approval_command") == ("mixed scripts",)
    assert "mixed scripts" not in text_warnings(text, "diff_preview")


@each_row("text", PLAIN)
def test_a_text_of_several_languages_is_an_ordinary_text(text):
    assert not has_mixed_scripts(text)
    assert "mixed scripts" not in text_warnings(text, "approval_command")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://p\u0430ypal.com/x", True), ("https://\u0430\u0440\u0440\u04cf\u0435.com", True),
        ("https://a.b/p\u0430th", False), ("https://example.com", False), ("https://caf\u00e9.fr", False),
        ("https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/x", False), ("https://[\u0430", True),
    ],
)  # fmt: skip
def test_a_host_is_judged_as_a_whole(address, expected):
    assert has_mixed_script_host(address) is expected


@each_row("unit", ["a", "\u0430", "a1", "_", "a "])
def test_a_long_word_costs_no_more_than_its_length(unit):
    assert_grows_with_length(has_mixed_scripts, unit * 25_000 + "\u00e9", unit * 200_000 + "\u00e9")
