"""Open what a step handed on in the user's editor: a copy of exactly the bytes that later steps get.

Owns which artifacts a step has and their names. What is changed in the copy is kept nowhere.
"""

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from workbench.domain.runs import ArtifactStored
from workbench.text.safe import one_line
from workbench.tui.editing import in_editor
from workbench.tui.messages import LineAsked
from workbench.tui.services import NotDone

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_MOST_SHOWN = 8


def open_artifact(screen: "MainScreen", name: str = "") -> None:
    """Open an artifact of the step under the cursor; without a name the only one, else ask which.

    Args:
        screen: the main screen.
        name: as `names` lists it.
    """
    found = _found(screen)
    if not found:
        screen.say("This step has handed on nothing that could be opened.")
    elif name in found or len(found) == 1:
        _open(screen, name or next(iter(found)), found.get(name) or next(iter(found.values())))
    elif not name:
        _ask(screen, list(found))
    else:
        near = [key for key in found if name.casefold() in key.casefold()]
        if len(near) == 1:
            _open(screen, near[0], found[near[0]])
        else:
            screen.say(f"No artifact is called {one_line(name, 60)}. There are {', '.join(found)}.")


def _ask(screen: "MainScreen", names: list[str]) -> None:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    right = ", ".join(names[:_MOST_SHOWN]) + more
    screen.post_message(
        LineAsked(screen.pipeline, "artifact", "Open which artifact", right, "open", text=names[0])
    )


def _found(screen: "MainScreen") -> dict[str, str]:
    """Return the blobs of the files that a step handed on last, by the names they are asked for."""
    source, pane = screen.state.source, screen.pipeline
    run, step = pane.run, pane.cursor_step
    if run is None or step is None:
        return {}
    paint, cursor = pane.graph.paint, pane.graph.cursor or ""
    only = cursor if paint is not None and paint.item(cursor) is not None else ""
    found: dict[str, str] = {}
    for event in source.run_events(run.id, step.id):
        body = event.body
        if not isinstance(body, ArtifactStored) or body.content_ref is None or (only and event.step != only):
            continue
        name = body.name + ("" if "." in body.name else PurePosixPath(body.path).suffix)
        label = one_line(name if event.step in (step.id, only) else f"{event.step}/{name}", 120)
        if body.artifact_kind == "folder":
            found.update(_members(source.text_of(body.content_ref), label))
        else:
            found[label] = body.content_ref
    return found


def _members(listing: str | None, label: str) -> dict[str, str]:
    """Return the files of a folder by `name/path`."""
    try:
        members: object = json.loads(listing or "{}")
    except ValueError:
        return {}
    if not isinstance(members, dict):
        return {}
    return {
        f"{label}/{one_line(path, 200)}": ref
        for path, ref in cast("dict[str, Any]", members).items()
        if isinstance(ref, str)
    }


def _open(screen: "MainScreen", name: str, ref: str) -> None:
    text = screen.state.source.text_of(ref)
    if text is None:
        screen.say(f"{name} was not opened: its bytes are not kept any more. R does its step again.")
        return
    data = text.encode("utf-8", "replace")
    try:
        saved = in_editor(screen.textual, screen.services, name.rpartition("/")[2] or "artifact", data)
    except NotDone as error:
        screen.say(str(error), is_error=True)
        return
    if saved is not None and saved != data:
        screen.say(f"{name} is as it was: what you changed was a copy.")
