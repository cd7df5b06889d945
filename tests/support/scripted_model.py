"""A model on loopback that makes given calls, one a request, in the forms of Responses and of chat completions."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {
    "input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "prompt_tokens": 1, "completion_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
}  # fmt: skip


class ScriptedModel:
    """Answers each request that offers tools by the next call, then by words; `asked` has the bodies."""

    def __init__(self, calls):
        self.calls, self.asked, self._said = calls, [], 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(
                    b'{"object": "list", "data": [{"id": "scripted", "object": "model"}]}', "application/json"
                )

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                model.asked.append(body)
                self._send(*model._reply(self.path, body))

            def _send(self, data, kind):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler

    def _reply(self, path, body):
        call = None
        if body.get("tools") and self._said < len(self.calls):
            call = self.calls[self._said]
            self._said += 1
        if path.endswith("/responses"):
            return self._responses(call), "text/event-stream"
        return self._completion(call, is_streamed=body.get("stream"))

    def _responses(self, call):
        item = {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "content": [{"type": "output_text", "text": "done"}],
        }
        if call:
            key = f"call_{self._said}"
            item = {
                "type": "function_call",
                "id": f"fc_{key}",
                "call_id": key,
                "name": call[0],
                "arguments": json.dumps(call[1]),
            }
        events = (
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "r", "usage": USAGE}},
        )
        return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events)

    def _completion(self, call, *, is_streamed):
        message, finish = {"role": "assistant", "content": "done"}, "stop"
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            called = {"index": 0, "id": f"call_{self._said}", "type": "function", "function": function}
            message, finish = {"role": "assistant", "tool_calls": [called]}, "tool_calls"
        base = {"id": "c", "created": 1, "model": "scripted"}
        if not is_streamed:
            choice = {"index": 0, "message": message, "finish_reason": finish}
            whole = {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE}
            return json.dumps(whole).encode(), "application/json"
        deltas = ((message, None), ({}, finish))
        chunks = [
            {
                **base,
                "object": "chat.completion.chunk",
                "usage": USAGE,
                "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
            }
            for delta, end in deltas
        ]
        data = b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in chunks)
        return data + b"data: [DONE]\n\n", "text/event-stream"
