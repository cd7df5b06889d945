"""Adds one row to the table of places, visits that place in the screen, and prints what was found there.

Run as a program: the table is read when the screen is imported.
"""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path

TABLE = "workbench.tui.places"
ROW = '    Place(key="f9", name="samples", aliases="fruit", module="tests.support.sample_place"),\n'


def add_row():
    """Import the table as it is in its file, with one row more."""
    spec = importlib.util.find_spec(TABLE)
    head, end, rest = Path(spec.origin).read_text().partition(")  # fmt: skip\nPLACE_OF_KEY")
    assert end
    module = importlib.util.module_from_spec(spec)
    sys.modules[TABLE] = module
    exec(compile(head + ROW + end + rest, spec.origin, "exec"), vars(module))
    import workbench.tui

    workbench.tui.places = module


async def visit(home):
    """Return what is seen of the place: on the way there, in it, in help and palette, and on the way back."""
    from tests.tui import stills
    from tests.tui.backend import backend
    from tests.tui.screens import Hand
    from workbench.tui.app import WorkbenchApp

    journal, hand = stills.nothing(Path(home)), Hand()
    source = stills.Still(journal, stills.WORKSPACE)
    app = WorkbenchApp(journal, backend(), stills.WORKSPACE, home="/workspace", source=source, monotonic=hand)
    async with app.run_test(size=(120, 60)) as pilot:

        def drawn():
            strips = app.screen._compositor.render_strips()
            return "\n".join("".join(segment.text for segment in strip) for strip in strips)

        async def press(*keys):
            await stills.play(pilot, keys, hand)
            return drawn()

        seen = {"start": app.main.place}
        seen["place"] = await press("escape", "f9")
        seen["number"] = app.main.place
        seen["help"] = await press("?")
        await press("escape")
        seen["palette"] = await press("ctrl+p", *"fruit")
        await press("escape")
        await press("escape")
        seen["back"] = app.main.place
        await press("ctrl+p", *"fruit", "enter")
        seen["by palette"] = app.main.place
    journal.close()
    return seen


if __name__ == "__main__":
    add_row()
    print(json.dumps(asyncio.run(visit(sys.argv[1]))))
