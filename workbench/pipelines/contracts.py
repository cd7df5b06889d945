"""Contracts between steps, JSON Schemas, and the schema of a run's input.

Checks schemas as they are written, the file a step hands over at its end, and the input given at the start.
"""

import fnmatch
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from msgspec.structs import replace

from workbench.domain.events import ContractChecked
from workbench.domain.values import ContractOutcome, Json, Refused
from workbench.effects.child_processes import HookExit, run_hook
from workbench.effects.git import GitFailed, run_git
from workbench.effects.search_path import own_environment
from workbench.pipelines import model
from workbench.pipelines.artifacts import ArtifactMissing, parse_content, workspace_file
from workbench.pipelines.documents import (
    OutsideRoot,
    ProjectFiles,
    check_path_inside,
    check_script_exists,
    path_inside_root,
    reporting_outside,
)
from workbench.pipelines.executor import (
    CheckedContract,
)
from workbench.pipelines.json_repair import NotJson, ReadJson, read_json
from workbench.pipelines.model import Contract, InputConfig, Step, TestCount
from workbench.policy.regex import InvalidRegex, Regex, RegexTooCostly
from workbench.secrets.scrubber import scrub
from workbench.text.located import DocumentPlace
from workbench.text.safe import one_line

# A contract that only warns says nothing of the others. `on_failure: warn` belongs to its contract; one
# that nobody here can check stops a run only where its failure would.


MOST_PROBLEMS: Final = 50
COMPILE_SECONDS: Final = 120.0
_TYPESCRIPT_SYNTAX: Final = re.compile(r"error TS1\d{3}:")


def contract_event(
    contract: Contract, outcome: ContractOutcome, problems: list[str], source: str, attempt: int
) -> ContractChecked:
    """Return the event of a check; a failure that does not block only warns."""
    weighted = "warned" if outcome == "failed" and not contract.is_blocking else outcome
    return ContractChecked(
        contract=contract.written_type, outcome=weighted, attempt=attempt, source=source,
        problems=tuple(scrub(one_line(problem, 600)).text for problem in problems[:MOST_PROBLEMS]),
        is_blocking=contract.is_blocking,
    )  # fmt: skip


OwnProgramRunner = Callable[[Sequence[str], str, Mapping[str, str]], HookExit]
"""Runs a program of a workspace there, with variables, for `COMPILE_SECONDS`. Raises Refused."""


def run_own_program(words: Sequence[str], folder: str, environment: Mapping[str, str]) -> HookExit:
    """Run a program of a workspace as the user."""
    return run_hook(words, b"", folder, environment, COMPILE_SECONDS)


def check_contract(
    contract: Contract,
    workspace: str,
    source: str,
    files: ProjectFiles,
    attempt: int,
    environment: Mapping[str, str],
    run_own: OwnProgramRunner,
) -> CheckedContract:
    """Check a contract that looks at a file; blocking. `run_own` runs a program of the workspace."""
    outcome: ContractOutcome | None = None
    read: ReadJson | None = None
    try:
        match contract.type:
            case "json_schema":
                problems, read = _check_schema(contract, workspace, source, files)
            case "non_empty_file":
                problems = list(_check_non_empty(workspace, source))
            case "typescript_interface":
                outcome, problems = _check_typescript(contract, workspace, source, environment, run_own)
            case "markdown_spec":
                problems = list(_check_markdown(workspace, source))
            case "test_diff" | "test_count_baseline":
                outcome, problems = check_test_count(contract, workspace, environment)
            case _:
                problems = [f"contracts of type {contract.written_type} are not checked here"]
                outcome = "failed" if contract.is_blocking else "not_checked"
    except (ArtifactMissing, Refused) as error:
        problems = [str(error)]
    event = contract_event(
        contract, outcome or ("failed" if problems else "passed"), problems, source, attempt
    )
    if read is None or not read.repairs:
        return CheckedContract(event=event)
    return CheckedContract(
        event=replace(event, repairs=read.repairs), repaired=None if problems else read.text
    )


def test_suite_event(contract: Contract, code: int | None, output: str, attempt: int) -> ContractChecked:
    """Return the event of a test suite that has run; its exit code decides."""
    outcome: ContractOutcome = "passed" if code == 0 else "failed"
    how = f"it ended with exit code {code}" if code is not None else "it did not end by itself"
    lines = [line for line in output.strip().splitlines()[-12:] if line.strip()]
    problems = [] if code == 0 else [how, *lines]
    return contract_event(contract, outcome, problems, contract.command, attempt)


def _check_non_empty(workspace: str, source: str) -> Iterator[str]:
    if not workspace_file(workspace, source).strip():
        yield f"{source} is empty"


