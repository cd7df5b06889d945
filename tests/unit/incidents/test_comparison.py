"""Where lines are after edits, and which incidents a checker still finds."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.domain.incidents import Incident
from workbench.incidents.comparison import LineCarrier, changed_paths, compare, unseen

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30, unique=True)


@given(LINES, LINES)
def test_a_line_that_is_still_there_in_order_is_found_where_it_is(before, after):
    carrier = LineCarrier({"a": before}, lambda _: after)
    kept = [line for line in before if line in after]
    if kept == [line for line in after if line in before]:
        for line in kept:
            assert carrier.line("a", before.index(line) + 1) == after.index(line) + 1
    for number in range(1, len(before) + 1):
        assert 1 <= carrier.line("a", number) <= max(1, len(after))


@each_row(
    "before,after,line,now",
    [
        ("abc", "abc", 2, 2),
        ("abc", "xabc", 2, 3),
        ("abc", "bc", 2, 1),
        ("abc", "aXc", 2, 2),
        ("abc", "aXYc", 3, 4),
        ("abc", "ac", 2, 2),
        ("abcd", "aXd", 3, 2),
        ("abc", "", 3, 1),
        ("abc", "abc", 9, 3),
        ("ab", "a", 2, 1),
    ],
)
def test_where_a_line_is_now(before, after, line, now):
    assert LineCarrier({"a": list(before)}, lambda _: list(after)).line("a", line) == now


def test_a_file_of_which_nothing_is_known_and_line_0_stay():
    carrier = LineCarrier({"a": list("ab")}, lambda _: list("xab"))
    assert (carrier.line("b", 2), carrier.line("a", 0)) == (2, 0)


def found(key, rule="R", path="a", line=1, fingerprint="", message="m"):
    return Incident(
        id=key, fingerprint=fingerprint or f"f-{key}", rule=rule, path=path, line=line, message=message
    )


SAME = LineCarrier({}, lambda _: [])


def still(listed, findings, carrier=SAME):
    result = compare(listed, findings, carrier)
    return {key: finding.id for key, finding in result.matches.items()}, [
        finding.id for finding in result.new
    ]


@each_row(
    "finding,is_found",
    [
        ({"fingerprint": "f-1", "line": 99, "rule": "other"}, True),
        ({"line": 1}, True),
        ({"line": 1, "message": "another"}, True),
        ({"line": 2}, False),
        ({"line": 1, "rule": "S"}, False),
        ({"line": 1, "path": "b"}, False),
    ],
)
def test_the_same_rule_at_the_line_or_the_same_fingerprint_is_still_there(finding, is_found):
    assert still([found("1")], [found("x", **finding)])[0] == ({"1": "x"} if is_found else {})


def test_a_finding_at_the_line_that_an_edit_carried_it_to_is_still_there():
    carrier = LineCarrier({"a": list("pq")}, lambda _: list("xxpq"))
    assert still([found("1", line=2)], [found("x", line=4)], carrier)[0] == {"1": "x"}
    assert still([found("1", line=2)], [found("x", line=2)], carrier)[0] == {}


def test_two_of_a_rule_in_one_line_do_not_vouch_for_each_other():
    listed = [found("os", message="`os`"), found("sys", message="`sys`")]
    assert still(listed, [found("x", message="`sys`")]) == ({"sys": "x"}, [])


def test_of_two_with_one_fingerprint_the_one_at_its_line_is_still_there():
    listed = [found("1", line=1, fingerprint="f"), found("2", line=5, fingerprint="f")]
    assert still(listed, [found("x", line=5, fingerprint="f")]) == ({"2": "x"}, [])


def test_what_stands_for_no_incident_is_new_unless_it_was_reported_before():
    result = compare([found("1")], [found("x"), found("y", line=7), found("z", line=8)], SAME)
    assert [i.id for i in unseen(result.new, {"f-y"})] == ["z"]


def test_files_differ_by_their_digests():
    assert changed_paths({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}) == ("b", "c", "d")
