"""Write the pages of the reference and the manual page: `python -m docs.make`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.generator.commands import commands_page
from docs.generator.keys import keys_page
from docs.generator.manual import manual_page
from docs.generator.pipelines import pipelines_page
from docs.generator.settings import settings_page

FOLDER: Final = Path(__file__).resolve().parent
PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "reference/commands.md": commands_page,
    "reference/settings.md": settings_page,
    "reference/keys.md": keys_page,
    "reference/pipelines.md": pipelines_page,
    "workbench.1": manual_page,
}


def main() -> int:
    """Write every page that differs, and name it."""
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
