"""A failure as one fact: the exit code, and how many tests failed of how many where both are known."""

from tests.support.tables import each_row
from workbench.text.failures import failure_fact

RUNS = "a.py::one FAILED / a.py::two PASSED / a.py::three FAILED"


@each_row(
    ("reason", "fact"),
    [
        (f"it ended with exit code 1: {RUNS}", "exit 1  2 of 3 tests failed"),
        (f"contract test_suite: it ended with exit code 1; {RUNS}; 2 failed", "exit 1  2 of 3 tests failed"),
        ("it ended with exit code 1: 4 failed, 20 passed in 2s", "exit 1  4 of 24 tests failed"),
        (f"exit code 1: {RUNS} / a.py::fo…", "exit 1"),
        (f"exit code 1: {RUNS}; 9 failed", "exit 1  9 tests failed"),
        ("it ended with exit code 127: sh: no such file", "exit 127"),
        ("1 failed", "1 test failed"),
        ("no model answers", ""),
        ("", ""),
    ],
)
def test_a_reason_becomes_a_fact(reason, fact):
    assert failure_fact(reason) == fact
