"""One text for one value, and a reader that refuses what has more than one meaning."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.text import canonical

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"path": "a.txt", "content": "x"}, '{"content":"x","path":"a.txt"}'),
        ({"b": [1, 2.5, None, True], "B": {}}, '{"B":{},"b":[1,2.5,null,true]}'),
        ({"é": "日本/🎉", "z": '\n"'}, '{"z":"\\n\\"","é":"日本/🎉"}'),
        ({"\uffff": 1, "\U00010000": 2}, '{"\uffff":1,"\U00010000":2}'),
        (1e22, "1e+22"),
    ],
)
@pytest.mark.spec(53)
def test_dumps(value: object, expected: str):
    assert canonical.dumps(value) == expected


def cyclic() -> object:
    value: list[object] = []
    value.append(value)
    return value


def nested(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": "\ud800"}, cyclic(), nested(100_000)])
def test_dumps_refuses_what_cannot_be_read_back(value: object):
    with pytest.raises(ValueError, match=r".+"):
        canonical.dumps(value)


@given(values)
def test_what_is_written_is_read_back(value: object):
    text = canonical.dumps(value)
    assert canonical.loads(text) == value
    assert canonical.loads(text.encode()) == value
    assert canonical.dumps(canonical.loads(text)) == text


@each_row(
    ("text", "message"),
    [
        ('{"a": 1,\n "a": 2}', 'line 2, column 2: the key "a" is there twice, first in line 1'),
        ('[1, {"b": NaN}]', "line 1, column 11: NaN is not a JSON number"),
        ("[-Infinity]", "line 1, column 2: -Infinity is not a JSON number"),
        ("[1e999]", "line 1, column 2: 1e999 is too large a number"),
        ("[" + "1" * 401 + "]", "line 1, column 2: a whole number of 401 digits is too long, 400 are read"),
        ("[" * 65 + "]" * 65, "line 1, column 65: nested deeper than 64 levels"),
        ("[" * 100_000, "line 1, column 65: nested deeper than 64 levels"),
        ('["\\ud83d"]', "line 1, column 2: half a surrogate pair is not a character"),
        ('["\ud800"]', "line 1, column 2: half a surrogate pair is not a character"),
        ("", "line 1, column 1: a value is missing here"),
        ("[1,]", "line 1, column 3: there is a comma before the end"),
        ("{'a': 1}", "line 1, column 2: a key in double quotes is missing here"),
        ('{"a" 1}', "line 1, column 6: a colon is missing here"),
        ('{"a": 1} x', "line 1, column 10: something follows the end of the value"),
        ("[1 2]", 'line 1, column 4: a comma or "]" is missing here'),
        ('["a\nb"]', "line 1, column 4: invalid control character"),
    ],
)
def test_loads_refuses_with_position_and_reason(text: str, message: str):
    with pytest.raises(ValueError, match=r".+") as caught:
        canonical.loads(text)
    assert str(caught.value) == message


def test_loads_takes_the_deepest_that_is_allowed():
    text = "[" * 64 + "]" * 64
    assert canonical.dumps(canonical.loads(text)) == text


def test_loads_refuses_bytes_that_are_not_utf8():
    with pytest.raises(ValueError, match="position 2"):
        canonical.loads(b'["\xff"]')


def test_surrogate_pairs_are_one_character():
    assert canonical.loads('"\\ud83d\\ude00"') == "😀"


@given(st.text(st.sampled_from('{}[]",:1e.-atrufalsn \n\\ud8'), max_size=30))
def test_any_text_is_read_or_refused_with_a_value_error(text: str):
    try:
        value = canonical.loads(text)
    except ValueError:
        return
    assert canonical.loads(canonical.dumps(value)) == value
