"""What was not done is said in sentences, wherever its error comes from."""

import pytest

from workbench.host.steps.run_requests import RunRefused
from workbench.journal.errors import GuardFailed
from workbench.tui.backend import BackendError, error_text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RunRefused("no run was started", "no earlier run has completed a", "run the whole pipeline once"),
         "No run was started. No earlier run has completed a. Run the whole pipeline once."),
        (GuardFailed("not stored", "it is done.", "workbench doctor says more"),
         "Not stored. It is done. workbench doctor says more."),
        (BackendError("Nothing was done. This screen only shows."), "Nothing was done. This screen only shows."),
        (ValueError(), "ValueError"),
    ],
)  # fmt: skip
def test_an_error_is_said_in_sentences(error, said):
    assert error_text(error) == said
