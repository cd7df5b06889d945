"""The table of keys, the example and the outward form of a configuration agree."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.config.config_schema import config_schema
from workbench.config.describe import config_as_json
from workbench.config.layers import load_config

EXAMPLE = Path(__file__).parents[3] / "config.example.json"


def paths(value: object, path: str = "") -> set[str]:
    """Dotted paths of a JSON value as describe() names them."""
    if isinstance(value, dict) and path != "ui.keymap" and not path.endswith(".headers"):
        below = {f"{path}.{name}" if path else name: member for name, member in value.items()}
        return {path} | {found for name, member in below.items() for found in paths(member, name)}
    if isinstance(value, list):
        return {path} | {found for item in value for found in paths(item, f"{path}[]")}
    return {path}


def described(schema: dict, path: str = "") -> dict[str, dict]:
    """Members of the schema by the dotted paths that `paths` gives values."""
    schema = next((part for part in schema.get("anyOf", ()) if part.get("type") != "null"), {}) | schema
    members = schema.get("properties", {}) | dict.fromkeys(schema.get("patternProperties", ()))
    patterns = schema.get("patternProperties", {})
    members = {
        ("NAME" if name in patterns else name): member or patterns[name] for name, member in members.items()
    }
    rows = {} if path in ("", "providers", "providers.NAME") else {path: schema}
    for name, member in members.items():
        if not member.get("deprecated"):
            rows |= described(member, f"{path}.{name}" if path else name)
    return rows | described(schema["items"], f"{path}[]") if "items" in schema else rows


def test_the_example_is_valid_and_complete(tmp_path: Path):
    example = json.loads(EXAMPLE.read_text())
    (tmp_path / "config.json").write_text(EXAMPLE.read_text())
    loaded = load_config(tmp_path, None, trusted=False, env={}, options={})
    assert loaded.problems == ()
    assert config_as_json(loaded.config) == example
    used = {re.sub(r"^providers\.[^.]+", "providers.NAME", path) for path in paths(example)}
    assert len(described(config_schema())) > 60
    assert described(config_schema()).keys() - used == set()


def test_every_key_is_described_in_one_sentence():
    for path, schema in described(config_schema()).items():
        if not path.endswith("[]") and "properties" not in schema:
            assert re.fullmatch(r"[A-Z].*\.", schema["description"]), path


def test_described_defaults_are_the_defaults(tmp_path: Path):
    plain = config_as_json(load_config(tmp_path, None, trusted=False, env={}, options={}).config)
    defaults = {
        path: schema["default"] for path, schema in described(config_schema()).items() if "default" in schema
    }
    assert len(defaults) > 25
    for path, default in defaults.items():
        value: object = plain
        for name in path.split("."):
            if path.startswith("providers.") or path.endswith("[]"):
                value = default
                break
            assert isinstance(value, dict)
            value = value[name]
        assert value == default, path


def test_what_is_shown_can_be_read_again(tmp_path: Path):
    (tmp_path / "config.json").write_text(EXAMPLE.read_text())
    first = config_as_json(
        load_config(tmp_path, None, trusted=False, env={}, options={"ui.motion": "none"}).config
    )
    (tmp_path / "config.json").write_text(json.dumps(first))
    assert config_as_json(load_config(tmp_path, None, trusted=False, env={}, options={}).config) == first


def test_secrets_in_headers_are_not_shown(tmp_path: Path):
    headers = {"X-Api-Key": "fake", "Authorization": "Bearer FAKEfake0000FAKEfake"}
    (tmp_path / "config.json").write_text(json.dumps({"providers": {"ollama": {"headers": headers}}}))
    shown = json.dumps(config_as_json(load_config(tmp_path, None, trusted=False, env={}, options={}).config))
    assert "fake" not in shown.lower()


@pytest.mark.parametrize("heavy", ["pydantic", "jsonschema", "difflib"])
def test_reading_a_valid_configuration_loads_nothing_heavy(tmp_path: Path, heavy: str):
    (tmp_path / "config.json").write_text(EXAMPLE.read_text())
    program = (
        "import sys, pathlib, workbench.config.layers as c\n"
        f"c.load_config(pathlib.Path({str(tmp_path)!r}), None, trusted=False, env={{}}, options={{}})\n"
        f"assert {heavy!r} not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
