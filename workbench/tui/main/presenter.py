"""Makes what each pane is shown from what the screen knows: the only place where journal rows meet panes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from workbench.domain.events import CallFinished, CallProposed
from workbench.domain.machines import HUMAN_ENDED_PAUSES, LOST
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION, JsonObject
from workbench.text.human import counted
from workbench.text.safe import one_line
from workbench.tui.approvals.approval_selection import NARROW_LABEL_COLUMNS
from workbench.tui.finding_reader import FindingReader
from workbench.tui.journal_source import SubAgentReader
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey, footer_part
from workbench.tui.main.context import MainContext, SessionPanes, WorkspaceStatus
from workbench.tui.main.tabs import Tab
from workbench.tui.pane import (
    CallDetailModel,
    ComposerModel,
    ConversationModel,
    Pane,
    PipelineModel,
    QueueModel,
    SidebarModel,
    ToolsModel,
    TranscriptPartWanted,
)
from workbench.tui.places import PANE_PLACES
from workbench.tui.state import ScreenState, StateChange, TranscriptPart, is_session_driven
from workbench.views import approvals, sessions, tools
from workbench.views.action_detail import (
    ActionDetail,
    CommandParts,
    action_detail,
    blocker_text,
    finding_text,
    with_choice_notes,
)
from workbench.views.approvals import NO_FOLDER, Folder, FolderNames
from workbench.views.data_source import SealedContentGone
from workbench.views.hunk_selection import hunk_sizes
from workbench.views.sandbox import (
    SandboxStanding,
    asks_text,
    choice_text,
    sandbox_of_session,
    standing_text,
)
from workbench.views.sessions import HeaderFacts
from workbench.views.tools import streamed_output

if TYPE_CHECKING:
    from workbench.domain.events import ActionOpened
    from workbench.domain.values import Hunk
    from workbench.tui.main.screen import MainScreen
    from workbench.views.detail_pages import DetailPage
    from workbench.views.welcome import WelcomeFacts


_MAX_LISTED_RUNS: Final = 20
"""Runs in the list of all sessions' runs: the newest ones."""


def _no_command_parts(_action: Action, _parameters: JsonObject) -> None:
    return None


