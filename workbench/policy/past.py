"""What a rule would have done with recorded calls; the one way in which anything is tried on the past.

Pure. Recorded parameters are scrubbed, so a pattern that is about a secret finds nothing.
"""

from dataclasses import replace

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject, ToolDescriptor
from workbench.policy import rules
from workbench.policy.paths import PathRefused, ResolvedPath, resolve
from workbench.policy.shell import view
from workbench.text import canonical


def is_about(rule: Rule, descriptor: ToolDescriptor) -> bool:
    """Say whether a rule is about a tool at all."""
    about = "" if rule.pattern_kind == "regex" else rule.pattern.partition("(")[0]
    return rules.covers(replace(rule, effect="deny", pattern=about), _bare(descriptor))


def _bare(descriptor: ToolDescriptor) -> rules.Subject:
    return rules.Subject(descriptor=descriptor, parameters={}, targets={}, canonical="{}", view=view("true"))


def subject_of(descriptor: ToolDescriptor, given: JsonObject, workspace: str) -> rules.Subject:
    """Return a call as rules see it; a path that leaves the workspace is no target.

    Args:
        descriptor: the tool.
        given: parameters as proposed or recorded.
        workspace: absolute path; empty where no paths are looked at.
    """
    parameters = dict(given)
    targets: dict[str, ResolvedPath] = {}
    for name in descriptor.path_parameters:
        if isinstance(path := parameters.get(name), str):
            try:
                targets[name] = resolve(workspace, path)
            except PathRefused:
                continue
    command = parameters.get(descriptor.command_parameter or "")
    return rules.Subject(
        descriptor=descriptor, parameters=parameters, targets=targets, canonical=canonical.dumps(parameters),
        view=view(command) if isinstance(command, str) else None,
    )  # fmt: skip
