"""What a driver works with: the context of its workspace, and the writers of a session and of a run.

`DriverContext` is the frozen record that composition roots fill; `StepConstraints` narrow it for a pipeline
step. `SessionWriter` and `RunWriter` make events and append them under a lease: whoever lost the lease
cannot write. Configuration rules are brought into the journal here, and changed settings taken over as far
as that is safe.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Final, cast

from msgspec import Struct, field

from workbench.config.types import (
    ApprovalPattern,
    AutoApprovalRule,
    ConfigProblem,
    LoadedConfig,
    Origin,
    ToolHook,
)
from workbench.domain.events import Event, RuleAdded
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Actor, BlobRef, Body, JsonObject, ToolDescriptor
from workbench.effects.child_processes import agent_environment
from workbench.effects.files import Root
from workbench.effects.runtime import Clock
from workbench.host import redaction
from workbench.host.model_selection import ProviderMaker, key_variables, register_secrets
from workbench.host.redaction import StreamScrubber
from workbench.host.workspace_config import ConfigWatch, WorkspaceSettings
from workbench.host.workspace_trust import is_trusted
from workbench.journal.decisions import add_rule, revoke_rule
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import LeaseGuard
from workbench.journal.session_queries import pending_action_ids
from workbench.pipelines.executor import EVENT_PAGE_SIZE
from workbench.policy import permissions, rule_validation
from workbench.policy.hooks import HookRule
from workbench.policy.permissions import PermissionPattern
from workbench.text import canonical
from workbench.tools.base import ToolLimits
from workbench.tools.registry import ToolRegistry, tool_registry


class ConfigUnusable(Exception):
    """A configuration file cannot be used; says which, why and what to do."""

    what = "Nothing was started."

    def __init__(self, loaded: LoadedConfig) -> None:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        self.why, self.remedy = str(problem), "workbench config validate names everything that is wrong."
        super().__init__(f"{self.what} {self.why} {self.remedy}")


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


NO_CONSTRAINTS: Final = StepConstraints()
"""A session that is no step."""


class DriverContext(Struct, frozen=True, kw_only=True):
    """What a driver of one workspace works with."""

    home: Home
    journal: Journal
    clock: Clock
    workspace: str
    root: Root
    settings: WorkspaceSettings
    tools: ToolRegistry
    provider: ProviderMaker
    environment: Mapping[str, str]
    can_ask: bool = True
    """False: nobody can answer, so what would be asked is denied."""
    constraints: StepConstraints = NO_CONSTRAINTS
    """What a step of a pipeline adds; nothing for any other session."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)

    def loaded(self) -> LoadedConfig:
        """Return the settings as the present trust in the workspace allows.

        Raises:
            ConfigUnusable: going on could mean that less is denied than was written.
        """
        loaded = self.settings.loaded(trusted=is_trusted(self.journal, self.governing_workspace))
        if not loaded.is_usable:
            raise ConfigUnusable(loaded)
        return loaded

    @property
    def governing_workspace(self) -> str:
        """Return the workspace whose trust and settings hold here."""
        return self.constraints.project or self.workspace

    def limits(self) -> ToolLimits:
        """Return the limits that tools get."""
        limits = self.loaded().config.limits
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
    options: Mapping[str, object] | None = None,
    can_ask: bool = True,
    tools: ToolRegistry | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> DriverContext:
    """Put a kit together for a workspace, given by its real path.

    Raises:
        ConfigUnusable: a configuration file cannot be used.
    """
    settings = WorkspaceSettings(home, workspace, options or {})
    config = settings.loaded(trusted=True).config
    register_secrets(config)
    environment = agent_environment(os.environ, workspace, key_variables(config))
    kit = DriverContext(
        home=home, journal=journal, clock=journal.clock, workspace=workspace, root=Root(workspace),
        settings=settings, tools=tools or tool_registry(), provider=provider,
        environment=environment, can_ask=can_ask, sleep=sleep,
    )  # fmt: skip
    kit.loaded()
    return kit


STEP_WORKSPACES_FOLDER: Final = "workspaces"
"""Folder of the data root in which steps have workspaces of their own."""
SYSTEM_ACTOR = Actor(kind="system")
ToolDescriptors = Mapping[str, ToolDescriptor]


