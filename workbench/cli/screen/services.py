"""Fill the record of callables through which the screen reaches hosts, editors and the system.

Owns the wiring and nothing else: every callable is one call into a lower floor, imported when it is used.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from workbench.cli.screen.drafts import Draft
from workbench.cli.screen.wished import Wished
from workbench.domain.events import PromptSubmitted
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.services import FilmWanted, ForkWanted, NotDone, Services

if TYPE_CHECKING:
    from types import ModuleType

    from workbench.cli.screen.filing import Filing
    from workbench.cli.screen.launching import Launching
    from workbench.cli.screen.ruling import Ruling
    from workbench.cli.screen.steering import Steering
    from workbench.config.values import Config
    from workbench.host.choosing import Choice

MOST_FILES = 20_000
MOST_SAID = 200
"""Prompts that the composer brings back."""
LOG_TAIL, LOG_LINES = 65_536, 400
"""Bytes and lines that are read of a host's log."""


def person() -> Actor:
    """Return the human in front of this screen as an actor."""
    return Actor(kind="user", pid=os.getpid(), via="screen")


_RULING: Final = ("known_tools", "boundary", "rules", "asked_calls", "add_rule", "revoke_rule")


def services(home: Home, journal: Journal, workspace: str) -> Services:
    """Return what a screen on a workspace can do."""
    wiring = Wiring(home, journal, workspace)
    steering, launching, ruling = _late(wiring.steering), _late(wiring.launching), _late(wiring.ruling)
    ruled: dict[str, Any] = {name: ruling(name) for name in _RULING}
    return Services(
        submit=lambda session_id, text: asking().submit(journal, session_id, text, person()),
        said=wiring.said,
        draft=wiring.draft.read,
        keep_draft=wiring.draft.keep,
        interrupt=lambda session_id: asking().interrupt(journal, session_id, person()),
        go_on=lambda session_id: asking().continue_(journal, session_id, person()),
        refresh=lambda action_id: asking().refresh(journal, action_id, person()),
        undo=wiring.undo,
        end=wiring.end,
        begin=wiring.begin,
        models=steering("models"),
        set_model=steering("set_model"),
        set_mode=steering("set_mode"),
        mark=steering("mark"),
        elsewhere=wiring.elsewhere,
        cancel_run=lambda run_id: steps().cancel(journal, run_id, person()),
        retry_step=lambda run_id, step: steps().resume(journal, run_id, person(), step),
        run_from=wiring.run_from,
        pipelines=wiring.pipelines,
        pipeline_choices=launching("choices"),
        launch_plan=launching("plan"),
        launch=launching("launch"),
        fork=wiring.fork,
        film=wiring.film,
        ensure_host=wiring.ensure_host,
        host_trouble=wiring.host_trouble,
        restart_host=wiring.restart_host,
        may_answer=wiring.may_answer,
        open_editor=wiring.open_editor,
        pipe_to=wiring.pipe_to,
        notify_desktop=wiring.notify_desktop,
        list_files=wiring.list_files,
        branch=wiring.branch,
        has_model=wiring.has_model,
        config_file=wiring.config_file,
        asks=wiring.asks,
        requires_seen=wiring.requires_seen,
        host_log=wiring.host_log,
        **ruled,
        filing=wiring.filing,
        price=wiring.price,
    )


def _late(make: Callable[[], object]) -> Callable[[str], Callable[..., Any]]:
    """Return methods by their name of what is made, and loaded, when one of them is called first."""
    made = cache(make)
    return lambda name: lambda *given: getattr(made(), name)(*given)


def asking() -> "ModuleType":
    """Return what asks things of sessions; it is loaded when it is used."""
    from workbench.host import sessions

    return sessions


def steps() -> "ModuleType":
    """Return what asks for runs of pipelines; it is loaded when it is used."""
    from workbench.host.steps import requests

    return requests


