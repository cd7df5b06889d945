"""Incidents for the screen's backend, loaded on first use: lists, code around one, requests for work."""

from collections.abc import Callable, Sequence
from typing import BinaryIO, Final

from workbench.cli.local_backend import screen_actor
from workbench.domain.events import IncidentDismissed, IncidentsCancelRequested, IncidentsRequested
from workbench.domain.incidents import IncidentOptions
from workbench.domain.values import Body
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.model_selection import SelectedModel
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import sentence
from workbench.tui.backend import IncidentBackend
from workbench.views.incidents import CodeExcerpt, CodeLine

LINES_AROUND: Final = 8
"""Lines that are shown before and after an incident."""
_MAX_LINE_BYTES: Final = 2_000
_MAX_FILE_BYTES: Final = 16_000_000
"""Bytes of a file that are looked through for a line."""


class LocalIncidents(IncidentBackend):
    """The lists of one workspace."""

    def __init__(
        self, home: Home, journal: Journal, workspace: str, choose: Callable[[], SelectedModel]
    ) -> None:
        self._home, self._journal, self._workspace, self._choose = home, journal, workspace, choose

    def options(self) -> IncidentOptions:
        chosen = self._choose()
        return IncidentOptions(provider=chosen.provider, model=chosen.model)

    def start(self, list_id: str, incident_ids: Sequence[str], options: IncidentOptions) -> None:
        self._ask(list_id, IncidentsRequested(ids=tuple(incident_ids), options=options))

    def cancel(self, list_id: str) -> None:
        self._ask(list_id, IncidentsCancelRequested())

    def dismiss(self, list_id: str, fingerprints: Sequence[str], reason: str) -> None:
        self._ask(list_id, *(IncidentDismissed(fingerprint=text, reason=reason) for text in fingerprints))

    def _ask(self, list_id: str, *bodies: Body) -> None:
        refuse_inside_agents(self._journal, self._home, "work on findings")
        actor = screen_actor()
        self._journal.append([self._journal.event(body, list_id, actor) for body in bodies])  # type: ignore[arg-type]

    def code(self, path: str, line: int) -> CodeExcerpt:
        try:
            with Root(self._workspace) as root, root.open_read(path) as file:
                return _excerpt(file, line)
        except FileRefused as error:
            return CodeExcerpt(problem=sentence(str(error)))


def _excerpt(file: BinaryIO, line: int) -> CodeExcerpt:
    first, last = max(1, line - LINES_AROUND), max(line, 1) + LINES_AROUND
    lines: list[CodeLine] = []
    number, read = 0, 0
    while number < last and read < _MAX_FILE_BYTES and (data := _next_line(file)):
        number, read = number + 1, read + len(data)
        if b"\0" in data:
            return CodeExcerpt(problem="It is not a text file.")
        if number >= first:
            lines.append(CodeLine(number, _decoded(data.rstrip(b"\r\n"))))
    if not lines:
        return CodeExcerpt(problem=f"The file has no line {first:,} any more." if number else "")
    return CodeExcerpt(lines=tuple(lines))


def _next_line(file: BinaryIO) -> bytes:
    """Return the next line, of a long one the beginning."""
    data = file.readline(_MAX_LINE_BYTES)
    part = data
    while len(part) == _MAX_LINE_BYTES and not part.endswith(b"\n"):
        part = file.readline(_MAX_LINE_BYTES)
    return data


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