def sync_config_rules(journal: Journal, loaded: LoadedConfig, tools: ToolDescriptors) -> None:
    """Make the journal's rules of origin `config` those of the configuration that may be saved."""
    wanted = {
        rule.id: rule for rule in loaded.config.auto_approval_rules if not _forbidden_reasons(rule, tools)
    }
    known = {rule.external_id: rule for rule in journal.rules() if rule.origin == "config"}
    for external_id, row in known.items():
        rule = wanted.get(external_id or "")
        if rule is None or (rule.tool_name, rule.param_pattern) != (row.tool, row.pattern):
            revoke_rule(journal, row.id, SYSTEM_ACTOR)
        else:
            wanted.pop(rule.id)
    for rule in wanted.values():
        add_rule(journal, _rule_added_body(rule), SYSTEM_ACTOR)


def _rule_added_body(rule: AutoApprovalRule) -> RuleAdded:
    return RuleAdded(
        rule="", effect="allow", origin="config", scope="always", tool=rule.tool_name, pattern_kind="regex",
        pattern=rule.param_pattern, description=rule.description, external_id=rule.id,
    )  # fmt: skip


def config_rule_problems(loaded: LoadedConfig, tools: ToolDescriptors) -> tuple[ConfigProblem, ...]:
    """Return what is wrong with the rules and patterns of a configuration, besides its form."""
    return tuple(_config_rule_problems(loaded, tools))


def _config_rule_problems(loaded: LoadedConfig, tools: ToolDescriptors) -> Iterator[ConfigProblem]:
    config = loaded.config
    for rule in config.auto_approval_rules:
        for why in (
            *_forbidden_reasons(rule, tools),
            *rule_validation.never_matching_notes(pattern_kind="regex", pattern=rule.param_pattern),
        ):
            yield _pattern_problem(
                "auto_approval_rules", rule.origin, f"Rule {rule.id} is not used as it stands: {why}."
            )
    for key, patterns in (
        ("approvals.deny", config.approvals.deny),
        ("approvals.allow", config.approvals.allow),
    ):
        yield from (_pattern_problem(key, p.origin, note) for p in patterns for note in _pattern_notes(p))
    hooks: tuple[ToolHook, ...] = (*config.hooks.pre_tool_use, *config.hooks.post_tool_use)
    for hook in hooks:
        matcher = ApprovalPattern(text=hook.matcher, origin=hook.origin)
        yield from (_pattern_problem("hooks", hook.origin, note) for note in _pattern_notes(matcher))


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


def _pattern_problem(key: str, origin: Origin, message: str) -> ConfigProblem:
    return ConfigProblem(
        file=origin.file or origin.layer, line=origin.line, column=None, key=key, message=message,
        remedy="Correct it, or take it out.", fatal=False,
    )  # fmt: skip


LOG = logging.getLogger("workbench.host")
WATCH_DELAY_SECONDS: Final = 2.0
"""Seconds before a driver loads and watches anything: most runs are over by then."""


@contextmanager
def following_config_changes(
    kit: DriverContext, delay: float = WATCH_DELAY_SECONDS
) -> Generator[None, None, None]:
    """Let a driver work by its configuration as it changes, as far as that is safe; for use inside a loop."""
    loop = asyncio.get_running_loop()

    def changed() -> None:
        with suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(apply_config_changes, kit)

    watching = ConfigWatch(kit.settings.files, changed, delay)
    try:
        yield
    finally:
        watching.close()


def apply_config_changes(kit: DriverContext) -> None:
    """Read the configuration again; what may change at once holds from now on, the log says what does not."""
    try:
        found = kit.settings.read_again(trusted=is_trusted(kit.journal, kit.workspace))
        if found.words:
            LOG.info("%s", found.words)
        sync_config_rules(kit.journal, found.loaded, kit.tools.descriptors())
    except JournalError as error:
        LOG.warning("the changed configuration is not used: %s", error)


class CallBytesMissing(Exception):
    """Sealed bytes that a call needs are not there any more."""


