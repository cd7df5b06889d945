"""What the user wished of a session that is not there yet: the next one of this screen begins with it."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from workbench.domain.values import Json
from workbench.records import dataclass

if TYPE_CHECKING:
    from workbench.host.choosing import Choice


@dataclass(slots=True)
class Wished:
    """What the next session of this screen begins with."""

    choice: "Choice | None" = None
    members: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Of its configuration."""
