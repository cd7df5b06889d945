"""Arming: a deciding key counts only for what has stood on the screen, unchanged, for 300 ms.

Pure but for the moments it is told; it never reads a clock (UX section 8).
"""

from collections.abc import Hashable

from msgspec import Struct

ARM_SECONDS = 0.3
"""How long something must have been on the screen before a key about it counts."""
TOO_QUICK = "Too quick: this one just appeared. Press {key} again."


class KeyArming(Struct):
    """What stands under the answering keys, and since when."""

    subject: Hashable = None
    since: float | None = None

    def drawn(self, subject: Hashable, at: float) -> bool:
        """Note what was drawn with the focus at a moment; True if that starts the wait anew."""
        if subject == self.subject and self.since is not None:
            return False
        self.subject, self.since = subject, at
        return True

    def disarm(self) -> None:
        """Forget it: the focus left, the size or the mode changed."""
        self.subject, self.since = None, None

    def is_armed(self, subject: Hashable, at: float) -> bool:
        """Return whether a key that arrived at a moment counts for a subject."""
        return self.since is not None and subject == self.subject and at - self.since >= ARM_SECONDS

    def take(self, subject: Hashable, at: float, *, is_repeated: bool = False) -> bool:
        """Use the arming for one key: one that came too early starts the wait anew, another ends it.

        A key that already came once more is too early whatever its moment says: on a busy machine keys that
        are held down or hammered are read long after they were typed.
        """
        if not is_repeated and self.is_armed(subject, at):
            self.disarm()
            return True
        if subject == self.subject:
            self.since = at
        return False
