"""A chain of asks answered by double presses: how long each takes from its first press until it is decided.

    python -m benchmarks.chain [--rounds N] [--between SECONDS] [--size 160x48]

The installed program in a pseudo-terminal, a scripted model on loopback; each ask comes after the answer to
the one before, and only `a a` is pressed. *Decided* is the moment that the journal gave the answer: the time
between both presses, 0.1 s of waiting for a third one, and the program. *Program* is that without the other
two. *Floor* is a durable write of 4 KB to the same disk in the same run, and how late a sleep of 0.1 s ends.
"""

import argparse
import os
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.e2e.conftest import Shop, opened
from tests.support import eight_tasks as tasks
from tests.support.keys import PRESS_SECONDS
from workbench.domain.events import ActionApproved
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import SECOND_MICROS
from workbench.tui.keyboard.rule import SETTLE_SECONDS

AIM: Final = 0.4
"""Seconds from the first press to the decision, p95."""
_ARMED: Final = 1.0
"""Seconds that a row has been on the screen before its first press, also where the program draws it late."""
_WRITES: Final = 20
_PIECE: Final = b"x" * 4_096


def decided(size: tuple[int, int], between: float) -> list[float]:
    """Return the seconds from the first press to the decision of each ask of one chain."""
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder)) as shop,
        tasks.desktop(shop, size) as place,
    ):
        pressed = _pressed(place, between)
        answered = _answered(shop)
    return [at - first for first, at in zip(pressed, answered, strict=True)]


def _pressed(place: tasks.Desktop, between: float) -> list[float]:
    """Answer a chain; return when the first press of each answer was made."""
    hands = place.open()
    for number in range(tasks.CHAIN):
        place.model.calls(tasks.create(f"c{number}.txt"))
    hands.write("do it")
    hands.terminal.press(tasks.ENTER)
    hands.sees("1 waiting")
    hands.press(tasks.ENTER)
    pressed: list[float] = []
    for number in range(tasks.CHAIN):
        hands.sees(f"c{number}.txt 0")
        hands.terminal.pump(_ARMED)
        pressed.append(time.time())
        hands.terminal.press("a")
        time.sleep(between)
        hands.terminal.press("a")
        hands.terminal.until_true((place.shop.project / f"c{number}.txt").exists)
    return pressed


def _answered(shop: Shop) -> list[float]:
    with closing(Journal.open(Home.open(shop.home))) as journal:
        (session,) = journal.sessions(kinds=("chat",))
        events = journal.events(session.id)
    return [event.at / SECOND_MICROS for event in events if isinstance(event.body, ActionApproved)]


def floor() -> tuple[list[float], list[float]]:
    """Return the seconds of durable writes, and by how much sleeps of the settling time end late."""
    writes: list[float] = []
    late: list[float] = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(_WRITES):
            begun = time.perf_counter()
            file.write(_PIECE)
            file.flush()
            os.fdatasync(file.fileno())
            writes.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            time.sleep(SETTLE_SECONDS)
            late.append(time.perf_counter() - begun - SETTLE_SECONDS)
    return writes, late


def _row(name: str, seconds: list[float]) -> str:
    p95 = statistics.quantiles(seconds, n=20)[-1]
    middle = statistics.median(seconds)
    return f"{name:<44} median {middle * 1000:6.0f} ms   p95 {p95 * 1000:6.0f} ms   of {len(seconds)}"


def main() -> None:
    """Print the times of all chains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--between", type=float, default=PRESS_SECONDS, help="seconds between both presses")
    parser.add_argument("--size", default="160x48", help="COLUMNSxROWS")
    options = parser.parse_args()
    columns, rows = map(int, options.size.split("x"))
    writes, late = floor()
    found = [one for _ in range(options.rounds) for one in decided((columns, rows), options.between)]
    more_writes, more_late = floor()
    print(_row(f"first press until decided (aim {AIM * 1000:.0f} ms, p95)", found))
    print(_row("of it the program", [one - options.between - SETTLE_SECONDS for one in found]))
    print(_row("floor: a durable write of 4 KB", [*writes, *more_writes]))
    print(_row("floor: a sleep of 0.1 s ends late by", [*late, *more_late]))


if __name__ == "__main__":
    main()
