"""Manifest and pipeline as they were read: the entities of the pipeline format, as plain values."""

import functools
from collections.abc import Collection, Mapping
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.values import (
    ArtifactKind,
    Choice,
    HookRule,
    Json,
    JsonObject,
    PermissionPattern,
    SandboxLevel,
    StepKind,
)
from workbench.policy.levels import lower_level

FailureAction = Literal["fail", "skip", "continue", "warn", "rework"]
"""What a failure means once no attempt is left."""
ContractType = Literal[
    "json_schema", "typescript_interface", "test_suite", "non_empty_file", "markdown_spec", "test_diff",
    "test_count_baseline", "agent_review", "llm_judge", "unchecked",
]  # fmt: skip
"""`unchecked`: a type that others check; here it fails."""
REVIEW_TYPES: Final = ("agent_review", "llm_judge")
"""Contracts that a model answers."""
AggregateStrategy = Literal["merge_arrays", "concat", "reduce"]
SKIP_CASE = "skip"
"""The case of a branch that runs nothing."""
BUILT_IN_ADAPTER = "workbench"
"""The binary that stands for the agent of this program."""


def stricter_level(one: SandboxLevel | None, other: SandboxLevel | None) -> SandboxLevel | None:
    """Return the level of two that allows less; None says nothing."""
    return lower_level(one, other) if one and other else one or other


class Permissions(Struct, frozen=True, kw_only=True):
    """S1 Permissions: deny comes first; an empty allowed list is no ceiling."""

    allowed: tuple[PermissionPattern, ...] = ()
    deny: tuple[PermissionPattern, ...] = ()


class Adapter(Struct, frozen=True, kw_only=True):
    """S1 Adapter: how an agent is run."""

    name: str
    binary: str
    output_format: str = "json"
    project_files: tuple[str, ...] = ()
    permissions: Permissions = Permissions()
    hooks_template: str = ""
    model: str = ""
    args: tuple[str, ...] = ()
    """Words of its command line with `{prompt}`, `{model}` …; empty takes those known for its binary."""
    tier_models: Mapping[str, str] = field(default_factory=dict[str, str])
    """Its models by the names of `MODEL_TIERS`."""
    sandbox: SandboxLevel | None = None
    """What it may touch at most; None leaves it to the steps."""
    nested_sandbox: bool = False
    """Whether its program may make sandboxes of its own in its sandbox; it can then replace closed files."""

    @property
    def is_built_in(self) -> bool:
        """Return whether this program's own agent runs its personas."""
        return self.binary.rpartition("/")[2] == BUILT_IN_ADAPTER


MODEL_TIERS: Final = ("cheapest", "balanced", "strongest")
"""Words that files have instead of a model's name, the cheapest first."""


def model_of_tier(name: str, adapter: Adapter, runtime: "Runtime", retries: int) -> str:
    """Return the model that a name stands for: itself, or that of its tier, one tier up for each retry.

    A tier that no table knows is left to the adapter, whose default may be none: it then chooses itself.
    """
    if name not in MODEL_TIERS:
        return name
    tier = MODEL_TIERS[min(MODEL_TIERS.index(name) + retries, len(MODEL_TIERS) - 1)]
    default = "" if adapter.model in MODEL_TIERS else adapter.model
    return adapter.tier_models.get(tier) or runtime.complexity_map.get(tier) or default


class Persona(Struct, frozen=True, kw_only=True):
    """S1 Persona: a role of an adapter."""

    name: str
    adapter: str
    prompt_file: str
    description: str = ""
    temperature: float | None = None
    provider: str = ""
    model: str = ""
    permissions: Permissions | None = None
    """None takes the adapter's."""
    hooks: tuple[HookRule, ...] = ()
    skills: tuple[str, ...] = ()


class MetaLimits(Struct, frozen=True, kw_only=True):
    """S1 Runtime.meta_pipeline: how far pipelines may start pipelines."""

    max_depth: int = 2
    max_total_steps: int = 20
    max_total_tokens: int = 500_000
    timeout_minutes: int = 60


class Runtime(Struct, frozen=True, kw_only=True):
    """S1 Runtime."""

    workspace_root: str = ""
    """Empty: a private folder of the data root; see `exported_workspace_root`."""
    max_concurrent_workers: int = 5
    default_timeout_minutes: int = 30
    relay_percent: int = 80
    relay_strategy: str = "summarize_to_checkpoint"
    context_window: int = 0
    """Tokens of the context that relay counts against; 0 takes what is known of the model."""
    summarizer: str = ""
    """The persona that writes checkpoints, where the step names none."""
    audit_dir: str = ".wave/traces/"
    log_calls: bool = False
    log_files: bool = False
    meta: MetaLimits = MetaLimits()
    complexity_map: Mapping[str, str] = field(default_factory=dict[str, str])
    """Models by the names of `MODEL_TIERS`, for adapters that name none of their own."""
    budget: float = 0.0
    """US dollars that a run may cost; 0 sets no limit."""
    stall_seconds: float = 0.0
    """Seconds without an event after which an agent's step is ended; 0 sets no limit."""

    @property
    def exported_workspace_root(self) -> str:
        """Return the value that S1 gives an absent `workspace_root`."""
        return self.workspace_root or "/tmp/wave"

    @property
    def is_traced(self) -> bool:
        return self.log_calls or self.log_files


