"""Where a command runs and what the sandbox refused to it, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Call, Session
from workbench.domain.sandbox_strength import held_text, strength_of
from workbench.domain.values import (
    SANDBOX_SPEAKER,
    Place,
    RefusalKind,
    SandboxBackend,
    SandboxLevel,
    SandboxRefusal,
    SandboxUse,
    quoted_target,
)
from workbench.text.human import counted, sentence
from workbench.text.safe import one_line

_MAX_TARGET_CELLS: Final = 120
_MOST_NAMED: Final = 4
_REFUSAL_WORDS: Final[Mapping[RefusalKind, str]] = {
    "write": "to write {}",
    "read": "to read {}",
    "network": "to reach {}",
    "closed": "to create {}, which controls the workspace",
    "privilege": "to use {}",
}


def refusals_text(refusals: Sequence[SandboxRefusal]) -> str:
    """Return what a sandbox refused in words, such as `to write /etc/hosts, according to the command`."""
    named = [refusal for refusal in refusals if not refusal.more]
    more = len(named) - _MOST_NAMED + sum(refusal.more for refusal in refusals)
    groups = [
        ", ".join(_refusal_words(each) for each in named[:_MOST_NAMED] if each.is_observed is is_observed)
        for is_observed in (True, False)
    ]
    parts = [groups[0], groups[1] and f"{groups[1]}, {_BY_COMMAND}"]
    lists = (f", {_listed(refusal)}" for refusal in refusals if refusal.more)
    rest = f"and {more:,} more{''.join(lists)}" if more > 0 else ""
    return "; ".join(filter(None, (*parts, rest)))


def refusal_lines(refusals: Iterable[SandboxRefusal]) -> Iterator[str]:
    """Yield a line for each thing that a sandbox refused."""
    for refusal in refusals:
        by = "" if refusal.is_observed else f", {_BY_COMMAND}"
        yield f"{_refusal_words(refusal)}{by}"


_BY_COMMAND: Final = "according to the command"


def _refusal_words(refusal: SandboxRefusal) -> str:
    target = _shown(refusal.target)
    if refusal.more:
        return f"to create {refusal.more:,} more, {_listed(refusal)}"
    if refusal.remark:
        return f"to change {target}, which {one_line(refusal.remark, _MAX_TARGET_CELLS)}"
    return _REFUSAL_WORDS[refusal.kind].format(target)


def _listed(refusal: SandboxRefusal) -> str:
    target = _shown(refusal.target)
    return (
        f"listed in {target}" if target.startswith(("/", '"/')) else f"listed in {target} of the data folder"
    )


def _shown(target: str) -> str:
    return quoted_target(one_line(target, _MAX_TARGET_CELLS))


def refusals_sentence(call: Call) -> str:
    """Return what the sandbox refused to a call, as a clause; empty where it refused nothing."""
    return f"the sandbox refused {refusals_text(call.refusals)}" if call.refusals else ""


def is_allowed_by_sandbox(call: Call) -> bool:
    """Return whether a call ran without a question because it ran inside the sandbox."""
    return call.verdict_by == SANDBOX_SPEAKER and call.action_id is None


def sandbox_use_text(use: SandboxUse) -> str:
    """Return where a process ran: `inside the sandbox, level workspace (bubblewrap)`."""
    if use.place == "outside":
        return "outside the sandbox"
    return f"inside the sandbox, level {use.level} ({use.backend})"


def step_place_text(level: SandboxLevel | None) -> str:
    """Return where a step's program runs: `runs inside (workspace)`; empty where no level is named."""
    if level is None:
        return ""
    return "runs outside" if level == "outside" else f"runs inside ({level})"


def place_fact(place: Place, level: SandboxLevel | None, backend: SandboxBackend = "bubblewrap") -> str:
    """Return where a command would run, and what it can do there."""
    if place == "inside" and level is not None:
        return f"inside the sandbox: it {held_text(level, strength_of(backend))}"
    return "outside the sandbox: it can do all that you can"


# --- the sandbox of a folder ------------------------------------------------------------------------

DEFAULT_LEVEL: Final[SandboxLevel] = "workspace"
_MAX_PROBLEM_CELLS: Final = 200


