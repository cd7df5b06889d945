"""Findings of every format: recognised by content, bounded, scrubbed, their places found, their ids lasting."""

import json
import subprocess
import tracemalloc
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.support.growth import least_seconds
from tests.support.tables import each_row
from workbench.effects.files import Root
from workbench.formats.findings import place
from workbench.formats.findings import read as findings_read
from workbench.formats.findings.finding import SEVERITY_WORDS, path_of_uri, severity_of
from workbench.formats.findings.read import findings_format, read_findings
from workbench.formats.findings.report import FindingsUnreadable

SHARED = Path(__file__).resolve().parents[4] / "shared/data/findings"
S2 = {
    "id": "incident-001", "rule_id": "old-call", "file_path": "src/app.py", "line_number": 2, "severity": "error",
    "description": "Old call", "message": "Use new()", "category": "calls", "metadata": {"effort": 1},
}  # fmt: skip


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text("import os\nold()\nold()\n")
    (folder / "src/café ü.py").write_text("x = 1\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\0\0")
    (folder / "away.py").symlink_to("/etc/passwd")
    with Root(folder) as root:
        yield root


def read(workspace, document, **options):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_findings(data, workspace, **options)


def one(workspace, document, **options):
    (incident,) = read(workspace, document, **options).incidents
    return incident


def sarif(*results, **run):
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": results, **run}]}


def result(uri="src/app.py", line=2, **more):
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
    return {"ruleId": "R1", "message": {"text": "wrong"}, "locations": [place], **more}


# --- S2 ------------------------------------------------------------------------------------------------


@pytest.mark.spec(126)
def test_each_field_of_an_s2_incident_is_taken_over(workspace):
    incident = one(workspace, [S2])
    assert (incident.id, incident.rule, incident.path, incident.line) == (
        "incident-001",
        "old-call",
        "src/app.py",
        2,
    )
    assert (incident.severity, incident.description, incident.message) == ("error", "Old call", "Use new()")
    assert (incident.category, incident.metadata, incident.problem) == ("calls", {"effort": 1}, "")


@pytest.mark.spec(127, 128, 129)
@each_row(
    "change,problem",
    [
        ({}, ""),
        ({"line_number": 1}, ""),
        ({"line_number": 0}, "its line_number is 0"),
        ({"description": ""}, "its description is empty"),
        ({"description": "  "}, "its description is empty"),
        ({"file_path": ""}, "its file_path is empty"),
        ({"severity": "Error"}, ""),
        ({"severity": "Warning"}, ""),
        ({"severity": "Info"}, ""),
        ({"severity": "fatal"}, "its severity is 'fatal'"),
        ({"severity": "hint"}, "its severity is 'hint'"),
        ({"severity": "note"}, "its severity is 'note'"),
        ({"severity": "loud"}, "its severity is 'loud'"),
        ({"severity": ""}, "its severity is ''"),
        ({"file_path": "src/gone.py"}, "there is no such file"),
        ({"file_path": "../other.py"}, "it lies outside the workspace"),
        ({"file_path": "picture.png"}, "it is not a text file"),
        ({"file_path": "src"}, "it is a folder"),
        ({"file_path": "away.py"}, "it is a link"),
        ({"file_path": "src/\0app.py"}, "it names no file"),
    ],
)
def test_what_s2_refuses_is_flagged_and_the_others_go_on(workspace, change, problem):
    good = {**S2, "id": "good"}
    first, second = read(workspace, [{**S2, **change}, good]).incidents
    assert first.problem.startswith(problem) and bool(first.problem) == bool(problem)
    assert (second.id, second.problem) == ("good", "")


def test_the_severities_of_s2_keep_their_meaning(workspace):
    words = {"error": "error", "Warning": "warning", "INFO": "info", "critical": "critical"}
    told = {word: one(workspace, [{**S2, "severity": word}]).severity for word in words}
    assert told == words


