"""Findings out as SARIF and as JUnit's XML: what came of each, and that a reader finds the same again."""

import json
from xml.etree import ElementTree

import pytest

from tests.support.tables import each_row
from workbench.domain.incidents import Incident
from workbench.effects.files import Root
from workbench.formats.findings.read import read_findings
from workbench.formats.findings_export import ExportedIncident, junit_xml, sarif_log


def row(number=1, state="open", **more):
    about = {
        name: more.pop(name)
        for name in ("severity", "path", "column", "end_line", "category")
        if name in more
    }
    incident = Incident(
        id=f"i{number}", fingerprint=f"f{number}", rule=more.pop("rule", "F401"), line=number,
        message=more.pop("message", f"message {number}"), description="about the rule",
        **{"path": "src/a.py", "severity": "warning", **about},
    )  # fmt: skip
    return ExportedIncident(incident=incident, state=state, line=more.pop("line", number), **more)


def results(*rows):
    (run,) = sarif_log(rows)["runs"]
    return run["results"]


@each_row(
    "severity, level",
    [("critical", "error"), ("error", "error"), ("warning", "warning"), ("info", "note")],
)
def test_severities_are_levels(severity, level):
    (result,) = results(row(severity=severity))
    assert (result["level"], result["properties"]["severity"]) == (level, severity)


def test_a_fixed_finding_is_absent_and_a_dismissed_one_suppressed_with_its_reason():
    fixed, open_, dismissed = results(
        row(1, "fixed"), row(2, "unchanged", reason="still there"),
        row(3, "skipped", is_dismissed=True, reason="generated"),
    )  # fmt: skip
    assert (fixed["baselineState"], open_["baselineState"]) == ("absent", "unchanged")
    assert "suppressions" not in fixed and "suppressions" not in open_
    assert dismissed["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "generated"}
    ]
    assert open_["properties"]["outcome"] == "unchanged" and open_["properties"]["reason"] == "still there"


def test_places_are_where_the_finding_is_now():
    moved, whole = results(row(4, line=9, column=5, end_line=6), row(5, line=0))
    region = moved["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 9, "startColumn": 5, "endLine": 11}
    assert "region" not in whole["locations"][0]["physicalLocation"]


def test_rules_are_named_once_and_results_point_to_them():
    log = sarif_log([row(1), row(2, rule="E711"), row(3)], "ruff check", "Completed")
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["F401", "E711"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1, 0]
    assert run["properties"] == {"source": "ruff check", "status": "Completed"}
    assert log["version"] == "2.1.0" and sarif_log([])["runs"][0]["results"] == []


def test_what_is_left_is_read_again_as_the_same_findings(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a b.py").write_text("one\ntwo\nthree\nfour\n")
    rows = [
        row(1, "fixed", path="src/a b.py"), row(2, "open", path="src/a b.py", severity="error"),
        row(3, "skipped", path="src/a b.py", is_dismissed=True, reason="no"),
        row(4, "rejected", path="src/a b.py", rule="E711"),
    ]  # fmt: skip
    with Root(tmp_path) as root:
        again = read_findings(json.dumps(sarif_log(rows)).encode(), root)
    told = [(one.rule, one.path, one.line, one.message, one.severity) for one in again.incidents]
    assert told == [
        ("F401", "src/a b.py", 2, "message 2", "error"),
        ("E711", "src/a b.py", 4, "message 4", "warning"),
    ]
    assert all(not one.problem for one in again.incidents)


@each_row(
    "state, tag",
    [("fixed", None), ("changed", "system-out"), ("unchanged", "failure"), ("rejected", "failure"),
     ("open", "failure"), ("failed", "error"), ("skipped", "skipped")],
)  # fmt: skip
def test_each_outcome_is_a_case_that_passes_fails_breaks_or_is_skipped(state, tag):
    (case,) = ElementTree.fromstring(junit_xml([row(1, state, reason="why")])).iter("testcase")
    assert [child.tag for child in case] == ([tag] if tag else [])
    if tag in ("failure", "error", "skipped"):
        assert "why" in case[0].get("message", "")


def test_suites_are_files_with_their_counts_and_times():
    tree = ElementTree.fromstring(junit_xml([
        row(1, "fixed", duration_ms=1500), row(2, "failed", reason="no"), row(3, "skipped", path="b.py"),
        row(4, "open", path="b.py"),
    ], "nightly"))  # fmt: skip
    assert (tree.get("name"), tree.get("tests"), tree.get("failures")) == ("nightly", "4", "1")
    facts = [
        [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time")]
        for suite in tree
    ]
    assert facts == [["src/a.py", "2", "0", "1", "0", "1.500"], ["b.py", "2", "1", "0", "1", "0.000"]]


@pytest.mark.parametrize("hostile", ['</failure>"<&>', "\x1b[31m\x00\u202e", "\ud800 half", "]]>"])
def test_hostile_text_stays_text(hostile):
    rows = [row(1, "open", message=hostile, rule=hostile, path=f"a{hostile}.py", reason=hostile)]
    tree = ElementTree.fromstring(junit_xml(rows, hostile))
    assert len(list(tree.iter("failure"))) == 1
    assert "\x1b" not in junit_xml(rows) and "\x00" not in junit_xml(rows)
    if "\ud800" not in hostile:
        json.dumps(sarif_log(rows)).encode()
