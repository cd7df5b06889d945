"""Names of new files that look like another name, or that other systems read as something else."""

import os
import re
from collections.abc import Iterator
from typing import Final

from workbench.text.display import has_mixed_scripts

ODD_NAME_MARK: Final = "odd name"
_MIXED: Final = "its name mixes letters of alphabets that look alike"
_STREAM: Final = "Windows takes what is behind the colon for a stream of another file"
_DEVICE: Final = "Windows takes its name for a device"
_CUT: Final = "Windows drops the end of its name"
_DEVICE_NAME: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:[.:].*)?",
    re.IGNORECASE | re.DOTALL,
)


def new_name_reason(path: str, root: str) -> str:
    """Return why no grant covers creating a path; empty for a usual name. Names that exist are not looked at.

    `path` is absolute; `root` is the workspace: names above it are nobody's choice here.
    """
    return next((why for name in _missing_names(path, root) if (why := _name_reason(name))), "")


def _missing_names(path: str, root: str) -> Iterator[str]:
    while path not in (root, "/", "") and not os.path.lexists(path):
        path, _, name = path.rpartition("/")
        yield name


def _name_reason(name: str) -> str:
    if has_mixed_scripts(name):
        return _MIXED
    if _DEVICE_NAME.fullmatch(name):
        return _DEVICE
    if ":" in name:
        return _STREAM
    return _CUT if name.endswith((".", " ")) else ""
