"""The settings of words made into commands, and of lists of incidents."""

from typing import Annotated

from msgspec import Meta, Struct

from workbench.config.keys import FOLDER_NAME, Text, is_smaller, setting


class AskSettings(Struct, frozen=True, kw_only=True):
    """How `workbench ask` makes a command of words, and what it tells the model (seed S3, Config)."""

    model: (
        Annotated[Text, setting("Model that makes commands of words; unset, that of a new session.")] | None
    ) = None
    preferences_dir: (
        Annotated[
            str,
            setting(
                "Folder of preferences.md, which says what commands you like; unset, ask in the data folder.",
                kind=Annotated[str, FOLDER_NAME],
            ),
        ]
        | None
    ) = None
    terminal_lines: Annotated[
        int,
        Meta(ge=0, le=10_000),
        setting(
            "Lines of the terminal that the model is shown, without secrets, inside tmux; 0: none.",
            narrows=is_smaller,
        ),
    ] = 100


class IncidentSettings(Struct, frozen=True, kw_only=True):
    """How lists of incidents are made and checked."""

    checker: (
        Annotated[Text, setting("Command that prints what a linter finds, for `incidents run`.")] | None
    ) = None