class SessionWriter(Struct, frozen=True):
    """What every handler of an effect is given."""

    kit: DriverContext
    session_id: str
    guard: LeaseGuard

    def event(
        self,
        body: Body,
        *,
        turn_id: str | None = None,
        call_id: str | None = None,
        action_id: str | None = None,
        actor: Actor | None = None,
    ) -> Event:
        """Make an event of this session, stamped now."""
        return self.kit.journal.event(
            body, self.session_id, actor or Actor(kind="host", pid=os.getpid()),
            turn_id=turn_id, call_id=call_id, action_id=action_id, step=self.kit.constraints.step or None,
        )  # fmt: skip

    def call_event(self, body: Body, call: Call, action_id: str | None = None) -> Event:
        """Make an event about a call, stamped now."""
        return self.event(body, turn_id=call.turn_id, call_id=call.id, action_id=action_id)

    async def append(self, *events: Event) -> None:
        """Append events in one transaction and wait until they are there."""
        await asyncio.wrap_future(self.kit.journal.submit(events, guard=self.guard))

    def stream(self, events: Sequence[Event]) -> Future[list[int]]:
        """Append events without waiting; a lost lease is noticed by the next append that is waited for."""
        return self.kit.journal.submit(events, guard=self.guard)

    def session(self) -> Session:
        """Return the session's row as it stands."""
        session = self.kit.journal.session(self.session_id)
        if session is None:
            raise LookupError(f"session {self.session_id} is gone")
        return session

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return sealed or recorded bytes, None when they are gone."""
        return self.kit.journal.blobs.read(ref)

    def exact(self, recorded: JsonObject, ref: BlobRef | None) -> JsonObject:
        """Return parameters as the agent wrote them.

        Raises:
            SealedGone: the sealed ones are missing; nothing may run on the recorded ones instead.
        """
        if ref is None:
            return recorded
        data = self.unseal(ref)
        if data is None:
            raise CallBytesMissing("the exact parameters of this call are not there any more")
        return cast("JsonObject", canonical.loads(data))

    def new_id(self) -> str:
        """Return a new identifier."""
        return self.kit.clock.new_id()


class RunWriter(Struct, frozen=True):
    """The session of one run."""

    kit: DriverContext
    run_id: str
    guard: LeaseGuard

    def event(self, body: Body, *, step: str | None = None, action_id: str | None = None) -> Event:
        """Make an event of the run, stamped now."""
        actor = Actor(kind="host", pid=os.getpid())
        return self.kit.journal.event(body, self.run_id, actor, step=step, action_id=action_id)

    async def append(self, *events: Event) -> None:
        """Append events in one transaction and wait until they are there."""
        await asyncio.wrap_future(self.kit.journal.submit(events, guard=self.guard))

    def stream(self, *events: Event) -> None:
        """Append fast events without waiting."""
        self.kit.journal.submit(events, guard=self.guard)

    def events(self, after: int) -> list[Event]:
        """Return the events of the run after a position."""
        return self.kit.journal.events(self.run_id, after=after, limit=EVENT_PAGE_SIZE)

    def action(self, action_id: str) -> Action | None:
        """Return an action by id."""
        return self.kit.journal.action(action_id)

    def pending(self, session_id: str) -> tuple[str, ...]:
        """Return the actions that wait in a session and in those below it."""
        return pending_action_ids(self.kit.journal, session_id)

    def now(self) -> int:
        """Return the journal's time in microseconds."""
        return self.kit.journal.now()

    def monotonic(self) -> float:
        """Return steady seconds."""
        return self.kit.clock.monotonic()

    def new_id(self) -> str:
        """Return a new identifier."""
        return self.kit.clock.new_id()

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes."""
        return self.kit.journal.blobs.seal(data)

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return exact bytes; None when they are gone."""
        return self.kit.journal.blobs.read(ref)

    def keyed(self, data: bytes) -> str:
        """Return the keyed digest of bytes."""
        return self.kit.journal.blobs.keyed(data)

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        """Return a text as it may be recorded."""
        clean = redaction.redact_text(text)
        return clean if len(clean) <= longest else f"{clean[:longest]}… ({len(clean):,} characters)"


DELTA_INTERVAL_SECONDS = 0.05
"""Seconds between two events of one block."""


class DeltaWriter:
    """Collect the text of one block and hand it on at most every `INTERVAL` seconds."""

    def __init__(self, write: Callable[[int, str], None]) -> None:
        """Start a block.

        Args:
            write: gets the offset in characters from the block's start, and the text.
        """
        self._write = write
        self._scrubber = StreamScrubber()
        self._came: list[str] = []
        self._offset = 0
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, text: str) -> None:
        """Take a piece of the stream; what it may show is looked for once an interval, not once a word."""
        self._came.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELTA_INTERVAL_SECONDS, self._due)

    def close(self) -> None:
        """Write what is left; nothing follows."""
        if self._timer is not None:
            self._timer.cancel()
        self._out(self._shown() + self._scrubber.flush())

    def _due(self) -> None:
        self._timer = None
        self._out(self._shown())

    def _shown(self) -> str:
        came, self._came = "".join(self._came), []
        return self._scrubber.feed(came)

    def _out(self, text: str) -> None:
        if text:
            self._write(self._offset, text)
            self._offset += len(text)
