"""Where the value of a template comes from, and values that another interpreter than the shell would read.

`inner_code` finds the places in a command. This decides what one means: a value of an agent, an artifact or a
list is refused; the input that a person gave, and the manifest, are shown to that person before the run.
"""

# A value that is handed to a pipeline below keeps its origin. Its name (`input`, `env.NAME`) is then among
# `handed`, in the request of that run and in what it seals.
#
# Accepting binds bytes: what is kept of it is the keyed digest of the whole expanded command, and a command
# whose digest is not among them is not started.

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from workbench.pipelines import templates
from workbench.pipelines.artifacts import parse_content
from workbench.pipelines.documents import OutsideRoot, ProjectFiles
from workbench.pipelines.inner_code import FAILURE_NAME, InnerPlace, inner_places
from workbench.pipelines.inner_readers import safe_form
from workbench.pipelines.manifest_values import MANIFEST_NAMES, OwnText
from workbench.pipelines.model import Manifest, Step
from workbench.text.safe import one_line

Origin = Literal["own", "person", "manifest", "foreign"]
"""`own`: of the pipeline itself or of this program; `foreign`: of an agent, an artifact, a list, or git."""


class InnerCodeRefused(ValueError):
    """A command would have another interpreter read a value as code."""


class InnerValue(Struct, frozen=True, kw_only=True):
    """A value in a command of a step that an inner interpreter reads as code."""

    step: str
    place: InnerPlace
    origin: Origin
    where: str
    """Where the value comes from, in words."""
    command: str
    """As it is written."""
    path: tuple[str | int, ...] = ()
    """Of the command in its step."""

    @property
    def message(self) -> str:
        """Return what is wrong and what to write instead."""
        name, reader = self.place.name, one_line(self.place.reader, 80)
        written = name if name == FAILURE_NAME else f"{{{{ {name} }}}}"
        reads = "is read as code by" if self.place.is_certain else "may be read as code by"
        safe = safe_form(reader, name).replace(f"{{{{ {FAILURE_NAME} }}}}", f'"{FAILURE_NAME}"')
        return f"{written} ({self.where}) {reads} {reader}; pass it as data: {safe}"


_OWN_NAMES: Final = frozenset({
    "pipeline_id", "pipeline_name", "step_id", "timestamp", "attempt", "run.id", "run.name",
})  # fmt: skip
_OWN_GATE_MEMBERS: Final = frozenset({"choice", "key", "label", "timestamp"})
_OWN_HOST_MEMBERS: Final = frozenset({"type", "cli_tool", "pr_term", "pr_command", "prefix"})


def value_origin(name: str, step: Step, handed: Collection[str]) -> tuple[Origin, str]:
    """Return where the value of a template comes from, and the same in words.

    Args:
        name: The template.
        step: The step that it stands in.
        handed: Names whose values a run above took from an agent, an artifact or a list.
    """
    name = templates.canonical_name(name).removeprefix("pipeline_context.")
    if ".output" in name or "/" in name or name in {injection.name for injection in step.injections}:
        return "foreign", "what an agent or another step left"
    first, _, rest = name.partition(".")
    if first == "input" or (first == "env" and rest):
        is_handed = (first if first == "input" else name) in handed
        return ("foreign", "handed down by an agent or a step") if is_handed else ("person", "typed by you")
    if first in ("project", "ontology"):
        return "manifest", "from the manifest"
    if name in _OWN_NAMES or name.endswith(".outcome") or _is_injected_path(name, step):
        return "own", ""
    if first == "forge":
        is_own = rest in _OWN_HOST_MEMBERS
        return ("own", "") if is_own else ("foreign", "read from the repository")
    if first == "gate" and rest.rpartition(".")[2] in _OWN_GATE_MEMBERS:
        return "own", ""
    return "foreign", _foreign_words(name, first, step)


def _foreign_words(name: str, first: str, step: Step) -> str:
    if first in templates.ITEM_NAMES and step.matrix is not None:
        return "an item of a list"
    if first == "gate":
        return "written at a gate, during the run"
    if name == "branch_name":
        return "read from the repository"
    if name == "workspace":
        return "a path"
    if name == FAILURE_NAME:
        return "why an earlier step failed"
    return "what an agent or another step left"


