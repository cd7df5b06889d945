"""Twelve formats that describe work for other programs: what each is recognised by, and what to do with one.

The table is data. A file is recognised by an outline of it: nothing is run, and no tag or alias is followed.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct, field

from workbench.formats.workflows.outline import FileOutline, read_outline
from workbench.text.yaml_nodes import Outline, OutlineValue

Importer = Literal["", "taskfile", "sub_agent"]
MemberKind = Literal["any", "text", "list", "mapping"]


class Signs(Struct, frozen=True, kw_only=True):
    """What all has to hold of a file for one way to recognise its format."""

    members: Mapping[str, MemberKind] = field(default_factory=dict[str, MemberKind])
    """Members at the top, and what they are."""
    one_of: tuple[str, ...] = ()
    """At least one of these is a member at the top."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """Patterns that the text of a member matches as a whole."""
    below: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By a member at the top, or by "" for the whole document: the names that one of its members has."""
    front: tuple[str, ...] = ()
    """Members of the front matter."""
    front_one_of: tuple[str, ...] = ()
    file_name: str = ""
    """A pattern of the file's name."""
    folder: str = ""
    """The name of its folder."""
    texts: tuple[str, ...] = ()
    """Patterns that are found in its text."""


class Signature(Struct, frozen=True, kw_only=True):
    """A format of another program."""

    id: str
    title: str
    """With its article: `a Taskfile`."""
    advice: str
    """What to do with it, as a clause without a period."""
    signs: tuple[Signs, ...]
    """Each is enough."""
    importer: Importer = ""


_COMMANDS: Final = "write its commands as the steps of a new pipeline: workbench pipeline new"
_MAKE_RULE: Final = r"(?m)^[\w./%$(){}-]+(?:[ \t]+[\w./%$(){}-]+)*[ \t]*::?(?!=)[^\n]*\n\t\S"
_JUST_RECIPE: Final = r"(?m)^@?[a-zA-Z_][\w-]*(?:[ \t][^:=\n]*)?:(?!=)[^\n]*\n[ \t]+\S"
_JUST_SETTING: Final = r"(?m)^(?:set [\w-]+|(?:export )?[a-zA-Z_][\w-]* := \S|alias [\w-]+ := |\[[a-z-]+\]$)"
_TASKFILE_VERSION: Final = {"version": r"v?[23](?:\.\d+){0,2}"}
SIGNATURES: Final = (
    Signature(
        id="github", title="a workflow of GitHub Actions", advice=_COMMANDS.replace("commands", "run lines"),
        signs=(
            Signs(members={"on": "any", "jobs": "mapping"}, below={"jobs": ("runs-on",)}),
            Signs(members={"on": "any", "jobs": "mapping"}, below={"jobs": ("uses",)}),
        ),
    ),
    Signature(
        id="gitlab", title="a configuration of GitLab CI",
        advice=_COMMANDS.replace("commands", "script lines"),
        signs=(
            Signs(below={"": ("script", "stage")}),
            Signs(
                one_of=("stages", "include", "default", "before_script", "image", "workflow"),
                below={"": ("script",)},
            ),
            Signs(file_name=r"\.gitlab-ci\.ya?ml", one_of=("stages", "include", "default", "workflow")),
        ),
    ),
    Signature(
        id="argo", title="an Argo workflow, whose steps are containers of a cluster",
        advice="run it with argo submit, from a command step if it is to be a part of a pipeline",
        signs=(
            Signs(values={
                "apiVersion": r"argoproj\.io/\w+", "kind": "(Cron)?Workflow|(Cluster)?WorkflowTemplate",
            }),
        ),
    ),
    Signature(
        id="goose", title="a goose recipe",
        advice="make its prompt the one step of a new pipeline: workbench pipeline new",
        signs=tuple(
            Signs(members={"title": "text", "description": "text", text: "text"})
            for text in ("prompt", "instructions")
        ),
    ),
    Signature(
        id="n8n", title="a workflow of n8n, whose nodes are code of that program",
        advice="call it by its webhook from a command step of a pipeline: workbench pipeline new",
        signs=(Signs(members={"nodes": "list", "connections": "mapping"}),),
    ),
    Signature(
        id="crewai", title="agents or tasks of CrewAI",
        advice="write each task as a prompt step and each agent as a persona: workbench pipeline new",
        signs=(Signs(below={"": ("role", "goal")}), Signs(below={"": ("description", "expected_output")})),
    ),
    Signature(
        id="taskfile", title="a Taskfile", importer="taskfile",
        advice="workbench pipeline import FILE makes a pipeline of one of its tasks",
        signs=(
            Signs(members={"tasks": "mapping"}, values=_TASKFILE_VERSION),
            Signs(members={"includes": "mapping"}, values=_TASKFILE_VERSION),
        ),
    ),
    Signature(
        id="dagger", title="a module of Dagger, whose steps are code",
        advice="call it with dagger from a command step of a pipeline: workbench pipeline new",
        signs=(Signs(members={"name": "text", "engineVersion": "text"}),),
    ),
    Signature(
        id="compose", title="a compose file, which describes services and not steps",
        advice="start them with docker compose up from a command step of a pipeline",
        signs=(
            Signs(members={"services": "mapping"}, below={"services": ("image",)}),
            Signs(members={"services": "mapping"}, below={"services": ("build",)}),
            Signs(file_name=r"(?:docker-)?compose[\w.-]*\.ya?ml", members={"services": "mapping"}),
        ),
    ),
    Signature(
        id="sub_agent", title="a sub-agent of Claude Code", importer="sub_agent",
        advice="workbench pipeline import FILE makes a persona of it",
        signs=(
            Signs(front=("name", "description"), front_one_of=("tools", "model", "color", "disallowedTools")),
            Signs(front=("name", "description"), folder="agents"),
        ),
    ),
    Signature(
        id="justfile", title="a justfile", advice=_COMMANDS.replace("commands", "recipes"),
        signs=(
            Signs(file_name=r"\.?justfile|.*\.just", texts=(_JUST_RECIPE,)),
            Signs(texts=(_JUST_SETTING, _JUST_RECIPE)),
        ),
    ),
    Signature(
        id="makefile", title="a Makefile", advice=_COMMANDS.replace("commands", "rules"),
        signs=(
            Signs(file_name=r"(?:GNU)?makefile|.*\.mk", texts=(r"(?m)^[^\s#:=][^:=\n]*:",)),
            Signs(texts=(_MAKE_RULE, r"(?m)^\.PHONY[ \t]*:|\$\(\w")),
        ),
    ),
)  # fmt: skip


