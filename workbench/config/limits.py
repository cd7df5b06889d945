"""Settings that limit what a call, a session, a run or a day may take."""

from typing import Annotated

from msgspec import Meta, Struct

from workbench.config.keys import LARGEST_INTEGER, is_smaller, is_smaller_limit, setting

_Bytes = Annotated[int, Meta(ge=256, le=LARGEST_INTEGER)]
_Seconds = Annotated[int, Meta(ge=1, le=86_400)]
_Repeats = Annotated[int, Meta(ge=0, le=1_000)]


_Tokens = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER)]
_Dollars = Annotated[float, Meta(ge=0, le=1e6)]


class TokenLimits(Struct, frozen=True, kw_only=True):
    """After how many tokens, input and output together, a human is asked."""

    session: Annotated[
        _Tokens,
        setting(
            "Tokens after which a session asks whether to continue; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0
    run: Annotated[
        _Tokens,
        setting(
            "Tokens after which the agents of a pipeline run ask whether to continue; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0
    day: Annotated[
        _Tokens,
        setting(
            "Tokens in all since midnight after which a session asks; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0


class CostLimits(Struct, frozen=True, kw_only=True):
    """After how many US dollars a human is asked; what has no known price is not counted."""

    session: Annotated[
        _Dollars,
        setting(
            "US dollars after which a session asks whether to continue; 0 is never.", narrows=is_smaller_limit
        ),
    ] = 0
    run: Annotated[
        _Dollars,
        setting(
            "US dollars after which the agents of a pipeline run ask whether to continue; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0
    day: Annotated[
        _Dollars,
        setting(
            "US dollars in all since midnight after which a session asks; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 0


class LimitSettings(Struct, frozen=True, kw_only=True):
    """How much a call may take and give."""

    tool_output_bytes: Annotated[
        _Bytes,
        setting("How much of a tool's output a model is shown, in bytes.", narrows=is_smaller),
    ] = 10_240
    context_file_bytes: Annotated[
        _Bytes, setting("How much of a file a model is shown, in bytes.", narrows=is_smaller)
    ] = 102_400
    command_seconds: Annotated[
        _Seconds, setting("How long a command may run, in seconds.", narrows=is_smaller)
    ] = 60
    compact_percent: Annotated[
        int, Meta(ge=0, le=95), setting("Percent of a context at which it is compacted; 0: never.")
    ] = 80
    output_blob_bytes: Annotated[
        int,
        Meta(ge=1_024, le=LARGEST_INTEGER),
        setting("How much output of a call is kept, in bytes.", narrows=is_smaller),
    ] = 104_857_600
    max_turns: Annotated[
        int,
        Meta(ge=1, le=10_000),
        setting("How many model calls one prompt may lead to.", narrows=is_smaller),
    ] = 50
    repeats_noted: Annotated[
        _Repeats,
        setting(
            "At how many equal results of the same call in a turn the model is told; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 3
    repeats_paused: Annotated[
        _Repeats,
        setting(
            "At how many equal results of the same call the turn is paused; 0 is never.",
            narrows=is_smaller_limit,
        ),
    ] = 5
    tokens: TokenLimits = TokenLimits()
    cost: CostLimits = CostLimits()
