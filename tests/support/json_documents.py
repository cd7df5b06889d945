"""Drawn JSON documents as other programs keep them: comments, trailing commas, a byte order mark, odd blanks."""

import json

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "ä", "hooks", 'quo"te'])
LEAVES = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from(["", "// no", "/* no */", ",]", "é"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.sampled_from(["", "", " ", "\n  ", "\r\n\t", "\n\n"])
COMMENTS = st.sampled_from(
    ["// a, b\n", "//\r\n  ", "// [ { */ \n", "/* , ] */", "/* a\n   b */ ", "/**/", "//  \n"]
)


def written(draw, value, gaps):
    """Write a value with blanks, comments and trailing commas wherever they may be."""
    gap = lambda: draw(gaps)  # noqa: E731
    comma = lambda: "," + gap() if value and gaps is not BLANKS and draw(st.booleans()) else ""  # noqa: E731
    if isinstance(value, dict):
        members = [
            f"{gap()}{json.dumps(name)}{gap()}:{written(draw, one, gaps)}" for name, one in value.items()
        ]
        return f"{gap()}{{{','.join(members)}{comma()}{gap()}}}{gap()}"
    if isinstance(value, list):
        return f"{gap()}[{','.join(written(draw, one, gaps) for one in value)}{comma()}{gap()}]{gap()}"
    return f"{gap()}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{gap()}"


@st.composite
def documents(draw, events=("Before", "After", "a")):
    """Draw settings with hooks: what they mean, their text, and whether it is strict JSON."""
    content = draw(st.dictionaries(NAMES.filter("hooks".__ne__), VALUES, max_size=3))
    if draw(st.booleans()):
        hooks = {
            "Before": st.lists(VALUES, max_size=3),
            "After": st.just([]),
            "a": st.lists(VALUES, max_size=2),
        }
        content["hooks"] = draw(st.fixed_dictionaries({}, optional=hooks))
    is_strict = draw(st.booleans())
    gaps = BLANKS if is_strict else st.one_of(BLANKS, COMMENTS)
    mark = "" if is_strict else draw(st.sampled_from(["", "\ufeff"]))
    return content, mark + written(draw, content, gaps), is_strict