class SessionPresenter:
    """Shows the state of a session to its panes, live or recorded."""

    command_parts: "Callable[[Action, JsonObject], CommandParts | None]" = staticmethod(_no_command_parts)
    """Returns a waiting command taken apart."""

    def __init__(
        self,
        state: ScreenState,
        panes: SessionPanes,
        status: WorkspaceStatus,
        edited_hunks: "Callable[[ActionOpened, Mapping[str, bytes]], Sequence[Hunk]]",
        say_error: Callable[[str], None],
    ) -> None:
        self.state, self.panes, self.status = state, panes, status
        self._edited_hunks, self._say = edited_hunks, say_error
        self.folders = FolderNames(status.workspace, status.home)
        self.agents = SubAgentReader(state.source)
        self.findings = FindingReader(state.source)

    @property
    def has_model(self) -> bool:
        """Return whether a session can be begun, or there is one."""
        return bool(self.state.sessions) or self.status.has_model

    @property
    def is_driven(self) -> bool:
        """Return whether a living process drives the session on show."""
        current = self.state.current
        return current is not None and is_session_driven(self.state, current.id)

    def conversation(self, changed: frozenset[str] | None) -> None:
        """Show the conversation of the session on show."""
        state = self.state
        counted = self.agents.read(state.shown) | state.count_refused(state.shown)
        changed = changed if changed is None else changed | counted
        self.panes.conversation.show(
            ConversationModel(
                session=state.current,
                transcript=state.shown,
                changed=changed,
                part="" if state.window is None else state.window.words,
                is_driven=self.is_driven,
                now=state.source.now(),
                welcome=None if state.sessions else self.welcome(),
                folder=self.folder,
                waiting=0 if state.current is None else sessions.waiting_in(state.current, state.pending),
            )
        )

    @property
    def folder(self) -> Folder:
        """Return where the agent of the session on show works, if that is not the folder of the screen."""
        return self._told_apart(self.state.workspace_of(self.state.current))

    def _told_apart(self, workspace: str) -> Folder:
        """Return a folder that is to be named: another one, or one that is gone."""
        is_plain = workspace == self.folders.here and not self.folders.gone
        return NO_FOLDER if is_plain else self.folders.of(workspace)

    def _row_folders(self) -> dict[str, Folder]:
        """Return the folders of the queue's rows, where there are several or one of them is gone."""
        state = self.state
        folders = {self.folders.here if state.source.is_live else "", *state.workspaces.values()} - {""}
        if not (state.is_wide or len(folders) > 1 or self.folders.gone):
            return {}
        self.folders.learn(state.workspaces.values())
        shown = self.folders.of(state.workspace_of(state.current))
        ruled = {call.id: shown for call in state.ruled}
        return {key: self.folders.of(state.workspaces.get(key, "")) for key in state.actions} | ruled

    def welcome(self) -> "WelcomeFacts | None":
        """Return what the first page says; None where there is none."""
        return None

    def another_part(self) -> None:
        """Show another part of the same conversation; a line that is in both keeps its place."""
        shown = {block.id for block in self.panes.conversation.view.blocks}
        new = {block.id for block in self.state.shown.blocks}
        self.conversation(frozenset(shown | new))

    def part(self, wanted: TranscriptPartWanted) -> None:
        """Show the part of the conversation that was asked for, and go where in it was meant."""
        pane, where = self.panes.conversation, wanted.where
        has_moved = self.state.look_back(cast("TranscriptPart", where))
        pane.part_shown()
        if has_moved:
            self.another_part()
        if has_moved and where in ("first", "end"):
            pane.view.move_to_end(is_last=where == "end")
        elif has_moved and wanted.step:
            pane.view.move_to_problem(wanted.step)

    def queue(self, changed: StateChange) -> None:
        """Show the queue."""
        state = self.state
        self.panes.approvals.show(
            QueueModel(
                actions=tuple(state.actions.values()),
                sessions=state.sessions,
                now=state.source.now(),
                calls=state.action_calls,
                hunk_sizes=self._hunk_sizes(),
                ruled=state.ruled,
                undone=frozenset(state.undone),
                blocked=frozenset(state.blockers()),
                folders=self._row_folders(),
                is_wide=state.is_wide,
                whose=self._whose_waits(),
                elsewhere=len(state.elsewhere),
                changed=frozenset(changed.actions),
                has_times=state.source.has_times,
            )
        )

    def _whose_waits(self) -> str:
        """Return whose what waits is, for the title; empty where all of it is of the session on show."""
        state = self.state
        asking = sessions.waiting_by_session(state.sessions.values(), state.pending)
        asking.pop(SYSTEM_SESSION, None)
        if len(asking) > 1:
            return f"of {len(asking)} sessions"
        key = next(iter(asking), None)
        session = state.sessions.get(key or "")
        if session is None or any(state.is_own(action.session_id) for action in asking[session.id]):
            return ""
        return f"of {sessions.session_title(session)}, {self._not_this}"

    def queue_again(self) -> None:
        """Show the queue and what is under its cursor once more: what is known of its folders changed."""
        self.queue(StateChange())
        self.detail(self.panes.approvals.queue.cursor)

    def _hunk_sizes(self) -> dict[str, tuple[int, ...]]:
        state = self.state
        partly = (action for action in state.actions.values() if action.selection is not None)
        opened = ((action.id, state.source.opened(action)) for action in partly)
        return {key: hunk_sizes(body.hunks) for key, body in opened if body is not None}

    def detail(self, action_id: str | None) -> None:
        """Show the action under the queue's cursor in full."""
        self.panes.approvals.show_detail(self.detail_of(action_id))

    def detail_of(self, action_id: str | None) -> ActionDetail | None:
        """Return an action in full, from its exact bytes; None if it is not there any more."""
        source = self.state.source
        action = self.state.actions.get(action_id or "")
        opened = source.opened(action) if action else None
        if action is None or opened is None:
            return None
        edited = self.panes.approvals.choosing.edits.get(action.id)
        try:
            hunks = self._edited_hunks(opened, edited) if edited else source.exact_hunks(action)
            parameters = source.exact_parameters(action)
        except SealedContentGone as error:
            self._say(error.why)
            hunks, parameters = opened.hunks, opened.parameters
        call = source.call(action.call_id) if action.call_id else None
        bodies = [event.body for event in source.call_events(action.call_id)] if action.call_id else []
        verdict = next((body.verdict for body in bodies if isinstance(body, CallProposed)), None)
        finished = next((body for body in reversed(bodies) if isinstance(body, CallFinished)), None)
        session = self.state.sessions.get(action.session_id)
        detail = action_detail(
            action, opened, hunks, source.now(), session=session, call=call, parameters=parameters,
            verdict=verdict, parts=self.command_parts(action, parameters),
            is_own_text=bool(edited), is_undone=action.id in self.state.undone, finished=finished,
            streamed="" if finished is not None else streamed_output(bodies),
            again=self.state.propose_again(action), reopening=self.state.reopening(action),
            blocked_by=self._blocker_of(action),
            finding="" if (found := self.findings.of(action, session)) is None else finding_text(found),
            folder=self._told_apart(self.state.workspaces.get(action.id, "")),
            bases=source.base_lines(action) if self.panes.approvals.wants_base(hunks) else None,
        )  # fmt: skip
        detail = detail if source.has_times else replace(detail, decided_at=None)
        return with_choice_notes(detail, self.status.questions, self.status.sandbox_past)

    def fixed_rule(self, action_id: str) -> str:
        """Return the linter's rule whose finding a waiting edit is to fix; empty for any other action."""
        action = self.state.actions.get(action_id)
        if action is None or not action.files:
            return ""
        found = self.findings.of(action, self.state.sessions.get(action.session_id))
        return found.rule if found is not None else ""

    def _blocker_of(self, action: Action) -> str:
        blocker = self.state.blockers().get(action.id)
        asked = self.state.actions.get(blocker.action_id or "") if blocker is not None else None
        return blocker_text(blocker, asked) if blocker is not None else ""

    def tools(self) -> None:
        """Show the calls of the session on show, or of all sessions."""
        state = self.state
        if "tools" in state.all_sessions:
            self.panes.tools.show(self._all_calls())
            return
        self.panes.tools.show(
            ToolsModel(
                session=state.current,
                calls=state.calls if state.window is None else state.shown.calls,
                actions=state.actions,
                now=state.source.now(),
                earlier=state.earlier_calls if state.window is None else 0,
                turn=self.panes.conversation.turns.in_view,
                turns=state.shown.turns,
                commands=state.transcript.commands,
                agents=self.agents.known,
                moment=None if (call := tools.call_of_moment(state.calls)) is None else call.id,
            )
        )

    def _all_calls(self) -> ToolsModel:
        state = self.state
        calls = state.every_call.rows
        asking = {call.session_id for call in calls}
        found = {key: state.sessions.get(key) or state.source.session(key) for key in asking}
        names = {
            key: sessions.session_title(session) for key, session in found.items() if session is not None
        }
        moment = tools.call_of_moment(calls)
        return ToolsModel(
            session=None, calls=calls, actions=state.actions, now=state.source.now(), names=names,
            commands=state.transcript.commands, moment=None if moment is None else moment.id,
        )  # fmt: skip

    def call_in_full(self, call_id: str | None) -> CallDetailModel | None:
        """Return a call with its events and its output; None if it is not there any more."""
        source = self.state.source
        call = source.call(call_id) if call_id else None
        if call is None:
            return None
        events = source.call_events(call.id)
        ref = next((event.body.output_ref for event in events if isinstance(event.body, CallFinished)), None)
        output = source.text_of(ref) if ref else None
        action = self.state.actions.get(call.action_id or "")
        return CallDetailModel(call=call, action=action, events=events, output=output)

    def step_in_full(self, drawn: str) -> "DetailPage | None":
        """Return the step under the graph's cursor, or an item of it, with its session."""
        from workbench.tui.pipeline.run_times import step_page

        return step_page(self.state, self.panes.pipeline, drawn)

    def pipeline(self) -> None:
        """Show the run on show."""
        state = self.state
        now, actions = state.source.now(), state.actions.values()
        run = state.runs.view(actions, now)
        if "pipeline" in state.all_sessions:
            views = (state.runs.view(actions, now, key) for key in list(state.runs.rows)[:_MAX_LISTED_RUNS])
            every_run = [one for one in views if one is not None]
            found = self.status.pipelines_found
            self.panes.pipeline.show(PipelineModel(run=run, every_run=every_run, found=found))
        elif run is None:
            self.panes.pipeline.show(PipelineModel(found=self.status.pipelines_found))
        else:
            self.panes.pipeline.show(
                PipelineModel(
                    run=run,
                    before=state.runs.before(run),
                    newer=state.runs.newer_than(run),
                    whose="" if state.is_own(run.id) else self._not_this,
                )
            )

    @property
    def _not_this(self) -> str:
        current = self.state.current
        is_run = current is not None and current.kind in ("pipeline", "step")
        return "not this run" if is_run else "not this session"


