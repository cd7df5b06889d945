import pytest

from workbench.cli.console import color_depth, terminal_encoding


@pytest.mark.parametrize(
    ("term", "more", "found"),
    [
        ("xterm-256color", {"COLORTERM": "truecolor"}, "full"),
        ("xterm", {"COLORTERM": "24bit"}, "full"),
        ("tmux-256color", {}, "256"),
        ("screen-256color", {"COLORTERM": ""}, "256"),
        ("xterm", {}, "16"),
        ("linux", {}, "16"),
    ],
)
def test_a_terminal_says_how_many_colours_it_has(monkeypatch, term, more, found):
    for name in ("COLORTERM", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", term)
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    assert color_depth() == found


@pytest.mark.parametrize(
    ("env", "is_utf8_mode", "found"),
    [
        ({"LC_ALL": "C"}, True, "ascii"),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, True, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False, "UTF-8"),
        ({"LC_CTYPE": "C.UTF-8"}, True, "of the stream"),
        ({}, False, "of the stream"),
        ({"LANG": "de_DE"}, False, "of the stream"),
        ({"LANG": "de_DE.ISO-8859-1@euro", "LC_CTYPE": "C.UTF-8"}, True, "ISO-8859-1"),
        ({"LC_ALL": "", "LC_CTYPE": "", "LANG": "en_US.UTF-8"}, False, "UTF-8"),
    ],
)
def test_a_locale_says_which_characters_there_are(monkeypatch, env, is_utf8_mode, found):
    class Stream:
        encoding = "of the stream"

    monkeypatch.setattr("sys.__stdout__", Stream())
    assert terminal_encoding(env, is_utf8_mode=is_utf8_mode) == found
