"""Skills: texts of a project that its agents are given, by name, from where trust or a question covers them.

A skill is `NAME/SKILL.md` or `NAME.md` in one of the project's folders for them, without its front matter.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from workbench.pipelines import templates
from workbench.pipelines.documents import OutsideRoot, ProjectFiles
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.text.located import DocumentPlace
from workbench.text.safe import one_line

SKILL_FOLDERS: Final = (
    ".workbench/skills", ".agents/skills", ".wave/skills", ".claude/skills", ".opencode/skills",
)  # fmt: skip
"""Where no agent writes unasked: trust covers the first three, writing to the others always asks."""
MOST_SKILL: Final = 12_000
"""Characters of one skill."""
MOST_SKILLS: Final = 40_000
"""Characters of all of them together."""
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,79}")
_FRONT_MATTER: Final = re.compile(r"---\r?\n.*?\r?\n---\r?\n", re.DOTALL)


def skill_file(name: str, files: ProjectFiles) -> tuple[str, str] | None:
    """Return path and text of a skill; None if there is none of that name."""
    if not _NAME.fullmatch(name):
        return None
    for folder in SKILL_FOLDERS:
        for path in (f"{folder}/{name}/SKILL.md", f"{folder}/{name}.md"):
            try:
                text = files.text(path)
            except OutsideRoot:  # a link that leads out
                continue
            if text is not None:
                return path, text
    return None


def skill_names(
    manifest: Manifest | None, pipeline: Pipeline, step: Step, fill: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the skills of a step's agent, the most general first; a name that comes to nothing is none."""
    persona = manifest.personas.get(step.persona) if manifest else None
    written = [
        *(manifest.skills if manifest else ()), *pipeline.skills, *(persona.skills if persona else ()),
        *step.skills,
    ]  # fmt: skip
    return tuple(dict.fromkeys(filter(None, (fill(name).strip() for name in written))))


def skill_words(names: Sequence[str], files: ProjectFiles) -> str:
    """Return the skills as an agent is given them; empty where there are none."""
    parts: list[str] = []
    remaining = MOST_SKILLS
    for name in names:
        skill = skill_file(name, files)
        if skill is None:
            continue
        path, text = skill
        body = _FRONT_MATTER.sub("", text.lstrip("\ufeff"), count=1).strip()
        longest = min(MOST_SKILL, remaining)
        if len(body) > longest:
            body = f"{body[:longest]}\n… {len(body) - longest:,} more characters are in {path}"
        remaining = max(0, remaining - len(body))
        parts.append(f'<skill name="{name}" file="{path}">\n{body}\n</skill>')
    if not parts:
        return ""
    return "\n\n".join(("These skills of the project tell how such work is done here:", *parts))


def check_skills(
    pipeline: Pipeline, place: DocumentPlace, manifest: Manifest | None, files: ProjectFiles
) -> None:
    """Report skills that are named and missing; what is found is read, and so sealed with a run."""
    own = place.present("skills")
    named = {name for step in pipeline.steps for name in _filled_names(manifest, pipeline, step)}
    for name in sorted(named):
        if skill_file(name, files) is not None:
            continue
        folders = ", ".join(SKILL_FOLDERS[:3])
        message = f"there is no skill {one_line(name, 60)} in {folders} or the like; agents do without it"
        (own or place).warn("missing_skill", message)


def _filled_names(manifest: Manifest | None, pipeline: Pipeline, step: Step) -> Iterator[str]:
    def value(name: str) -> str:
        first, _, rest = name.partition(".")
        known = manifest.project.get(rest) if manifest and first == "project" else None
        return known if isinstance(known, str) else ""

    if step.kind == "prompt":
        yield from skill_names(manifest, pipeline, step, lambda text: templates.fill_templates(text, value))