def recognise_workflow(path: str, data: bytes) -> Signature | None:
    """Return the format of another program that a file has, by its first MiB; None for any other file.

    `path`: with slashes; only the names of the file and of its folder count.
    """
    outline = read_outline(path, data)
    if outline is None:
        return None
    return next(
        (one for one in SIGNATURES if any(_holds(signs, outline) for signs in one.signs)),
        None,
    )


def _holds(signs: Signs, file: FileOutline) -> bool:
    return (
        all(_is_kind(file.members.get(name), kind) for name, kind in signs.members.items())
        and (not signs.one_of or any(name in file.members for name in signs.one_of))
        and all(_matches(file.members.get(name), pattern) for name, pattern in signs.values.items())
        and all(_has_below(file.members, name, names) for name, names in signs.below.items())
        and _has_front(signs, file.front)
        and (not signs.file_name or re.fullmatch(signs.file_name, file.name, re.IGNORECASE) is not None)
        and (not signs.folder or signs.folder == file.folder)
        and all(re.search(pattern, file.text) is not None for pattern in signs.texts)
    )


def _has_front(signs: Signs, front: Outline) -> bool:
    is_one_there = not signs.front_one_of or any(name in front for name in signs.front_one_of)
    return all(_is_kind(front.get(name), "text") for name in signs.front) and is_one_there


def _is_kind(value: "OutlineValue | None", kind: MemberKind) -> bool:
    match value:
        case None:
            return False
        case dict():
            return kind in ("any", "mapping")
        case tuple():
            return kind in ("any", "list")
        case _:
            return kind in ("any", "text")


def _matches(value: "OutlineValue | None", pattern: str) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _has_below(members: Outline, name: str, wanted: tuple[str, ...]) -> bool:
    """Return whether one member of a mapping is a mapping with all the names."""
    above = members if name == "" else members.get(name)
    return isinstance(above, dict) and any(
        isinstance(one, dict) and all(each in one for each in wanted) for one in above.values()
    )
