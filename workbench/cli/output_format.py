"""The form of what commands print where the command line names none: the setting `output_format`.

Reads settings, and never fails for them: with a file that cannot be used, commands print text.
"""

import os
from argparse import Namespace
from pathlib import Path

from workbench.effects.files import workspace_path
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.journal.home import default_home_path


def prefers_json(options: Namespace) -> bool:
    """Return whether the settings say that commands print JSON; an agent never sees its user's settings."""
    if AGENT_VARIABLE in os.environ and "WORKBENCH_HOME" not in os.environ:
        return False
    from workbench.config.layers import load_config

    workspace = Path(workspace_path(getattr(options, "directory", None)))
    loaded = load_config(default_home_path(os.environ), workspace, trusted=False, env=os.environ, options={})
    return loaded.is_usable and loaded.config.output_format == "json"


def complete_options(options: Namespace) -> None:
    """Let the setting decide for a command that follows it and was not told a form."""
    if getattr(options, "json", False) is None:
        options.json = prefers_json(options)