class Manifest(Struct, frozen=True, kw_only=True):
    """S1 Manifest."""

    name: str
    description: str = ""
    repo: str = ""
    forge: str = ""
    """Kind of the project's code host (`code_hosts.CODE_HOSTS`); empty: the remote's address decides."""
    adapters: dict[str, Adapter] = field(default_factory=dict[str, Adapter])
    personas: dict[str, Persona] = field(default_factory=dict[str, Persona])
    runtime: Runtime = Runtime()
    skill_mounts: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    """What every agent of the project is told, by name (`skills.py`)."""
    project: JsonObject = field(default_factory=dict[str, Json])
    """What `{{ project.test_command }}` and its like stand for."""
    ontology: JsonObject = field(default_factory=dict[str, Json])
    """What `{{ ontology.telos }}` and its like stand for; nothing else is done with it."""


class InputConfig(Struct, frozen=True, kw_only=True):
    """S1 InputConfig."""

    source: str = ""
    schema: Json = None
    example: str = ""
    label_filter: str = ""
    batch_size: int = 0
    is_required: bool = False


class ArtifactInjection(Struct, frozen=True, kw_only=True):
    """An artifact of an earlier step that a step gets."""

    step: str
    artifact: str
    name: str
    """Of the file below `artifacts/`, and of the template."""
    is_optional: bool = False
    pipeline: str = ""
    """The other pipeline whose last completed run left it; empty for this one. `step` may then be empty."""


class Mount(Struct, frozen=True, kw_only=True):
    """A folder of the project in a step's workspace."""

    source: str
    target: str
    is_readonly: bool = False
    subset_from: str = ""
    """The artifact that names its only files; empty for all (`Step.subset_source`)."""


class WorkspaceSpec(Struct, frozen=True, kw_only=True):
    """Where a step works."""

    root: str = ""
    mounts: tuple[Mount, ...] = ()
    is_worktree: bool = False
    branch: str = ""
    base: str = ""
    ref: str = ""
    """The step whose workspace it shares."""


class ArtifactSpec(Struct, frozen=True, kw_only=True):
    """What a step says it produces."""

    name: str
    path: str = ""
    type: str = ""
    kind: ArtifactKind = "file"
    is_required: bool = True
    is_implied: bool = False
    """Whether the step declares nothing: what it prints is taken for what another step asks of it."""


class ReviewContext(Struct, frozen=True, kw_only=True):
    """What a reviewer is shown besides the file that is reviewed."""

    source: Literal["git_diff", "artifact"]
    artifact: str = ""
    most_bytes: int = 50 * 1024


class Review(Struct, frozen=True, kw_only=True):
    """Who answers a contract of the types `agent_review` and `llm_judge`, and by what."""

    persona: str = ""
    """Empty: the step's own, as whose judge another model may be named."""
    adapter: str = ""
    model: str = ""
    criteria: tuple[str, ...] = ()
    criteria_path: str = ""
    threshold: float = 1.0
    """Share of the criteria of a judge that have to be met, 0 to 1."""
    context: tuple[ReviewContext, ...] = ()
    token_budget: int = 0
    """Tokens that a review may use before that is said; 0 is no budget."""
    timeout_seconds: float = 120.0


class TestCount(Struct, frozen=True, kw_only=True):
    """What counts as a test in a contract of the types `test_diff` and `test_count_baseline`."""

    most_deletions: int = 0
    files: tuple[str, ...] = ("*_test.go",)
    """Patterns of paths."""
    pattern: str = r"^[ \t]*func[ \t]+(Test|Example|Benchmark|Fuzz)[A-Za-z0-9_]*\b"
    """Matches a line that starts a test."""
    base: str = "HEAD~1"


class OutcomeSpec(Struct, frozen=True, kw_only=True):
    """A link that a step is expected to leave, and where it stands."""

    type: str
    source: str
    """Path of a file or name of an artifact."""
    json_path: str = ""
    label_path: str = ""
    label: str = ""


