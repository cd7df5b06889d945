"""A digest covers all that was shown, and nothing that could be spelled in two ways."""

import hashlib
import hmac
import json
from typing import Any

import pytest

from tests.support.tables import each_row
from workbench.changes.digest import action_digest, plan_digest_rows
from workbench.domain.values import Choice, FilePlan


def keyed(data: bytes) -> str:
    return hmac.new(b"key", data, hashlib.sha256).hexdigest()


FULL: dict[str, Any] = {
    "kind": "tool",
    "tool": "replace_string_in_file",
    "parameters": {"path": "ä/b.txt", "n": 1, "list": [True, None]},
    "cwd": "/project",
    "files": [("b.txt", "11", "22", 0o644), ("a.txt", None, "33", 0o755)],
    "prompt": "Why?",
    "choices": [Choice(key="y", label="Yes")],
}


def test_it_is_the_key_over_the_canonical_json() -> None:
    canonical = json.dumps(
        {
            "v": 1,
            "kind": "tool",
            "tool": "replace_string_in_file",
            "parameters": {"path": "ä/b.txt", "n": 1, "list": [True, None]},
            "cwd": "/project",
            "changes": [
                {"path": "a.txt", "base": None, "after": "33", "mode": 0o755},
                {"path": "b.txt", "base": "11", "after": "22", "mode": 0o644},
            ],
            "prompt": "Why?",
            "choices": [{"key": "y", "label": "Yes"}],
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    assert action_digest(keyed, **FULL) == keyed(canonical.encode())


def test_absent_parts_are_null() -> None:
    canonical = (
        b'{"changes":null,"choices":null,"cwd":null,"kind":"gate","parameters":null,'
        b'"prompt":null,"tool":null,"v":1}'
    )
    assert action_digest(keyed, kind="gate") == keyed(canonical)
    assert action_digest(keyed, kind="gate", files=(), choices=()) == keyed(canonical)


@each_row(
    "other",
    [
        {"kind": "gate"},
        {"tool": "create_file"},
        {"parameters": {"path": "ä/b.txt", "n": 2, "list": [True, None]}},
        {"parameters": {"path": "ä/b.txt", "n": 1, "list": [1, None]}},
        {"cwd": "/projects"},
        {"files": [("b.txt", "11", "22", 0o755), ("a.txt", None, "33", 0o755)]},
        {"files": [("b.txt", "11", "22", 0o644), ("a.txt", "", "33", 0o755)]},
        {"files": [("b.txt", "11", None, 0o644), ("a.txt", None, "33", 0o755)]},
        {"files": [("c.txt", "11", "22", 0o644), ("a.txt", None, "33", 0o755)]},
        {"prompt": ""},
        {"prompt": None},
        {"choices": [Choice(key="y", label="No")]},
        {"choices": None},
    ],
)
def test_every_part_counts(other: dict[str, Any]) -> None:
    assert action_digest(keyed, **{**FULL, **other}) != action_digest(keyed, **FULL)


def test_the_order_of_files_and_keys_does_not_count() -> None:
    turned = {
        **FULL,
        "files": FULL["files"][::-1],
        "parameters": {"list": [True, None], "n": 1, "path": "ä/b.txt"},
    }
    assert action_digest(keyed, **turned) == action_digest(keyed, **FULL)


def test_a_file_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.txt is changed twice"):
        action_digest(keyed, kind="tool", files=[("a.txt", None, "1", 0), ("a.txt", None, "2", 0)])


def test_rows_are_what_plans_say() -> None:
    plan = FilePlan(path="a.txt", base=None, after="33", mode=0o600, after_ref="sealed:33")
    assert plan_digest_rows([plan]) == (("a.txt", None, "33", 0o600),)
