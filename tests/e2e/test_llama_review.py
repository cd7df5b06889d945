"""A real model reviews what a step left: llama.cpp on loopback, as a contract of a pipeline."""

import json

import pytest

from tests.support.llama import Llama
from tests.support.runs import Runs
from tests.unit.pipelines.projects import MANIFEST

# A small model gives a verdict where it was shown some; what is reviewed stands before the last line.
VERDICTS = """\
{%- for word in ["clear", "short", "whole"] -%}
<|im_start|>user
review<|im_end|>
<|im_start|>assistant
{"verdict": "pass", "summary": "It is {{ word }}."}<|im_end|>
{% endfor -%}
<|im_start|>user
review<|im_end|>
{% if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}
"""

STEP = """\
- id: a
  exec: {type: command, source: "echo text > out.md"}
  output_artifacts: [{name: out, path: out.md}]
  handover: {contract: {type: agent_review, persona: judge, criteria: It is short., timeout: 120s}}
"""


@pytest.mark.campaign
def test_a_real_model_reviews(tmp_path):
    server = Llama(tmp_path / "log", template=VERDICTS, context=2048)
    manifest = MANIFEST.replace(
        "runtime:",
        "  judge: {adapter: own, system_prompt_file: prompts/reader.md, provider: local, model: tiny}\nruntime:",
    )
    here = Runs(tmp_path / "r", manifest=manifest)
    try:
        config = {"providers": {"local": {"kind": "openai-compatible", "base_url": server.base_url}}}
        (here.home.path / "config.json").write_text(json.dumps(config))
        here.trust()
        row = here.run(STEP)
        ((_, check),) = here.bodies(row.pipeline_id, "contract.checked")
        assert check.usage.input_tokens > 0 and check.usage.output_tokens > 0
        assert (row.status, check.outcome) == ("completed", "passed"), check
        assert check.summary.startswith("pass")
        session = here.journal.session(check.review_session)
        assert (session.provider, session.usage) == ("local", check.usage)
    finally:
        server.close()
