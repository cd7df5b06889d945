"""NO_COLOR: the house colours become greys, a terminal's own colours are left alone."""

from tests.tui.screens import play, staged


def colours(app):
    """Return the colours that reach the terminal, as triplets; its own default is none."""
    found = set()
    for strip in app.screen._compositor.render_strips():
        for passed in app.get_line_filters():
            strip = strip.apply_filter(passed, app.screen.background_colors[1])
        for _, style, _ in strip:
            found |= {one for one in (style.color, style.bgcolor) if one is not None and not one.is_default}
    return found


def test_no_colour_is_sent_in_either_kind_of_theme(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def body(shown):
        greys = {one.get_truecolor() for one in colours(shown.app)}
        assert len(greys) > 3
        assert all(one.red == one.green == one.blue for one in greys)
        shown.app.theme = "ansi-dark"
        await shown.settle()
        assert colours(shown.app) == set()
        assert "edit  router.py" in shown.text

    play(staged(tmp_path), body)
