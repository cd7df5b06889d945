"""The keyed digest that binds an answer to exactly what was shown (JOURNAL section 2, step 3)."""

from collections.abc import Callable, Mapping, Sequence

from workbench.changes.diff import refuse_repeated_paths
from workbench.domain.values import Choice, FilePlan, Json
from workbench.text import canonical

KeyedDigest = Callable[[bytes], str]
"""Makes the keyed digest of bytes, in hex."""
DigestRow = tuple[str, str | None, str | None, int]
"""Path, digest of the base, digest of what it becomes (None = no file), mode."""


def action_digest(
    keyed: KeyedDigest,
    *,
    kind: str,
    tool: str | None = None,
    parameters: Json = None,
    cwd: str | None = None,
    files: Sequence[DigestRow] | None = None,
    prompt: str | None = None,
    choices: Sequence[Choice] | None = None,
) -> str:
    """Return the keyed digest of an action's canonical JSON; absent and empty parts are null.

    Raises ValueError: a path occurs twice, or a text is not Unicode (a file name that is no UTF-8).
    """
    refuse_repeated_paths(path for path, *_ in files or ())
    action: Mapping[str, Json] = {
        "v": 1,
        "kind": kind,
        "tool": tool,
        "parameters": parameters,
        "cwd": cwd,
        "changes": [
            {"path": path, "base": base, "after": after, "mode": mode}
            for path, base, after, mode in sorted(files or (), key=lambda row: row[0])
        ]
        or None,
        "prompt": prompt,
        "choices": [{"key": choice.key, "label": choice.label} for choice in choices or ()] or None,
    }
    return keyed(canonical.dumps(action).encode())


def plan_digest_rows(plans: Sequence[FilePlan]) -> tuple[DigestRow, ...]:
    """Return the part of file plans that a digest covers."""
    return tuple((plan.path, plan.base, plan.after, plan.mode) for plan in plans)
