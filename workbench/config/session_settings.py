"""The settings of imports: which sessions of other programs are taken, and how long they are kept."""

from typing import Annotated

from msgspec import Meta, Struct

from workbench.config.keys import Text, is_value, list_kind, setting

_LEFT_OUT = list_kind(Text, 'agents, folders and patterns of folders, such as "codex" or "~/private/*"')


class SessionSettings(Struct, frozen=True, kw_only=True):
    """Which sessions of other programs are imported and how long they are kept."""

    watch: Annotated[
        bool,
        setting(
            "Whether a background process imports what other agents of this machine write, while it runs.",
            narrows=is_value(False),
        ),
    ] = False
    leave_out: Annotated[
        tuple[str, ...],
        setting(
            "Agents, folders and patterns of folders whose sessions are never imported.",
            kind=_LEFT_OUT, is_strict=True, is_united=True,
        ),
    ] = ()  # fmt: skip
    keep_imported_days: Annotated[
        int,
        Meta(ge=0, le=36_500),
        setting("Days after which imported sessions are deleted, counted from their end; 0 keeps them."),
    ] = 0
