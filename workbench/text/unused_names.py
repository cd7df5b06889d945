"""Names that no other has. Pure."""

from collections.abc import Container


def unused_name(name: str, used: Container[str]) -> str:
    """Return a name that is not used, with a number behind it if need be."""
    number, unused = 1, name
    while unused in used:
        number += 1
        unused = f"{name}-{number}"
    return unused
