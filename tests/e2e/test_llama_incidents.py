"""A real model works off an incident: llama.cpp on loopback, from the finding to the file and the result."""

import json

import pytest

from tests.support.incident_lists import Lists
from tests.support.llama import FUNCTIONARY, Llama
from tests.support.stage import USER
from workbench.domain.incidents import IncidentOptions
from workbench.host.incident_requests import request_incidents

# As for every small model the calls are shown; what is asked is the last line of the seed's prompt.
FIXES = FUNCTIONARY.replace(
    '"write " ~ name ~ ".txt"',
    '"Please analyze the file and make the necessary changes to resolve this Error issue."',
)


@pytest.mark.campaign
def test_a_real_model_works_off_an_incident(tmp_path):
    server = Llama(tmp_path / "log", template=FIXES, context=4096)
    config = {
        "approvals": {"allow": ["Write"]},
        "providers": {
            "local": {
                "kind": "openai-compatible", "base_url": server.base_url, "model": "tiny", "max_tokens": 60,
                "temperature": 0, "seed": 1,
            }
        },
    }  # fmt: skip
    lists = Lists(tmp_path / "l", config=config)
    try:
        list_id = lists.make(checker="")
        (first, *_) = lists.findings().incidents
        request_incidents(lists.journal, list_id, [first.id], IncidentOptions(provider="local"), USER)
        lists.drive(list_id, can_ask=False, seconds=300)
        result = lists.result(list_id)
        (row,) = result.incidents
        assert (row.outcome, result.status) == ("changed", "Completed"), json.dumps(str(result))
        assert result.metadata.provider_used == "local" and result.metadata.model_used == "tiny"
        assert result.metadata.token_usage.input_tokens > 0 and result.metadata.token_usage.output_tokens > 0
        assert result.files_modified and all(path.endswith(".txt") for path in result.files_modified)
        (child,) = lists.children(list_id)
        assert (child.status, child.usage.total_tokens) == (
            "completed",
            result.metadata.token_usage.total_tokens,
        )
    finally:
        server.close()
        lists.close()