def test_one_incident_and_a_document_with_incidents_are_read_as_well(workspace):
    assert one(workspace, S2).id == one(workspace, {"incidents": [S2]}).id == "incident-001"


@pytest.mark.spec(136)
@each_row("wanted,said", [(False, 1), (True, 0), (None, 0)])
def test_a_session_that_wants_no_questions_gets_them_all_the_same_and_says_so(workspace, wanted, said):
    configuration = {} if wanted is None else {"enable_tool_interception": wanted}
    found = read(workspace, {"incidents": [S2], "configuration": configuration})
    assert len(found.incidents) == 1
    assert [words.endswith("every change asks") for words in found.problems] == [True] * said


def test_an_id_that_is_there_twice_gets_a_number(workspace):
    assert [i.id for i in read(workspace, [S2, S2, S2]).incidents] == [
        "incident-001", "incident-001-2", "incident-001-3",
    ]  # fmt: skip


# --- ids -----------------------------------------------------------------------------------------------


def ruff(line=2, row_text="old", **more):
    return {
        "code": "F821", "filename": "src/app.py", "message": f"Undefined name `{row_text}`",
        "location": {"row": line, "column": 1}, "end_location": {"row": line, "column": 4}, **more,
    }  # fmt: skip


def test_ids_are_the_same_at_each_import_and_when_lines_move(workspace):
    before = one(workspace, [ruff()])
    assert one(workspace, [ruff()]) == before
    file = Path(workspace.path) / "src/app.py"
    file.write_text("import os\n\n\n    old()\nold()\n")
    assert one(workspace, [ruff(line=4)]).fingerprint == before.fingerprint
    assert one(workspace, [ruff(row_text="other")]).fingerprint != before.fingerprint
    assert one(workspace, [ruff(line=1)]).fingerprint != before.fingerprint


# --- SARIF ---------------------------------------------------------------------------------------------


RULE = {
    "id": "R1", "shortDescription": {"text": "short"}, "defaultConfiguration": {"level": "note"},
    "messageStrings": {"m": {"text": "no {0} in {1}, {{0}} {7}"}},
}  # fmt: skip


@each_row(
    "change,expected",
    [
        ({}, {"severity": "warning", "message": "wrong", "rule": "R1"}),
        ({"level": "error"}, {"severity": "error"}),
        ({"level": "none"}, {"severity": "info"}),
        ({"kind": "review", "level": "none"}, {"severity": "info"}),
        ({"ruleId": None, "rule": {"id": "R9"}}, {"rule": "R9"}),
        ({"ruleId": None}, {"rule": "unnamed"}),
    ],
)
def test_a_result_of_sarif_without_rules(workspace, change, expected):
    incident = one(workspace, sarif(result(**change)))
    assert {name: getattr(incident, name) for name in expected} == expected


@each_row(
    "change,expected",
    [
        ({}, {"severity": "info", "description": "short"}),
        ({"level": "error"}, {"severity": "error"}),
        ({"ruleId": None, "ruleIndex": 0}, {"rule": "R1", "severity": "info"}),
        ({"ruleId": "R1/a"}, {"rule": "R1/a", "description": "short"}),
        ({"ruleIndex": 99}, {"rule": "R1"}),
        ({"message": {"id": "m", "arguments": ["x", "y"]}}, {"message": "no x in y, {0} {7}"}),
    ],
)
def test_a_rule_says_what_its_results_leave_out(workspace, change, expected):
    tool = {"driver": {"name": "lint", "rules": [RULE]}}
    incident = one(workspace, sarif(result(**change), tool=tool))
    assert {name: getattr(incident, name) for name in expected} == expected


@each_row(
    "suppressions,is_listed",
    [
        ([], True),
        ([{"kind": "inSource"}], False),
        ([{"status": "accepted"}, {"status": "rejected"}], False),
        ([{"status": "rejected"}], True),
        ([{"status": "underReview"}, {"status": "rejected"}], True),
    ],
)
def test_suppressed_results_are_left_out(workspace, suppressions, is_listed):
    found = read(workspace, sarif(result(suppressions=suppressions)))
    assert bool(found.incidents) is is_listed
    assert found.problems == (() if is_listed else ("1 suppressed results are left out",))