def _check_schema(
    contract: Contract, workspace: str, source: str, files: ProjectFiles
) -> tuple[list[str], ReadJson | None]:
    try:
        schema = contract_schema(files, contract)
    except (UnreadableSchema, OutsideRoot) as error:
        return [f"the schema cannot be used: {error}"], None
    if schema is None:
        return [f"the schema {contract.schema_path or contract.schema} is not there"], None
    text = workspace_file(workspace, source).decode("utf-8", "replace")
    try:
        read = read_json(
            text,
            lambda value: next(schema_violations(schema, value), None) is None,
            repairs=contract.is_repairable,
        )
    except NotJson as error:
        return [f"{source} is not JSON: {error}"], None
    return list(schema_violations(schema, read.value)), read


_HEADING: Final = re.compile(r" {0,3}#{1,6}\s+\S")
_FENCE: Final = re.compile(r"\s*(```|~~~)")


def _check_markdown(workspace: str, source: str) -> Iterator[str]:
    """Check that a file has headings with text below them; its schema is not checked, which is named."""
    try:
        sections = markdown_sections(workspace_file(workspace, source).decode("utf-8"))
    except UnicodeDecodeError as error:
        yield f"{source} is not UTF-8 at byte {error.start}"
        return
    if not sections:
        yield f"{source} has no heading (a line that starts with #)"
    elif not any(sections.values()):
        yield f"{source} has nothing but headings"


