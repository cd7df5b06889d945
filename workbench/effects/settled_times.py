"""Whether another change of a file would show in its times: file systems count these in steps."""

import time
from typing import Final

SECOND: Final = 1_000_000_000
_FINE_STEP: Final = SECOND // 20
"""More than the clock of a kernel takes to move on."""
_COARSE_STEP: Final = 2 * SECOND
"""As of FAT. Others, such as ext3 and ext4 with small inodes, count whole seconds."""


def is_settled(changed: int) -> bool:
    """Return whether a change now gets another time than the last one, in nanoseconds since the epoch.

    A time of whole seconds may be of a file system that has no others.
    """
    step = _COARSE_STEP if changed % SECOND == 0 else 0
    return time.time_ns() - changed > step + _FINE_STEP