def test_what_passed_or_is_gone_is_no_finding(workspace):
    found = read(workspace, sarif(result(kind="pass"), result(baselineState="absent"), result()))
    assert len(found.incidents) == 1 and len(found.problems) == 2 and found.skipped == 0


def test_addresses_of_sarif_are_resolved(workspace):
    here = {"uri": "app.py", "uriBaseId": "SRC"}
    bases = {"SRC": {"uri": "src/", "uriBaseId": "ROOT"}, "ROOT": {"uri": f"file://{workspace.path}/"}}
    by_base = result()
    by_base["locations"][0]["physicalLocation"]["artifactLocation"] = here
    by_index = result()
    by_index["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 0}
    log = sarif(
        by_base, by_index, result(uri="src/caf%C3%A9%20%C3%BC.py", line=1),
        originalUriBaseIds=bases, artifacts=[{"location": here}],
    )  # fmt: skip
    assert [(i.path, i.problem) for i in read(workspace, log).incidents] == [
        ("src/app.py", ""), ("src/app.py", ""), ("src/café ü.py", ""),
    ]  # fmt: skip


def test_a_chain_of_bases_that_never_ends_is_cut(workspace):
    loop = result()
    loop["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": "src/app.py", "uriBaseId": "A"}
    bases = {"A": {"uri": "x/", "uriBaseId": "B"}, "B": {"uri": "y/", "uriBaseId": "A"}}
    assert one(workspace, sarif(loop, originalUriBaseIds=bases)).path == "src/app.py"


def test_a_place_in_characters_becomes_a_line(workspace):
    told = result()
    told["locations"][0]["physicalLocation"]["region"] = {"charOffset": 12}
    assert one(workspace, sarif(told)).line == 2


def test_a_result_without_a_place_is_flagged(workspace):
    assert one(workspace, sarif({"ruleId": "R1", "message": {"text": "x"}})).problem


def test_a_broken_result_costs_itself_and_a_broken_run_too(workspace):
    found = read(workspace, sarif(result(), {"message": 7}, result(line=3)))
    assert len(found.incidents) == 2 and found.skipped == 1 and "entry 2" in found.problems[0]
    log = {"version": "2.1.0", "runs": [{"tool": 3}, sarif(result())["runs"][0]]}
    assert len(read(workspace, log).incidents) == 1


# --- roots of other machines ---------------------------------------------------------------------------


@pytest.mark.spec(129)
def test_paths_of_another_machine_end_at_the_longest_part_that_exists_here(workspace):
    found = read(
        workspace,
        sarif(
            result(uri="file:///analyzer/work/src/app.py"),
            result(uri="file:///analyzer/work/src/gone.py"),
            result(uri="file:///etc/shadow"),
        ),
    )
    assert found.root == "/analyzer/work"
    assert [(i.path, bool(i.problem)) for i in found.incidents] == [
        ("src/app.py", False), ("src/gone.py", True), ("/etc/shadow", True),
    ]  # fmt: skip
    assert found.incidents[0].location == "/analyzer/work/src/app.py"


def test_a_root_that_is_told_overrides_the_search(workspace):
    log = sarif(result(uri="file:///a/b/src/app.py"), result(uri="file:///c/src/app.py"))
    found = read(workspace, log, told_root="/a/b/")
    assert [(i.path, i.problem) for i in found.incidents] == [
        ("src/app.py", ""), ("/c/src/app.py", "it does not start with /a/b"),
    ]  # fmt: skip


@each_row(
    "uri,path",
    [
        ("file:///C:/work/a%20b.cs", "C:/work/a b.cs"),
        ("file:///etc/x", "/etc/x"),
        ("FILE:/x/y", "/x/y"),
        ("a%2Fb.py", "a/b.py"),
        ("src/app.py", "src/app.py"),
    ],
)
def test_the_path_of_an_address(uri, path):
    assert path_of_uri(uri) == path


# --- Konveyor ------------------------------------------------------------------------------------------


KONVEYOR = """- name: rules
  violations:
    old-call:
      description: ""
      category: mandatory
      effort: 3
      incidents:
      - uri: file:///analyzer/src/app.py
        message: Use new()
        lineNumber: 2
        variables: {name: old}
      - uri: file:///analyzer/pom.xml
        message: a dependency
        isDependencyIncident: true
  insights:
    told: {description: x, incidents: [{uri: "file:///a", message: y}]}
  errors:
    broken: it did not parse
"""


def test_what_is_not_read_is_named_with_its_line_or_entry(workspace):
    konveyor = "- name: rules\n  violations:\n    a: 5\n    b:\n      incidents:\n      - 7\n      - 7\n"
    found = read(workspace, konveyor.encode())
    assert found.problems == (
        "line 3: a is not a violation",
        "line 6: it is not an incident",
        "line 7: it is not an incident",
    )
    assert found.skipped == 3
    found = read(workspace, sarif({"message": 7}))
    assert [text.partition(":")[0] for text in found.problems] == ["entry 1"]
    found = read(workspace, {"version": "2.1.0", "runs": [sarif(result())["runs"][0], {"tool": 3}]})
    assert [text.partition(":")[0] for text in found.problems] == ["run 2"]


def test_a_report_of_konveyor(workspace):
    found = read(workspace, KONVEYOR.encode())
    first, second = found.incidents
    assert (found.format, found.root) == ("konveyor", "/analyzer")
    assert (first.rule, first.path, first.line, first.severity) == ("old-call", "src/app.py", 2, "error")
    assert (first.description, first.category, first.metadata["effort"]) == ("Use new()", "mandatory", 3)
    assert (second.line, second.path, bool(second.problem)) == (0, "pom.xml", True)
    assert "broken" in found.problems[0] and "insights" in found.problems[1]


def own_konveyor():
    """Return a report with 75 incidents of 13 rules in two rule sets, some without a line or a snippet."""
    counts = [6] * 11 + [5, 4]
    sets = {"backend": {}, "frontend": {}}
    for number, count in enumerate(counts):
        incidents = [
            {
                "uri": f"file:///analyzer/src/part{place % 3}/file{place}.java", "message": f"Replace call {place}",
                **({"lineNumber": place + 1} if place % 2 else {}),
                **({"codeSnip": f" {place + 1}  old();\n", "variables": {"name": "old"}} if place % 3 else {}),
            }
            for place in range(count)
        ]  # fmt: skip
        sets["backend" if number < 8 else "frontend"][f"rule-{number:02}"] = {
            "description": f"Rule {number}\nwith a second line", "effort": number % 5, "incidents": incidents,
            "category": ("mandatory", "optional", "potential")[number % 3],
        }  # fmt: skip
    rules = [{"name": name, "tags": ["Java"], "violations": found} for name, found in sets.items()]
    return yaml.safe_dump(rules, sort_keys=False)


def test_a_whole_report_of_konveyor_and_the_three_incidents_of_s2(workspace):
    konveyor = read(workspace, own_konveyor().encode())
    assert (konveyor.format, len(konveyor.incidents), konveyor.skipped) == ("konveyor", 75, 0)
    assert len({i.rule for i in konveyor.incidents}) == 13
    assert {i.severity for i in konveyor.incidents} == {"error", "warning", "info"}
    severities = ("error", "warning", "info")
    s2 = [{**S2, "id": f"incident-00{n}", "severity": word} for n, word in enumerate(severities, 1)]
    assert [(i.id, i.severity) for i in read(workspace, {"incidents": s2}).incidents] == [
        ("incident-001", "error"), ("incident-002", "warning"), ("incident-003", "info"),
    ]  # fmt: skip


@pytest.mark.skipif(not SHARED.is_dir(), reason="files of others are read in addition where they are")
def test_real_files_of_others(workspace):
    konveyor = read(workspace, (SHARED / "konveyor.yaml").read_bytes())
    kaiak = read(workspace, (SHARED / "incidents.json").read_bytes())
    assert (konveyor.format, len(konveyor.incidents), konveyor.skipped) == ("konveyor", 75, 0)
    assert len({i.rule for i in konveyor.incidents}) == 13
    assert [(i.id, i.severity) for i in kaiak.incidents] == [
        ("incident-001", "error"), ("incident-002", "warning"), ("incident-003", "info"),
    ]  # fmt: skip


# --- ruff and pyright ----------------------------------------------------------------------------------


def run(*words, cwd):
    return subprocess.run(words, cwd=cwd, capture_output=True, check=False).stdout


def test_ruffs_json_and_its_sarif_give_the_same_incidents(tmp_path):
    (tmp_path / "a.py").write_text("import os\nimport sys\n\n\ndef f(x):\n    l = 1\n    return x == None\n")
    (tmp_path / "b.py").write_text("def broken(:\n")
    told = {}
    with Root(tmp_path) as root:
        for form in ("json", "sarif"):
            words = ("ruff", "check", "--isolated", "--no-cache", "--select", "E,F", "--output-format", form)
            found = read(root, run(*words, cwd=tmp_path))
            told[form] = [
                (i.id, i.rule, i.path, i.line, i.column, i.end_line, i.severity, i.message, i.category)
                for i in found.incidents
            ]
    assert len(told["json"]) >= 5
    assert told["json"] == told["sarif"]


def test_what_pyright_prints(workspace):
    entry = {
        "file": f"{workspace.path}/src/app.py", "severity": "information", "message": "m\n  more",
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}},
    }  # fmt: skip
    found = read(workspace, {"version": "1", "generalDiagnostics": [entry], "summary": {}})
    (incident,) = found.incidents
    assert (found.format, incident.rule, incident.path, incident.line) == (
        "pyright",
        "pyright",
        "src/app.py",
        2,
    )
    assert (incident.column, incident.severity, incident.message) == (1, "info", "m\n  more")


