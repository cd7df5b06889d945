"""Bounds of numbers in records, said in annotations: `Annotated[int, AtLeast(1)]`.

Owns how a validator is told of them. They are ours because the package that others use for this takes 7 ms to
import, and nothing but a validator, which no first frame loads, ever reads them.
"""

from collections.abc import Callable
from typing import Any


class AtLeast:
    """No smaller than a number."""

    __slots__ = ("least",)

    def __init__(self, least: int) -> None:
        self.least = least

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return the schema of the number with the bound in it (pydantic, "Custom types")."""
        return {**handler(source), "ge": self.least}


class AtMost:
    """No larger than a number."""

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        self.most = most

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return the schema of the number with the bound in it (pydantic, "Custom types")."""
        return {**handler(source), "le": self.most}
