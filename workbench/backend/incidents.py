"""Incidents for the screen's backend, loaded on first use: lists, code around one, requests for work."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from workbench.backend.workspace import LocalWorkspace
from workbench.domain.incidents import Incident, IncidentOptions
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.formats.findings.read import FindingsFile
from workbench.host import incident_requests
from workbench.incidents.request import incident_prompt
from workbench.text.human import sentence
from workbench.text.safe import one_line
from workbench.tui.backend import BackendError, IncidentBackend
from workbench.views.incidents import CodeExcerpt, CodeLine

if TYPE_CHECKING:
    from workbench.host.incident_check import CheckResult

_CANCELLED: Final = "No findings were read: it was cancelled."
_LOOK_SECONDS: Final = 0.25
"""Seconds between two looks at a checker that runs."""
LINES_AROUND: Final = 8
"""Lines that are shown before and after an incident."""
_MAX_LINE_BYTES: Final = 2_000
_MAX_FILE_BYTES: Final = 16_000_000
"""Bytes of a file that are looked through for a line."""


class LocalIncidents(LocalWorkspace, IncidentBackend):
    """The lists of one workspace."""

    def checker(self) -> str:
        return self._config().incidents.checker or ""

    def options(self) -> IncidentOptions:
        chosen = self._selected_model()
        return IncidentOptions(provider=chosen.provider, model=chosen.model)

    def open(self, source: str, goes_on: Callable[[str], bool]) -> str:
        self._require_person("read findings")
        file, mark, checker = (part.strip() for part in source.partition(" ! "))
        path = str(Path(self._workspace, Path(file).expanduser()))
        if mark or _is_file(path):
            return self._list(self._read(path, goes_on), path, checker if mark else self.checker())
        if " " not in file and ("/" in file or Path(file).suffix):
            raise BackendError(f"{file} was not read. It does not exist.")
        return self._list(self._run_checker(file, goes_on), file, file)

    def open_file(self, file: str, checker: str, goes_on: Callable[[str], bool]) -> str:
        self._require_person("read findings")
        path = str(Path(self._workspace, file))
        return self._list(self._read(path, goes_on), path, checker or self.checker())

    def _read(self, path: str, goes_on: Callable[[str], bool]) -> FindingsFile:
        def progress(read: int, total: int) -> None:
            of = f" of {total:,}" if total > read else ""
            if not goes_on(f"{read:,}{of} findings read."):
                raise BackendError(_CANCELLED)

        return incident_requests.read_findings_file(path, self._workspace, on_progress=progress)

    def _list(self, findings: FindingsFile, source: str, checker: str) -> str:
        return incident_requests.list_incidents(
            self._journal, self._workspace, findings, source=source, checker=checker, actor=self._actor
        )

    def _run_checker(self, command: str, goes_on: Callable[[str], bool]) -> FindingsFile:
        """Run a command that the user typed, as a check of the background process would."""
        from workbench.host.driver_context import open_driver_context
        from workbench.host.incident_check import run_checker
        from workbench.host.session_provider import provider_of
        from workbench.host.steps.pipeline_tool import SessionPipelineStarter

        context = open_driver_context(
            self._home, self._journal, self._workspace, provider=provider_of,
            pipelines=SessionPipelineStarter, can_ask=True,
        )  # fmt: skip

        async def run() -> "CheckResult":
            stop = asyncio.Event()
            checked = asyncio.ensure_future(run_checker(context, command, stop))
            began = time.monotonic()
            while not (await asyncio.wait([checked], timeout=_LOOK_SECONDS))[0]:
                if not goes_on(f"Running {one_line(command, 60)}  {time.monotonic() - began:.0f} s"):
                    stop.set()
            return checked.result()

        with closing(context.root):
            result = asyncio.run(run())
        if not goes_on(""):
            raise BackendError(_CANCELLED)
        if result.findings is None:
            raise BackendError(
                f"The checker gave no list. {sentence(result.problem)} It has to print SARIF or JSON, as"
                " ruff check --output-format json or pyright --outputjson do."
            )
        return result.findings

    def start(self, list_id: str, incident_ids: Sequence[str], options: IncidentOptions) -> None:
        self._require_person("have findings fixed")
        incident_requests.request_incidents(self._journal, list_id, incident_ids, options, self._actor)
        incident_requests.title_by_request(self._journal, list_id, self._actor)

    def go_on(self, list_id: str) -> None:
        self._require_person("have findings fixed")
        incident_requests.continue_incidents(self._journal, list_id, self._actor)

    def cancel(self, list_id: str) -> None:
        incident_requests.cancel_incidents(self._journal, list_id, "", self._actor)

    def dismiss(self, list_id: str, incident_ids: Sequence[str], reason: str) -> None:
        self._require_person("dismiss findings")
        incident_requests.dismiss_incidents(self._journal, list_id, incident_ids, reason, self._actor)

    def dismissed(self) -> Mapping[str, str]:
        return incident_requests.dismissed_fingerprints(self._journal, self._workspace)

    def prompt(self, incident: Incident, line: int) -> str:
        return incident_prompt(incident, self._workspace, line).prompt_text

    def code(self, path: str, line: int) -> CodeExcerpt:
        try:
            with Root(self._workspace) as root, root.open_read(path) as file:
                return _excerpt(file, line)
        except FileRefused as error:
            return CodeExcerpt(problem=sentence(str(error)))


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


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
        return CodeExcerpt(problem=f"The file has no line {line:,} any more." if number else "")
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
