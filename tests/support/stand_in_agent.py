"""A stand-in for another agent's program: it leaves what a step declares, made from the step's schema."""

import json
import re._parser as sre
import sys

import yaml

PROGRAM = """#!{python}
import json, os, sys
prompt = sys.stdin.read()
steps = json.load(open({plan!r}))
step = max(steps, key=lambda step: sum(line in prompt for line in step["lines"]) / len(step["lines"]))
for path, text in step["files"].items():
    path = os.path.join(path, "index.md") if path.endswith("/") else path
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
usage = {{"input_tokens": 10, "output_tokens": 5}}
print(json.dumps({{"type": "result", "result": "done", "usage": usage}}))
"""


def instance(schema, root=None):
    """Return a small value that satisfies a JSON Schema as real ones are written."""
    root = schema if root is None else root
    if "$ref" in schema:
        found = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return instance(found, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for name in ("oneOf", "anyOf", "allOf"):
        if name in schema and "type" not in schema:
            return instance(schema[name][0], root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return typed(kind[0] if isinstance(kind, list) else kind, schema, root)


def typed(kind, schema, root):
    if kind == "object":
        known = schema.get("properties", {})
        return {name: instance(known.get(name, {}), root) for name in {*known, *schema.get("required", ())}}
    if kind == "array":
        return [instance(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        least = schema.get("minimum", 1)
        return min(least, schema.get("maximum", least))
    if kind == "boolean":
        return True
    return None if kind == "null" else text(schema)


def text(schema):
    formats = {
        "uri": "https://example.org/a/b/pull/1", "date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01",
        "email": "a@example.org", "uuid": "00000000-0000-4000-8000-000000000001",
    }  # fmt: skip
    if "pattern" in schema:
        return matching(sre.parse(schema["pattern"]))
    return formats.get(schema.get("format"), "feature").ljust(schema.get("minLength", 0), "x")


def matching(parts):
    """Return a text that a parsed regular expression matches."""
    return "".join(one_matching(str(kind), value) for kind, value in parts)


def one_matching(kind, value):
    match kind:
        case "LITERAL":
            return chr(value)
        case "IN":
            return one_matching(str(value[0][0]), value[0][1])
        case "RANGE":
            return chr(value[0])
        case "CATEGORY":
            return "1" if "DIGIT" in str(value) else "a"
        case "MAX_REPEAT" | "MIN_REPEAT":
            return matching(value[2]) * max(value[0], 1 if value[1] else 0)
        case "SUBPATTERN":
            return matching(value[-1])
        case "BRANCH":
            return matching(value[1][0])
        case "AT":
            return ""
    return "a"


def known_lines(source):
    """Return the lines of a prompt by which its step is known: those without a template."""
    return [line.strip() for line in source.splitlines() if "{{" not in line and line.strip()] or [
        source[:20]
    ]


def write_program(folder, root, pipeline):
    """Write a program `claude` for the agent steps of a pipeline's file, and return its folder."""
    steps = []
    for step in yaml.safe_load(pipeline.read_text())["steps"]:
        outputs = {
            one["path"]: f"# {one['name']}\n" for one in step.get("output_artifacts", ()) if "path" in one
        }
        handover = step.get("handover") or {}
        for contract in (
            *handover.get("contracts", ()),
            *([handover["contract"]] if "contract" in handover else ()),
        ):
            path = root / contract.get("schema_path", "-")
            source = contract.get("source") or min(
                outputs, key=lambda one: not one.endswith(".json"), default=""
            )
            if path.is_file():
                outputs[source] = json.dumps(instance(json.loads(path.read_text())))
        for path in outputs:
            if path.endswith(".json") and outputs[path].startswith("#"):
                outputs[path] = "{}"
        steps.append({"lines": known_lines(step.get("exec", {}).get("source", "")), "files": outputs})
    every = [line for step in steps for line in set(step["lines"])]
    for step in steps:
        step["lines"] = [line for line in step["lines"] if every.count(line) == 1] or step["lines"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(steps))
    program = folder / "claude"
    program.write_text(PROGRAM.format(python=sys.executable, plan=str(folder / "plan.json")))
    program.chmod(0o755)
    return folder
