"""The printed schema and the program's own reading of a configuration say the same."""

import json
from pathlib import Path

import jsonschema
import pytest

from workbench.config.config_schema import config_schema
from workbench.config.layers import load_config
from workbench.config.migration import migrate_content

EXAMPLE = Path(__file__).parents[3] / "config.example.json"
VALIDATOR = jsonschema.Draft202012Validator(config_schema())


def test_it_is_a_schema_and_the_example_keeps_to_it():
    jsonschema.Draft202012Validator.check_schema(config_schema())
    VALIDATOR.validate(json.loads(EXAMPLE.read_text()))
    assert json.loads(json.dumps(config_schema())) == config_schema()


CASES = [
    {}, {"config_version": 1}, {"config_version": "1.0"}, {"config_version": 2}, {"config_version": None},
    {"default_model": "m"}, {"default_model": ""}, {"default_model": None}, {"default_model": 3},
    {"api_timeout_seconds": 5}, {"api_timeout_seconds": 4}, {"api_timeout_seconds": True},
    {"api_timeout_seconds": None}, {"limits": {"max_turns": 0}}, {"limits": {"max_turns": 1}}, {"limits": 3},
    {"limits": {"max_turn": 1}}, {"nonsense": 1}, {"approvals": {"window_minutes": 0}},
    {"approvals": {"window_minutes": 0.5}}, {"approvals": {"window_minutes": 1441}},
    {"approvals": {"deny": ["Bash(x)"]}}, {"approvals": {"deny": "Bash(x)"}}, {"approvals": {"deny": [""]}},
    {"approvals": {"allow": ["Bash(x)", {"pattern": "Bash(y)", "where": "outside"}, {"pattern": "z"}]}},
    {"approvals": {"allow": [{"where": "outside"}]}}, {"approvals": {"allow": [{"pattern": "y", "where": "up"}]}},
    {"approvals": {"deny": [{"pattern": "y", "where": "outside"}]}}, {"sandbox": {"level": "all"}},
    {"auto_approval_rules": [
        {"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d", "where": "outside"}
    ]},
    {"approvals": {"read_only": "ask"}}, {"approvals": {"read_only": "never"}},
    {"auto_approval_rules": [{"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d"}]},
    {"auto_approval_rules": [{"id": "1", "tool_name": "t", "param_pattern": "p"}]},
    {"auto_approval_rules": [{"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d", "x": 1}]},
    {"hooks": {"PreToolUse": [{"matcher": "*", "command": "x"}]}}, {"hooks": {"PreToolUse": [{"matcher": "*"}]}},
    {"fetch": {"allowed_hosts": ["a.example"]}}, {"fetch": {"allowed_hosts": ["a b"]}},
    {"ui": {"keymap": {"a.b": "x"}}}, {"ui": {"keymap": {"a.b": 1}}}, {"ui": {"notify": {"bell": 1}}},
    {"providers": {"p": {"kind": "ollama"}}}, {"providers": {"p": {"kind": "else"}}}, {"providers": []},
    {"providers": {"p q": {"kind": "ollama"}}}, {"providers": {"p": {"kind": "ollama", "api_key": "x"}}},
    {"providers": {"p": {"kind": "ollama", "key_env": "A B"}}}, {"ollama_base_url": "http://localhost:1"},
    {"providers": {"p": {"kind": "ollama", "base_url": "http://u:p@h"}}},
    {"providers": {"p": {"kind": "ollama", "prices": {"input_per_million": 1}}}},
    {"providers": {"p": {"kind": "ollama", "prices": {"input_per_million": 1, "output_per_million": 0}}}},
]  # fmt: skip


@pytest.mark.parametrize("content", CASES, ids=json.dumps)
def test_schema_and_program_agree(tmp_path, content):
    (tmp_path / "config.json").write_text(json.dumps(content))
    loaded = load_config(tmp_path, None, trusted=True, env={}, options={})
    assert VALIDATOR.is_valid(content) == (not loaded.problems), [*map(str, loaded.problems)]


@pytest.mark.parametrize(
    ("content", "expected", "count"),
    [
        ({"config_version": 1, "limits": {}}, {"config_version": 1, "limits": {}}, 0),
        ({"config_version": "1.0"}, {"config_version": 1}, 1),
        ({"default_model": "m"}, {"config_version": 1, "default_model": "m"}, 1),
        (
            {"config_version": 1, "ollama_base_url": "http://a", "providers": {"x": {"kind": "ollama"}}},
            {"config_version": 1, "providers": {"x": {"kind": "ollama"}, "ollama": {"base_url": "http://a"}}},
            1,
        ),
        (
            {
                "config_version": 1,
                "providers": {"ollama": {"base_url": "http://b"}},
                "ollama_base_url": "http://a",
            },
            {
                "config_version": 1,
                "providers": {"ollama": {"base_url": "http://b"}},
                "ollama_base_url": "http://a",
            },
            0,
        ),
        ({"config_version": 1, "future": {"a": [1]}}, {"config_version": 1, "future": {"a": [1]}}, 0),
    ],
)
def test_a_file_is_brought_to_this_version_and_loses_nothing(content, expected, count):
    found = migrate_content(content)
    assert (found.content, len(found.changes)) == (expected, count)
    assert migrate_content(found.content).changes == ()