def markdown_sections(text: str) -> dict[str, str]:
    """Return the text below each heading, by heading; what stands in a code fence is no heading."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and _HEADING.match(line):
            current = sections.setdefault(line.strip().strip("#").strip(), [])
            continue
        current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


def schema_violations(schema: Json, value: Json) -> Iterator[str]:
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
            validator.iter_errors(value), key=lambda error: [str(part) for part in error.absolute_path]
        )
    except RecursionError:
        yield "$: nested too deep to be checked"
        return
    except (jsonschema.SchemaError, Exception) as error:  # noqa: BLE001 -- a schema that cannot be used fails closed
        yield f"the schema cannot be used: {one_line(str(error), 200)}"
        return
    for error in errors[:MOST_PROBLEMS]:
        yield f"{_value_path(error.absolute_path)}: {one_line(error.message, 300)}"
    if len(errors) > MOST_PROBLEMS:
        yield f"and {len(errors) - MOST_PROBLEMS} more"


def _value_path(parts: Any) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _check_typescript(
    contract: Contract,
    workspace: str,
    source: str,
    environment: Mapping[str, str],
    run_own: OwnProgramRunner,
) -> tuple[ContractOutcome, list[str]]:
    workspace_file(workspace, source)  # tsc would say less well that it is not there
    outside, own = own_environment(environment), f"{workspace}/node_modules/.bin/tsc"
    compiler = _typescript_compiler(own, outside["PATH"])
    if compiler is None:
        return "not_checked", ["no TypeScript compiler (tsc) was found; install one to have it checked"]
    flags = ("--noEmit", "--pretty", "false", "--strict", "--skipLibCheck")
    words = (
        compiler,
        *flags,
        *(() if contract.is_compiled else ("--noResolve",)),
        f"./{path_inside_root(source)}",
    )
    if compiler == own:
        done = run_own(words, workspace, environment)
    else:
        done = run_hook(words, b"", workspace, outside, COMPILE_SECONDS)
    if done.timed_out:
        return "failed", [f"the compiler took longer than {COMPILE_SECONDS:.0f} s"]
    lines = [line for line in done.output.decode("utf-8", "replace").splitlines() if line.strip()]
    if not contract.is_compiled:
        lines = [line for line in lines if _TYPESCRIPT_SYNTAX.search(line)]
        return ("failed" if lines else "passed"), lines
    return ("passed" if done.code == 0 else "failed"), [] if done.code == 0 else lines


def _typescript_compiler(own: str, path: str) -> str | None:
    return own if Path(own).is_file() else shutil.which("tsc", path=path)


USUAL_SOURCES: Final = (".agents/artifact.json", ".wave/artifact.json")
"""What a contract checks that names nothing at a step that declares nothing."""


def check_contract_definitions(
    files: ProjectFiles, step: Step, places: Sequence[DocumentPlace], single: DocumentPlace
) -> None:
    """Report what is wrong with the contracts of a step, in its list or its single one."""
    for number, contract in enumerate(step.contracts):
        place = places[number] if number < len(places) else single
        if contract.type == "json_schema":
            _check_schema_definition(files, place, contract)
        elif contract.type == "test_suite" and contract.command and "{{" not in contract.command:
            check_script_exists(place.member("command") or place, files)
        if contract.review is not None:
            _check_review_definition(files, place, contract, step)
        if contract.source and "{{" not in contract.source:
            check_path_inside(place.member("source") or place, contract.source, "source", "the workspace")
        if contract.type in ("json_schema", "non_empty_file") and not contract.source and not step.outputs:
            usual = " or ".join(USUAL_SOURCES)
            message = f"it names no source, and the step declares no artifact: {usual} is checked"
            place.warn("usual_source", message)


def _check_review_definition(
    files: ProjectFiles, place: DocumentPlace, contract: Contract, step: Step
) -> None:
    review = contract.review
    if review is None:
        return
    if contract.type == "agent_review" and review.persona and review.persona == step.persona:
        message = f"{one_line(review.persona, 60)} would review its own work; name another persona"
        (place.member("persona") or place).error("self_review", message)
    criteria_place = place.member("criteria_path")
    if criteria_place is None or not review.criteria_path:
        return
    with reporting_outside(criteria_place, "; keep it inside"):
        if files.text(review.criteria_path) is None:
            message = f"the criteria {one_line(review.criteria_path, 120)} are missing"
            criteria_place.warn("missing_file", message, stops_run=contract.is_blocking)


def _check_schema_definition(files: ProjectFiles, place: DocumentPlace, contract: Contract) -> None:
    schema_place = place.member("schema_path") or place.member("schema") or place
    try:
        schema = contract_schema(files, contract)
    except OutsideRoot:
        schema_place.error("path_outside", f"{one_line(contract.schema_path, 120)} leads out of the project")
        return
    except UnreadableSchema as error:
        schema_place.error("bad_schema", str(error))
        return
    if schema is None:
        where = contract.schema_path or str(contract.schema)
        schema_place.warn("missing_file", f"the schema {one_line(where, 120)} is not there", stops_run=True)
        return
    for problem in schema_problems(schema):
        schema_place.error("bad_schema", f"this is not a JSON Schema: {problem}")


class UnreadableSchema(ValueError):
    """A schema cannot be read as JSON."""


def contract_schema(files: ProjectFiles, contract: Contract) -> Json:
    """Return the schema of a contract, None without its file. Raises UnreadableSchema or OutsideRoot."""
    inline, path = contract.schema, contract.schema_path
    if isinstance(inline, dict):
        return cast("Json", inline)
    if isinstance(inline, str) and not path:
        # S1: inline schema or file path, in one field.
        if inline.lstrip().startswith("{"):
            return _parse_schema(inline, "the inline schema")
        path = inline.strip()
    if not path:
        return None
    text = files.text(path)
    return None if text is None else _parse_schema(text, path)


def _parse_schema(text: str, name: str) -> Json:
    try:
        schema: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableSchema(f"{one_line(name, 120)} is not JSON: {one_line(str(error), 160)}") from None
    if not isinstance(schema, dict | bool):
        raise UnreadableSchema(f"{one_line(name, 120)} is not a JSON object")
    return cast("Json", schema)


def schema_problems(schema: Json) -> list[str]:
    """Return what keeps a value from being a JSON Schema; references to elsewhere are among it."""
    import jsonschema
    from jsonschema import validators

    if isinstance(schema, bool):
        return []
    problems = list(_outside_references(schema, 0))
    try:
        library = cast("type[object]", validators.validator_for(schema, validators.Draft202012Validator))
        library.check_schema(schema)  # type: ignore[attr-defined]
    except jsonschema.SchemaError as error:
        path = "/".join(str(part) for part in error.absolute_path) or "the schema"
        problems.append(f"{one_line(path, 120)}: {one_line(error.message, 160)}")
    except RecursionError:
        problems.append("nested too deep")
    return problems


def _outside_references(node: Json, depth: int) -> "list[str]":
    if depth > 64:
        return ["nested too deep"]
    if isinstance(node, list):
        return [text for item in cast("list[Json]", node) for text in _outside_references(item, depth + 1)]
    if not isinstance(node, dict):
        return []
    members = cast("dict[str, Json]", node)
    own = members.get("$ref")
    outside = isinstance(own, str) and not own.startswith("#")
    references = (
        [f"$ref {one_line(str(own), 100)} leads out of the schema; nothing is fetched"] if outside else []
    )
    return references + [text for item in members.values() for text in _outside_references(item, depth + 1)]


class InputRefused(ValueError):
    """The input does not satisfy the pipeline's schema; names every failing path."""


def check_input(config: InputConfig, text: str) -> None:
    """Refuse an input that fails the schema; a text is taken as it is. Raises InputRefused."""
    declared_schema: Json = config.schema
    if config.is_required and not text.strip():
        example = f", for example {config.example}" if config.example else ""
        raise InputRefused(f"the pipeline needs an input{example}")
    if not isinstance(declared_schema, Mapping):
        return
    schema = dict(cast("Mapping[str, Json]", declared_schema))
    kind = schema.get("type")
    if kind == "json":
        schema.pop("type")
    value: Json = (
        text if kind in ("string", None) and "properties" not in schema else parse_content(text.encode())
    )
    problems = list(schema_violations(schema, value))
    if problems:
        example = f"; an example is {config.example}" if config.example else ""
        raise InputRefused(f"the input fails the pipeline's schema: {'; '.join(problems)}{example}")


