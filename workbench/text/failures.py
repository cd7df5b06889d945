"""Why a command failed, as one fact: how it ended and how many of its tests failed."""

import re
from typing import Final

_EXIT_CODE: Final = re.compile(r"exit (?:code )?(\d{1,3})\b")
_SUMMARY: Final = re.compile(r"\b(\d+) (passed|failed)\b")
_OUTCOME: Final = re.compile(r"\b(PASSED|FAILED|ERROR)\b")


def exit_code_text(reason: str) -> str:
    """Return `exit 3` where a reason says with which code a command ended; else nothing."""
    match = _EXIT_CODE.search(reason)
    return f"exit {match[1]}" if match else ""


def failure_fact(reason: str) -> str:
    """Return `exit 1  3 of 5 tests failed`; empty where a reason says neither."""
    return "  ".join(part for part in (exit_code_text(reason), _tests_text(reason)) if part)


def _tests_text(reason: str) -> str:
    counts = {word: int(count) for count, word in _SUMMARY.findall(reason)}
    outcomes = _OUTCOME.findall(reason)
    passed, seen_failures = outcomes.count("PASSED"), len(outcomes) - outcomes.count("PASSED")
    # A reason may be cut: outcomes count only where they are as many as the summary says.
    is_whole = counts.get("failed", seen_failures) == seen_failures and not reason.endswith("…")
    failed = counts.get("failed", seen_failures if is_whole else 0)
    if not failed:
        return ""
    others = counts.get("passed", passed if is_whole else 0)
    if not others:
        return f"{failed:,} test{'' if failed == 1 else 's'} failed"
    return f"{failed:,} of {failed + others:,} tests failed"
