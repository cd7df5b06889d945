"""Work that the screen has done in threads: decisions, prompts, hosts, git, the external editor.

The screen never waits for a disk or a process; every refusal is reported in words.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from workbench.changes.decision import SealedBytesMissing
from workbench.domain.values import JsonObject
from workbench.text.human import countdown_text
from workbench.text.safe import one_line
from workbench.tui import pane
from workbench.tui.backend import Backend, BackendError, RestartLater, error_text
from workbench.tui.external_editor import edit_in_external_editor
from workbench.views.action_detail import CommandParts
from workbench.views.agent_connections import connectable_names
from workbench.views.sandbox import offer_text, problem_sentence

if TYPE_CHECKING:
    from workbench.domain.events import RuleAdded
    from workbench.domain.rows import Action
    from workbench.tui.main.context import MainContext
    from workbench.views.unseen_ends import UnseenEnd


_MAX_NOTIFICATION_CELLS = 200
_RESTART_AGAIN_SECONDS: Final = 1.0
"""How long a restart waits before it looks again whether something executes."""
TROUBLE_SECONDS: Final = 1.5
"""Until a host is looked at again that has trouble: the header says nothing that is over."""
_EFFECT_VERBS = {"allow": "allows", "ask": "asks about", "deny": "denies"}


class BackgroundTasks:
    """Does work of a screen in threads, and says on it what came of it."""

    def __init__(self, screen: Screen[Any], backend: Backend) -> None:
        self._screen, self.backend = screen, backend

    def _thread(self, work: Callable[[], object], group: str, description: str) -> None:
        self._screen.run_worker(
            work, group=group, description=description, thread=True, exit_on_error=False, exclusive=False
        )

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._screen.post_message(pane.StatusMessage(text, is_error=is_error))

    def post(self, message: Message) -> None:
        """Send a message to the screen."""
        self._screen.post_message(message)

    def _report(self, work: Callable[[], str], group: str, description: str) -> None:
        """Do something in a thread and say what it returns, or why it was not done."""

        def reported() -> None:
            try:
                text = work()
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                self._say(error_text(error), is_error=True)
                return
            if text:
                self._say(text)

        self._thread(reported, group, description)

    def tell(self, work: Callable[[], str], while_at_it: str, description: str) -> None:
        """Do something that may take a while, and say what it says."""
        self._say(while_at_it)
        self._report(work, "asks", description)


class MainTasks(BackgroundTasks):
    """What a main screen has done in threads."""

    def __init__(self, screen: Screen[Any], context: "MainContext") -> None:
        super().__init__(screen, context.backend)
        self._context, self._widgets = context, context.widgets
        self._state, self._status = context.state, context.status
        self._parts: dict[str, CommandParts | None] = {}
        self._restart_waits = False
        """Whether the background process is restarted once nothing executes."""
        self._trouble = ""
        """What was said of the trouble that the header names."""
        self._trouble_timer: Timer | None = None

    def _is_refused(self) -> bool:
        """Return whether nothing may be answered here, and say why."""
        reason = self.backend.may_answer()
        if reason:
            self._say(reason, is_error=True)
        return bool(reason)

    # --- decisions ----------------------------------------------------------------------------------

    def decide(self, message: pane.DecisionMade) -> None:
        """Answer an action."""
        action_id, verdict = message.decision.action_id, message.decision.verdict
        if reason := self.backend.may_answer():
            refused = pane.DecisionReported(action_id, verdict, None, reason)
            self._widgets.approvals.decided(refused)
            return
        action = self._state.actions.get(action_id)
        folders = self._context.folders

        def work() -> None:
            if verdict == "approve" and (why := folders.why_not_approved(action_id)):
                why = f"Not approved. {why}"
                self._context.post(pane.DecisionReported(action_id, verdict, None, why))
                self._context.call_from_thread(folders.look)
                return
            opened = self._state.source.opened(action) if action else None
            self._context.post(self._context.decisions.decide(message, opened))

        self._thread(work, "answers", f"answer {action_id}")

    def extend(self, action_id: str) -> None:
        """Begin the time of an action anew."""
        if self._is_refused():
            return

        def work() -> None:
            done = self._context.decisions.extend(action_id)
            self._context.post(done)
            if done.result is not None and done.result.ok:
                self._say("Its time starts again. That is recorded.")

        self._thread(work, "answers", f"extend {action_id}")

    def propose_again(self, action_ids: Sequence[str]) -> None:
        """Ask the agent of expired actions of one session to propose them again."""

        def work() -> str:
            self._say(self.backend.propose_again(action_ids))
            self._context.post(pane.DetailWanted(self._widgets.approvals.queue.cursor))
            self._start_host(self._context.folders.of_action(action_ids[0]))
            return ""

        if not self._is_refused():
            self._report(work, "answers", "ask for what expired")

    def undo_change(self, action_id: str) -> None:
        """Undo an applied change, and say whether it is undone."""
        if not self._is_refused():
            undo = self.backend.library.undo_change
            self.tell(lambda: undo(action_id), "The change is being undone.", "undo a change")

    def expire(self) -> None:
        """Expire what is due."""
        self._thread(self._context.decisions.expire, "expire", "expire what is due")

    def add_rule(self, rule: "RuleAdded", then: pane.DecisionMade | None, note: str = "") -> None:
        """Add a rule; then answer the call that it was made from, as a key would.

        Args:
            rule: That is added.
            then: The answer to that call; None where it still waits.
            note: What to say of the rule instead of where it is revoked.
        """

        def work() -> str:
            added = self.backend.rules.add_rule(rule)
            self.rules_changed()
            told = note or "6 shows and revokes it."
            self._say(f"{added.id} {_EFFECT_VERBS[added.effect]} {added.pattern}. {told}")
            if then is not None:
                self._context.call_from_thread(self.decide, then)
            return ""

        if not self._is_refused():
            self._report(work, "answers", "add a rule")

    def edit(self, action_id: str) -> None:
        """Let the user change a proposal in an editor; the diff then shows their text."""
        action = self._state.actions.get(action_id)
        opened = self._state.source.opened(action) if action else None
        try:
            change = self._context.decisions.proposed(opened) if opened else None
        except SealedBytesMissing as error:
            self._say(error.why, is_error=True)
            return
        if change is None or change.after is None:
            self._say("Only a change of one file can be edited.")
            return
        approvals = self._widgets.approvals
        edits = approvals.choosing.edits
        before = edits.get(action_id, {}).get(change.path, change.after)
        name = change.path.rpartition("/")[2]
        try:
            data = edit_in_external_editor(self._context.app, self.backend, name, before)
        except BackendError as error:
            self._say(str(error), is_error=True)
            return
        if data is None or data == before:
            self._say("Nothing was changed.")
            return
        if data == change.after:
            edits.pop(action_id, None)
        else:
            edits[action_id] = {change.path: data}
        approvals.choosing.was_edited(action_id)
        self._context.presenter.detail(action_id)
        approvals.disarm()
        self._say("This is your text. a approves it; e changes it again.")

    # --- commands taken apart -----------------------------------------------------------------------

    def parts_of(self, action: "Action", parameters: "JsonObject") -> "CommandParts | None":
        """Return a waiting command taken apart; the first time it is read in a thread, and shown then."""
        command = parameters.get("command")
        if action.state != "pending" or action.verb != "run" or not isinstance(command, str):
            return None
        if action.id not in self._parts:
            self._parts[action.id] = None
            self._thread(
                lambda: self._take_apart(action, parameters, command), "parts", "take a command apart"
            )
        return self._parts[action.id]

    def _take_apart(self, action: "Action", parameters: "JsonObject", command: str) -> None:
        from workbench.policy.rules import RuleMoment
        from workbench.tui.approvals.command_parts import command_review_table

        moment = RuleMoment(
            session_id=action.session_id, workspace=self._context.folders.of_action(action.id), run_id=None,
            now=self._state.source.now(), turn_id=action.turn_id,
        )  # fmt: skip
        table = command_review_table(self.backend, action.tool or "", parameters, command, moment)
        self._parts[action.id] = table
        if table is not None:
            self._context.post(pane.DetailWanted(action.id))

    def rules_changed(self) -> None:
        """Take commands apart anew: what rules say of them may be another."""
        self._parts.clear()

    # --- sessions and runs --------------------------------------------------------------------------

    def ask(self, ask: Callable[[str], object], about: str, done: str) -> None:
        """Ask something about a session or an action, then see to it that somebody reacts."""

        def work() -> str:
            ask(about)
            self._say(done)
            self._start_host(workspace)
            return ""

        workspace = self._context.folders.of(about)

        self._report(work, "asks", done)

    def ask_current(self, ask: Callable[[str], object], done: str) -> None:
        """Ask something of the agent of the session on show."""
        if self._state.current is None:
            self._context.say("There is no session here.")
        else:
            self.ask(ask, self._state.current.id, done)

    def file(self, work: Callable[[], str]) -> None:
        """Do something with sessions in a thread and say what came of it."""
        if not self._is_refused():
            self._report(work, "filing", "file a session")

    def steer(self, work: Callable[[], str]) -> None:
        """Change how a session goes on, and say what came of it."""

        def done() -> str:
            text = work()
            self.read_asks()
            return text

        self.file(done)

    def prompt(self, text: str) -> None:
        """Say something to the agent on show; without one begin a session."""
        current, folders = self._state.current, self._context.folders
        workspace = folders.of_session(current)

        def work() -> None:
            place = workspace
            try:
                if current is None:
                    session_id = self.backend.begin_session(text)
                    self._status.worktrees = ""
                    self._context.post(pane.SessionChosen(session_id))
                    place = folders.of(session_id)
                elif why := folders.why_no_message(current):
                    raise BackendError(f"Nothing was sent. {why}")
                else:
                    self.backend.submit_prompt(current.id, text)
            except Exception as error:  # noqa: BLE001 as above
                self._say(error_text(error), is_error=True)
                self._context.call_from_thread(self._widgets.composer.put_back, text)
                return
            self._start_host(place)

        self._thread(work, "asks", "prompt")

    def choose_worktree(self, tell: Callable[[str, str], None]) -> None:
        """Let the next session have a worktree; `tell` gets the folder of worktrees, or why it gets none."""
        from workbench.tui.main.next_session import why_refused

        def work() -> None:
            try:
                worktrees = self.backend.models.choose_worktree(is_chosen=True)
            except Exception as error:  # noqa: BLE001 as above
                self._context.call_from_thread(tell, "", why_refused(error))
                return
            self._context.call_from_thread(tell, worktrees, "")

        self._thread(work, "worktree", "choose a worktree")

    def edit_queued(self, session_id: str, prompt_id: str, text: str) -> None:
        """Change a queued message or take it back, and say which; text that came too late is put back."""

        def work() -> None:
            try:
                self.backend.edit_prompt(session_id, prompt_id, text)
            except Exception as error:  # noqa: BLE001 as above
                self._say(error_text(error), is_error=True)
                self._context.call_from_thread(self._widgets.composer.put_back, text)
                return
            self._say("Queued as edited." if text else "Taken back. The agent will not read it.")

        self._thread(work, "asks", "edit a queued message")

    def move_queued(self, session_id: str, prompt_id: str, places: int) -> None:
        """Send a queued message earlier or later; say so only where it was refused."""

        def work() -> None:
            try:
                self.backend.move_prompt(session_id, prompt_id, places)
            except Exception as error:  # noqa: BLE001 as above
                self._say(error_text(error), is_error=True)

        self._thread(work, "asks", "move a queued message")

    def begin_run(
        self, begin: Callable[[], str], heard: Callable[[str, str], None], workspace: str = ""
    ) -> None:
        """Begin a run, in the screen's workspace or another; `heard` gets its id, or why there is none."""

        def work() -> None:
            try:
                run_id = begin()
            except Exception as error:  # noqa: BLE001 as above
                self._context.call_from_thread(heard, "", error_text(error))
                return
            self._context.call_from_thread(heard, run_id, "")
            self._start_host(workspace or self._status.workspace)

        self._thread(work, "asks", "start a run")

    # --- the host -----------------------------------------------------------------------------------

    def ensure_host(self, workspace: str = "") -> None:
        """See to it that a host drives the screen's workspace, or another where an answer made work due."""
        here = self._status.workspace
        path = workspace or here

        def work() -> None:
            if path == here or self._context.decisions.awaits(path):
                self._start_host(path)

        self._thread(work, "host", "ensure a background process")

    def _start_host(self, workspace: str) -> None:
        if why := self.backend.of(workspace).ensure_host(workspace):
            self._say(why, is_error=True)
        self.read_trouble()

    def read_folders(self, paths: Sequence[str], tell: Callable[[Sequence[str]], None]) -> None:
        """Look in which workspaces nothing can be done now; `tell` is told on the screen."""

        def work() -> None:
            gone = [path for path in paths if self.backend.folder_problem(path)]
            self._context.call_from_thread(tell, gone)

        self._thread(work, "folders", "look at folders")

    def restart_host(self) -> None:
        """End the background process and start another, once nothing executes; agents continue after that."""
        if self._restart_waits:
            self._restart_waits = False
            self._say("The background process is not restarted.")
            return
        self._say("The background process is being restarted.")
        self._restart_or_wait()

    def _restart_or_wait(self) -> None:
        has_waited, self._restart_waits = self._restart_waits, False

        def work() -> str:
            try:
                said = self.backend.restart_host()
            except RestartLater as busy:
                self._context.call_from_thread(self._restart_later, busy.doing, has_waited)
                return ""
            self._say(said)
            self.read_trouble()
            return ""

        self._report(work, "host", "restart the background process")

    def _restart_later(self, doing: str, has_waited: bool) -> None:
        """Try again until nothing executes any more; a second `/restart` takes it back."""
        self._restart_waits = True
        if not has_waited:
            self._say(f"{doing} is running: restarting after that. /restart again takes this back.")
        self._screen.set_timer(_RESTART_AGAIN_SECONDS, self._restart_if_wanted)

    def _restart_if_wanted(self) -> None:
        if self._restart_waits:
            self._restart_or_wait()

    def notify(self) -> None:
        """Send a notice outside of the terminal: something waits."""
        summary = self._context.presenter.summary()
        first = self._state.actions.get(summary.first_id or "")
        if first is not None:
            left, workspace = summary.first_left, self._context.folders.of_action(first.id)
            until = "" if left is None else f", {countdown_text(left)} left"
            self.notify_words(f"{first.verb} {first.target} waits{until}", workspace)

    def notify_words(self, words: str, workspace: str = "") -> None:
        """Send a sentence about a workspace, the screen's if none is named, outside of the terminal."""
        folder = (workspace or self._status.workspace).rpartition("/")[2]
        line = one_line(f"{folder}: {words}", _MAX_NOTIFICATION_CELLS)
        self._thread(lambda: self.backend.notify_desktop("workbench", line), "notice", "notify")

    # --- what is read from time to time -------------------------------------------------------------

    def read_about_session(self, session_id: str) -> None:
        """Read what was prompted before and what the session cost that is shown now."""
        self.read_earlier_prompts(session_id)
        self.read_spending()

    def read_earlier_prompts(self, session_id: str) -> None:
        """Read what was said here before, which the composer brings back."""
        backend = self._context.folders.backend

        def work() -> None:
            prompts = backend.earlier_prompts(session_id)
            self._context.call_from_thread(self._widgets.composer.remember, prompts)

        self._thread(work, "said", "read what was said")

    def read_draft(self) -> None:
        """Read what stood in the composer when the screen was left."""

        def work() -> None:
            if draft := self.backend.draft():
                self._context.call_from_thread(self._widgets.composer.put_back, draft)

        self._thread(work, "draft", "read the draft")

    def read_branch(self) -> None:
        """Read which branch is checked out."""

        def work() -> None:
            self._status.branch = self.backend.branch()
            self._status.has_read_branch = True
            for show in (self._context.presenter.head, self._context.presenter.footer):
                self._context.call_from_thread(show)
            self._context.call_from_thread(self._context.first_page.show)

        self._thread(work, "branch", "read the branch")

    def read_spending(self) -> None:
        """Read what the session on show cost, once its tokens have changed."""
        current, status, tokens = self._state.current, self._status, self._state.used_tokens or 0
        if current is None or status.spending_of == (current.id, tokens):
            return
        if status.spending_of[0] != current.id:
            status.spending = ""
        status.spending_of = (current.id, tokens)

        def work() -> None:
            words = self.backend.spending(current.id)
            if words != status.spending and status.spending_of[0] == current.id:
                status.spending = words
                self._context.call_from_thread(self._context.presenter.head)

        if tokens:
            self._thread(work, "spending", "read what it cost")

    def read_standing(self) -> None:
        """Read how the host stands, what is asked about, whether a model is set up."""
        self.read_trouble()
        self.read_asks()
        self.read_questions()

    def read_asks(self) -> None:
        """Read what is asked about here, what holds commands, and whether a model is set up by now."""
        status, presenter, shown = self._status, self._context.presenter, self._context.folders.backend
        backends = [self.backend.of(path) for path in {*self._state.workspaces.values()} - {""}]

        def work() -> None:
            asks, has_model = shown.approval_setting(), status.has_model or self.backend.has_model()
            is_new, is_other = has_model != status.has_model, asks != status.asks
            status.asks, status.has_model = asks, has_model
            # Of the folders whose rows are listed the strictest counts.
            strict = any(backend.requires_seen() for backend in (self.backend, *backends))
            choosing = self._widgets.approvals.choosing
            choosing.requires_seen = strict
            choosing.takes_single_press = all(
                backend.takes_single_press() for backend in (self.backend, *backends)
            )
            if is_new:
                self._context.call_from_thread(presenter.everything)
            elif is_other:
                self._context.call_from_thread(presenter.around)

        self._thread(work, "asks of tools", "read what is asked about")
        self.read_sandbox()

    def read_pipelines(self) -> None:
        """Read how many pipelines there are, which the pane without a run says."""

        def work() -> None:
            count = len(self.backend.runs.pipeline_names())
            if count != self._status.pipelines_found:
                self._status.pipelines_found = count
                self._context.call_from_thread(self._context.presenter.pipeline)
                self._context.call_from_thread(self._context.first_page.show)

        self._thread(work, "pipelines", "look for pipelines")

    def ensure_host_if(self, *, is_needed: bool) -> None:
        """Start the background process where it is needed, or to import what other agents write."""
        if is_needed:
            self.ensure_host()
            return

        def work() -> None:
            if self.backend.setting("sessions.watch").value is True:
                self._context.call_from_thread(self.ensure_host)

        self._thread(work, "watch", "look whether sessions are kept in step")

    def read_elsewhere(self) -> None:
        """Read how many sessions other folders and other agents have, which an empty conversation says."""

        def work() -> None:
            self._status.elsewhere = self.backend.count_other_sessions()
            self._status.agents = tuple(self.backend.found_agents())
            before = self._status.connectable
            self._status.connectable = connectable_names(self.backend.agents.agent_rows())
            is_other = before != self._status.connectable
            if self._status.elsewhere or self._status.agents or is_other:
                self._context.call_from_thread(self._context.first_page.show)

        self._thread(work, "elsewhere", "count other sessions")

    def read_questions(self) -> None:
        """Count how often each answer to the trust question would have asked, while it waits."""
        presenter, queue = self._context.presenter, self._widgets.approvals.queue
        if not any(action.kind == "trust" for action in self._state.pending):
            return

        def work() -> None:
            self._status.questions = self.backend.question_counts()
            if self._status.questions is not None:
                self._context.call_from_thread(lambda: presenter.detail(queue.cursor))

        self._thread(work, "questions", "count questions")

    def read_sandbox(self, *, is_start: bool = False) -> None:
        """Read what holds the commands of the folder on show, and at the start say so where nothing does."""
        status, context, shown = self._status, self._context, self._context.folders.backend

        def work() -> None:
            standing = shown.sandbox_standing()
            is_offered = bool(offer_text(standing, None)) and context.first_page.offers_sandbox
            if not is_offered:
                status.sandbox_past = None
            elif status.sandbox_past is None:
                status.sandbox_past = self.backend.sandbox_past()
            if standing is not None and standing != status.sandbox:
                status.sandbox = standing
                context.call_from_thread(self._sandbox_read)
            if is_start and standing is not None and (words := problem_sentence(standing)):
                context.call_from_thread(context.say, words)

        self._thread(work, "sandbox", "look what holds commands")

    def _sandbox_read(self) -> None:
        presenter = self._context.presenter
        presenter.around()
        presenter.detail(self._widgets.approvals.queue.cursor)
        self._context.first_page.show()

    def read_at_start(self, heard: "Callable[[Sequence[UnseenEnd]], None]") -> None:
        """Read branch, draft, and what ended while no screen was open here, of which `heard` is told."""
        state = self._state
        self.read_branch()
        self.read_draft()
        self.read_about_session(state.current.id if state.current else "")
        self.read_sandbox(is_start=True)
        if not state.runs.rows:
            self.read_pipelines()

        def work() -> None:
            if ends := self.backend.ends_since_left():
                self._context.call_from_thread(heard, ends)

        self._thread(work, "ends", "look what ended since")

    def read_trouble(self) -> None:
        """Look whether the host can do what is asked of it; the header says if not."""
        self._thread(
            lambda: self._context.call_from_thread(self._tell_trouble, *self.backend.host_trouble()),
            "trouble", "look at the background process",
        )  # fmt: skip

    def _tell_trouble(self, short: str, whole: str) -> None:
        if short != self._status.trouble:
            self._status.trouble = short
            self._context.presenter.head()
            if short:
                self._context.say(whole, is_error=True)
            elif self._widgets.rule.said == self._trouble:
                self._widgets.rule.say("")
            self._trouble = whole
        if self._trouble_timer is not None:
            self._trouble_timer.stop()
        self._trouble_timer = self._screen.set_timer(TROUBLE_SECONDS, self.read_trouble) if short else None