class Presenter(SessionPresenter):
    """Shows the state to everything on a main screen."""

    def __init__(self, screen: "MainScreen", context: MainContext) -> None:
        super().__init__(
            context.state,
            context.widgets,
            context.status,
            lambda opened, edited: context.decisions.edited_hunks(opened, edited),
            lambda why: context.say(why, is_error=True),
        )
        self._screen, self._context, self._widgets = screen, context, context.widgets
        self.facts = HeaderFacts()

    def welcome(self) -> "WelcomeFacts | None":
        return self._context.first_page.facts()

    def everything(self) -> None:
        """Show everything, as at the start or after another session was chosen."""
        self.head()
        self.queue(StateChange())
        self.conversation(None)
        self.tools()
        self.around()
        self.pipeline()
        self.moment()

    def moment(self) -> None:
        """Show what the session is about where nothing waits, and fold panes that have nothing to show."""
        if self.state.pending:
            self._context.layout.refit()
        else:
            self._context.moment.show()

    def around(self) -> None:
        """Show what stands around the conversation and says how a session is set."""
        self.rail()
        self.composer()

    def what_changed(self, changed: StateChange) -> None:
        """Show what events have changed."""
        if changed.actions or changed.has_sessions or changed.has_calls or changed.has_hold:
            self.head()
        if changed.actions or changed.has_sessions:
            self.queue(changed)
            self.rail()
        if changed.blocks or changed.has_sessions or changed.actions:
            # An earlier part stands still while the end goes on.
            is_end = self.state.window is None
            self.conversation(frozenset(changed.blocks if is_end else ()))
        if changed.has_calls or changed.actions:
            self.tools()
        if changed.has_grants:
            self._context.tasks.read_asks()
        if changed.has_sessions:
            self.composer()
            self._context.tasks.read_spending()
        if changed.runs or (changed.actions and self.state.runs.rows):
            self.pipeline()
        if changed.blocks or changed.has_calls or changed.actions:
            self.moment()

    def head(self) -> None:
        """Show header, strip and tabs."""
        state = self.state
        now = state.source.now()
        status, current = self.status, state.current
        self.facts = sessions.header_facts(
            state.sessions.values(), state.pending, now, workspace=status.workspace, home=status.home,
            branch=self._branch(current), current=current, tokens=state.used_tokens,
            money=status.spending_on(current),
            trouble=status.trouble, seconds=state.transcript.facts.turn_seconds,
            elsewhere=len(state.elsewhere), are_agents_held=state.are_agents_held,
        )  # fmt: skip
        self._widgets.header.show(self.facts, has_model=self.has_model)
        if self._widgets.strip.display:
            current = sessions.listed_id(state.current)
            rows = sessions.session_rows(
                state.sessions.values(), state.pending, current=current, folders=self.folders
            )
            self._widgets.strip.show(rows)
        if self._widgets.tabs.display:
            self._widgets.tabs.show(self._tabs())
        self._context.layout.refit()

    def _branch(self, current: "Session | None") -> str:
        """Return the branch of the folder, or that of the worktree in which the session on show works."""
        worktree = current.worktree if current is not None else None
        return self.status.branch if worktree is None else f"worktree {worktree.branch}"

    def tick(self, now: int) -> None:
        """Let panes on the screen count; `now` in microseconds."""
        layout, state = self._context.layout, self.state
        if not layout.is_shown(self._widgets.conversation):
            state.transcript.tick(now if self.is_driven else None)
        for pane in self._context.places.panes:
            if layout.is_shown(pane):
                pane.tick(now)
        if counted := self.agents.read(state.shown):
            self.conversation(counted)
            self.tools()
        self._widgets.rail.count(state.transcript.facts.turn_seconds, now)
        detail = self._widgets.approvals.detail
        if detail is not None and detail.is_running and layout.is_shown(self._widgets.approvals):
            self.detail(detail.id)
        if layout.is_shown(self._widgets.pipeline) and state.runs.looks_otherwise(now):
            self.pipeline()

    def _tabs(self) -> list[Tab]:
        state, here = self.state, self._context.places.current
        failed = tools.failed_calls(state.calls)
        run = self._widgets.pipeline.run
        widgets = self._widgets
        counts = {widgets.approvals.PLACE: (len(state.pending), 0), widgets.tools.PLACE: (0, failed)}
        if run is not None:
            counts[widgets.pipeline.PLACE] = run.waiting, run.failed
        return [
            Tab(
                place=pane.PLACE,
                name=pane.TAB or pane.NAME,
                waiting=counts.get(pane.PLACE, (0, 0))[0],
                failed=counts.get(pane.PLACE, (0, 0))[1],
                is_here=here == pane.PLACE,
            )
            for pane in self._context.places.panes
            if pane.PLACE in PANE_PLACES
        ]

    def rail(self) -> None:
        """Show the sessions and what belongs to the one on show."""
        state = self.state
        self._widgets.rail.show(
            SidebarModel(
                sessions=tuple(state.sessions.values()),
                actions=tuple(state.actions.values()),
                current=state.current,
                now=state.source.now(),
                turns=state.transcript.facts.turns,
                run=state.run_totals,
                seconds=state.transcript.facts.turn_seconds,
                changed_files=sessions.changed_files(state.file_events, state.actions),
                asks=self._asks,
                sandbox=standing_text(self._sandbox),
                rules=self.status.asks[1],
                folders=self.folders,
            )
        )

    @property
    def _asks(self) -> str:
        """Return what is asked about: a human may have said so for the session on show."""
        current = self.state.current
        said = current.reads if current is not None else None
        asks = {"every": "every call", "reads": "all except reads"}.get(said or "", self.status.asks[0])
        return asks_text(asks, self._sandbox)

    @property
    def _sandbox(self) -> SandboxStanding | None:
        """Return the sandbox of the session on show, or of the next one."""
        return sandbox_of_session(self.status.sandbox, self.state.current)

    def composer(self) -> None:
        """Show whom a message would go to; with the first model the composer comes onto the screen."""
        state = self.state
        if self._screen.has_frame:
            self._context.layout.status()
        marks = len(self._widgets.approvals.choosing.marks)
        begins_wide = state.current is None and state.is_wide
        in_worktree = state.current is None and bool(self.status.worktrees)
        folder = self.folders.of(self.folders.here) if begins_wide else self.folder
        name = folder.name if folder.is_other or begins_wide else ""
        asks = f"asks before {self._asks}"
        tools = len(state.current.active_tools) if state.current is not None else 0
        has = counted(tools, "tool") if tools else ""
        box = f"sandbox {words}" if (words := standing_text(self._sandbox)) else ""
        said = ", ".join(filter(None, (asks, box, has)))
        self._widgets.composer.show(
            ComposerModel(
                session=state.current,
                workspace=state.workspace_of(state.current) if folder.is_other else "",
                folder=_OWN_WORKTREE if in_worktree else name,
                has_model=self.has_model,
                is_working=state.current is not None
                and state.current.status == "processing"
                and not state.current.is_supervised,
                queue=[
                    (block.id.removeprefix("prompt:"), block.text) for block in state.transcript.facts.queue
                ],
                mode=f"{marks} marked, a opens the table" if marks else said,
                now={
                    "/mode": asks,
                    "/tools": f"has {has}" if has else "",
                    "/sandbox": choice_text(self._sandbox),
                    "/model": f"{one_line(state.current.model, 40)}, or another"
                    if state.current and state.current.model
                    else "",
                },
            )
        )

    def footer(self) -> None:
        """Show what the keys do where the focus is."""
        self._widgets.approvals.show_answers()
        if urgent := self._urgent_keys():
            self._widgets.footer.show(urgent, None)
            return
        screen, users = self._screen, keymap.user_keymap(self._screen)
        right = FooterKey(
            id="app.help",
            keys=keymap.printed_keys(keymap.key_of("app.help"), users),
            label="all keys" if screen.size.width >= 100 else "keys",
        )
        if self._widgets.composer.is_written_in:
            footer_keys = [
                FooterKey(keys=keymap.printed_keys(key, users), label=self._label_in_composer(key))
                for key in sorted(keymap.keys_of_scopes(["composer"]), key=lambda key: key.footer)
                if key.footer
            ]
            footer_keys[1:1] = [
                *(key for _, key in self._stop_key(None)),
                *_resume_keys(self.state.current),
                *self._worktree_key(),
            ]
            self._widgets.footer.show(footer_keys, FooterKey(keys="ctrl+p", label="commands"))
            return
        pane = screen.focused_pane
        if not self.state.sessions and pane is self._widgets.conversation:
            self._widgets.footer.show(self._context.first_page.page_keys(), right)
            return
        own = [] if pane is None else self._keys_of_pane(pane)
        if self._context.backend.opening:
            own = [*self._context.first_page.demo_keys(), *own]
        self._widgets.footer.show(own, right)

    def _worktree_key(self) -> list[FooterKey]:
        """Return the key that gives the next session a worktree of its own, where there is git."""
        if self.state.current is not None or not self.status.branch:
            return []
        keys = keymap.printed_keys(keymap.key_of("app.session-new"), keymap.user_keymap(self._screen))
        return [FooterKey(keys=keys, label="this folder" if self.status.worktrees else "own worktree")]

    def _label_in_composer(self, key: keymap.Key[Any]) -> str:
        if key.id != "composer.send":
            return key.label
        if self._widgets.composer.is_empty and self.state.pending:
            return "to what waits"
        current = self.state.current
        return "/command" if current is not None and current.is_supervised else key.label

    def _urgent_keys(self) -> Sequence[FooterKey]:
        """Return what stands in the footer instead of all keys: one that waits, or whether to leave."""
        screen = self._screen
        if waiting := self._context.app.waiting_key_labels:
            return waiting
        if not screen.is_leaving:
            return []
        leave = keymap.printed_keys(keymap.key_of("app.leave"), keymap.user_keymap(screen))
        return [FooterKey(keys=leave, label="leave"), FooterKey(keys="esc", label="stay")]

    def title(self) -> str:
        """Return the terminal's title."""
        return sessions.terminal_title(self.facts)

    def summary(self) -> approvals.QueueSummary:
        """Return what waits, in facts."""
        return approvals.queue_summary(self.state.pending, self.state.source.now())

    def _keys_of_pane(self, pane: Pane) -> list[FooterKey]:
        approvals_pane = self._widgets.approvals
        is_narrow = self._screen.size.width < NARROW_LABEL_COLUMNS
        taken: set[str] = set()
        ranked = self._stop_key(pane)
        for key in keymap.keys_of_scopes(pane.scopes()):
            is_hidden = bool(taken & set(key.keys))
            taken |= set(key.keys)
            keys = keymap.printed_keys(key, keymap.user_keymap(pane))
            if is_hidden or not key.footer or not keys:
                continue
            if self._context.layout.is_question_page and key.group != "Decide":
                continue
            why = pane.why_not(key.id)
            if why and (not key.stays or self._never_counts_here(key, pane)):
                continue
            rank = (key.narrow or key.footer) if is_narrow else key.footer
            label = pane.label_of(key.id)
            if key.id == "list.problem-next" and pane is approvals_pane and self._is_decided():
                # The cursor stands on something decided while something else waits.
                rank, label = (0, "next that waits") if self.state.pending else (rank, label)
            waits = key.answers and not pane.is_armed
            footer_key = FooterKey(
                id=key.id, keys=keys, label=label, why_off=why, is_waiting=waits, part=footer_part(key)
            )
            ranked.append((rank, footer_key))
        return [key for _, key in sorted(ranked, key=lambda pair: pair[0])]

    def _stop_key(self, pane: Pane | None) -> list[tuple[int, FooterKey]]:
        """Return the key that stops the agent on show, with its place in the footer; nothing at rest.

        It stands behind answers; beside rows about something else, behind what is about them.
        """
        current, queue, rail = self.state.current, self._widgets.approvals, self._widgets.rail
        if current is None or current.status != "processing" or current.is_supervised:
            return []
        rank = 73 if pane is queue and self.state.pending else 45 if pane in (queue, rail) else 15
        label = "stop the agent" if self._widgets.footer.size.width >= NARROW_LABEL_COLUMNS else "stop"
        stop = keymap.printed_keys(keymap.key_of("app.agent-stop"), keymap.user_keymap(self._screen))
        return [(rank, FooterKey(keys=stop, label=label))]

    def _never_counts_here(self, key: keymap.Key[Any], pane: Pane) -> bool:
        """Return whether a key that is off could never count for the row under the cursor."""
        if pane is not self._widgets.approvals:
            return False
        detail = self._widgets.approvals.detail
        if detail is None:
            return True
        return self._is_decided() or (bool(key.kinds) and detail.kind not in key.kinds)

    def _is_decided(self) -> bool:
        action = self.state.actions.get(self._widgets.approvals.queue.cursor or "")
        return action is not None and action.state != "pending"


_OWN_WORKTREE = "its own worktree"


def _resume_keys(session: Session | None) -> list[FooterKey]:
    """Return what continues a paused agent from the composer, where the keys of its notice are text."""
    if session is None or session.status not in ("paused", LOST) or not session.takes_prompts:
        return []
    is_held = session.status == LOST or session.reason in HUMAN_ENDED_PAUSES
    return [FooterKey(keys="/continue", label=f"the {session.status} agent")] if is_held else []
