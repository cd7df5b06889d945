"""What a driver works with: the context of its workspace, and the writers of a session and of a run.

The writers append under a lease: whoever lost it cannot write.
"""

# Rules of a config file are adopted, not consulted. They become rows of the journal under their own id when
# a driver starts; one that S0 forbids is named and left out, one that says something else now is revoked
# and added again. Those of a workspace's own file hold in that workspace alone.

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Final, Literal, cast

from msgspec import Struct, field

from workbench.config.types import (
    ApprovalPattern,
    AutoApprovalRule,
    Config,
    LoadedConfig,
    ToolHook,
)
from workbench.domain.events import ArtifactStored, Event, RuleAdded
from workbench.domain.rows import Action, Call, Session, run_title
from workbench.domain.values import (
    Actor,
    BlobRef,
    Body,
    Decision,
    HookRule,
    JsonObject,
    PermissionPattern,
    Place,
    Refused,
    ToolDescriptor,
)
from workbench.effects.clock import Clock
from workbench.effects.files import Root
from workbench.effects.owned_command import Jobs
from workbench.effects.process_environment import agent_environment
from workbench.host import redaction
from workbench.host.governed_settings import GovernedSettings, SettingsReader
from workbench.host.provider_keys import key_variables, register_secrets
from workbench.host.session_provider import ProviderMaker
from workbench.host.session_sandbox import SandboxProof, prove_sandbox_once
from workbench.host.workspace_config import ConfigWatch, WorkspaceSettings
from workbench.host.workspace_digests import WorkspaceDigests
from workbench.host.workspace_trust import is_trusted
from workbench.journal.decisions import add_rule, decision_of, revoke_rule
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import LeaseGuard
from workbench.journal.place_queue import PlaceQueues
from workbench.journal.prompt_queue_guard import PromptQueueGuard
from workbench.journal.session_queries import pending_action_ids
from workbench.pipelines.run_journal import EVENT_PAGE_SIZE
from workbench.policy import permissions, rule_validation
from workbench.text import canonical
from workbench.text.nearest import nearest_name
from workbench.text.problems import Problem
from workbench.text.safe import one_line
from workbench.tools.base import PipelineStarter, ToolLimits
from workbench.tools.registry import ToolRegistry, tool_registry


class ConfigUnusable(Refused):
    """A configuration file cannot be used."""

    def __init__(self, loaded: LoadedConfig) -> None:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        remedy = "workbench config validate names everything that is wrong."
        super().__init__("Nothing was started.", str(problem), remedy)


class StepConstraints(Struct, frozen=True, kw_only=True):
    """A step's place in a run, and its persona's limits."""

    run_id: str = ""
    step: str = ""
    """`nightly #41 · tests`: every event of the step's session names it."""
    project: str = ""
    """Real path of the workspace that the run was started in: its trust and its settings hold."""
    deny: tuple[PermissionPattern, ...] = ()
    ceiling: tuple[PermissionPattern, ...] | None = None
    hooks: tuple[HookRule, ...] = ()
    most_tokens: int = 0
    """Tokens of one model call at which the conversation counts as full; 0 is no limit."""
    run_budget: float = 0.0
    """Cost limit of the run from its manifest, in US dollars; 0 means no limit."""


NO_CONSTRAINTS: Final = StepConstraints()
"""A session that is no step."""


