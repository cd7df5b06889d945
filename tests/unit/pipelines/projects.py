"""Small projects with a manifest and pipelines, written for a test."""

import io
import textwrap

from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch

MANIFEST = """\
apiVersion: v1
kind: WaveManifest
metadata:
  name: shop
adapters:
  own:
    binary: workbench
    mode: headless
    default_permissions:
      allowed_tools: [Read, Write]
      deny: ["Bash(rm *)"]
personas:
  builder:
    adapter: own
    system_prompt_file: prompts/builder.md
    temperature: 0.5
  reader:
    adapter: own
    system_prompt_file: prompts/reader.md
    permissions:
      allowed_tools: [Read]
      deny: ["Write(*)"]
runtime:
  max_concurrent_workers: 2
"""

PROMPTS = {"prompts/builder.md": "You build.\n", "prompts/reader.md": "You read.\n"}


def write(root, files):
    """Write files below a folder; texts are dedented."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text), encoding="utf-8")


def project(root, steps, *, manifest=MANIFEST, head="", files=None):
    """Write a project with one pipeline `p.yaml` of these steps, and return the path of the pipeline."""
    text = f"kind: WavePipeline\nmetadata:\n  name: p\n{textwrap.dedent(head)}steps:\n"
    text += textwrap.indent(textwrap.dedent(steps), "  ")
    files = {**PROMPTS, **(files or {})}
    if manifest is not None:
        files["wave.yaml"] = manifest
    write(root, files)
    (root / "p.yaml").write_text(text, encoding="utf-8")
    return str(root / "p.yaml")


def command(step_id, line="true", **more):
    """Return the YAML of a command step."""
    extra = "".join(f"  {name}: {value}\n" for name, value in more.items())
    return f"- id: {step_id}\n  exec: {{type: command, source: {line!r}}}\n{extra}"


def said(root, *words):
    """Run a command of workbench for a project; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch([*words, "-C", str(root)], Console(out, err))
    return code, out.getvalue(), err.getvalue()
