"""Find a run by what a person types: its id or the beginning of it, `nightly#41`, or nothing for the newest.

Owns the words when there is none.
"""

from workbench.cli.errors import Refusal
from workbench.domain.rows import PipelineState
from workbench.journal.journal import Journal
from workbench.text.safe import one_line


def run_named(journal: Journal, workspace: str, word: str | None) -> PipelineState:
    """Return a run.

    Raises:
        Refusal: There is none, or several.
    """
    runs = journal.pipeline_states(workspace if word is None else None)
    if word is None:
        if not runs:
            raise Refusal(
                "no run was found", f"{workspace} has none", "begin one with workbench pipeline run NAME"
            )
        return next((run for run in runs if not _is_below(journal, run)), runs[0])
    exact = journal.pipeline_state(word)
    if exact is not None:
        return exact
    name, _, number = word.replace(" ", "").partition("#")
    found = [r for r in runs if r.pipeline_id.startswith(word)] if len(word) >= 4 else []
    found = found or [r for r in runs if r.pipeline_name == name and (not number or str(r.number) == number)]
    if not found or (len(found) > 1 and found[0].pipeline_name != name):
        why = "there is none of that id" if not found else f"{len(found)} runs begin like this"
        raise Refusal(f"run {one_line(word, 60)} was not found", why, "see workbench pipeline list --runs")
    return found[0]


def _is_below(journal: Journal, run: PipelineState) -> bool:
    """Return whether a step of another run began it."""
    session = journal.session(run.pipeline_id)
    return bool(session and session.parent_id and journal.pipeline_state(session.parent_id))
