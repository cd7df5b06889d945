"""The tool `pipeline.run`: run one of the project's pipelines to its end, and say what came of it.

Starts nothing itself: its place does, under the rules of every run. Its gates and questions are rows of the
queue like any others.
"""

from workbench.domain.values import Example, JsonObject, ToolDescriptor
from workbench.tools.base import Output, Place


class PipelineRun:
    """S4 `pipeline.run`: execute, asks by its descriptor."""

    descriptor = ToolDescriptor(
        id="pipeline.run", wire_name="pipeline_run",
        description="Run one of the project's pipelines by name and wait for its end. Returns its status, "
        "its steps, its artifacts and how to read its log.",
        capability="execute", risk_level="dangerous",
        input_schema={
            "type": "object", "additionalProperties": False, "required": ["name"],
            "properties": {
                "name": {
                    "type": "string", "minLength": 1, "maxLength": 200,
                    "description": "Name of the pipeline.",
                },
                "input": {"type": "string", "maxLength": 100000, "description": "What it works on."},
            },
        },
        output_schema={"type": "object"}, verb="run", target_parameter="name",
        examples=(
            Example(description="Run the nightly checks", parameters={"name": "nightly", "input": "login"}),
        ),
    )  # fmt: skip

    def check(self, parameters: JsonObject, place: Place) -> None:
        """Refuse a pipeline that is not there or could not begin."""
        place.pipelines.check(str(parameters["name"]))

    def act(self, parameters: JsonObject, place: Place) -> Output:
        """Run it to its end."""
        given = str(parameters.get("input", ""))
        return place.pipelines.run(str(parameters["name"]), given, place.is_stopped)

    def settle(self, parameters: JsonObject, place: Place) -> Output | None:
        """Return None: a run that lost its driver is resumed by a human, not by a tool."""
        del parameters, place
