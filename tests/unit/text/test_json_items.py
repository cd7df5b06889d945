"""An item is added to settings of another program and taken out again; every other byte stays."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.json_documents import VALUES, documents
from workbench.text.json_edit import add_item, remove_item
from workbench.text.json_nodes import JsonError, parse_commented_json, parse_json_nodes

OURS = {"matcher": "*", "hooks": [{"type": "command", "command": "ours"}]}


def with_item(content, event, item):
    hooks = content.get("hooks", {})
    return {**content, "hooks": {**hooks, event: [*hooks.get(event, []), item]}}


def value_of(text, is_strict):
    return json.dumps((parse_json_nodes if is_strict else parse_commented_json)(text).value)


@given(documents())
@example(({"hooks": {"Before": [1]}}, '{"hooks": {"Before": [1 //\n]}}', False))
def test_a_commented_document_is_read_as_what_it_means(document):
    content, text, is_strict = document
    assert value_of(text, is_strict) == json.dumps(content)
    try:
        json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(JsonError):
            parse_json_nodes(text)


@given(documents(), st.sampled_from(["Before", "After"]))
def test_an_item_that_is_added_and_removed_leaves_the_same_bytes(document, event):
    content, text, is_strict = document
    added = add_item(text, ("hooks", event), OURS)
    assert value_of(added.text, is_strict) == json.dumps(with_item(content, event, OURS)), "the order too"
    place = ("hooks", event, len(content.get("hooks", {}).get(event, [])))
    assert remove_item(added.text, place, inserted=added.inserted, made=added.made) == text
    if added.inserted:
        assert added.text.replace(added.inserted, "", 1) == text
    elif "\ufeff" not in text:
        assert remove_item(added.text, place) == text


@given(documents(), st.permutations([0, 1, 2]))
def test_items_are_removed_in_any_order(document, order):
    content, text, is_strict = document
    events = ("Before", "After", "New")
    added, current = [], text
    for event in events:
        added.append(add_item(current, ("hooks", event), OURS))
        current = added[-1].text
    for number in order:
        event, one = events[number], added[number]
        place = ("hooks", event, len(content.get("hooks", {}).get(event, [])))
        current = remove_item(current, place, inserted=one.inserted, made=one.made)
    rest = json.loads(value_of(current, is_strict))
    if "hooks" not in content and rest.get("hooks") == {}:
        del rest["hooks"]  # made with the first item, and not empty when that was removed
    assert rest == content
    if order == [2, 1, 0]:
        assert current == text


@given(
    documents(), st.sampled_from(["Before", "After"]), st.lists(VALUES, min_size=1, max_size=2), st.booleans()
)
def test_what_others_add_meanwhile_stays(document, event, theirs, is_before):
    """The user puts an item in front of ours or behind it; only ours goes."""
    content, text, is_strict = document
    added = add_item(text, ("hooks", event), OURS)
    number = len(content.get("hooks", {}).get(event, []))
    node = parse_commented_json(added.text).members["hooks"].members[event].items[number]
    start = sum(len(line) for line in added.text.split("\n")[: node.line - 1]) + node.line + node.column - 2
    more = ", ".join(json.dumps(one) for one in theirs)
    place, words = (start, f"{more}, ") if is_before else (node.end, f", {more}")
    changed = added.text[:place] + words + added.text[place:]
    path = ("hooks", event, number + len(theirs) * is_before)
    for one in theirs:
        content = with_item(content, event, one)
    rest = remove_item(changed, path, inserted=added.inserted, made=added.made)
    assert value_of(rest, is_strict) == json.dumps(content)


STYLES = [
    ('{"hooks": {"Before": []}}', '{"hooks": {"Before": [{"n": 1}]}}'),
    ('{"hooks": {"Before": [1,2]}}', '{"hooks": {"Before": [1,2,{"n": 1}]}}'),
    ('{"hooks": {"Before": [1]}}', '{"hooks": {"Before": [1, {"n": 1}]}}'),
    (
        '{\r\n\t"hooks": {\r\n\t\t"Before": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}',
        '{\r\n\t"hooks": {\r\n\t\t"Before": [\r\n\t\t\t1,\r\n\t\t\t{\r\n\t\t\t\t"n": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}',
    ),
    (
        '{\n  "hooks": {\n    "Before": [\n      1, // one\n    ]\n  }\n}',
        '{\n  "hooks": {\n    "Before": [\n      1, // one\n      {\n        "n": 1\n      },\n    ]\n  }\n}',
    ),
    (
        '{\n  "hooks": {\n    "Before": [\n      1 // one\n    ]\n  }\n}',
        '{\n  "hooks": {\n    "Before": [\n      1, // one\n      {\n        "n": 1\n      }\n    ]\n  }\n}',
    ),
    ("{}", '{\n  "hooks": {\n    "Before": [\n      {\n        "n": 1\n      }\n    ]\n  }\n}'),
    ('{"a": 1}', '{"a": 1, "hooks": {"Before": [{"n": 1}]}}'),
]


@pytest.mark.parametrize(("before", "after"), STYLES)
def test_an_item_follows_the_style_of_its_neighbours(before, after):
    assert add_item(before, ("hooks", "Before"), {"n": 1}).text == after


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "missing"), ("[]", 1, "the document is not an object"),
        ('{\n "hooks": 3}', 2, '"hooks" is not an object'),
        ('{"hooks": {\n"Before": {}}}', 2, '"Before" is not an array'),
        ('{"hooks": {}}\n/* open', 2, "a comment has no end"), ('{"hooks": [1,,]}', 1, "a value is missing"),
        ('{"hooks": [,]}', 1, "a value is missing"), ('{"a": 1,\n "a": 2}', 2, "twice"),
        ('{"a": 1 // one\r, "b": 2}', 1, "comma"), ("{'a': 1}", 1, "double quotes"), ('{"a": 1}}', 1, "follows"),
    ],
)  # fmt: skip
def test_a_broken_document_is_refused_with_its_place(text, line, words):
    with pytest.raises(JsonError) as refused:
        add_item(text, ("hooks", "Before"), {})
    assert refused.value.line == line and words in refused.value.reason


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1} // one', "/**/{}", "\ufeff{}", '{"a": [1,]}'])
def test_our_own_settings_stay_strict(text):
    parse_commented_json(text)
    with pytest.raises(JsonError):
        parse_json_nodes(text)


def test_an_item_that_is_not_there_cannot_be_removed():
    for path in (("hooks", "Before", 0), ("hooks", 0), ("a", 2)):
        with pytest.raises((KeyError, IndexError)):
            remove_item('{"a": [1, 2], "hooks": {"After": []}}', path)


def test_a_comment_in_a_container_that_was_made_keeps_it():
    added = add_item("{}", ("hooks", "Before"), {"n": 1})
    commented = added.text.replace("[\n", "[ // mine\n")
    rest = remove_item(commented, ("hooks", "Before", 0), inserted=added.inserted, made=added.made)
    assert "// mine" in rest and parse_commented_json(rest).value == {"hooks": {"Before": []}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": [1, // one\n  "ours" ]}', '{"a": [1 // one\n   ]}'),
        ('{"a": [1, // one\n  "ours"\n]}', '{"a": [1 // one\n]}'),
        ('{"a": [1, /* one */ "ours" ]}', '{"a": [1 /* one */ ]}'),
        ('{"a": [1, "ours" // two\n, 2]}', '{"a": [1, // two\n 2]}'),
    ],
)
def test_comments_around_an_item_stay_and_swallow_nothing(before, after):
    rest = remove_item(before, ("a", 1))
    assert rest.split() == after.split()
    assert parse_commented_json(rest).value == {"a": [1, 2] if ", 2" in before else [1]}
