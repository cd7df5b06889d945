"""robots.txt: groups, the longest match, wildcards, and files that want to take time."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from workbench.tools.fetch_webpage import robots_allow

FILE = """\
# words
User-agent: a
User-agent: B # and more
Disallow: /
Allow: /open
Allow: /*.txt$

User-agent: *
Disallow: /x*y
Disallow: /é
Disallow:

user-AGENT: a
disallow: /open/but
Sitemap: /s
"""


@each_row(
    ("agent", "target", "allowed"),
    [
        ("A", "/", False),
        ("a", "/open", True),
        ("a", "/open/but/x", False),
        ("b", "/open/but/x", True),
        ("b", "/a/b.txt", True),
        ("b", "/a/b.txt?x", False),
        ("c", "/", True),
        ("c", "/x1y2", False),
        ("c", "/xy", False),
        ("c", "/%C3%A9t", False),
        ("c", "/robots.txt", True),
        ("a", "/robots.txt", True),
    ],
)
def test_the_longest_match_of_the_right_group_counts(agent, target, allowed):
    assert robots_allow(FILE, agent, target) is allowed


@each_row(
    ("rules", "target", "allowed"),
    [
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: *b$", "/ab", False),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: /**c", "/abc", False),
        ("Disallow: $", "/", True),
        ("Disallow", "/", True),
    ],
)
def test_wildcards(rules, target, allowed):
    assert robots_allow(f"User-agent: *\n{rules}", "x", target) is allowed


def test_a_hostile_file_takes_no_time():
    text = "User-agent: *\n" + "Disallow: /" + "*a" * 2000 + "b\n" + "Disallow: /z\n" * 30_000
    begun = time.monotonic()
    assert robots_allow(text, "x", "/" + "a" * 8000)
    assert time.monotonic() - begun < PATIENCE


@given(st.text(max_size=200), st.text(max_size=40))
def test_no_file_crashes_it(text, target):
    assert isinstance(robots_allow(text, "x", f"/{target}"), bool)
