"""Sessions as the library files them: renamed, tagged, archived, ended, deleted, forked, in and out.

Owns the sentences about what came of it. Everything is done by the same functions as on the command line, and
refused inside agents in the same way.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.host import filing
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.delete import compact, finish_deletes
from workbench.journal.errors import Driven
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import size
from workbench.text.safe import one_line
from workbench.tui.services import FilmWanted, NotDone

TOLD_EVERY = 0.2
"""Seconds between two words of an import."""

ENDINGS = {
    ".jsonl": "events", ".md": "markdown", ".markdown": "markdown", ".atif.json": "atif",
    ".wink.json": "wink", ".kaiak.jsonl": "kaiak", ".assistant.jsonl": "assistant",
}  # fmt: skip
"""How a file's name ends, and the format that it gets; a longer ending counts before a shorter one."""


class Cancelled(Exception):
    """The user wants an import taken back."""


class Filing:
    """What the library does with sessions of a journal."""

    def __init__(self, home: Home, journal: Journal, workspace: str, actor: Actor) -> None:
        self._home, self._journal, self._workspace, self._actor = home, journal, workspace, actor

    def _session(self, session_id: str) -> Session:
        refuse_inside_agents(self._journal, self._home, "file a session")
        session = self._journal.session(session_id)
        if session is None:
            raise NotDone("Nothing was done: the session is not there any more.")
        return session

    def retitle(self, session_id: str, title: str) -> str:
        """Give a session another title."""
        self._session(session_id)
        return f"Renamed: {filing.retitle(self._journal, session_id, title, self._actor)}"

    def tag(self, session_id: str, words: str) -> str:
        """Give a session exactly the tags that are typed."""
        session, wanted = self._session(session_id), words.replace(",", " ").split()
        gone = [one for one in session.tags if one not in wanted]
        tags = filing.tag(self._journal, session, wanted, gone, self._actor)
        return f"Tags: {', '.join(tags)}" if tags else "It has no tags now."

    def archive(self, session_id: str, *, is_archived: bool) -> str:
        """Put a session out of the way, or back."""
        filing.archive(self._journal, self._session(session_id), is_archived, self._actor)
        return "Archived. is:archived in the filter shows it, Z puts it back." if is_archived else "Put back."

    def end(self, session_id: str) -> str:
        """End a session for good."""
        return f"It is {filing.end(self._journal, self._session(session_id), self._actor)}."

    def delete(self, session_ids: Sequence[str]) -> str:
        """Delete sessions with everything that belongs to them."""
        count = 0
        for session in [self._session(key) for key in session_ids]:
            try:
                count += filing.delete(self._journal, session, self._actor)
            except Driven:
                done = f" {count} were deleted before it." if count else ""
                title = one_line(session.title, 40)
                raise NotDone(
                    f"Not deleted: “{title}” is being driven. X ends it first, or stop its host.{done}"
                ) from None
        finish_deletes(self._journal)
        is_compact = compact(self._journal)
        said = "The session is deleted." if count == 1 else f"{count} sessions are deleted."
        more = " Remnants may stay in unused pages until workbench doctor --rebuild runs."
        return said if is_compact else said + more

    def fork(self, session_id: str) -> str:
        """Begin a session in this workspace with the conversation of another one, and return its id."""
        from workbench.cli.errors import Refusal
        from workbench.cli.sessions.fork import Wish, forked

        session = self._session(session_id)
        try:
            made = forked(self._journal, session, Wish(directory=self._workspace), self._actor)
        except Refusal as error:
            raise NotDone(f"Not forked: {error.why}. Begin a session here first, with ctrl+n.") from None
        return made.session_id

    def send(self, session_id: str, path: str) -> str:
        """Write a session to a file whose ending says in which format."""
        from workbench.cli.screen.carrying import carry
        from workbench.cli.screen.filming import FORMS, film

        session = self._session(session_id)
        target = self._at(path)
        if target.suffix in FORMS:
            wanted = FilmWanted(session_id=session.id, path=path)
            return film(self._home, self._journal, self._workspace, wanted, lambda _: None)
        form = next(
            (ENDINGS[end] for end in sorted(ENDINGS, key=len, reverse=True) if path.endswith(end)), None
        )
        if form is None:
            raise NotDone(
                f"Not written: {one_line(path, 60)} ends in none of {' '.join([*ENDINGS, *FORMS])}."
            )
        if target.exists():
            raise NotDone(f"Not written: {one_line(str(target), 80)} is there already. Name another file.")
        carry(self._journal, session, form, target)
        return f"Written: {one_line(str(target), 120)}, {size(target.stat().st_size)}."

    def _at(self, path: str) -> Path:
        return Path(self._workspace) / Path(path).expanduser()

    def take(self, path: str, goes_on: Callable[[str], bool]) -> str:
        """Import a file or folder; `goes_on` is told how far it is, and False takes all of it back."""
        from workbench.cli.screen.carrying import bring

        refuse_inside_agents(self._journal, self._home, "import sessions")
        place = self._at(path)
        if not place.exists():
            raise NotDone(f"Nothing was imported: {one_line(str(place), 120)} is not there.")
        last = [0.0]

        def told(read: int, seconds: float, name: str) -> None:
            now = time.monotonic()
            if now - last[0] < TOLD_EVERY:
                return
            last[0] = now
            speed = size(int(read / max(0.001, seconds)))
            if not goes_on(f"{size(read)} read, {speed}/s  {one_line(Path(name).name, 40)}"):
                raise Cancelled

        try:
            return bring(self._journal, str(place), told)
        except Cancelled:
            return "The import was cancelled; nothing of it was kept."