def _is_injected_path(name: str, step: Step) -> bool:
    """Return whether a template is the path of an injected artifact, which the pipeline names."""
    if name == "workspace":
        return step.matrix is None and "{{" not in step.workspace.root
    if not name.startswith("artifacts."):
        return False
    injected, names = name.removeprefix("artifacts."), {each.name for each in step.injections}
    return injected not in names and injected.removesuffix(".path") in names


def foreign_names(text: str, step: Step, handed: Collection[str]) -> list[str]:
    """Return the templates of a text whose values are foreign."""
    return [
        name for name in templates.template_names(text) if value_origin(name, step, handed)[0] == "foreign"
    ]


def handed_names(step: Step, handed: Collection[str]) -> tuple[str, ...]:
    """Return the names that are foreign in the pipeline that a step starts: `input`, `env.NAME`."""
    texts = {
        "input": step.pipeline_input,
        **{f"env.{name}": text for name, text in step.child_values.items()},
    }
    return tuple(name for name, text in texts.items() if foreign_names(text, step, handed))


# --- the commands of a step ---------------------------------------------------------------------------


def step_commands(step: Step, files: ProjectFiles) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text of a step that a shell runs, with its place."""
    if step.kind == "command":
        text = step.source
        if step.source_path and not text:
            with suppress(OutsideRoot):  # reported where paths are checked
                text = files.text(step.source_path) or ""
        yield ("exec", "source"), text
    for number, contract in enumerate(step.contracts):
        yield ("handover", "contracts", number, "command"), contract.command
    for number, rule in enumerate(step.validation):
        if rule.type == "command":
            yield ("validation", number, "target"), rule.target


def inner_values(
    step: Step, files: ProjectFiles, own_text: OwnText, handed: Collection[str]
) -> Iterator[InnerValue]:
    """Yield the values in the commands of a step that an inner interpreter reads as code.

    A place that is not certain counts for foreign values only.
    """
    for path, text in step_commands(step, files):
        if "{{" not in text and FAILURE_NAME[1:] not in text:
            continue
        for place in inner_places(templates.command_pieces(text, own_text)):
            origin, where = value_origin(place.name, step, handed)
            if origin == "foreign" or (origin != "own" and place.is_certain):
                yield InnerValue(
                    step=step.id, place=place, origin=origin, where=where, command=text, path=path
                )


def expanded_command(text: str, own_text: OwnText, values: Callable[[str], str | None]) -> str:
    """Return a command as a person is shown it: with what is known before the run in place of templates."""

    def shown(name: str) -> str:
        own = own_text(name)
        known = own if own is not None else values(templates.canonical_name(name))
        return f"{{{{ {name} }}}}" if known is None else known

    return templates.fill_templates(text, shown)


def known_before_run(
    manifest: Manifest | None, input_text: str | None, given: Mapping[str, str], handed: Collection[str]
) -> Callable[[str], str | None]:
    """Return what gives the values that are known before a run starts; None for every other name.

    Args:
        manifest: That of the run.
        input_text: Its input; None where it is not known yet.
        given: What `env.NAME` stands for.
        handed: Names whose values are foreign.
    """

    def value(name: str) -> str | None:
        first, _, rest = name.partition(".")
        if first in MANIFEST_NAMES:
            return MANIFEST_NAMES[first](manifest, rest) if manifest else None
        if first == "env":
            return None if name in handed else given.get(rest, "")
        if first != "input" or first in handed or input_text is None:
            return None
        content = parse_content(input_text.encode("utf-8", "surrogatepass")) if rest else input_text
        return templates.value_text(templates.member_value(content, rest))

    return value


def require_outer_values(
    step: Step,
    files: ProjectFiles,
    own_text: OwnText,
    handed: Collection[str],
    is_accepted: Callable[[str], bool],
) -> None:
    """Raise InnerCodeRefused where a command of a step would have a value read as code.

    `is_accepted` says of a command, as it is written, whether a person accepted it as it is now.
    """
    for value in inner_values(step, files, own_text, handed):
        if value.origin == "foreign":
            raise InnerCodeRefused(value.message)
        if not is_accepted(value.command):
            raise InnerCodeRefused(f"{value.message}; nobody accepted this command when the run was started")