class SandboxStanding(Struct, frozen=True, kw_only=True):
    """The sandbox that commands in a folder have, by its settings and by what this machine can do."""

    level: SandboxLevel = DEFAULT_LEVEL
    backend: SandboxBackend = "none"
    is_auto: bool = False
    """Whether commands inside it run without a question."""
    problem: str = ""
    """Why there is no full sandbox; empty if there is one, and where the settings want none."""
    remedy: str = ""
    next_level: SandboxLevel | None = None
    """What a human chose for the next session; None is as set."""
    next_auto: bool | None = None

    @property
    def is_full(self) -> bool:
        return self.backend == "bubblewrap" and self.level != "outside"


class SandboxPast(Struct, frozen=True, kw_only=True):
    """What the sandbox would have done with the own newest questions about commands."""

    asked: int
    spared: int
    """How many of them would have run inside without a question."""


def sandbox_of_session(standing: SandboxStanding | None, session: Session | None) -> SandboxStanding | None:
    """Return the sandbox of a session, or of the next one, with what a human chose for it.

    It is None for an agent that executes its own calls, and while nobody has looked.
    """
    if standing is None or (session is not None and session.is_supervised):
        return None
    level, is_auto = standing.next_level, standing.next_auto
    if session is not None:
        level = session.sandbox_level
        is_auto = None if session.sandboxed is None else session.sandboxed == "auto"
    return replace(
        standing, level=level or standing.level, is_auto=standing.is_auto if is_auto is None else is_auto,
        next_level=None, next_auto=None,
    )  # fmt: skip


def standing_text(standing: SandboxStanding | None) -> str:
    """Return what is shown of a sandbox all the time: nothing of a full one with the level of most."""
    if standing is None:
        return ""
    if standing.level == "outside":
        return "off"
    if standing.problem and standing.backend == "none":
        return "none here"
    holds = "" if standing.backend != "landlock" else "files only"
    return ", ".join(filter(None, ("" if standing.level == DEFAULT_LEVEL else standing.level, holds)))


def asks_text(asks: str, standing: SandboxStanding | None) -> str:
    """Return what is asked about, without what runs inside the sandbox without a question.

    While all agents are held, which stands behind a comma, that asks too.
    """
    if standing is None or not (standing.is_auto and standing.is_full) or "," in asks:
        return asks
    return f"{asks} and commands inside" if asks.startswith("all") else "all except commands inside"


def problem_sentence(standing: SandboxStanding) -> str:
    """Return that this machine has no full sandbox, why, and what helps; empty where it has one."""
    if standing.level == "outside" or not standing.problem:
        return ""
    head = "No sandbox" if standing.backend == "none" else "The sandbox hides nothing and does not spare .git"
    why = one_line(standing.problem, _MAX_PROBLEM_CELLS).rstrip(".")
    remedy = sentence(one_line(standing.remedy, _MAX_PROBLEM_CELLS)) if standing.remedy else ""
    return f"{head}: {why}. {remedy}".rstrip()


def state_sentence(standing: SandboxStanding) -> str:
    """Return what holds for commands, and whether they ask."""
    if problem := problem_sentence(standing):
        return problem
    if standing.level == "outside" or not standing.is_full:
        return "Commands run outside the sandbox, as you."
    asks = "run without asking" if standing.is_auto else "ask"
    holds = held_text(standing.level, "full", "have")
    return f"Commands run inside: they {holds}. Those that nothing allows or denies {asks}."


def choice_text(standing: SandboxStanding | None) -> str:
    """Return level and approvals of the sandbox in a few words: `workspace, commands inside ask`."""
    if standing is None:
        return ""
    if not standing.is_full:
        return standing_text(standing) or "off"
    asks = "do not ask" if standing.is_auto else "ask"
    return f"{standing.level}, commands inside {asks}"


def offer_text(standing: SandboxStanding | None, past: SandboxPast | None) -> str:
    """Return the offer to run commands inside without a question, with its number; empty for no offer."""
    if standing is None or not standing.is_full or standing.is_auto:
        return ""
    if past is None or not past.spared:
        return "/sandbox auto runs commands inside the sandbox without asking"
    return f"{past_text(past)}: /sandbox auto"


def past_text(past: SandboxPast) -> str:
    """Return what the sandbox would have spared: `of 212 questions about commands 171 would ...`."""
    return f"of {counted(past.asked, 'question')} about commands {past.spared:,} would not have been asked"
