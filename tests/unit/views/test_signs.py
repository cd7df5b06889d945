from collections import Counter
from pathlib import Path
from unicodedata import category

from rich.cells import cell_len
from wcwidth import wcwidth

import workbench
from tests.support.tables import each_row
from tests.unit.views.making import action, call, session
from workbench.domain.machines import ACTION_MOVES, CALL_MOVES, SESSION_MOVES
from workbench.domain.values import SelectedHunk
from workbench.views.status_icons import (
    ASCII_EQUIVALENTS,
    COUNTDOWN_BARS,
    ICONS,
    action_status,
    call_status,
    session_status,
)

SOURCE = Path(workbench.__file__).parent


def test_every_sign_is_one_cell_everywhere():
    glyphs = [sign.unicode for sign in ICONS.values()] + list(COUNTDOWN_BARS) + list(ASCII_EQUIVALENTS)
    assert {(cell_len(glyph), wcwidth(glyph)) for glyph in glyphs} == {(1, 1)}
    assert {len(sign.ascii) for sign in ICONS.values()} == {1}
    assert all(sign.ascii.isascii() for sign in ICONS.values())
    assert all(text.isascii() for text in ASCII_EQUIVALENTS.values())


IN_ALL_FOUR_FONTS = frozenset(
    "§«»×–’“”•…·←↑→↓∅−≠›⟨⟩■□▪►▼◄◆◇●◧◯▁▂▃▄▅▆▇█▌▍▏▔▐▀▕░▒▓◎◕◨▪▫▲◊╔╗╚╝╟╢╲╳━═║╱╌─│╭╮╯╰"
    " ╴╶╵┘└┴╷┐┌┬┤├┼╻╽╹╿┃┎┖┞┠╺┍┏┕┝┢┗┡┣╴┒┚┦┨╸┑┓┙┥┪┛┩┫╼╾┭┮┰┱┲┯┳┵┶┹┺┷┻┸┽┾╀╁╂╃╄╅╆╇╈╉╊╋┿┟┧"
)
"""Read from the character tables of JetBrains Mono 2.242, DejaVu Sans Mono, Fira Code 6.2 and Hack 3.003."""
BORROWED = frozenset("✓⏎√")
"""Hack has no `✓` (`√` is only spoken of), and two of the four no `⏎`, which stands in what was recorded."""
DRAWING_PACKAGES = ("views", "graph", "render", "tui")


def test_terminal_fonts_have_every_sign_that_is_drawn():
    drawn = {
        character
        for package in DRAWING_PACKAGES
        for source in (SOURCE / package).rglob("*.py")
        for character in source.read_text("utf-8")
        if not character.isascii() and category(character)[0] in "PS"
    }
    assert {sign.unicode for sign in ICONS.values() if not sign.unicode.isascii()} <= drawn
    assert drawn - IN_ALL_FOUR_FONTS <= BORROWED


def test_no_sign_has_two_meanings():
    icons = ICONS.values()
    for signs in ([icon.unicode for icon in icons], [icon.ascii for icon in icons]):
        assert {sign: count for sign, count in Counter(signs).items() if count > 1} == {}


ONE = (SelectedHunk(hunk=1),)


@each_row(
    ("row", "after", "expected"),
    [
        (action(), None, ("waiting", "waiting")),
        (action(stale_paths=("x",)), None, ("stale", "stale")),
        (action(state="approved"), None, ("ok", "approved")),
        (action(state="approved", edited={"x": "sealed:1"}), None, ("ok", "edited")),
        (action(state="approved", selection=ONE), None, ("partly", "partly")),
        (action(state="approved", selection=ONE), call(state="succeeded"), ("partly", "partly")),
        (action(state="approved"), call(state="failed"), ("failed", "failed")),
        (action(state="approved"), call(state="interrupted"), ("unknown", "outcome unknown")),
        (action(state="approved"), call(state="executing"), ("running", "running")),
        (action(state="approved"), call(state="cancelled"), ("cancelled", "cancelled")),
        (action(state="rejected"), None, ("rejected", "rejected")),
        (action(state="expired"), None, ("expired", "expired")),
        (action(state="cancelled"), None, ("cancelled", "withdrawn")),
        (action(state="superseded"), None, ("cancelled", "replaced")),
    ],
)
def test_action_sign(row, after, expected):
    assert action_status(row, after) == expected


@each_row(
    ("row", "asked", "expected"),
    [
        (call(state="pending"), None, ("todo", "todo")),
        (call(state="pending", action_id="a1"), action(), ("waiting", "waiting")),
        (call(state="pending", action_id="a1"), action(stale_paths=("x",)), ("stale", "stale")),
        (call(state="approved"), None, ("todo", "approved")),
        (call(state="executing"), None, ("running", "running")),
        (call(state="succeeded"), None, ("ok", "ok")),
        (
            call(state="succeeded", action_id="a1"),
            action(state="approved", selection=ONE),
            ("partly", "partly"),
        ),
        (call(state="failed"), None, ("failed", "failed")),
        (call(state="rejected"), None, ("failed", "not allowed")),
        (call(state="rejected", action_id="a1"), action(state="rejected"), ("rejected", "rejected")),
        (call(state="expired", action_id="a1"), None, ("expired", "expired")),
        (call(state="interrupted"), None, ("unknown", "outcome unknown")),
        (call(state="cancelled"), None, ("cancelled", "cancelled")),
    ],
)
def test_call_sign(row, asked, expected):
    assert call_status(row, asked) == expected


def test_every_state_has_a_sign():
    for state in ACTION_MOVES:
        assert action_status(action(state=state))[0] in ICONS
    for state in CALL_MOVES:
        assert call_status(call(state=state))[0] in ICONS
    for state in SESSION_MOVES:
        assert session_status(session(status=state))[0] in ICONS


def test_a_session_that_waits_says_so_whatever_else_it_does():
    assert session_status(session(status="processing"), 2) == ("waiting", "waiting")
