"""Keys of the library, place 5."""

from workbench.tui.panes.library import LibraryPane


def replay(pane: LibraryPane) -> None:
    """See the session again."""
    pane.wish("replay")


def match_next(pane: LibraryPane) -> None:
    """Choose the match below, which is older."""
    pane.choose_match(1)


def match_previous(pane: LibraryPane) -> None:
    """Choose the match above, which is newer."""
    pane.choose_match(-1)


def go_on(pane: LibraryPane) -> None:
    """Let the session go on."""
    pane.wish("go_on")


def fork(pane: LibraryPane) -> None:
    """Begin a session from its end."""
    pane.wish("fork")


def beside(pane: LibraryPane) -> None:
    """See the two that are marked side by side."""
    pane.wish("beside")


def rename(pane: LibraryPane) -> None:
    """Ask for another title."""
    pane.wish("rename")


def tag(pane: LibraryPane) -> None:
    """Ask for its tags."""
    pane.wish("tag")


def mark(pane: LibraryPane) -> None:
    """Mark it, or take the mark off."""
    pane.toggle_mark()


def where(pane: LibraryPane) -> None:
    """Show this workspace, or all."""
    pane.toggle_where()


def send(pane: LibraryPane) -> None:
    """Ask for the file to write it to."""
    pane.wish("send")


def take(pane: LibraryPane) -> None:
    """Ask for a file or folder to take in."""
    pane.wish_to_import()


def archive(pane: LibraryPane) -> None:
    """Put it out of the way, or back."""
    pane.wish("archive")


def end(pane: LibraryPane) -> None:
    """Ask whether it is to be ended for good."""
    pane.wish("end")


def delete(pane: LibraryPane) -> None:
    """Ask whether it is to be deleted, and say what goes."""
    pane.wish("delete")


def preview_down(pane: LibraryPane) -> None:
    """Scroll the preview down."""
    pane.scroll_preview(3)


def preview_up(pane: LibraryPane) -> None:
    """Scroll the preview up."""
    pane.scroll_preview(-3)


def drop(pane: LibraryPane) -> None:
    """Cancel an import, else clear the filter and the marks, else go back."""
    pane.step_back()
