"""Problems are reported at their lines, in one type, whatever form the document has."""

import pytest

from workbench.text.json_nodes import JsonError, LocatedError, LocatedNode, node_of_value, parse_json_nodes
from workbench.text.located import DocumentPlace
from workbench.text.nearest import nearest_name, nearest_names
from workbench.text.problems import Problem, ProblemReport
from workbench.text.yaml_nodes import YamlError, parse_yaml

JSON = """{
  "steps": [
    {"id": 1},
    {"id": null, "persna": "x"}
  ]
}"""
YAML = """# a comment, so that the lines are those of the JSON text
steps:
  - id: 1
  - {id: null, persna: x}
"""


def reported(root: LocatedNode) -> list[Problem]:
    place = DocumentPlace(report=ProblemReport(), file="f", node=root)
    steps = place.present("steps")
    assert steps is not None
    first, second = steps.items()
    assert second.present("id") is None and first.member("none") is None
    second.key("persna").warn("unknown_key", "it is not known")
    second.key("none").error("missing_field", "it needs none")
    number = first.present("id")
    assert number is not None
    number.add("it has to be a text", "Write quotes.", fatal=False)
    return place.report.ordered()


@pytest.mark.parametrize(
    ("root", "columns"), [(parse_json_nodes(JSON), (12, 5, 18)), (parse_yaml(YAML), (9, 5, 16))]
)
def test_a_problem_has_the_place_of_its_value_or_key(root: LocatedNode, columns: tuple[int, ...]):
    found = reported(root)
    assert [(p.line, p.key) for p in found] == [(3, "steps[0].id"), (4, "steps[1]"), (4, "steps[1].persna")]
    assert tuple(p.column for p in found) == columns
    assert [(p.severity, p.fatal) for p in found] == [("error", False), ("error", True), ("warning", False)]


def test_a_name_has_the_place_of_its_key_and_a_value_from_no_text_that_of_its_parent():
    place = DocumentPlace(report=ProblemReport(), file="f", node=parse_json_nodes('{"a":\n  5}'))
    value = place.member("a")
    assert value is not None and (value.node.line, value.node.column) == (2, 3)
    assert (place.key("a").node.line, place.key("a").node.column, place.key("a").path) == (1, 2, "a")
    assert (value.own_key().node.line, value.own_key().node.column) == (1, 2)
    plain = place.at(node_of_value({"a": 5}), "b")
    assert plain.key("a") is plain is plain.key("none")


def test_members_have_their_names_as_they_are_written_and_their_plain_values():
    name = "long\t" + "x" * 200
    place = DocumentPlace(report=ProblemReport(), file="f", node=node_of_value({"a": {name: 5, "b": None}}))
    inner = place.member("a")
    assert inner is not None
    assert [(key, one.path) for key, one in inner.members()] == [(name, f"a.{name}"), ("b", "a.b")]
    assert [inner.value(key) for key in (name, "b", "none")] == [5, None, None]
    assert place.value("a") == {name: 5, "b": None} and next(iter(place.members()))[1] == inner
    assert list(place.at(node_of_value(7), "n").members()) == []


@pytest.mark.parametrize(("problem", "line"), [
    (Problem(code="c", message="m", file="f", line=2, column=3), "f:2:3: error: m [c]"),
    (Problem(code="c", message="m", file="f", severity="warning"), "f: warning: m [c]"),
    (Problem(message="M.", file="f", line=2, remedy="R."), "f line 2: M. R."),
    (Problem(message="M.", file="f"), "f: M."),
])  # fmt: skip
def test_a_problem_as_a_line(problem: Problem, line: str):
    assert str(problem) == line


def test_what_stops_a_run_becomes_an_error_of_it():
    stops = Problem(code="c", message="m", file="f", severity="warning")
    report = ProblemReport([stops, Problem(code="d", message="n", file="f", severity="warning", fatal=False)])
    assert report.is_ok and not report.is_runnable and report.stopping == [stops]
    assert [p.severity for p in report.for_running().found] == ["error", "warning"]
    assert [(p.severity, p.fatal) for p in report.strict().found] == [("error", True), ("error", True)]


@pytest.mark.parametrize("read", [parse_json_nodes, parse_yaml])
def test_text_that_is_not_read_says_where(read):
    with pytest.raises(LocatedError) as caught:
        read('{"a": 1,\n "b": }}')
    assert isinstance(caught.value, JsonError | YamlError) and caught.value.code.endswith("_syntax")
    assert caught.value.line == 2 and str(caught.value).startswith("line 2, column ")


def test_the_nearest_name():
    assert nearest_name("persna", ["adapter", "persona"]) == "persona"
    assert nearest_name("persna", ["adapter"]) == nearest_name("persna", []) == ""
    assert nearest_name("persna", ["persona"], 0.99) == ""
    assert nearest_name("persona" + "x" * 100_000, ["persona"]) == ""


def test_the_nearest_names_come_first_and_are_at_most_so_many():
    known = ["llama3", "llama3.1", "llama3.2", "gpt"]
    assert nearest_names("lama3.1", known, 2) == ["llama3.1", "llama3.2"]
    assert nearest_names("lama3.1", known, 9, 0.99) == []
