"""What every provider is: a name and one way to ask for a reply.

Owns the protocol only. A provider reports its own failures as a part of the reply; it must never
raise for what the other side did, and closing the iterator must end whatever it waits for.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

from workbench.domain.messages import ModelRequest, ReplyPart


class Provider(Protocol):
    """Something that answers a conversation."""

    @property
    def name(self) -> str:
        """Return the provider's name as sessions record it."""
        ...

    def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Yield one reply in parts; a `FailurePart` ends it. Closing the generator cancels."""
        ...