class Wiring:
    """One workspace's services; each imports what it needs when it is called."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        self._home, self._journal, self._workspace = home, journal, workspace
        self._remarked = ""
        self._prices: Config | None = None
        self._starting: set[int] = set()
        """Threads that are starting a host now: that there is none yet is no trouble then."""
        self.wished = Wished()
        self.draft = Draft(home, workspace)

    def steering(self) -> "Steering":
        """Return what chooses models and what is asked about."""
        from workbench.cli.screen.steering import Steering

        return Steering(self._home, self._journal, self._workspace, person(), self.wished)

    def launching(self) -> "Launching":
        """Return what begins runs of pipelines."""
        from workbench.cli.screen.launching import Launching

        return Launching(self._home, self._journal, self._workspace)

    def ruling(self) -> "Ruling":
        """Return what knows and makes rules."""
        from workbench.cli.screen.ruling import Ruling

        return Ruling(self._home, self._journal, lambda: self._config().approvals.deny)

    def said(self, session_id: str) -> Sequence[str]:
        """Return what was said in this workspace before, oldest first, in one session last."""
        found = self._journal.reader.prompts(self._workspace, MOST_SAID)
        found.sort(key=lambda event: event.session_id == session_id)
        return [event.body.text for event in found if isinstance(event.body, PromptSubmitted)]

    def undo(self, action_id: str) -> None:
        """Ask for an applied change to be taken back."""
        asking().undo(self._journal, action_id, person())

    def end(self, session_id: str) -> None:
        """End a session for good; an agent that works is asked to stop first."""
        from workbench.host.filing import end

        session = self._journal.session(session_id)
        if session is not None:
            end(self._journal, session, person())

    def filing(self) -> "Filing":
        """Return what is done with sessions as a whole."""
        from workbench.cli.screen.filing import Filing

        return Filing(self._home, self._journal, self._workspace, person())

    def price(self, provider: str, sent: int, received: int) -> float | None:
        """Return what tokens cost by the settings; None where no price is known."""
        from workbench.config.pricing import cost
        from workbench.domain.values import Usage

        if self._prices is None:
            self._prices = self._config()
        return cost(self._prices, provider, Usage(input_tokens=sent, output_tokens=received))

    def ensure_host(self, workspace: str) -> str:
        """Start the workspace's host unless one lives; return why not, or once what is odd about it."""
        if gone := self._gone():
            return gone
        from workbench.cli.host.remarks import found_remarks
        from workbench.host.ensure import ensure_host, why_not

        self._starting.add(get_ident())
        try:
            host = ensure_host(self._home, self._journal, workspace)
        finally:
            self._starting.discard(get_ident())
        if host is None:
            return f"The host did not start: {why_not(self._home)} Its log is in {self._home.logs}."
        found = " ".join(found_remarks(self._home, self._journal, workspace))
        is_new, self._remarked = found != self._remarked, found
        return found if is_new else ""

    def host_trouble(self) -> tuple[str, str]:
        """Return what keeps the host from its work, as a few words and a sentence."""
        from workbench.cli.host.remarks import variables_here
        from workbench.host.standing import standing, suspended

        if gone := self._gone():
            return "the folder is gone", gone
        variables = variables_here(self._home, self._journal, self._workspace)
        found = standing(self._home, self._journal, self._workspace, variables)
        if found.state == "stopped":
            return "host is suspended, /restart replaces it", suspended(found.pid)
        if found.differences:
            words = " ".join(found.differences)
            return "host differs, /restart replaces it", f"The host differs from this screen. {words}"
        if found.state == "absent" and not self._starting and self._is_wanted():
            whole = "No host runs here: answers are kept, and nothing acts on them. /restart starts one."
            return "no host runs, /restart starts one", whole
        return "", ""

    def _gone(self) -> str:
        """Return what to do without a workspace; empty while it is there."""
        if Path(self._workspace).is_dir():
            return ""
        return f"{self._workspace} is gone. Nothing is written or run. Put it back, or reject what waits."

    def _is_wanted(self) -> bool:
        """Return whether something was asked of a session that nobody drives."""
        from workbench.journal.lease import is_live

        asked = self._journal.reader.awaiting(self._workspace)
        return any(not is_live(self._home, self._journal.lease(session.id)) for session in asked)

    def restart_host(self) -> str:
        """End the workspace's host if there is one, and start another."""
        from workbench.host.control import stop

        stop(self._home, self._workspace)
        if why := self.ensure_host(self._workspace):
            raise NotDone(why)
        return "Another host works here now."

    def may_answer(self) -> str:
        """Return why this process may not answer for a human."""
        from workbench.host.ancestry import InsideAgent, refuse_inside_agents

        try:
            refuse_inside_agents(self._journal, self._home, "answering on a screen")
        except InsideAgent as error:
            return f"{error.why} {error.remedy}"
        return ""

    def begin(self, prompt: str) -> str:
        """Begin a session with the model that the settings name, else with the newest session's."""
        from workbench.agents.instructions import system_prompt

        chosen = self.wished.choice or self._chosen()
        session_id: str = asking().create(
            self._journal, workspace=self._workspace, provider=chosen.provider, model=chosen.model,
            actor=person(), title=prompt.splitlines()[0],
            configuration={**chosen.configuration, **self.wished.members},
            system_prompt="" if chosen.provider == "recorded" else system_prompt(self._workspace),
        )  # fmt: skip
        asking().submit(self._journal, session_id, prompt, person())
        return session_id

    def elsewhere(self) -> int:
        """Return how many sessions there are of other folders, as the library lists them."""
        from workbench.journal.library import elsewhere

        with self._journal.reader.snapshot() as database:
            return elsewhere(database, self._workspace)

    def run_from(self, run_id: str, step: str) -> str:
        """Begin a run of the same pipeline that takes over what stands before a step."""
        from workbench.host.steps.requests import Wish, request

        run = self._journal.pipeline_state(run_id)
        if run is None:
            raise NotDone("No run was begun: the run it would go on from is not there any more.")
        wish = Wish(name=run.file or run.pipeline_name, input=run.input, from_step=step)
        return request(self._journal, self._workspace, wish, person())

    def fork(self, wanted: ForkWanted) -> str:
        """Begin a session from a moment of another one."""
        from workbench.cli.screen.forking import fork_wanted

        return fork_wanted(self._home, self._journal, wanted)

    def film(self, wanted: FilmWanted, told: Callable[[str], None]) -> str:
        """Write a film of a session, or a picture of a moment."""
        from workbench.cli.screen.filming import film

        return film(self._home, self._journal, self._workspace, wanted, told)

    def pipelines(self) -> Sequence[str]:
        """Return the names of the pipelines of this workspace."""
        from workbench.pipelines.places import files_of, find_manifest, project_of

        manifest = find_manifest(self._workspace)
        root = project_of(manifest) if manifest else self._workspace
        if not any(files_of(root)):
            return ()
        from workbench.pipelines.load import pipelines_of

        return [one.name for one in pipelines_of(root)]

    def has_model(self) -> bool:
        """Return whether a session can be begun here."""
        if self._newest() is not None:
            return True
        from workbench.host.choosing import is_set_up

        return is_set_up(self._config())

    def config_file(self) -> str:
        """Return where the user's settings are."""
        from workbench.config.layers import USER_FILE

        return str(self._home.path / USER_FILE)

    def asks(self) -> tuple[str, int]:
        """Return what is asked about here, and how many rules let something pass."""
        from workbench.host.trusting import read_grant
        from workbench.policy.rules import Moment, in_force

        reads = self._config().approvals.read_only == "auto" or read_grant(self._journal, self._workspace)
        if wished := self.wished.members.get("reads"):
            reads = wished == "reads"
        moment = Moment(session_id="", workspace=self._workspace, run_id=None, now=self._journal.clock.now())
        rules = in_force("allow", self._journal.rules(), moment)
        return "all but reads" if reads else "every tool", len(rules)

    def requires_seen(self) -> bool:
        """Return whether `a` shows what was not on the screen before it approves."""
        return self._config().approvals.require_seen

    def _chosen(self) -> "Choice":
        from workbench.host.choosing import Choice, NoModel, Wish, choose, is_set_up
        from workbench.host.endpoints import teach

        config = self._config()
        teach(config)
        newest = self._newest()
        if newest is not None and not is_set_up(config):
            return Choice(
                provider=newest.provider, model=newest.model, configuration=dict(newest.configuration)
            )  # fmt: skip
        try:
            return choose(config, Wish())
        except NoModel as error:
            raise NotDone(f"{error.what} {error.why} {error.remedy}") from None

    def _config(self) -> "Config":
        from workbench.host import trusting
        from workbench.host.settings import Settings

        trusted = trusting.is_trusted(self._journal, self._workspace)
        return Settings(self._home, self._workspace, {}).loaded(trusted=trusted).config

    def _newest(self) -> Session | None:
        newest = self._journal.sessions(workspace=self._workspace, kinds=("chat",), limit=1)
        return newest[0] if newest else None

    def open_editor(self, name: str, data: bytes) -> bytes | None:
        """Let the user edit bytes in their editor."""
        from workbench.effects.foreground import EditorFailed, edit

        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            return edit(command, self._home.run, name, data)
        except EditorFailed as error:
            raise NotDone(f"Nothing was changed: {error}") from None

    def pipe_to(self, command: str, text: str) -> str:
        """Run a command of the user's with a text as its input."""
        from workbench.effects.foreground import feed

        code = feed(command, text.encode("utf-8", "replace"), self._workspace)
        if sys.stdin.isatty():
            # The screen comes back over what was printed: it stays until it was read.
            with contextlib.suppress(EOFError, KeyboardInterrupt):
                input(f"\nEnded with {code}; enter goes back to workbench. ")
        return "" if code == 0 else f"The command ended with {code}."

    def notify_desktop(self, title: str, text: str) -> None:
        """Show a notice outside of the terminal, where the system has a program for it."""
        from workbench.effects.foreground import capture

        # The body is read as markup. No folder of a stranger is one that programs are looked for in.
        body = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        capture(["notify-send", "--app-name=workbench", "--", title, body], "/", 2.0)

    def list_files(self) -> Sequence[str]:
        """Return the workspace's files that git does not ignore; all of them where there is no git."""
        from workbench.effects.git import GitFailed, run_git

        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        try:
            listed = run_git(self._workspace, *words, environment=os.environ, seconds=5.0)
        except GitFailed:
            return _walked(self._workspace)
        return [name.decode("utf-8", "replace") for name in listed.split(b"\0") if name][:MOST_FILES]

    def host_log(self) -> Sequence[str]:
        """Return the last lines of the host's log that was written last."""
        logs = sorted(self._home.logs.glob("host-*.log"), key=lambda path: path.stat().st_mtime)
        if not logs:
            return ()
        with logs[-1].open("rb") as file:
            file.seek(max(0, logs[-1].stat().st_size - LOG_TAIL))
            return file.read(LOG_TAIL).decode("utf-8", "replace").splitlines()[-LOG_LINES:]

    def branch(self) -> str:
        """Return the branch that is checked out, as `.git/HEAD` names it."""
        from workbench.effects.files import FileRefused
        from workbench.effects.private import read_bounded

        try:
            head = read_bounded(Path(self._workspace) / ".git" / "HEAD", 1_000) or b""
        except FileRefused:
            return ""
        return head.decode("utf-8", "replace").strip().removeprefix("ref: refs/heads/")[:80]


def _walked(workspace: str) -> list[str]:
    found: list[str] = []
    for folder, below, names in os.walk(workspace):
        below[:] = [name for name in below if not name.startswith(".")]
        inside = os.path.relpath(folder, workspace)
        found += [name if inside == "." else f"{inside}/{name}" for name in names]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]