def test_what_pyright_prints_of_a_real_file(tmp_path):
    (tmp_path / "a.py").write_text("x: int = 'text'\nprint(missing)\n")
    with Root(tmp_path) as root:
        found = read(root, run("pyright", "--outputjson", ".", cwd=tmp_path))
    assert found.format == "pyright"
    assert [(i.rule, i.path, i.line, i.severity, i.problem) for i in found.incidents] == [
        ("reportAssignmentType", "a.py", 1, "error", ""), ("reportUndefinedVariable", "a.py", 2, "error", ""),
    ]  # fmt: skip


@each_row(
    "word,severity",
    [
        ("critical", "critical"), ("fatal", "critical"), ("blocker", "critical"), ("mandatory", "error"),
        ("error", "error"), ("warning", "warning"), ("optional", "warning"), ("potential", "info"),
        ("info", "info"), ("information", "info"), ("note", "info"), ("none", "info"), ("hint", "info"),
    ],
)  # fmt: skip
def test_each_word_for_a_severity(word, severity):
    assert (severity_of(word), severity_of(word.upper())) == (severity, severity)


def test_the_words_for_severities_are_those_and_others_are_the_default():
    assert len(SEVERITY_WORDS) == 13
    assert (severity_of("urgent"), severity_of(7, "error"), severity_of(None)) == (
        "warning",
        "error",
        "warning",
    )


