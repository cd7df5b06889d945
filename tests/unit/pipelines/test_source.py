"""YAML is read with places, and nothing in it can cost more than its size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.pipelines.templates import fill_prose
from workbench.text.yaml_nodes import MOST_DEPTH, MOST_YAML_BYTES, YamlError, parse_yaml


def test_every_value_knows_its_line_and_column():
    node = parse_yaml("a: 1\nb:\n  - x\n  - {c: yes}\n")
    assert (node.members["a"].value, node.members["a"].line, node.members["a"].column) == (1, 1, 4)
    inner = node.members["b"].items[1].members["c"]
    assert (inner.value, inner.line, inner.key_line, inner.key_column) == ("yes", 4, 4, 6)


@each_row(
    ("text", "value"),
    [
        ("on", "on"), ("no", "no"), ("true", True), ("~", None), ("", None), ("'1'", "1"), ("1", 1), ("0x1f", 31),
        ("0o17", 15), ("1.5", 1.5), ("1e3", 1000.0), ("2026-02-03", "2026-02-03"), ("!!str 5", "5"), ("1_000", "1_000"),
        ("012", 12), (".", "."), ("- 1", [1]), ("{a: [b]}", {"a": ["b"]}), ("|\n  a\n  b\n", "a\nb\n"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_the_core_schema(text, value):
    assert parse_yaml(text).value == value


def test_aliases_and_merges_are_followed():
    node = parse_yaml("base: &b {a: 1, b: 2}\nmine: {<<: *b, b: 3}\nsame: *b\n")
    assert node.value == {"base": {"a": 1, "b": 2}, "mine": {"a": 1, "b": 3}, "same": {"a": 1, "b": 2}}


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@each_row(
    ("text", "code", "line"),
    [
        (BOMB, "yaml_size", 5),
        ("a: &a [*a]", "yaml_alias", 1),
        ("a: *nobody", "yaml_alias", 1),
        ("a: 1\nb: 2\na: 3\n", "duplicate_key", 3),
        ("x: !!python/object/apply:os.system [id]", "yaml_tag", 1),
        ("x: !mine 3", "yaml_tag", 1),
        ("x: !!binary aGk=", "yaml_tag", 1),
        ("a: [1, 2", "yaml_syntax", 1),
        ("a: b: c", "yaml_syntax", 1),
        ("a: 1\n---\nb: 2\n", "yaml_syntax", 2),
        ("? [a]\n: 1\n", "yaml_syntax", 1),
        ("<<: 3", "yaml_syntax", 1),
        ("[" * 100_000, "yaml_depth", 1),
        ("a: |\n" + "  x\n" * (MOST_YAML_BYTES // 4 + 1), "yaml_size", 1),
        ("a: \x07", "yaml_syntax", 1),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_what_is_no_acceptable_yaml_is_named_with_its_line(text, code, line):
    with pytest.raises(YamlError) as found:
        parse_yaml(text)
    assert found.value.code == code
    assert abs(found.value.line - line) <= 1
    assert found.value.reason


def test_nesting_up_to_the_limit_is_read():
    assert parse_yaml("[" * MOST_DEPTH + "]" * MOST_DEPTH).value == eval("[" * MOST_DEPTH + "]" * MOST_DEPTH)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_in_words(text):
    try:
        parse_yaml(text)
    except YamlError as error:
        assert error.line >= 1
        assert error.reason


@each_row(
    ("text", "filled"),
    [
        ("Release {{ input }}?", "Release?"), ("Plan {{ input }} of the shop", "Plan of the shop"),
        ("{{ input }} and {{ other }}", " and 1.4"), ("Deploy {{ other }}?", "Deploy 1.4?"),
    ],
)  # fmt: skip
def test_an_empty_value_leaves_no_blank_of_its_own(text, filled):
    assert fill_prose(text, {"input": "", "other": "1.4"}.__getitem__) == filled
