"""Every value of a JSON text knows its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.json_nodes import JsonError, LocatedNode, node_of_value, parse_json_nodes

TEXT = """{
  "a": 1,
  "b": {"c":
    [true,
     {"d": "x"}]}
}
"""


def test_values_and_keys_know_their_place():
    root = parse_json_nodes(TEXT)
    assert root.value == json.loads(TEXT)
    assert root.members is not None
    b = root.members["b"]
    assert (b.key_line, b.key_column, b.line, b.column) == (3, 3, 3, 8)
    assert b.members is not None
    c = b.members["c"]
    assert (c.key_line, c.line, c.column) == (3, 4, 5)
    assert c.items is not None
    assert [(item.line, item.column) for item in c.items] == [(4, 6), (5, 6)]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from("abé")), inner, max_size=3)
        ),
    ),
    st.sampled_from([None, 0, 3]),
)
def test_reads_what_json_reads(value: object, indent: int | None):
    assert parse_json_nodes(json.dumps(value, indent=indent)).value == value
    assert node_of_value(value).value == value


def test_error_has_its_parts():
    with pytest.raises(JsonError) as caught:
        parse_json_nodes('{"a": 1,\n"a": 2}')
    assert (caught.value.line, caught.value.column) == (2, 1)
    assert caught.value.reason == 'the key "a" is there twice, first in line 1'


def test_a_plain_value_has_no_place():
    assert node_of_value(5) == LocatedNode(value=5, line=0, column=0)
