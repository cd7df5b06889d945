"""The user's own editor in the terminal of the screen."""

from typing import Any, cast

from textual.app import App, SuspendNotSupported

from workbench.tui.backend import Backend


def edit_in_external_editor(app: object, backend: Backend, name: str, data: bytes) -> bytes | None:
    """Let the user change bytes in their editor.

    Args:
        app: Whose terminal it is.
        backend: What opens it.
        name: Last part of a file's name, which says its kind.
        data: What it begins with.

    Returns:
        What was saved; None if nothing was.

    Raises:
        BackendError: It did not start, or failed; says why.
    """
    saved: list[bytes | Exception | None] = []

    def edit() -> None:
        # The framework takes the terminal back only from what raises nothing.
        try:
            saved.append(backend.open_editor(name, data))
        except Exception as error:  # noqa: BLE001 it is raised again once the terminal is taken back
            saved.append(error)

    try:
        # Textual leaves the type of an app's return value open; nothing here depends on it.
        with cast("App[Any]", app).suspend():
            edit()
    except SuspendNotSupported:
        edit()
    if isinstance(result := saved[0], Exception):
        raise result
    return result
