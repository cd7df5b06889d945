"""The tools run_in_terminal, terminal_last_command and pipeline.run."""

import os
import shutil
from collections.abc import Sequence
from typing import Final, cast, get_args

from msgspec.structs import replace

from workbench.changes.diff import FileChange
from workbench.domain.machines import RunStatus, StepStateName
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor, ToolExample
from workbench.effects.search_path import own_search_path
from workbench.text.human import duration_text
from workbench.tools.base import (
    COUNT_SCHEMA,
    FILLED_SCHEMA,
    TEXT_SCHEMA,
    CallContext,
    CommandSpec,
    CommitDraft,
    LastCommand,
    ToolLimits,
    ToolOutput,
    ToolRefused,
    parameters_schema,
    result_schema,
)

MAX_COMMAND_SECONDS: Final = 300
_OUTSIDE_SCHEMA: Final[JsonObject] = {
    "type": "boolean",
    "description": "True asks the user to run it outside the sandbox. Only for what cannot work inside.",
}
_REASON_SCHEMA: Final[JsonObject] = {
    "type": "string", "maxLength": 300,
    "description": "With outside: why it cannot work inside, in one sentence for the user.",
}  # fmt: skip
_SANDBOX_SENTENCES: Final = (
    " By default it runs in a sandbox: it can write only in the workspace, not in .git nor in files that "
    "control the workspace, and has no network; what the sandbox refused is named in the result. Nothing is "
    "run again automatically: to run a command outside, call this with outside and a reason."
)


class RunInTerminal:
    """The tool run_in_terminal."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.RUN_IN_TERMINAL.id, wire_name=BuiltInTool.RUN_IN_TERMINAL.wire_name,
        description="Run a shell command in the workspace without a terminal or input. Returns its output "
        "and exit code; a command that ends with another code than 0 has failed. Each command starts in a "
        f"new shell.{_SANDBOX_SENTENCES}",
        capability="execute", risk_level="dangerous", verb=BuiltInTool.RUN_IN_TERMINAL.verb,
        command_parameter="command", target_parameter="command",
        input_schema=parameters_schema(
            "command",
            command=FILLED_SCHEMA,
            timeout_seconds={"type": "integer", "minimum": 1, "maximum": MAX_COMMAND_SECONDS},
            outside=_OUTSIDE_SCHEMA,
            reason=_REASON_SCHEMA,
        ),
        output_schema=result_schema(exit_code={"type": ["integer", "null"]}),
        examples=(
            ToolExample(description="Run the tests", parameters={"command": "pytest -q"}),
            ToolExample(description="Build, with more time",
                        parameters={"command": "make", "timeout_seconds": 300}),
        ),
    )  # fmt: skip

    def command(self, parameters: JsonObject, limits: ToolLimits) -> CommandSpec:
        command = str(parameters["command"])
        if not command.strip() or "\0" in command:
            raise ToolRefused("Not run: the command is empty or holds a NUL character; send shell text.")
        path = own_search_path(os.environ.get("PATH", os.defpath))
        shell = shutil.which("bash", path=path) or "/bin/sh"
        asked_seconds = parameters.get("timeout_seconds")
        seconds = min(
            float(asked_seconds if asked_seconds is not None else limits.command_seconds),
            MAX_COMMAND_SECONDS,
        )
        # Behind `--` a command that starts with a dash is no option of the shell.
        return CommandSpec(argv=(shell, "-c", "--", command), command=command, timeout_seconds=seconds)


def without_sandbox(descriptor: ToolDescriptor) -> ToolDescriptor:
    """Return a tool as a model is offered it whose commands have no sandbox to leave."""
    if descriptor.id != RunInTerminal.descriptor.id:
        return descriptor
    properties = cast("JsonObject", descriptor.input_schema["properties"])
    kept = {name: schema for name, schema in properties.items() if name not in ("outside", "reason")}
    return replace(
        descriptor, description=descriptor.description.replace(_SANDBOX_SENTENCES, ""),
        input_schema={**descriptor.input_schema, "properties": kept},
    )  # fmt: skip


class TerminalLastCommand:
    """The tool terminal_last_command."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.TERMINAL_LAST_COMMAND.id, wire_name=BuiltInTool.TERMINAL_LAST_COMMAND.wire_name,
        description="Return the last command that this session ran with run_in_terminal, its exit code and "
        "its output. Runs nothing.",
        capability="read", risk_level="read_only", verb=BuiltInTool.TERMINAL_LAST_COMMAND.verb,
        input_schema=parameters_schema(),
        output_schema=result_schema(command=TEXT_SCHEMA),
        examples=(ToolExample(description="The last command", parameters={}),),
    )  # fmt: skip

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:  # noqa: ARG002 -- it takes none
        last = context.last_command()
        if last is None:
            words = "No command was run in this session yet."
            return ToolOutput(text=words, metadata={"command": ""}, summary="no command yet")
        text = f"$ {last.command}\n{_end_words(last)}\n\n{last.output}".rstrip()
        return ToolOutput(text=text, metadata={"command": last.command}, summary=last.command.split("\n")[0])


