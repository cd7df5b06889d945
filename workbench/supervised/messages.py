"""What an agent that executes its own calls says to its driver, and what it is answered; one JSON line each.

Nothing that an agent says can approve, and nothing is believed of what it did: the driver looks at the disk.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from workbench.domain.values import JsonObject

MAX_LINE_BYTES: Final = 16_000_000
"""Bytes of one message; a longer one ends the connection."""

Name = Annotated[str, Meta(max_length=200)]
FolderPath = Annotated[str, Meta(min_length=1, max_length=4_096)]


class Hello(Struct, frozen=True, kw_only=True, tag="hello"):
    """The first message of a connection: which session of which agent it belongs to."""

    agent: Annotated[str, Meta(min_length=1, max_length=60)]
    """Name of the program, such as `claude`."""
    session: Annotated[str, Meta(min_length=1, max_length=200)]
    """The agent's own id of its session."""
    cwd: FolderPath
    """Absolute path of the folder it works in."""
    model: Name = ""
    pid: Annotated[int, Meta(ge=0)] = 0
    """Process id of an agent that connects for each message; 0 if its connection lasts as long as it does."""
    format: Annotated[str, Meta(max_length=60)] = ""
    """Import format of the agent's session file, as the format tables name it; empty: none is followed."""
    transcript: Annotated[str, Meta(max_length=4_096)] = ""
    """Absolute path of that file; empty if there is none."""


class OwnRule(Struct, frozen=True, kw_only=True):
    """A permission rule of an agent's own; the last one that matches a call counts."""

    pattern: Annotated[str, Meta(max_length=500)]
    """As permissions are written here, such as `Bash(git push *)`."""
    asks: bool
    """Whether the agent then asks its own user."""


class Ask(Struct, frozen=True, kw_only=True, tag="ask"):
    """A call that the agent is about to make and waits to be allowed."""

    nonce: Annotated[str, Meta(min_length=1, max_length=200)]
    """Names this question: the same one asked again after a lost connection has the same nonce."""
    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    """The agent's own name of its tool."""
    input: JsonObject
    call: Name = ""
    """The agent's own id of the call, which it may use again for another; empty if it has none."""
    cwd: Annotated[str, Meta(max_length=4_096)] = ""
    """Absolute path of the folder the call runs in; empty is that of the session."""
    takes_input: bool = True
    """Whether the answer may carry another input than the agent's own."""
    waits: Annotated[float, Meta(gt=0, le=86_400)] | None = None
    """Seconds until the agent stops waiting; None if it waits for ever."""
    own_rules: Annotated[tuple[OwnRule, ...], Meta(max_length=1_000)] = ()
    """Rules by which the agent asks its own user also after an allow."""


class Acknowledged(Struct, frozen=True, kw_only=True, tag="ack"):
    """The agent has read the answer."""

    nonce: Name


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """The agent says that a call has ended: a hint to look at what it did."""

    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    input: JsonObject
    call: Name = ""
    cwd: Annotated[str, Meta(max_length=4_096)] = ""
    is_error: bool = False
    output: str = ""
    nonce: Name = ""
    """Names this message where the agent waits for what its model has to know; empty if it does not wait."""


class TurnDone(Struct, frozen=True, kw_only=True, tag="turn_done"):
    """The agent has ended its turn and waits for its user."""


class AgentEnded(Struct, frozen=True, kw_only=True, tag="ended"):
    """The agent has ended its session."""


class CallAnswer(Struct, frozen=True, kw_only=True, tag="answer"):
    """The answer to one question."""

    nonce: str
    outcome: Literal["allow", "deny"]
    reason: str = ""
    """Why it was denied, for the model."""
    input: JsonObject | None = None
    """The input that the agent has to use in place of its own; None leaves it as it is."""
    note: str = ""
    """What the model has to know of that input; it is said after the call as well."""


class CallNote(Struct, frozen=True, kw_only=True, tag="note"):
    """What the model has to know of a call that has ended; empty if nothing."""

    nonce: str
    note: str = ""


class ConnectionRefused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The last line of a connection whose agent is not supervised here."""

    why: str


AgentMessage = Hello | Ask | Acknowledged | Done | TurnDone | AgentEnded

_decoder: Final = msgspec.json.Decoder(AgentMessage)


class MessageRefused(ValueError):
    """A line of an agent is not a message; says why."""


def decode_message(line: bytes) -> AgentMessage:
    """Return the message of a line. Raises MessageRefused."""
    if len(line) > MAX_LINE_BYTES:
        raise MessageRefused(f"longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return _decoder.decode(line)
    except (ValueError, RecursionError) as error:
        raise MessageRefused(str(error)) from None


def encode_answer(answer: CallAnswer | CallNote | ConnectionRefused) -> bytes:
    """Return the line of an answer, with its end."""
    return msgspec.json.encode(answer) + b"\n"
