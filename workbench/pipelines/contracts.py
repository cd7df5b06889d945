"""Contracts at the end of a step: whether what it hands over is what was agreed.

Owns the meaning of each type and the words of its failures. It blocks where it reads or compiles: call it
from a thread. What cannot be checked is `not_checked`, never passed.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from workbench.domain.runs import ContractChecked, ContractOutcome
from workbench.domain.values import Json
from workbench.effects.files import FileRefused, Root
from workbench.effects.hook import run_hook
from workbench.pipelines.checks_contract import BadSchema, schema_of
from workbench.pipelines.files import Files, OutsideRoot, inside
from workbench.pipelines.model import Contract
from workbench.text.safe import one_line
from workbench.text.scrub import scrub

MOST_PROBLEMS: Final = 50
COMPILE_SECONDS: Final = 120.0
_SYNTAX: Final = re.compile(r"error TS1\d{3}:")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n```\s*", re.DOTALL)


def checked(
    contract: Contract, outcome: ContractOutcome, problems: list[str], source: str, attempt: int
) -> ContractChecked:
    """Return the event of a check."""
    return ContractChecked(
        contract=contract.written_type, outcome=outcome, attempt=attempt, source=source,
        problems=tuple(scrub(one_line(problem, 600)).text for problem in problems[:MOST_PROBLEMS]),
        is_blocking=contract.is_blocking,
    )  # fmt: skip


def check(
    contract: Contract,
    workspace: str,
    source: str,
    files: Files,
    attempt: int,
    environment: Mapping[str, str],
) -> ContractChecked:
    """Check a contract that looks at a file; blocking."""
    match contract.type:
        case "json_schema":
            problems = list(_schema(contract, workspace, source, files))
        case "non_empty_file":
            problems = list(_non_empty(workspace, source))
        case "typescript_interface":
            outcome, problems = _typescript(contract, workspace, source, environment)
            return checked(contract, _weighed(contract, outcome), problems, source, attempt)
        case _:
            problems = [f"contracts of type {contract.written_type} are not checked here"]
            if not contract.is_blocking:
                return checked(contract, "not_checked", problems, source, attempt)
    outcome: ContractOutcome = "failed" if problems else "passed"
    return checked(contract, _weighed(contract, outcome), problems, source, attempt)


def _weighed(contract: Contract, outcome: ContractOutcome) -> ContractOutcome:
    return "warned" if outcome == "failed" and not contract.is_blocking else outcome


def suite(contract: Contract, code: int | None, output: str, attempt: int) -> ContractChecked:
    """Return the event of a test suite that has run; its exit code decides."""
    outcome = _weighed(contract, "passed" if code == 0 else "failed")
    how = f"it ended with exit code {code}" if code is not None else "it did not end by itself"
    lines = [line for line in output.strip().splitlines()[-12:] if line.strip()]
    problems = [] if code == 0 else [how, *lines]
    return checked(contract, outcome, problems, contract.command, attempt)


def _bytes(workspace: str, source: str) -> bytes | str:
    """Return the bytes of a file, or why there are none."""
    try:
        with Root(workspace) as root:
            image = root.image(inside(source))
    except (FileRefused, OutsideRoot) as error:
        return str(error)
    return f"{source} is not there" if image is None else image.data


def _non_empty(workspace: str, source: str) -> Iterator[str]:
    data = _bytes(workspace, source)
    if isinstance(data, str):
        yield data
    elif not data.strip():
        yield f"{source} is empty"


def _schema(contract: Contract, workspace: str, source: str, files: Files) -> Iterator[str]:
    try:
        schema = schema_of(files, contract)
    except (BadSchema, OutsideRoot) as error:
        yield f"the schema cannot be used: {error}"
        return
    if schema is None:
        yield f"the schema {contract.schema_path or contract.schema} is not there"
        return
    data = _bytes(workspace, source)
    if isinstance(data, str):
        yield data
        return
    text = data.decode("utf-8", "replace")
    fenced = _FENCE.fullmatch(text)
    try:
        found: Json = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        yield f"{source} is no JSON: {error}"
        return
    yield from failing_paths(schema, found)


def failing_paths(schema: Json, found: Json) -> Iterator[str]:
    """Yield every path of a value that does not satisfy a schema, with what is wrong there."""
    import jsonschema
    import referencing
    from jsonschema import validators

    if isinstance(schema, bool):
        if not schema:
            yield "$: nothing satisfies this schema"
        return
    library = cast("Any", validators)
    cls = library.validator_for(schema, library.Draft202012Validator)
    validator = cls(schema, registry=cast("Any", referencing).Registry())
    try:
        errors = sorted(
            validator.iter_errors(found), key=lambda error: [str(part) for part in error.absolute_path]
        )
    except RecursionError:
        yield "$: nested too deep to be checked"
        return
    except (jsonschema.SchemaError, Exception) as error:  # noqa: BLE001 -- a schema that cannot be used fails closed
        yield f"the schema cannot be used: {one_line(str(error), 200)}"
        return
    for error in errors[:MOST_PROBLEMS]:
        yield f"{_path(error.absolute_path)}: {one_line(error.message, 300)}"
    if len(errors) > MOST_PROBLEMS:
        yield f"and {len(errors) - MOST_PROBLEMS} more"


def _path(parts: Any) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _typescript(
    contract: Contract, workspace: str, source: str, environment: Mapping[str, str]
) -> tuple[ContractOutcome, list[str]]:
    data = _bytes(workspace, source)
    if isinstance(data, str):
        return "failed", [data]
    compiler = _compiler(workspace)
    if compiler is None:
        return "not_checked", ["no TypeScript compiler (tsc) was found; install one to have it checked"]
    flags = ("--noEmit", "--pretty", "false", "--strict", "--skipLibCheck")
    words = (compiler, *flags, *(() if contract.is_compiled else ("--noResolve",)), f"./{inside(source)}")
    done = run_hook(words, b"", workspace, environment, COMPILE_SECONDS)
    if done.timed_out:
        return "failed", [f"the compiler took longer than {COMPILE_SECONDS:.0f} s"]
    lines = [line for line in done.output.decode("utf-8", "replace").splitlines() if line.strip()]
    if not contract.is_compiled:
        lines = [line for line in lines if _SYNTAX.search(line)]
        return ("failed" if lines else "passed"), lines
    return ("passed" if done.code == 0 else "failed"), [] if done.code == 0 else lines


def _compiler(workspace: str) -> str | None:
    own = Path(workspace) / "node_modules" / ".bin" / "tsc"
    return str(own) if own.is_file() else shutil.which("tsc")