def _end_words(last: LastCommand) -> str:
    code = "" if last.exit_code is None else f"exit code {last.exit_code}"
    facts = ", ".join(dict.fromkeys(filter(None, (last.detail.replace("exit ", "exit code "), code))))
    return f"[{last.state}{f' ({facts})' if facts else ''} after {duration_text(last.duration_ms / 1000)}]"


MOST_RUN_FACTS: Final = 200
"""Steps and artifacts of a run that are named one by one in its result; the log has all."""
_RUN_SCHEMA: Final = result_schema(
    run_id=TEXT_SCHEMA,
    status={"enum": list(get_args(RunStatus))},
    steps={
        "type": "array", "maxItems": MOST_RUN_FACTS,
        "items": {
            "type": "object", "required": ["step", "state", "error"], "additionalProperties": False,
            "properties": {
                "step": {"type": "string", "minLength": 1},
                "state": {"enum": list(get_args(StepStateName))},
                "error": TEXT_SCHEMA,
            },
        },
    },
    artifacts={"type": "array", "maxItems": MOST_RUN_FACTS, "items": {"type": "string", "minLength": 1}},
    left_out=COUNT_SCHEMA,
    log=TEXT_SCHEMA,
)  # fmt: skip
"""What S4 asks for: the status, the artifacts and where the log is; `left_out` counts what is not named."""


class RunPipeline:
    """S4 `pipeline.run`: execute, asks by its descriptor."""

    descriptor = ToolDescriptor(
        id=BuiltInTool.RUN_PIPELINE.id, wire_name=BuiltInTool.RUN_PIPELINE.wire_name,
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
                "definition": {
                    "type": "string", "minLength": 1, "maxLength": 100000,
                    "description": "The whole text (YAML) of a pipeline that you wrote yourself, instead of "
                    "one of the project. A human looks at it first.",
                },
                "input": {"type": "string", "maxLength": 100000, "description": "What it works on."},
            },
        },
        output_schema=_RUN_SCHEMA, verb=BuiltInTool.RUN_PIPELINE.verb, target_parameter="name",
        examples=(
            ToolExample(description="Run the nightly checks",
                        parameters={"name": "nightly", "input": "login"}),
        ),
    )  # fmt: skip

    def draft(self, parameters: JsonObject, context: CallContext) -> CommitDraft:
        """Return what would be run, sealed; refuse a pipeline that is not there or could not start."""
        name, definition = str(parameters["name"]), str(parameters.get("definition", ""))
        sealed = context.pipelines.seal(name, definition, str(parameters.get("input", "")))
        subject: JsonObject = {
            "pipeline": sealed.name, "digest": sealed.digest, "sealed": sealed.ref,
            "steps": list(sealed.steps), "is_generated": sealed.is_generated,
        }  # fmt: skip
        return CommitDraft(
            changes=(), subject=subject, words=self.words(subject), target=sealed.name,
            subject_ref=sealed.ref, needs_answer=sealed.is_generated,
        )  # fmt: skip

    def words(self, subject: JsonObject) -> str:
        """Return the graph of what would be run, and the digest of its exact text."""
        whose = "which the agent wrote" if subject.get("is_generated") else "of this project"
        steps = cast("list[str]", subject.get("steps") or [])
        lines = [f"Run the pipeline {subject.get('pipeline')}, {whose}:", *(f"  {step}" for step in steps)]
        return "\n".join([*lines, f"Exactly this text runs: {subject.get('digest')}"])

    def commit(self, changes: Sequence[FileChange], subject: JsonObject, context: CallContext) -> ToolOutput:
        del changes
        return context.pipelines.run(str(subject["digest"]), str(subject["sealed"]), context.is_stopped)
