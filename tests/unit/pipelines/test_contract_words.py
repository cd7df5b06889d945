"""What an agent is told of its contracts, and the JSON that is repaired before it is checked."""

import json

import pytest

from workbench.pipelines.documents import FrozenFiles
from workbench.pipelines.json_repair import NotJson, read_json
from workbench.pipelines.model import Contract, Review, TestCount
from workbench.pipelines.step_agent import MOST_SCHEMA, MOST_WORDS, contract_words, skeleton

SCHEMA = {
    "type": "object",
    "required": ["verdict", "findings"],
    "properties": {
        "verdict": {"enum": ["pass", "fail"]},
        "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
        "note": {"type": "string"},
    },
    "$defs": {
        "finding": {
            "type": "object",
            "required": ["file", "line"],
            "properties": {"file": {"type": "string"}, "line": {"type": ["integer", "null"]}},
        }
    },
}


def contract(kind="json_schema", **more):
    return Contract(type=kind, written_type=kind, **more)


def told(*contracts, files=None, source="out.json"):
    return contract_words(contracts, FrozenFiles(files or {}), lambda _: source, lambda text: text)


@pytest.mark.spec(101)
def test_a_schema_is_told_with_its_members_and_its_form():
    words = told(contract(schema_path="s.json"), files={"s.json": json.dumps(SCHEMA)})
    assert "out.json has to be JSON" in words
    assert "Required: verdict, findings, findings[].file, findings[].line." in words
    assert '"verdict": "<pass | fail>"' in words
    assert json.dumps(SCHEMA, separators=(",", ":")) in words
    assert skeleton(SCHEMA, SCHEMA, 0) == {
        "verdict": "<pass | fail>",
        "findings": [{"file": "<text>", "line": 0}],
    }


def test_an_answer_that_is_no_file_is_named_so():
    assert "your last message has to be JSON" in told(contract(schema=SCHEMA), source="")


def test_a_long_schema_is_told_without_its_words_and_a_longer_one_by_its_form():
    long = {**SCHEMA, "description": "x" * MOST_SCHEMA}
    assert "xxx" not in told(contract(schema=long)) and '"$defs"' in told(contract(schema=long))
    many = {f"m{n}": {"type": "string"} for n in range(2_000)}
    huge = {"type": "object", "required": list(many), "properties": many}
    words = told(contract(schema=huge))
    assert "and 1940 more." in words and "The schema:" not in words
    assert len(words) < MOST_WORDS + 200


def test_a_schema_that_refers_to_itself_ends():
    loop = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}},
    }
    assert "a.a.a" in told(contract(schema=loop))
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert skeleton(circle, circle, 0) == "<value>"


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (contract("test_suite", command="make test"), "`make test` is run in your folder and has to end with 0"),
        (contract("test_suite", command="t", dir="project_root"), "the project's folder"),
        (contract("non_empty_file"), "out.json has to be there and must not be empty"),
        (contract("typescript_interface"), "has to compile as TypeScript"),
        (contract("markdown_spec"), "headings with text below them"),
        (contract("test_diff"), "any of the tests there were in *_test.go"),
        (contract("test_count_baseline", tests=TestCount(most_deletions=2)), "more than 2 of the tests"),
        (contract("llm_judge", review=Review(criteria=("It is short.",))), "a judge, by these criteria:\n- It is short."),
        (contract("agent_review", review=Review(persona="critic", criteria_path="c.md")), "(critic), by these criteria:\nBe strict."),
    ],
)  # fmt: skip
def test_every_other_contract_is_told_in_a_sentence(one, words):
    assert words in told(one, files={"c.md": "Be strict.\n"})


def test_what_nobody_checks_is_not_told():
    assert told(contract("unchecked")) == told() == ""


# --- JSON ---------------------------------------------------------------------------------------------


def has_a(value):
    return isinstance(value, dict) and "a" in value


REPAIRED = [
    ('{"a": 1}', {"a": 1}, ()),
    ('Here it is: {"a": 1} Done.', {"a": 1}, ("words around it",)),
    ('```json\n{"a": 1}\n```', {"a": 1}, ("code fence",)),
    ('So:\n```json\n{"a": 1}\n```\nThat is all.', {"a": 1}, ("code fence", "words around it")),
    ('{"a": [1, 2,],}', {"a": [1, 2]}, ("trailing comma",)),
    ('{"a": 1, // why\n "u": "http://x"}', {"a": 1, "u": "http://x"}, ("comment",)),
    ('{"a": 1 /* why, } */}', {"a": 1}, ("comment",)),
    ('\ufeff{"a": 1}', {"a": 1}, ("byte order mark",)),
    ('{"a": 1}\n{"a": 2}', {"a": 2}, ("number 2 of 2 values",)),
    ('{"a": 1}\n{"b": 2}', {"a": 1}, ("number 1 of 2 values",)),
    ('see [1] and {x}: {"a": "} {"}', {"a": "} {"}, ("words around it", "number 2 of 2 values")),
]


@pytest.mark.parametrize(("text", "value", "repairs"), REPAIRED, ids=[text for text, *_ in REPAIRED])
def test_what_models_add_is_taken_off_and_named(text, value, repairs):
    read = read_json(text, has_a)
    assert (read.value, read.repairs) == (value, repairs)
    assert json.loads(read.text) == value
    if repairs:
        with pytest.raises(NotJson):
            read_json(text, has_a, repairs=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}', "-Infinity", '{"a": NaN,} words', "", "no JSON at all", '{"a": 1', "{'a': 1}", '{"a": tru}',
        '{"x": tru, "b": {"a": 1}}', '{"x": {"a": 1}, ', '{"a": 1]', '{"a": "open}', "[" * 50_000, "{" * 50_000,
        '{"a": 1 /* never closed }',
    ],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_what_is_broken_is_refused_and_no_part_of_it_is_taken(text):
    with pytest.raises(NotJson):
        read_json(text, has_a)
