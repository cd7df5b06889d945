import pytest

from workbench.cli.screen.terminal import colours


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
    assert colours() == found