HEAD: Final = "HEAD"
_SECONDS: Final = 60.0


def require_tracked_files(workspace: str, environment: Mapping[str, str]) -> None:
    """Raise GitFailed where a step's folder has no files under version control; blocking.

    A folder of the engine may lie inside the project: the project's repository is not the step's.
    """
    words = ("ls-files", "--error-unmatch", "--", ".")
    if not run_git(workspace, *words, environment=environment, seconds=_SECONDS).strip():
        raise GitFailed("the step's folder has no files under version control")


def git_text(workspace: str, *words: str, environment: Mapping[str, str]) -> str:
    """Return what git prints in a step's folder; blocking. Raises GitFailed."""
    output = run_git(workspace, *words, environment=environment, seconds=_SECONDS)
    return output.decode("utf-8", "replace")


def changes_text(workspace: str, environment: Mapping[str, str]) -> str:
    """Return what changed in a step's folder since the last commit, as a unified diff; blocking.

    Raises GitFailed.
    """
    require_tracked_files(workspace, environment)
    return git_text(workspace, "diff", HEAD, "--", ".", environment=environment)


_MOST_FILES: Final = 5_000
"""Files with tests whose versions are read of each commit."""


def check_test_count(
    contract: Contract, workspace: str, environment: Mapping[str, str]
) -> tuple[ContractOutcome, list[str]]:
    """Count the tests that are gone: since the last commit, or between two commits; blocking.

    Where there is nothing to compare with, as in a folder without a commit, it is not checked and says so.
    """
    tests = contract.tests or TestCount()
    try:
        counter = _TestCounter(tests, workspace, environment)
        if contract.type == "test_diff":
            removed, added = counter.changed()
            deletions, since = removed - added, f"{removed} removed and {added} added since the last commit"
        else:
            before, now = counter.count(tests.base), counter.count(HEAD)
            deletions, since = before - now, f"{before} in {one_line(tests.base, 60)}, {now} now"
    except GitFailed as error:
        return "not_checked", [f"there is nothing to compare with: {one_line(str(error), 200)}"]
    except (InvalidRegex, RegexTooCostly) as error:
        return "failed", [f"test_func_pattern cannot be used: {one_line(str(error), 200)}"]
    if deletions <= tests.most_deletions:
        return "passed", []
    count = f"{deletions} test{'s are' if deletions != 1 else ' is'} gone ({since})"
    most = f"at most {tests.most_deletions} may be"
    return "failed", [f"{count}; {most}: repair or replace a test instead of removing it"]


class _TestCounter:
    def __init__(self, tests: TestCount, workspace: str, environment: Mapping[str, str]) -> None:
        self._tests, self._workspace, self._environment = tests, workspace, environment
        self._pattern = Regex(tests.pattern)
        require_tracked_files(workspace, environment)

    def changed(self) -> tuple[int, int]:
        """Return how many lines that start a test were removed and added."""
        text = self._git("diff", HEAD, "--", *self._tests.files)
        lines = [line for line in text.splitlines() if not line.startswith(("+++", "---"))]
        return self._count_lines(lines, "-"), self._count_lines(lines, "+")

    def _count_lines(self, lines: list[str], sign: str) -> int:
        return self._matches("\n".join(line[1:] for line in lines if line.startswith(sign)))

    def count(self, commit: str) -> int:
        """Return how many tests a commit has."""
        if commit.startswith("-"):
            raise GitFailed(f"{one_line(commit, 60)} is not a commit")
        names = self._git("ls-tree", "-r", "-z", "--name-only", commit, "--").split("\0")
        test_files = [name for name in names if name and self._is_test_file(name)]
        total = 0
        for name in test_files[:_MOST_FILES]:
            total += self._matches(self._git("cat-file", "blob", f"{commit}:{name}"))
        return total

    def _is_test_file(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(
            fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(name, pattern)
            for pattern in self._tests.files
        )

    def _matches(self, text: str) -> int:
        return sum(self._pattern.is_in(line) for line in text.splitlines())

    def _git(self, *words: str) -> str:
        return git_text(self._workspace, *words, environment=self._environment)


def named_source(outputs: Sequence[model.ArtifactSpec], contract: model.Contract) -> model.ArtifactSpec | str:
    """Return what a contract checks: an artifact by its name, a path, else the first artifact there is."""
    source = contract.source
    files = [output for output in outputs if output.kind != "folder"]
    if not source and contract.type == "json_schema":  # of several the first that is meant to be JSON
        files.sort(key=lambda output: output.type != "json" and not output.path.endswith(".json"))
    return next((output for output in files if source in ("", output.name)), source)