class Contract(Struct, frozen=True, kw_only=True):
    """S1 HandoverConfig.contract."""

    type: ContractType
    written_type: str
    schema: Json = None
    """Inline: an object, or the text of one."""
    schema_path: str = ""
    source: str = ""
    is_compiled: bool = True
    """S1 `validate`."""
    command: str = ""
    dir: str = ""
    must_pass: bool = True
    is_repairable: bool = True
    """Whether JSON that a model wrote with words around it and the like is repaired."""
    review: Review | None = None
    tests: TestCount | None = None
    rework_step: str = ""
    then: FailureAction | None = None
    """What its own failure means once no attempt is left; None leaves it to the step."""

    @property
    def is_blocking(self) -> bool:
        """Return whether a failure of it is one of the step."""
        return self.must_pass and self.then not in ("warn", "continue")


class FailurePolicy(Struct, frozen=True, kw_only=True):
    """What a failure of a step means, all of its words put together."""

    attempts: int = 1
    then: FailureAction = "fail"
    rework_step: str = ""
    """Named by `retry`, else by the first contract that names one."""
    delay_seconds: float = 0.0
    delay_factor: float = 1.0
    is_linear: bool = False
    """The delay grows by itself at each failure, instead of by the factor."""
    most_delay_seconds: float = 60.0
    is_tier_kept: bool = False
    """A retry asks the model of the same tier again, and not of the next one up."""


class Compaction(Struct, frozen=True, kw_only=True):
    """When a step's conversation is put into a checkpoint, and by whom."""

    percent: int
    persona: str


class Matrix(Struct, frozen=True, kw_only=True):
    """S1 MatrixStrategy: one instance an item."""

    items: tuple[Json, ...] | None = None
    """Written in the file; None takes them from an artifact."""
    step: str = ""
    artifact: str = ""
    keys: tuple[str, ...] = ()
    """Where in the artifact the list is; empty: the artifact is the list."""
    over: str = ""
    """A text whose templates come to a JSON list; empty where the list is named otherwise."""
    id_key: str = ""
    limit: int = 0
    """How many at once; 0 leaves it to the run."""
    is_iteration: bool = False
    """It hands on the value of each item in one list, called `results`."""
    is_stopping: bool = False
    """No further item starts once one has failed."""


class ValidationRule(Struct, frozen=True, kw_only=True):
    """Something that has to hold before a step runs."""

    type: str
    target: str
    schema: str = ""
    message: str = ""
    """What the author says when it does not hold."""


class GateSpec(Struct, frozen=True, kw_only=True):
    """What a human is asked."""

    type: str = "approval"
    prompt: str = ""
    choices: tuple[Choice, ...] = ()
    targets: dict[str, str] = field(default_factory=dict[str, str])
    """Choice to the step that it leads to; `_fail` ends the run. The other targets are skipped."""
    is_freeform: bool = False
    wait_seconds: float = 0.0
    """Of a timer: how long it waits; nobody is asked."""
    window_minutes: float | None = None
    is_auto: bool = False
    """The pipeline answers it itself, with the default or the first choice; nobody is asked."""
    default: str = ""
    """The choice that counts once the time to answer is over; empty: the gate then fails."""


class RouteEdge(Struct, frozen=True, kw_only=True):
    """Where a route leads if its condition holds."""

    target: str
    """A step, `_complete` (continue) or `_fail`."""
    condition: str = ""
    """As it was written; empty always holds."""


class Route(Struct, frozen=True, kw_only=True):
    """What a step of kind route chooses from: the first edge that holds."""

    edges: tuple[RouteEdge, ...]
    most: int = 0
    """Rounds of a loop after which it continues anyway; 0 where only `max_visits` counts."""


class Loop(Struct, frozen=True, kw_only=True):
    """Steps that are done again until something holds; taken apart when the pipeline is read."""

    most: int
    until: str
    steps: "tuple[Step, ...]"


class Branch(Struct, frozen=True, kw_only=True):
    """Which pipeline a step runs: one for each value of a text."""

    on: str
    cases: dict[str, str]


class Aggregate(Struct, frozen=True, kw_only=True):
    """What several steps or items left, put together in one file."""

    source: str
    into: str
    strategy: AggregateStrategy = "merge_arrays"
    key: str = ""
    """Of each object, the member that holds its list."""


