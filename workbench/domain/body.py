"""The base of every event's body: what kind it is, and whether it must survive a power loss.

Holds no field of its own and knows no kind.
"""

from typing import ClassVar

from workbench.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What happened. Subclasses name their kind and whether it must survive a power loss."""

    KIND: ClassVar[str] = ""
    DURABLE: ClassVar[bool] = True
