"""Files of other programs that describe work: what each is recognised as, and what is none of them."""

import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from workflow_files import CREW_TASKS, HOSTILE, OTHERS, WORKFLOWS

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.formats.workflows.signatures import SIGNATURES, recognise_workflow
from workbench.text.yaml_nodes import outline_yaml, parse_yaml
from workbench.text.yaml_writer import yaml_text


def known(text, path="/p/any.name"):
    found = recognise_workflow(path, text.encode())
    return found.id if found else None


@each_row("name", list(WORKFLOWS))
def test_each_format_is_recognised_by_its_content_alone(name):
    _, text = WORKFLOWS[name]
    assert known(text) == name
    assert known(text.replace("\n", "\r\n")) == name
    assert known("\ufeff" + text) == name


def test_every_signature_has_an_example_and_a_sentence():
    assert {one.id for one in SIGNATURES} == set(WORKFLOWS)
    assert all(
        one.title.split()[0] in ("a", "an", "agents") and not one.advice.endswith(".") for one in SIGNATURES
    )


def test_the_two_files_of_a_crew_are_both_known():
    assert known(CREW_TASKS) == "crewai"


@each_row("name", list(OTHERS))
def test_what_is_none_of_them_is_not_taken_for_one(name):
    assert known(OTHERS[name]) is None


@each_row("path, text, name", [
    ("/p/Makefile", "test:\n\ttrue\n", "makefile"), ("/p/rules.mk", "a: b\n", "makefile"),
    ("/p/.justfile", "test:\n  true\n", "justfile"), ("/p/justfile", "words only\n", None),
    ("/p/agents/a.md", OTHERS["a skill"], "sub_agent"), ("/p/compose.yml", "services: {}\n", "compose"),
])  # fmt: skip
def test_a_name_helps_where_the_content_says_little(path, text, name):
    assert known(text, path) == name


@each_row("name", list(HOSTILE))
def test_hostile_files_are_read_to_an_end(name):
    assert known(HOSTILE[name]) is None


def test_the_time_follows_the_length():
    for name in ("spaces", "colons", "hyphens", "rules"):
        assert_grows_with_length(known, HOSTILE[name][:20_000], HOSTILE[name][:160_000])


def test_an_outline_keeps_three_levels_and_stops_where_the_text_breaks():
    assert outline_yaml("a: 1\nb: [1, {x: 1}]\nc: {d: {e: {f: 1}}}\n---\nz: 1\n") == {
        "a": "1", "b": (), "c": {"d": {"e": {}}},
    }  # fmt: skip
    assert outline_yaml("a: !x {b: 1}\nc: &c d\ne: *c\nbroken: [\n") == {
        "a": {"b": "1"},
        "c": "d",
        "e": "",
        "broken": (),
    }


TEXTS = st.text(max_size=30) | st.sampled_from(
    ["0o17", "1e3", "yes", "~", "a: b", "x\ny\n", "# x", "- a", " a\nb ", "\u2028"]
)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda key: key != "<<"),
        TEXTS | st.lists(TEXTS | st.booleans(), max_size=4),
    )
)
def test_what_is_written_as_yaml_is_read_as_it_was(value):
    assert parse_yaml(yaml_text({"k": value})).value == {"k": value}