class Step(Struct, frozen=True, kw_only=True):
    """S1 Step."""

    id: str
    line: int
    kind: StepKind = "prompt"
    name: str = ""
    persona: str = ""
    adapter: str = ""
    model: str = ""
    needs: tuple[str, ...] = ()
    source: str = ""
    source_path: str = ""
    injections: tuple[ArtifactInjection, ...] = ()
    workspace: WorkspaceSpec = WorkspaceSpec()
    outputs: tuple[ArtifactSpec, ...] = ()
    contracts: tuple[Contract, ...] = ()
    failing: FailurePolicy = FailurePolicy()
    compaction: Compaction | None = None
    matrix: Matrix | None = None
    validation: tuple[ValidationRule, ...] = ()
    gate: GateSpec | None = None
    pipeline_input: str = ""
    child_values: Mapping[str, str] = field(default_factory=dict[str, str])
    """What `{{ env.NAME }}` stands for in the pipeline below, by name."""
    timeout_minutes: int | None = None
    is_rework_only: bool = False
    edges: tuple[RouteEdge, ...] = ()
    """Of a step that does something; they become a route behind it."""
    route: Route | None = None
    loop: Loop | None = None
    branch: Branch | None = None
    aggregate: Aggregate | None = None
    tolerates: tuple[str, ...] = ()
    """Steps that it needs and whose failure it takes: it starts also after that."""
    max_visits: int = 10
    """Rounds of one run in which it may be done."""
    path: str = ""
    """Where it stands in its document."""
    thread: str = ""
    """The conversation that it continues with; steps of one thread are told what the others said."""
    skills: tuple[str, ...] = ()
    outcomes: tuple[OutcomeSpec, ...] = ()
    most_agents: int = 0
    """Agents that its own agent may start at once; 0 says nothing."""
    unrunnable: str = ""
    """Why it cannot run here; it fails closed."""
    sandbox: SandboxLevel | None = None
    """What it says that its program may touch; None says nothing: a program runs as the user, an agent as
    sessions do. `level` is what holds."""

    @property
    def is_control(self) -> bool:
        """Return whether the coordinator settles it itself: a gate, a route or a matrix."""
        return self.kind in ("gate", "route") or self.matrix is not None

    @property
    def rework_steps(self) -> tuple[str, ...]:
        """Return every step that may rework it, without repetition."""
        own = (contract.rework_step for contract in self.contracts if contract.then == "rework")
        return tuple(dict.fromkeys(name for name in (self.failing.rework_step, *own) if name))

    def policy_for(self, failed: Contract | None) -> FailurePolicy:
        """Return what a failure means: of a contract by its own words, otherwise by those of the step."""
        if failed is None or failed.then is None:
            return self.failing
        rework = (failed.rework_step if failed.then == "rework" else "") or self.failing.rework_step
        return replace(self.failing, then=failed.then, rework_step=rework)

    def agent_adapter(self, manifest: Manifest | None) -> Adapter | None:
        """Return the adapter that runs its agent; None without an agent or where none is known."""
        persona = manifest.personas.get(self.persona) if manifest and self.kind == "prompt" else None
        name = self.adapter or (persona.adapter if persona else "")
        return manifest.adapters.get(name) if manifest and self.kind == "prompt" else None

    def level(self, manifest: Manifest | None) -> SandboxLevel | None:
        """Return what its program may touch: the stricter of its own level and that of its adapter."""
        adapter = self.agent_adapter(manifest)
        return stricter_level(self.sandbox, adapter.sandbox if adapter else None)

    def timeout_seconds(self, manifest: Manifest | None) -> int:
        """Return the working time that one attempt may take."""
        return 60 * (self.timeout_minutes or (manifest or Manifest(name="")).runtime.default_timeout_minutes)

    def declared_output(self, name: str) -> ArtifactSpec | None:
        """Return the artifact that it declares by its name, its path or its file's name."""
        for output in self.outputs:
            if name in (output.name, output.path, output.path.rstrip("/").rpartition("/")[2]):
                return output
        return None

    def subset_source(self, text: str, step_ids: Collection[str]) -> tuple[str, str, str]:
        """Return step, artifact and member that a `subset_from` names; no step for an injected artifact.

        Names may hold points: the longest known one counts. All are empty where none is known.
        """
        parts = text.strip().split(".")
        injected = {injection.name for injection in self.injections}
        for cut in range(len(parts), 0, -1):
            head, rest = ".".join(parts[:cut]), parts[cut:]
            if head in step_ids and rest:
                return head, rest[0], ".".join(rest[1:])
            if head in injected:
                return "", head, ".".join(rest)
        return "", "", ""


class PipelineOutput(Struct, frozen=True, kw_only=True):
    """What a pipeline hands to the pipeline that started it: an artifact, or one field of it."""

    name: str
    step: str
    artifact: str
    field: str = ""


class Pipeline(Struct, frozen=True, kw_only=True, dict=True):
    """S1 Pipeline."""

    name: str
    file: str
    """As it was given, relative to the root."""
    description: str = ""
    input: InputConfig = InputConfig()
    outputs: tuple[PipelineOutput, ...] = ()
    steps: tuple[Step, ...] = ()
    skills: tuple[str, ...] = ()
    """What its agents are told besides, by name."""
    max_step_visits: int = 0
    """Visits of all steps together; 0 leaves it to the steps."""

    @functools.cached_property
    def _by_id(self) -> dict[str, Step]:
        """Cached: a run looks its steps up all the time."""
        return {step.id: step for step in reversed(self.steps)}

    def step(self, step_id: str) -> Step:
        """Return a step by its id. Raises KeyError."""
        return self._by_id[step_id]
