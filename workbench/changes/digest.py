"""The digest that binds an answer to exactly what was shown; JOURNAL section 2, step 3.

Owns the canonical form of an action. Never holds a key and never sees file bytes: it gets a keyed function
and digests.
"""

from collections.abc import Callable, Mapping, Sequence

from workbench.changes.model import refuse_repeated
from workbench.domain.values import Choice, FilePlan, Json
from workbench.text import canonical

DigestRow = tuple[str, str | None, str | None, int]
"""Path, digest of the base, digest of what it becomes (None = no file), mode."""


def action_digest(
    keyed: Callable[[bytes], str],
    *,
    kind: str,
    tool: str | None = None,
    parameters: Json = None,
    cwd: str | None = None,
    files: Sequence[DigestRow] | None = None,
    prompt: str | None = None,
    choices: Sequence[Choice] | None = None,
) -> str:
    """Return the keyed digest of an action's canonical JSON.

    Absent parts are null, and so are an empty list of files or of choices: there is one spelling of nothing.

    Raises:
        ValueError: a path occurs twice, or a text is not Unicode (a file name that is no UTF-8).
    """
    refuse_repeated(path for path, *_ in files or ())
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


def digest_rows(plans: Sequence[FilePlan]) -> tuple[DigestRow, ...]:
    """Return the part of file plans that a digest covers."""
    return tuple((plan.path, plan.base, plan.after, plan.mode) for plan in plans)