class DriverContext(Struct, frozen=True, kw_only=True):
    """What a driver of one workspace works with."""

    home: Home
    journal: Journal
    clock: Clock
    jobs: Jobs
    """Starts commands whose end is known even if this driver dies."""
    places: PlaceQueues
    """The queues in which runs wait for places."""
    workspace: str
    root: Root
    settings: WorkspaceSettings
    reader: SettingsReader
    tools: ToolRegistry
    provider: ProviderMaker
    environment: dict[str, str]
    """Of the agents' commands. A variable goes as soon as a changed configuration names it as a key's."""
    pipelines: Callable[["SessionWriter"], PipelineStarter]
    """Returns what starts pipelines for the tools of a session; passed in, since a run drives sessions."""
    can_ask: bool = True
    """False: nobody can answer, so what would be asked is denied."""
    outside_paths: Literal["refuse", "ask"] = "refuse"
    """What becomes of a path outside the workspace: an agent that executes its own calls may ask for one."""
    most_wait_seconds: float | None = None
    """How long the agent waits for an answer: its question ends before that. None is for ever."""
    constraints: StepConstraints = NO_CONSTRAINTS
    """What a step of a pipeline adds; nothing for any other session."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)
    prove_sandbox: SandboxProof = prove_sandbox_once
    """Returns what this machine can hold commands with; called when a command is judged or offered."""
    digests: WorkspaceDigests | None = None
    """Compares the files before and after each command; only where a result says which were changed."""

    def read_settings(self) -> GovernedSettings:
        """Hash the governing files and return the settings that they allow; may raise ConfigUnusable."""
        return _usable(self.reader.read())

    def refresh_settings(self) -> GovernedSettings:
        """Return the newest settings, read again where the status of a governing file changed."""
        return _usable(self.reader.refresh())

    def recall_settings(self) -> GovernedSettings:
        """Return the newest settings without a look at governing files, for limits and prices."""
        return _usable(self.reader.recall())

    @property
    def governing_workspace(self) -> str:
        """The workspace whose trust and settings hold here."""
        return self.constraints.project or self.workspace


def _usable(settings: GovernedSettings) -> GovernedSettings:
    if not settings.loaded.is_usable:
        raise ConfigUnusable(settings.loaded)
    return settings


def tool_limits(config: Config) -> ToolLimits:
    """Return the limits of tools that a configuration sets."""
    limits = config.limits
    return ToolLimits(
        tool_output_bytes=limits.tool_output_bytes,
        context_file_bytes=limits.context_file_bytes,
        command_seconds=limits.command_seconds,
        output_blob_bytes=limits.output_blob_bytes,
    )


def open_driver_context(
    home: Home,
    journal: Journal,
    workspace: str,
    *,
    provider: ProviderMaker,
    pipelines: Callable[["SessionWriter"], PipelineStarter],
    options: Mapping[str, object] | None = None,
    can_ask: bool = True,
    tools: ToolRegistry | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> DriverContext:
    """Make the context of a workspace, given by its real path; ConfigUnusable where a file cannot be used."""
    settings = WorkspaceSettings(home, workspace, options or {})
    config = settings.loaded(trusted=True).config
    withheld: tuple[str, ...] = ()
    if config.providers:
        register_secrets(config)
        withheld = key_variables(config)
    environment = agent_environment(os.environ, workspace, withheld)
    context = DriverContext(
        home=home, journal=journal, clock=journal.clock,
        jobs=Jobs(home.path, home.key, home.logs / "commands.log"), places=PlaceQueues(home),
        workspace=workspace, root=Root(workspace),
        settings=settings, reader=SettingsReader(journal, settings, workspace),
        tools=tools or tool_registry(), provider=provider, environment=environment, pipelines=pipelines,
        can_ask=can_ask, sleep=sleep,
    )  # fmt: skip
    context.read_settings()
    return context


STEP_WORKSPACES_FOLDER: Final = "workspaces"
"""Folder of the data root in which steps have workspaces of their own."""
SYSTEM_ACTOR = Actor(kind="system")


def host_actor() -> Actor:
    """Return this process as the one that drives."""
    return Actor(kind="host", pid=os.getpid())


ToolDescriptors = Mapping[str, ToolDescriptor]


def sync_config_rules(journal: Journal, loaded: LoadedConfig, tools: ToolDescriptors, workspace: str) -> None:
    """Make the journal's rules of origin `config` those that may be saved of a workspace's configuration.

    Rules of other workspaces' own files stay as they are.
    """
    own = [rule for rule in loaded.config.auto_approval_rules if not _forbidden_reasons(rule, tools)]
    configured = {(rule.id, _config_scope_id(rule, workspace)): rule for rule in own}
    for row in journal.rules():
        if row.origin != "config" or row.scope_id not in (None, workspace):
            continue
        key = (row.external_id or "", row.scope_id)
        rule = configured.get(key)
        if rule is None or _rule_meaning(rule) != (row.tool, row.pattern, row.place or "inside"):
            revoke_rule(journal, row.id, SYSTEM_ACTOR)
        else:
            configured.pop(key)
    for (_, scope_id), rule in configured.items():
        add_rule(journal, _rule_added_body(rule, scope_id), SYSTEM_ACTOR)


def _config_scope_id(rule: AutoApprovalRule, workspace: str) -> str | None:
    """Return the one workspace in which a rule holds; None of a rule of the user, which holds in all."""
    return workspace if rule.origin.layer == "workspace" else None


def _rule_meaning(rule: AutoApprovalRule) -> tuple[str, str, Place]:
    return rule.tool_name, rule.param_pattern, rule.where or "inside"


def _rule_added_body(rule: AutoApprovalRule, scope_id: str | None) -> RuleAdded:
    return RuleAdded(
        rule="", effect="allow", origin="config", scope="always" if scope_id is None else "workspace",
        scope_id=scope_id, tool=rule.tool_name, pattern_kind="regex", pattern=rule.param_pattern,
        description=rule.description, external_id=rule.id, place=rule.where,
    )  # fmt: skip


_TAKE_OUT: Final = "Correct it, or take it out."


def config_rule_problems(loaded: LoadedConfig, tools: ToolDescriptors) -> Iterator[Problem]:
    """Yield what is wrong with the rules and patterns of a configuration, besides its form."""
    config = loaded.config
    for rule in config.auto_approval_rules:
        for why in (
            *_forbidden_reasons(rule, tools),
            *rule_validation.never_matching_notes(
                tool=rule.tool_name, pattern_kind="regex", pattern=rule.param_pattern, known_tools=tools
            ),
        ):
            message = f"Rule {rule.id} is not used as it stands: {why}."
            yield rule.origin.problem("auto_approval_rules", message, _TAKE_OUT)
    for key, patterns in (
        ("approvals.deny", config.approvals.deny),
        ("approvals.allow", config.approvals.allow),
    ):
        yield from (p.origin.problem(key, note, _TAKE_OUT) for p in patterns for note in _pattern_notes(p))
    hooks: tuple[ToolHook, ...] = (*config.hooks.pre_tool_use, *config.hooks.post_tool_use)
    for hook in hooks:
        matcher = ApprovalPattern(text=hook.matcher, origin=hook.origin)
        yield from (hook.origin.problem("hooks", note, _TAKE_OUT) for note in _pattern_notes(matcher))
    for name in sorted(set(config.tools) - set(tools)):
        near = nearest_name(name, tools)
        why = f"No tool is called {one_line(name, 60)}, so it narrows nothing."
        remedy = f" Did you mean {near}?" if near else ""
        yield loaded.origins["tools"].problem("tools", why + remedy, _TAKE_OUT)


def wide_allow_pattern_notes(loaded: LoadedConfig, tools: ToolDescriptors) -> tuple[str, ...]:
    """Return which patterns of `approvals.allow` are wider than a rule may be; they are used all the same."""
    return tuple(
        f"{pattern.origin.where()}: approvals.allow: {why}. It is used as it stands."
        for pattern in loaded.config.approvals.allow
        for why in rule_validation.allow_pattern_problems(pattern.text, tools)
    )


def _forbidden_reasons(rule: AutoApprovalRule, tools: ToolDescriptors) -> tuple[str, ...]:
    return rule_validation.rule_problems(
        tool=rule.tool_name, pattern_kind="regex", pattern=rule.param_pattern, description=rule.description,
        known_tools=tools,
    )  # fmt: skip


def _pattern_notes(pattern: ApprovalPattern) -> Iterator[str]:
    for part in pattern.text.split("|"):
        for note in permissions.parse_permission(part.strip()).notes:
            if note.level != "note":
                yield note.text


LOG = logging.getLogger("workbench.host")
WATCH_DELAY_SECONDS: Final = 2.0
"""Seconds before a driver loads and watches anything: most runs are over by then."""


@contextmanager
def following_config_changes(
    context: DriverContext, delay: float = WATCH_DELAY_SECONDS
) -> Generator[None, None, None]:
    """Apply changed configuration while a driver runs, as far as that is safe; use it inside a loop."""
    loop = asyncio.get_running_loop()

    def changed() -> None:
        with suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(apply_config_changes, context)

    def check() -> None:
        if context.settings.has_changed():  # before anybody watched
            changed()

    watching = ConfigWatch(context.settings.files, changed, delay, on_start=check)
    try:
        yield
    finally:
        watching.close()


def apply_config_changes(context: DriverContext) -> None:
    """Read the configuration again and log what cannot change while things run."""
    try:
        trusted = is_trusted(context.journal, context.governing_workspace)
        reloaded = context.settings.read_again(trusted=trusted)
        if reloaded.words:
            LOG.info("%s", reloaded.words)
        _withhold_keys(context, reloaded.loaded.config)
        tools, workspace = context.tools.descriptors(), context.governing_workspace
        sync_config_rules(context.journal, reloaded.loaded, tools, workspace)
    except JournalError as error:
        LOG.warning("the changed configuration is not used: %s", error)


def apply_pending_config_changes(context: DriverContext) -> None:
    """Do as `apply_config_changes` where a file has changed and the watch has not told of it yet."""
    if context.settings.has_changed():
        apply_config_changes(context)


def _withhold_keys(context: DriverContext, config: Config) -> None:
    """Register the keys that a configuration names, and take their variables from the agents' commands."""
    register_secrets(config)
    passed = agent_environment(os.environ, context.workspace, key_variables(config))
    for name in [name for name in context.environment if name in os.environ and name not in passed]:
        del context.environment[name]


