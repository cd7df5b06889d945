"""Times how long a megabyte takes to be searched for secrets: processor time, the better of two.

Measures ordinary text (source, prose, a log, JSON), one without blanks, and what a stranger would try: one
letter, beginnings of addresses, every known form of a secret, over and over. Aim: 250 ms each.
"""

import base64
import json
import random
import time
from pathlib import Path

from tests.unit.secrets.test_sheet import FORMS
from workbench.secrets.scrubber import scrub

_MEGABYTE = 1_000_000
_ROOT = Path(__file__).resolve().parent.parent


def _repeated(text: str) -> str:
    return (text * (_MEGABYTE // len(text) + 1))[:_MEGABYTE]


def _files(pattern: str) -> str:
    return _repeated("\n".join(path.read_text("utf-8") for path in sorted(_ROOT.glob(pattern))))


def _shapes() -> dict[str, str]:
    some = random.Random(1)
    lines = (
        f"10:00:{i % 60:02} INFO [worker-{i % 7}] {some.getrandbits(64):x} took {i} ms" for i in range(9_000)
    )
    items = [{"id": i, "hash": f"{some.getrandbits(160):040x}", "tags": ["a", "b"]} for i in range(9_000)]
    return {
        "source": _files("workbench/**/*.py"),
        "prose": _files("*.md"),
        "log": _repeated("\n".join(lines)),
        "json": _repeated(json.dumps(items, indent=1)),
        "base64": base64.b64encode(some.randbytes(_MEGABYTE * 3 // 4)).decode(),
        "one letter": "a" * _MEGABYTE,
        "addresses": "://" * (_MEGABYTE // 3),
        "every form": _repeated(FORMS),
    }


def main() -> None:
    """Print a line for each shape."""
    scrub(FORMS)
    for name, text in _shapes().items():
        times: list[float] = []
        for _ in range(2):
            start = time.process_time()
            scrub(text)
            times.append(time.process_time() - start)
        print(f"{name:12} {min(times) * 1000:6.0f} ms")


if __name__ == "__main__":
    main()
