"""Artifacts of steps, opened as copies in the external editor, and links of runs, copied."""

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from workbench.domain.events import ArtifactStored
from workbench.text.safe import one_line
from workbench.tui.backend import BackendError
from workbench.tui.external_editor import edit_in_external_editor
from workbench.tui.pane import CopyText, LineWanted

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext


_MAX_NAMES = 8


def open_artifact(context: "MainContext", name: str = "") -> None:
    """Open an artifact of the step under the cursor; without a name the only one, else ask which."""
    blobs = _artifact_blobs(context)
    if not blobs:
        context.say("This step has handed on nothing that could be opened.")
    elif name in blobs or len(blobs) == 1:
        _open_copy(context, name or next(iter(blobs)), blobs.get(name) or next(iter(blobs.values())))
    elif not name:
        _ask_which(context, list(blobs))
    else:
        near = [key for key in blobs if name.casefold() in key.casefold()]
        if len(near) == 1:
            _open_copy(context, near[0], blobs[near[0]])
        else:
            context.say(f"No artifact is called {one_line(name, 60)}. There are {', '.join(blobs)}.")


def _ask_which(context: "MainContext", names: list[str]) -> None:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    right = ", ".join(names[:_MAX_NAMES]) + more
    context.post(
        LineWanted(context.widgets.pipeline, "artifact", "Open which artifact", right, "open", text=names[0])
    )


def copy_link(context: "MainContext", name: str = "") -> None:
    """Copy a link of the run on show: the only one, the one of a label, else ask which."""
    run = context.widgets.pipeline.run
    links = {one_line(f"{link.label} {link.target}", 200): link.target for link in run.links} if run else {}
    near = [label for label in links if name.casefold() in label.casefold()]
    if not links:
        context.say("Nothing to link came of this run yet.")
    elif len(near) == 1 or name in links:
        label = name if name in links else near[0]
        context.post(CopyText(links[label], label))
    elif name and not near:
        context.say(f"No link is called {one_line(name, 60)}. There are {', '.join(links)}.")
    else:
        right = ", ".join([*links][:_MAX_NAMES])
        wanted = LineWanted(
            context.widgets.pipeline, "link", "Copy which link", right, "copy", text=next(iter(links))
        )
        context.post(wanted)


def _artifact_blobs(context: "MainContext") -> dict[str, str]:
    """Return the blobs of the files that a step handed on last, by the names they are asked for."""
    source, pane = context.state.source, context.widgets.pipeline
    run, step = pane.run, pane.cursor_step
    if run is None or step is None:
        return {}
    paint, cursor = pane.graph.paint, pane.graph.cursor or ""
    only = cursor if paint is not None and paint.item(cursor) is not None else ""
    blobs: dict[str, str] = {}
    for event in source.run_events(run.id, step.id):
        body = event.body
        if not isinstance(body, ArtifactStored) or body.content_ref is None or (only and event.step != only):
            continue
        name = body.name + ("" if "." in body.name else PurePosixPath(body.path).suffix)
        label = one_line(name if event.step in (step.id, only) else f"{event.step}/{name}", 120)
        if body.artifact_kind == "folder":
            blobs.update(_folder_members(source.text_of(body.content_ref), label))
        else:
            blobs[label] = body.content_ref
    return blobs


def _folder_members(listing: str | None, label: str) -> dict[str, str]:
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


def _open_copy(context: "MainContext", name: str, ref: str) -> None:
    text = context.state.source.text_of(ref)
    if text is None:
        context.say(f"{name} was not opened: its bytes are no longer kept. R does its step again.")
        return
    data = text.encode("utf-8", "replace")
    try:
        saved = edit_in_external_editor(
            context.app, context.backend, name.rpartition("/")[2] or "artifact", data
        )
    except BackendError as error:
        context.say(str(error), is_error=True)
        return
    if saved is not None and saved != data:
        context.say(f"{name} is as it was: what you changed was a copy.")
