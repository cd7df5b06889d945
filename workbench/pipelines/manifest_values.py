"""What the manifest says under the names of templates: `project.…` and `ontology.…`."""

from collections.abc import Callable, Mapping
from typing import Final, cast

from workbench.domain.values import Json
from workbench.pipelines import templates
from workbench.pipelines.model import Manifest

OwnText = Callable[[str], str | None]
"""Returns the text that the manifest puts into a command under a name; None for every other name."""
_PROJECT_FALLBACKS: Final = {"contract_test_command": "test_command"}
"""What counts instead of a member of the manifest's project that is not set."""


def project_value(manifest: Manifest, name: str) -> str:
    """Return what the manifest says of the project; one that is not set is empty, or its fallback's."""
    value = templates.member_value(manifest.project, name)
    if value is None:
        value = templates.member_value(manifest.project, _PROJECT_FALLBACKS.get(name, ""))
    return "" if value is None or isinstance(value, dict) else templates.value_text(value)


def own_text_of(manifest: Manifest | None) -> OwnText:
    """Return what gives the value of each `project` name, and None for every other name."""

    def own_text(name: str) -> str | None:
        first, _, rest = name.partition(".")
        return project_value(manifest, rest) if first == "project" and manifest else None

    return own_text


def _ontology_text(manifest: Manifest, name: str) -> str | None:
    ontology = manifest.ontology
    kind, _, rest = name.partition(".")
    value = templates.member_value(ontology, name)
    if kind == "convention":
        value = templates.member_value(templates.member_value(ontology, "conventions"), rest)
    if kind == "context":
        listed = templates.member_value(ontology, "contexts")
        many = cast("list[Json]", listed) if isinstance(listed, list) else []
        mine = [context for context in many if templates.member_value(context, "name") == rest]
        value = templates.member_value(mine[0], "description") if mine else None
    return value if isinstance(value, str) else None


MANIFEST_NAMES: Final[Mapping[str, Callable[[Manifest, str], str | None]]] = {
    "project": project_value, "ontology": _ontology_text,
}  # fmt: skip
"""What the manifest says under a name."""
