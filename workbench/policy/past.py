"""What a rule would have done with recorded calls; the one way in which anything is tried on the past.

Pure. Recorded parameters are scrubbed, so a pattern that is about a secret finds nothing. Owns which calls of
other agents, whose sessions were imported, count as calls of our tools.
"""

import shlex
from dataclasses import replace
from typing import Final, cast

from workbench.domain.rows import Call, Rule, Session
from workbench.domain.values import Json, JsonObject, ToolDescriptor
from workbench.policy import rules
from workbench.policy.paths import PathRefused, ResolvedPath, resolve
from workbench.policy.shell import view
from workbench.text import canonical

_PATH: Final = {"path": ("file_path", "absolute_path", "target_file", "filePath", "notebook_path")}
_COMMAND: Final = {"command": ("cmd", "script")}
_EDIT: Final = _PATH | {"old_string": ("search", "old_str"), "new_string": ("replace", "new_str")}
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "run_in_terminal": (
        "bash", "shell", "exec_command", "local_shell", "run_shell_command", "execute_bash",
        "execute_command", "run_terminal_cmd",
    ),
    "read_file": ("read", "read_file", "view"),
    "replace_string_in_file": ("edit", "replace", "str_replace", "search_replace", "replace_string_in_file"),
    "create_file": ("write", "write_file", "create_file"),
    "list_dir": ("ls", "list_directory", "list", "list_dir"),
    "grep_search": ("grep", "search_file_content"),
    "file_search": ("glob",),
    "fetch_webpage": ("webfetch", "web_fetch"),
}  # fmt: skip
"""What other agents call a tool, in lower case; source: their tool references."""

_PARAMETERS: Final = {
    "run_in_terminal": _COMMAND, "read_file": _PATH, "replace_string_in_file": _EDIT,
    "create_file": _PATH | {"content": ("file_text", "contents")},
    "list_dir": {"path": ("dir_path", "directory", "target_directory")},
}  # fmt: skip
"""What they call its parameters."""

_OWN: Final = {name: own for own, names in _NAMES.items() for name in names}
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"})


def as_own(tool: str, parameters: JsonObject) -> tuple[str, JsonObject]:
    """Return a recorded call as the call of ours that does the same; any other call as it is.

    A command that was given as a list is the line that its shell was told, or its words, quoted.
    """
    own = _OWN.get(tool.lower())
    if own is None:
        return tool, parameters
    given = dict(parameters)
    for name, others in _PARAMETERS.get(own, {}).items():
        other = next((other for other in others if other in given), None)
        if name not in given and other is not None:
            given[name] = given.pop(other)
    if own == "run_in_terminal":
        given = {"command": _line(given["command"])} if "command" in given else {}
    return own, given


def _line(command: Json) -> Json:
    if not isinstance(command, list):
        return command
    words = [word for word in cast("list[Json]", command) if isinstance(word, str)]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in ("-c", "-lc", "-cl"):
        return words[2]
    return shlex.join(words)


def is_copied(session: Session, call: Call) -> bool:
    """Say whether a fork holds a call as a copy: it was made once, in the session that was forked."""
    return "forked_from" in session.configuration and call.requested_at < session.created_at


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
        view=view(command, workspace or None) if isinstance(command, str) else None,
    )  # fmt: skip
