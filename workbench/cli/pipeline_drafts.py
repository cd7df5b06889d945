"""New files of a project on the command line: shown as a diff, asked about, written."""

import os
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from workbench.cli.arguments import confirm
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED
from workbench.cli.journal_access import open_journal
from workbench.cli.session_diff import print_diff_lines
from workbench.effects.files import workspace_path
from workbench.host.workspace_trust import is_trusted
from workbench.pipelines.project_drafts import ProjectDraft, write_draft
from workbench.text.human import counted, error_sentence

if TYPE_CHECKING:
    from workbench.cli.row_json import JsonFields

NOTHING: Final = "nothing was written"


def offer_draft(
    draft: ProjectDraft,
    options: Namespace,
    console: Console,
    *,
    notes: Sequence[str],
    next_steps: Iterable[str],
) -> int:
    """Show the files of a draft and write them after the answer; return 1 where that was declined.

    `notes`: what a reader has to know of it, such as what was left out.
    """
    notes = (*notes, *draft.warnings)
    with open_journal(human_only="write a pipeline") as journal:
        if not options.json:
            console.say_lines(error_sentence(note) for note in notes)
        if not options.json and not options.yes:
            print_diff_lines(draft.diff_lines(), console)
        question = f"Write {'this file' if len(draft.files) == 1 else counted(len(draft.files), 'file')}?"
        if not options.yes and not confirm(console, question, "write", what=NOTHING, remedy="use --yes"):
            console.say("Nothing was written.")
            return EXIT_FAILED
        workspace = workspace_path(options.directory)
        was_trusted = is_trusted(journal, workspace)
        write_draft(draft)
        is_untrusted = was_trusted and not is_trusted(journal, workspace)
    paths = [os.path.join(draft.root, file.path) for file in draft.files]  # noqa: PTH118 a text
    lines = [
        f"{'Wrote' if file.before is None else 'Changed'} {path}."
        for file, path in zip(draft.files, paths, strict=True)
    ]
    if is_untrusted:
        lines.append("The folder has to be trusted again, because what it is trusted for changed.")
        lines.append("  workbench trust")
    facts: JsonFields = {
        "files": [*paths], "written": True, "notes": [*notes], "diff": "\n".join(draft.diff_lines()),
        "trusted": was_trusted and not is_untrusted,
    }  # fmt: skip
    return console.result(facts, [*lines, *(f"  {step}" for step in next_steps)], is_json=options.json)