class CallBytesMissing(Exception):
    """Sealed bytes that a call needs are not there any more."""


OnEvents = Callable[[Sequence[Event]], None]
"""Called with the events that were read back from the journal, in order."""


def ignore_events(events: Sequence[Event]) -> None:
    """Do nothing with some events."""
    del events


class LeaseWriter(Struct, frozen=True):
    """Appends events of one session under its lease; the base of the two writers."""

    context: DriverContext
    session_id: str
    guard: LeaseGuard

    @property
    def journal(self) -> Journal:
        return self.context.journal

    async def append(self, *events: Event) -> None:
        """Append in one transaction and wait for it."""
        await asyncio.wrap_future(self.journal.submit(events, guard=self.guard))

    async def append_at(self, cursor: int, *events: Event) -> None:
        """Append unless a queued prompt was changed behind a position; GuardFailed where one was."""
        guard = PromptQueueGuard(lease=self.guard, cursor=cursor)
        await asyncio.wrap_future(self.journal.submit(events, guard=guard))

    def stream(self, *events: Event) -> Future[list[int]]:
        """Append events without waiting; a lost lease is noticed by the next append that is waited for."""
        return self.journal.submit(events, guard=self.guard)

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return sealed or recorded bytes; None when they are gone."""
        return self.journal.blobs.read(ref)

    def new_id(self) -> str:
        return self.context.clock.new_id()


class SessionWriter(LeaseWriter, frozen=True):
    """Makes and appends the events of one session; every handler of an effect is given it."""

    def event(
        self,
        body: Body,
        *,
        turn_id: str | None = None,
        call_id: str | None = None,
        action_id: str | None = None,
        actor: Actor | None = None,
    ) -> Event:
        return self.journal.event(
            body, self.session_id, actor or host_actor(),
            turn_id=turn_id, call_id=call_id, action_id=action_id, step=self.context.constraints.step or None,
        )  # fmt: skip

    def call_event(self, body: Body, call: Call, action_id: str | None = None) -> Event:
        return self.event(body, turn_id=call.turn_id, call_id=call.id, action_id=action_id)

    def session(self) -> Session:
        session = self.context.journal.session(self.session_id)
        if session is None:
            raise LookupError(f"session {self.session_id} is gone")
        return session

    def exact(self, recorded: JsonObject, ref: BlobRef | None) -> JsonObject:
        """Return parameters as the agent wrote them; CallBytesMissing rather than the recorded ones."""
        if ref is None:
            return recorded
        data = self.unseal(ref)
        if data is None:
            raise CallBytesMissing("the exact parameters of this call no longer exist")
        return cast("JsonObject", canonical.loads(data))


class RunWriter(LeaseWriter, frozen=True):
    """Makes and appends the events of one run; the coordinator's `RunJournal`."""

    @property
    def run_id(self) -> str:
        return self.session_id

    def event(self, body: Body, *, step: str | None = None, action_id: str | None = None) -> Event:
        actor = host_actor()
        return self.context.journal.event(body, self.run_id, actor, step=step, action_id=action_id)

    def events(self, after: int) -> list[Event]:
        return self.context.journal.events(self.run_id, after=after, limit=EVENT_PAGE_SIZE)

    def action(self, action_id: str) -> Action | None:
        return self.context.journal.action(action_id)

    def artifact_of_pipeline(self, pipeline: str, step: str, name: str) -> tuple[str, ArtifactStored] | None:
        journal = self.context.journal
        rows = [
            row
            for row in journal.pipeline_states(self.context.workspace)
            if row.pipeline_name == pipeline and row.status == "completed"
        ]
        top = self._topmost_id(self.run_id)
        for row in sorted(rows, key=lambda row: self._topmost_id(row.pipeline_id) != top):
            events = (event for event in journal.events(row.pipeline_id) if step in ("", event.step))
            artifacts = [event.body for event in events if isinstance(event.body, ArtifactStored)]
            matches = [body for body in artifacts if name in (body.name, body.path.rpartition("/")[2])]
            if matches:
                return run_title(row), matches[-1]
        return None

    def _topmost_id(self, session_id: str) -> str:
        while (session := self.context.journal.session(session_id)) is not None and session.parent_id:
            session_id = session.parent_id
        return session_id

    def pending(self, session_id: str) -> tuple[str, ...]:
        return pending_action_ids(self.context.journal, session_id)

    def decisions(self, session_id: str) -> list[Decision]:
        actions = self.context.journal.actions(session_id, states=("approved", "rejected", "expired"))
        return [decision_of(action) for action in actions]

    def now(self) -> int:
        return self.context.journal.now()

    def monotonic(self) -> float:
        return self.context.clock.monotonic()

    def seal(self, data: bytes) -> BlobRef:
        return self.context.journal.blobs.seal(data)

    def record(self, data: bytes) -> BlobRef:
        return self.context.journal.blobs.record(data)

    def keyed(self, data: bytes) -> str:
        return self.context.journal.blobs.keyed(data)

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        clean = redaction.redact_text(text)
        return clean if len(clean) <= longest else f"{clean[:longest]}… ({len(clean):,} characters)"
