"""One sentence on a pipeline or a manifest that was changed: whether it is valid, and where it is not.

Owns the words. It reads the file as a run would and starts nothing.
"""

import os
from pathlib import Path

from workbench.pipelines.load import check_manifest, load
from workbench.pipelines.places import MANIFESTS
from workbench.pipelines.problems import Report
from workbench.records import dataclass
from workbench.text.safe import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of a changed file."""

    words: str
    is_error: bool
    pipeline: str = ""
    """`metadata.name` of a pipeline that could be read; empty for a manifest."""


def of_file(root: str, path: str) -> Verdict:
    """Return the verdict on a file of a project as it is now."""
    name = one_line(os.path.relpath(path, root), 80)
    if not Path(path).is_file():
        return Verdict(words=f"{name} is gone; no run can be begun with it", is_error=False)
    if os.path.relpath(path, root) in MANIFESTS:
        _, report = check_manifest(path)
        return Verdict(words=f"{name} {_judged(report, path, root)}", is_error=not report.is_ok)
    loaded = load(path, root=root, missing_adapters=False)
    report = Report([problem for problem in loaded.report.found if problem.file == path])
    return Verdict(
        words=f"{name} {_judged(report, path, root)}", is_error=not report.is_ok,
        pipeline=loaded.pipeline.name if loaded.pipeline else "",
    )  # fmt: skip


def _judged(report: Report, path: str, root: str) -> str:
    """Return `changed: valid`, or the first thing that is wrong in it and how many more there are."""
    errors, warnings = report.errors, len(report.warnings)
    if not errors:
        with_warnings = f", {warnings} warning{'s' * (warnings != 1)}" if warnings else ""
        return f"changed: valid{with_warnings}"
    first, more = errors[0], len(errors) - 1
    place = f"line {first.line}: " if first.file == path and first.line else ""
    rest = f" (and {more} more)" if more else ""
    said = first.message.replace(f"{root}/", "")
    return f"changed: {place}{said}{rest}; see workbench pipeline validate"
