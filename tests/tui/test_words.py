"""Words that are said again lay nothing out anew."""

import asyncio

from textual.app import App
from textual.content import Content

from workbench.tui.widgets.pane_frame import StableStatic


def test_only_other_words_lay_the_screen_out_anew():
    asked = []

    async def run():
        app = App()
        async with app.run_test():
            words = StableStatic()
            await app.mount(words)
            words.update(Content.styled("a", "bold"))
            refresh = words.refresh
            words.refresh = lambda *args, **options: (asked.append(options), refresh(*args, **options))[1]
            words.update(Content.styled("a", "bold"))
            assert asked == []
            words.update(Content("a"))
            words.update("a")
            assert [one.get("layout") for one in asked] == [True, True]
            assert str(words.content) == "a"

    asyncio.run(run())
