"""Claude Code as npm installs it, with a scripted model that speaks the Messages API on loopback, and without a login."""

import json
from itertools import count

from tests.support.chat_server import Answer
from tests.support.real_agents import REPLIES, Call, RealAgent, program

_numbers = count()
"""Of calls: each has an id of its own, else Claude Code leaves it out."""


def messages_reply(said):
    """Return a stream of the Messages API that makes calls, or says a text."""
    if isinstance(said, str):
        blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": said})]
    else:
        blocks = [
            ({"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": call.tool, "input": {}},
             {"type": "input_json_delta", "partial_json": json.dumps(call.given)})
            for call in said
        ]  # fmt: skip
    stop = "end_turn" if isinstance(said, str) else "tool_use"
    message = {
        "id": "msg", "type": "message", "role": "assistant", "model": "scripted", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1},
    }  # fmt: skip
    events = [{"type": "message_start", "message": message}]
    for index, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    delta = {"stop_reason": stop, "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    return Answer([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events])


KEY = "fabricated-for-tests"
REPLIES["messages"] = messages_reply


class ClaudeCode(RealAgent):
    id, wire, config = "claude", "messages", ".claude"
    own_settings = (".claude/settings.json", "{}\n")
    read_tool, edit_tool, write_tool = "Read", "Edit", "Write"

    def variables(self):
        off = (
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "DISABLE_ERROR_REPORTING",
        )
        return {
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "ANTHROPIC_API_KEY": KEY,
            **dict.fromkeys(off, "1"),
        }

    def address(self):
        return {"ANTHROPIC_BASE_URL": self.model.base_url.removesuffix("/v1")}

    def set_up(self):
        """Answer what its screen asks at its first start."""
        folder = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        self.write(
            ".claude/.claude.json",
            {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(self.folder): folder},
             "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}},
        )  # fmt: skip

    def command(self, prompt):
        return [program("claude"), "--permission-mode", "default", "-p", prompt]

    def shell(self, line):
        return [[Call("Bash", {"command": line, "description": "Runs a command"})]]