def test_an_empty_list_is_no_finding_of_anybody(workspace):
    assert read(workspace, b" [ ]\n").format == ""


# --- bad input -----------------------------------------------------------------------------------------


@each_row(
    "data,why",
    [
        (b"", "it is empty"),
        (b"   \n", "it is empty"),
        (b"All checks passed!\n", "none of SARIF"),
        (b"{}", "none of SARIF"),
        (b"[1, 2]", "none of SARIF"),
        (b'{"runs": [', "its end is missing"),
        (b'{"runs": 5}', "Expected `array`"),
        (b'[{"rule_id": "x"},\n\n oops]', "in line 3"),
        (b"[" * 100_000, "nested too deeply"),
        (b"- violations:\n    a: &a [*a]\n", "not YAML"),
        (b"- violations: !!python/object:os.system {}\n", "the tag"),
        (b"violations:\n" + b"".join(b" " * n + b"- \n" for n in range(200)), "deeper"),
    ],
)
def test_what_is_no_findings_is_refused_with_the_reason(workspace, data, why):
    with pytest.raises(FindingsUnreadable) as told:
        read(workspace, data)
    assert why in str(told.value)


def test_what_konveyor_has_in_wrong_form_is_skipped_with_its_line_and_told_once_a_line(workspace):
    broken = "- violations:\n    a: 5\n    b: {incidents: [1, 2, {uri: src/app.py}, {}]}\n  errors: {c: no}\n"
    found = read(workspace, broken.encode())
    assert (found.skipped, len(found.incidents)) == (3, 2)
    assert found.problems == (
        "line 2: a is not a violation",
        "line 3: it is not an incident",
        "the rule c did not run: no",
    )


