"""The input of a pipeline and the source of a contract: what is read, and what is refused or chosen."""

import pytest

from tests.support.tables import each_row
from tests.unit.pipelines.projects import command, project
from workbench.pipelines.contracts import InputRefused, check_input, named_source
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.model import ArtifactSpec, Contract, InputConfig

REPO = {"type": "object", "required": ["repo"], "properties": {"repo": {"type": "string"}}}


@pytest.mark.spec(223)
@each_row(
    ("config", "text", "why"),
    [
        (InputConfig(), "", ""),
        (InputConfig(), "anything", ""),
        (InputConfig(is_required=True), " ", "the pipeline needs an input"),
        (InputConfig(is_required=True, example="all"), "", "the pipeline needs an input, for example all"),
        (InputConfig(schema=REPO), '{"repo": "r"}', ""),
        (InputConfig(schema=REPO), '{"repo": 3}', "the input fails the pipeline's schema: "),
        (InputConfig(schema=REPO, example="{}"), "{}", "; an example is {}"),
        (InputConfig(schema={**REPO, "type": "json"}), '{"repo": "r"}', ""),
        (InputConfig(schema={**REPO, "type": "json"}), "{}", "'repo' is a required property"),
        (InputConfig(schema={"type": "string", "minLength": 3}), "1234", ""),
        (InputConfig(schema={"type": "string", "minLength": 3}), "12", "is too short"),
        (InputConfig(schema={"minLength": 3}), "12", "is too short"),
        (InputConfig(schema={"type": "integer"}), "12", ""),
        (InputConfig(schema={"type": "integer"}), '"12"', "is not of type 'integer'"),
    ],
)
def test_an_input_is_held_to_its_schema(config, text, why):
    if not why:
        check_input(config, text)
        return
    with pytest.raises(InputRefused) as refused:
        check_input(config, text)
    assert why in str(refused.value)


@pytest.mark.spec(223)
def test_every_member_of_an_input_is_read_and_those_without_effect_are_named(tmp_path):
    head = (
        "input: {source: cli, schema: {type: string}, example: all, label_filter: bug, batch_size: 5,"
        " required: true}\n"
    )
    loaded = load_pipeline(project(tmp_path, command("a"), head=head))
    assert loaded.pipeline.input == InputConfig(
        source="cli",
        schema={"type": "string"},
        example="all",
        label_filter="bug",
        batch_size=5,
        is_required=True,
    )
    told = [(problem.severity, problem.key) for problem in loaded.report.ordered()]
    assert told == [("warning", "input.label_filter"), ("warning", "input.batch_size")]


TEXT, DATA = ArtifactSpec(name="text", path="text.md"), ArtifactSpec(name="data", path="data.json")
TYPED = ArtifactSpec(name="typed", path="typed", type="json")
FOLDER = ArtifactSpec(name="all", path="out", kind="folder")


@pytest.mark.spec(224)
@each_row(
    ("outputs", "kind", "source", "found"),
    [
        ((TEXT, DATA), "test_suite", "", TEXT),
        ((TEXT, DATA), "json_schema", "", DATA),
        ((TEXT, TYPED, DATA), "json_schema", "", TYPED),
        ((TEXT, DATA), "json_schema", "text", TEXT),
        ((TEXT, DATA), "json_schema", "out/other.json", "out/other.json"),
        ((FOLDER, TEXT), "test_suite", "", TEXT),
        ((FOLDER,), "test_suite", "all", "all"),
        ((FOLDER,), "json_schema", "", ""),
        ((), "json_schema", "", ""),
    ],
)
def test_a_contract_checks_the_artifact_it_names_or_the_path_or_the_first_there_is(
    outputs, kind, source, found
):
    assert named_source(outputs, Contract(type=kind, written_type=kind, source=source)) == found
