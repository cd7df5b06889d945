"""Parameters against schemas: messages name the field, never its value."""

import pytest

from tests.support.tables import each_row
from workbench.policy.schemas import parameter_problems, schema_problems

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["a", "b"]},
        "tag": {"type": "string", "pattern": "^[a-z]+$"},
        "deep": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.spec(26, 203)
@each_row(
    ("parameters", "messages"),
    [
        ({"path": "a"}, ()),
        ({"path": "a", "count": 3, "kind": "b", "tag": "x", "deep": {"n": 1.5}}, ()),
        ({}, ("path: missing",)),
        ({"path": 3}, ("path: must be string",)),
        ({"path": ""}, ("path: does not satisfy minLength 1",)),
        ({"path": "a", "count": 0}, ("count: does not satisfy minimum 1",)),
        ({"path": "a", "count": True}, ("count: must be integer",)),
        ({"path": "a", "count": "3"}, ("count: must be integer",)),
        ({"path": "a", "kind": "c"}, ('kind: does not satisfy enum ["a", "b"]',)),
        ({"path": "a", "tag": "A1"}, ("tag: does not match the required pattern",)),
        ({"path": "a", "deep": {}}, ("deep.n: missing",)),
        ({"path": "a", "deep": {"n": "x"}}, ("deep.n: must be number",)),
        ({"path": "a", "x": 1}, ("x: not known; known are path, count, kind, tag, deep",)),
        ([], ("parameters: must be object",)),
        ("x", ("parameters: must be object",)),
    ],
)
def test_messages_name_the_field(parameters, messages):
    assert parameter_problems(SCHEMA, parameters) == messages


def test_a_message_never_repeats_a_value():
    assert "hunter2" not in " ".join(
        parameter_problems(SCHEMA, {"path": ["hunter2"], "kind": "hunter2", "tag": "HUNTER hunter2"})
    )


def test_parameters_that_are_nested_without_end_are_refused():
    deep = []
    for _ in range(5000):
        deep = [deep]
    recursive = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/l"}},
        "$defs": {"l": {"items": {"$ref": "#/$defs/l"}}},
    }
    assert parameter_problems(recursive, {"a": deep}) == ("parameters: nested too deep to be checked",)


@pytest.mark.spec(59, 194)
@each_row(
    "schema",
    [
        {"type": "objekt"},
        {"type": "object", "properties": []},
        {"type": "object", "required": "path"},
        {"type": "string"},
        {},
        [],
        "x",
        {"type": "object", "properties": {"a": {"$ref": "https://example.test/s.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "other.json#/x"}}},
        {"type": "object", "allOf": [{"$dynamicRef": "http://x.test/"}]},
        {"type": "object", "properties": {"a": {"pattern": "(?=x)"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_bad_schema_is_named(schema):
    assert schema_problems(schema)


def test_a_good_schema_has_no_problems():
    assert schema_problems(SCHEMA) == ()
    assert (
        schema_problems(
            {"type": "object", "$defs": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/s"}}}
        )
        == ()
    )


def test_a_reference_that_slipped_in_is_not_fetched(monkeypatch):
    fetched = []
    monkeypatch.setattr("urllib.request.urlopen", fetched.append)
    found = parameter_problems(
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, {"a": 1}
    )
    assert found
    assert found[0].startswith("schema:")
    assert fetched == []


def test_a_runaway_pattern_does_not_hang():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert parameter_problems(schema, {"a": "a" * 2000 + "b"})