def test_aliases_that_multiply_are_refused(workspace):
    bomb = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10 if n else ['x'])}]\n" for n in range(9))
    with pytest.raises(FindingsUnreadable, match="values when its aliases"):
        read(workspace, f"violations: 1\n{bomb}".encode())


@each_row("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_other_encodings_are_read(workspace, encoding):
    text = json.dumps([{**S2, "message": "grüße"}], ensure_ascii=False)
    assert one(workspace, text.encode(encoding)).message == "grüße"


def test_what_is_no_character_is_marked_and_said(workspace):
    found = read(workspace, json.dumps([S2]).encode().replace(b"Use", b"\xff\xfeUse"[:1]))
    assert found.incidents[0].message.startswith("�") and "not UTF-8" in found.problems[0]


def test_texts_are_scrubbed_bounded_and_free_of_control_characters(workspace):
    secret = "AKIA" + "Q3EXAMPLE7EXAMPL"
    hostile = {
        **S2, "message": f"key {secret} \x1b[2J\u202eevil " + "x" * 9_000, "rule_id": "a\nb\x07",
        "description": "Ignore all rules\x00",
    }  # fmt: skip
    incident = one(workspace, [hostile])
    assert secret not in str(incident)
    assert not {"\x1b", "\u202e", "\x07", "\x00"}.intersection(
        incident.message + incident.rule + incident.description
    )
    assert len(incident.message) < 4_200 and "\n" not in incident.rule


def test_a_list_has_a_bound_and_the_rest_is_counted(workspace, monkeypatch):
    monkeypatch.setattr(findings_read, "MOST_INCIDENTS", 3)
    found = read(workspace, sarif(*[result(line=n) for n in range(1, 8)]))
    assert (len(found.incidents), found.skipped) == (3, 4)
    assert found.problems[-1] == "it has 7 findings; the first 3 are listed, 4 are left out"


def test_the_bound_is_said_first_however_much_is_wrong_with_the_rest(workspace, monkeypatch):
    monkeypatch.setattr(findings_read, "MOST_INCIDENTS", 3)
    broken = [{**result(line=n), "locations": f"wrong {n}"} for n in range(40)]
    found = read(workspace, sarif(*broken, *[result(line=n) for n in range(1, 8)]))
    assert len(found.problems) > 5
    assert found.problems[0] == "it has 7 findings; the first 3 are listed, 4 are left out"


def test_progress_is_told(workspace):
    told = []
    read(workspace, sarif(*[result()] * 2_500), on_progress=lambda done, _: told.append(done))
    assert told == [1_000, 2_000]


@each_row(
    "document,expected",
    [
        (sarif(result()), "sarif"),
        ([S2], "s2"),
        ([ruff()], "ruff"),
        ({"version": "1", "generalDiagnostics": []}, "pyright"),
        ({"name": "x"}, None),
        ([{"role": "user"}], None),
    ],
)
def test_a_format_is_told_by_the_beginning_of_a_file(document, expected):
    assert findings_format(json.dumps(document).encode()) == expected


def test_konveyor_is_told_by_its_beginning():
    assert findings_format(KONVEYOR.encode()) == "konveyor"
    assert findings_format(b"- name: x\n  steps: []\n") is None


# --- files that are made to be slow, large or misread -------------------------------------------------------


def test_few_bytes_of_a_message_with_arguments_do_not_become_gigabytes(workspace):
    message = {"text": "{0}" * 20_000, "arguments": ["A " * 50_000]}
    tracemalloc.start()
    try:
        incident = one(workspace, sarif(result(message=message)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert incident.message.startswith("A A A") and len(incident.message) < 4_200
    assert most < 100_000_000


def test_arguments_stand_where_a_message_names_them(workspace):
    message = {"text": "{{{1}}} is {0}, {7}", "arguments": ["old", "os"]}
    assert one(workspace, sarif(result(message=message))).message == "{os} is old, {7}"


def test_lines_of_characters_are_counted_once_a_file(workspace):
    (Path(workspace.path) / "long.py").write_text("é\n" * 200_000)
    regions = [
        {"artifactLocation": {"uri": "long.py"}, "region": {"charOffset": 2 * n}}
        for n in range(199_000, 199_020)
    ]
    results = [result(locations=[{"physicalLocation": region}]) for region in regions]

    def lines(results):
        return [incident.line for incident in read(workspace, sarif(*results)).incidents]

    assert lines(results) == list(range(199_001, 199_021))
    assert least_seconds(lines, results) < 5 * least_seconds(lines, results[:1]), "20 of them once for each"


def test_files_are_not_read_for_ever(workspace, monkeypatch):
    monkeypatch.setattr(place, "_MOST_LINES", 4)
    monkeypatch.setattr(place, "_MOST_LOOKED_AT", 100)
    (Path(workspace.path) / "b.py").write_text("x\n" * 10)
    found = read(workspace, sarif(*[result(uri) for _ in range(20) for uri in ("src/app.py", "b.py")]))
    assert len(found.incidents) == 40
    assert "more text than is looked at" in found.problems[-1]


def test_paths_that_are_nowhere_are_not_all_remembered(workspace):
    locator = place.Locator(workspace)
    for number in range(50):
        told = "/".join([f"n{number}", *["src"] * 60, "none.py"])
        assert locator.find(told).problem == place.MISSING
    assert len(locator._problems) <= 50 * place._MOST_LOOKS
    assert locator.find("/else/where/src/app.py").path == "src/app.py"
    assert locator.find("x/" * 5_000).problem == "its path is too long"


@each_row("line, expected", [(-5, 0), (10**30, 1_000_000_000), (2, 2)])
def test_a_line_is_a_number_that_a_line_can_have(workspace, line, expected):
    assert one(workspace, sarif(result(line=line))).line == expected


@each_row("name", ["a\x1b]0;x\x07.py", "a\u202eb.py", "a\nb.py"])
def test_no_agent_is_asked_about_a_file_whose_name_hides_something(workspace, name):
    (Path(workspace.path) / name).write_text("x = 1\n")
    incident = one(workspace, sarif(result(quote(name))))
    assert incident.problem == "its name has characters that cannot be seen"
    assert not {"\x1b", "\u202e", "\n"}.intersection(incident.path + incident.location)


def test_a_secret_in_a_path_is_not_kept(workspace):
    secret = "AKIA" + "Q3EXAMPLE7EXAMPL"
    (Path(workspace.path) / f"{secret}.py").write_text("x = 1\n")
    found = read(workspace, sarif(result(f"file:///opt/{secret}/src/app.py"), result(f"{secret}.py")))
    assert [i.problem for i in found.incidents] == ["", "its name holds a secret"]
    assert found.root and secret not in str(found)
