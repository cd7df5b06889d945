"""Shorthand for recordings: replies that come at a human pace, calls of the shipped tools, what they answer to.

Owns no state; everything returns plain JSON values of DESIGN section 9.
"""

import json

MODEL = "qwen3-coder"


def said(text, pace=90, words=4):
    """Return a text as the parts in which a model says it: some words at a time."""
    return _paced("text", text, pace, words)


def thought(text, pace=120, words=6):
    """Return thinking as the parts in which it comes."""
    return _paced("thinking", text, pace, words)


def _paced(kind, text, pace, words):
    pieces = [piece + " " for piece in text.split(" ")]
    pieces[-1] = pieces[-1][:-1]
    parts = ["".join(pieces[at : at + words]) for at in range(0, len(pieces), words)]
    return [{kind: part, "after_ms": pace} for part in parts if part]


def call(call_id, name, /, **arguments):
    return [{"tool_call": {"id": call_id, "name": name, "arguments": arguments}, "after_ms": 60}]


def edit(call_id, path, old, new):
    return call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new)


def create(call_id, path, content):
    return call(call_id, "create_file", path=path, content=content)


def read(call_id, path, **lines):
    return call(call_id, "read_file", path=path, **lines)


def run(call_id, command, **more):
    return call(call_id, "run_in_terminal", command=command, **more)


def error(**facts):
    return [{"error": facts}]


def exchange(*parts, tokens=(900, 60), when=None, expect=None):
    """Return an exchange; its usage follows unless it fails."""
    reply = [part for group in parts for part in group]
    if not any("error" in part for part in reply):
        reply.append({"usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]}})
    conditions = {"when": when, "expect": expect}
    return {**{key: value for key, value in conditions.items() if value}, "reply": reply}


def prompt(words):
    return {"prompt_contains": words}


def result(call_id, outcome, contains=None):
    found = {"id": call_id, "outcome": outcome}
    return {"tool_result": {**found, "contains": contains} if contains else found}


def recording_text(exchanges):
    """Return a recording as it is kept: one part a line."""
    body = ",\n".join(_exchange_text(one) for one in exchanges)
    return f'{{"recording": 1, "model": "{MODEL}", "exchanges": [\n{body}\n]}}\n'


def _exchange_text(one):
    head = "".join(f'"{key}": {_json(one[key])}, ' for key in ("when", "expect") if key in one)
    parts = ",\n".join(f"   {_json(part)}" for part in one["reply"])
    return f' {{{head}"reply": [\n{parts}]}}'


def _json(value):
    # Escaped, so that a recording shows what it hides, and no scanner takes made-up secrets for real ones.
    text = json.dumps(value, ensure_ascii=not _is_plain(value))
    return text.replace("ghp_", "ghp\\u005f").replace("AKIA", "AK\\u0049A")


def _is_plain(value):
    return json.dumps(value, ensure_ascii=False).isprintable()
