"""An agent that only writes, for `benchmarks.screen`: streams text into the open sessions of a home.

    python -m benchmarks.streamer HOME streams | prose SIZE | fence SIZE | marks

Prints `ready`, or a line for every mark, when it is committed.
"""

import sys
import time
from pathlib import Path

from benchmarks.homes import AGENT
from workbench.domain.events import TextStreamed
from workbench.journal.home import Home
from workbench.journal.journal import Journal

WORDS = "a few more words of it, then "
CODE = "    value = handle(7)  # line\n"


class Writer:
    """Writes pieces of replies."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._offsets: dict[str, int] = {}

    def piece(self, key: str, text: str) -> None:
        """Stream a piece into a session's open turn."""
        at = self._offsets.get(key, 0)
        self._offsets[key] = at + len(text)
        body = TextStreamed(block=0, offset=at, text=text)
        self._journal.submit([self._journal.event(body, key, AGENT, turn_id=f"{key}-open")])


def paced(a_second: float, seconds: float = 120):
    """Yield numbers, so many a second."""
    begin = time.monotonic()
    number = 0
    while time.monotonic() - begin < seconds:
        yield number
        number += 1
        time.sleep(max(0.0, begin + number / a_second - time.monotonic()))


def main() -> None:
    """Write until somebody ends it."""
    home, what, *rest = sys.argv[1:]
    with Journal.open(Home.open(Path(home))) as journal:
        writer = Writer(journal)
        if what == "streams":
            for number in paced(200):
                writer.piece(f"other-{number % 8}", WORDS)
        elif what == "marks":
            time.sleep(2.5)
            for number in paced(2.3, 20):
                writer.piece("long", f"mark{number}mark\n")
                print(number, flush=True)
        else:
            piece = WORDS if what == "prose" else CODE
            size = int(rest[0])
            begun = "```py\n" if what == "fence" else ""
            writer.piece(
                "long", begun + (piece if what == "fence" else f"{piece}\n\n") * (size // len(piece))
            )
            time.sleep(1.0)
            print("ready", flush=True)
            for number in paced(1_000):
                writer.piece("long", piece if number % 12 or what == "fence" else f"{piece}\n\n")


if __name__ == "__main__":
    main()
