"""One member of a JSON document is set or removed, and every other byte stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.json_edit import remove_member, set_member
from workbench.text.json_nodes import JsonError

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.text(" \t\n", max_size=3) | st.just("\r\n  ")


def written(draw, value):
    """Write a value with blanks wherever JSON allows them."""
    gap = lambda: draw(BLANKS)  # noqa: E731
    if isinstance(value, dict):
        members = (f"{gap()}{json.dumps(name)}{gap()}:{written(draw, one)}" for name, one in value.items())
        return f"{gap()}{{{','.join(members)}{gap()}}}{gap()}"
    if isinstance(value, list):
        return f"{gap()}[{','.join(written(draw, one) for one in value)}{gap()}]{gap()}"
    return f"{gap()}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{gap()}"


@st.composite
def documents(draw):
    content = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    if draw(st.booleans()):
        content["providers"] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    return content, written(draw, content)


def assert_one_piece_changed(before, after):
    """What is common at both ends leaves only the piece that was put in or taken out."""
    pairs = enumerate(zip(before, after, strict=False))
    start = next((i for i, (a, b) in pairs if a != b), min(len(before), len(after)))
    rest = min(len(before), len(after)) - start
    end = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    assert before[start : len(before) - end].strip(" \t\r\n,") == ""


@given(documents(), NAMES, VALUES)
def test_a_new_member_is_added_and_nothing_else_is_touched(document, name, value):
    content, text = document
    content.setdefault("providers", {})
    if name in content["providers"]:
        return
    changed = set_member(text, ("providers", name), value)
    expected = {**content, "providers": {**content["providers"], name: value}}
    assert json.dumps(json.loads(changed)) == json.dumps(expected), "the order of the members too"
    assert_one_piece_changed(text, changed)
    assert set_member(changed, ("providers", name), value) == changed


@given(documents(), st.data())
def test_a_member_that_is_removed_takes_only_its_comma(document, data):
    content, text = document
    if not content:
        return
    name = data.draw(st.sampled_from(list(content)))
    changed = remove_member(text, (name,))
    del content[name]
    assert json.dumps(json.loads(changed)) == json.dumps(content)
    assert len(changed) < len(text) and set(changed) <= set(text)


@given(documents(), VALUES, st.data())
def test_a_value_is_replaced_where_it_stands(document, value, data):
    content, text = document
    if not content:
        return
    name = data.draw(st.sampled_from(list(content)))
    changed = set_member(text, (name,), value)
    assert json.dumps(json.loads(changed)) == json.dumps({**content, name: value})


FOUR = '{\n    "a": 1,\n    "providers": {\n        "x": { "kind": "ollama" }\n    }\n}\n'
LAYOUTS = [
    ("{}", '{\n  "providers": {\n    "n": {\n      "k": "v"\n    }\n  }\n}'),
    ('{"a":1}', '{"a":1,"providers": {"n": {"k": "v"}}}'),
    ('{"providers":{}}', '{"providers":{"n": {"k": "v"}}}'),
    ('{ "a": 1, "b": 2 }\n', '{ "a": 1, "b": 2, "providers": {"n": {"k": "v"}} }\n'),
    (
        '{\r\n\t"a": 1\r\n}\r\n',
        '{\r\n\t"a": 1,\r\n\t"providers": {\r\n\t\t"n": {\r\n\t\t\t"k": "v"\r\n\t\t}\r\n\t}\r\n}\r\n',
    ),
    (FOUR, FOUR.replace(" }\n    }", ' },\n        "n": {\n            "k": "v"\n        }\n    }')),
    (
        '{\n  "providers": {\n    "x": {"kind": "ollama"}, "y": {}\n  }\n}',
        '{\n  "providers": {\n    "x": {"kind": "ollama"}, "y": {}, "n": {"k": "v"}\n  }\n}',
    ),
]


@pytest.mark.parametrize(("before", "after"), LAYOUTS)
def test_what_is_added_looks_like_the_rest(before, after):
    changed = set_member(before, ("providers", "n"), {"k": "v"})
    assert changed == after
    removed = remove_member(changed, ("providers", "n"))
    if '"providers"' in before:
        assert removed == before


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "missing"), ("{", 1, "missing"), ("[]", 1, "not an object"),
        ('{\n "providers": 3}', 2, '"providers" is not an object'),
        ('{"a": 1,\n "a": 2}', 2, "twice"), ('{"a": 1} // note', 1, "follows"),
    ],
)  # fmt: skip
def test_what_is_no_object_is_refused_with_its_place(text, line, words):
    with pytest.raises(JsonError) as refused:
        set_member(text, ("providers", "n"), {})
    assert refused.value.line == line and words in refused.value.reason


def test_a_member_that_is_not_there_cannot_be_removed():
    with pytest.raises(KeyError):
        remove_member('{"a": {}}', ("a", "b"))
    with pytest.raises(KeyError):
        remove_member("{}", ("a", "b"))


def test_numbers_stay_as_they_are_written():
    text = '{"a": 1.50, "b": 1e3, "c": "\\u00e9", "d": 1}'
    assert set_member(text, ("d",), 2) == text[:-2] + "2}"
    assert set_member('{"d": 1}', ("d",), True) == '{"d": true}'
