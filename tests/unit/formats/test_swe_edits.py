"""Edits of SWE-agent and mini-swe-agent: what their commands changed, in every version of their words."""

import io
import json

import pytest

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.formats.detect import open_file

SHOWN = "[File: /repo/a.py (4 lines total)]\n1:import os\n2:\n3:def f():\n4:    return 1\n(Open file: /repo/a.py)\n(Current directory: /repo)\nbash-$"
EDITED = "[File: /repo/a.py (4 lines total)]\n1:import os\n(Open file: /repo/a.py)"


def changed(value):
    """Return what the file changes of a document say: path, kind, lines with their signs; and failed calls."""
    opened = open_file(
        io.BytesIO(json.dumps(value).encode()), "x", 0, None, store=lambda _: None, current_id=str
    )
    events = list(opened.events)
    made = [one.body for one in events if isinstance(one.body, e.FileChanged)]
    failed = [
        one.body for one in events if isinstance(one.body, e.CallFinished) and one.body.state == "failed"
    ]
    return [
        (
            one.path,
            one.change,
            "".join(f"{sign}{text}\n" for hunk in one.hunks for sign, text in hunk.lines if sign != " "),
        )
        for one in made
    ], len(failed)


def steps(*pairs):
    return {
        "trajectory": [
            {"action": action, "observation": said, "response": "", "thought": "t"} for action, said in pairs
        ],
        "history": [],
        "info": {},
    }


def history(*calls):
    rows = [{"role": "user", "content": "fix it"}]
    for number, (name, given, said) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(given)}
        rows.append(
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]}
        )
        rows.append({"role": "tool", "content": said, "tool_call_ids": [f"c{number}"]})
    return {"history": rows, "trajectory": [], "info": {}}


OPEN = ("open a.py", SHOWN)
NEW = "-def f():\n-    return 1\n+def f() -> int:\n+    return 2\n"


@each_row(
    ("document", "found"),
    [
        (steps(OPEN, ("edit 3:4\ndef f() -> int:\n    return 2\nend_of_edit", EDITED)), [("/repo/a.py", "modify", NEW)]),
        (steps(OPEN, ("edit 2:2\nend_of_edit", EDITED)), [("/repo/a.py", "modify", "-\n")]),
        (steps(OPEN, ("edit 'return 1' 'return 2'", "Text replaced.\n" + EDITED)),
         [("/repo/a.py", "modify", "-return 1\n+return 2\n")]),
        (steps(OPEN, ("insert 'x = 1' 1", EDITED)), [("/repo/a.py", "modify", "+x = 1\n")]),
        (steps(("create b.py", "[File: /repo/b.py (1 lines total)]\n1:")), [("b.py", "create", "")]),
        (steps(("str_replace_editor create /repo/c.py --file_text 'a = 1\nb = 2\n'", "File created successfully at: /repo/c.py")),
         [("/repo/c.py", "create", "+a = 1\n+b = 2\n")]),
        (steps(("str_replace_editor str_replace /repo/c.py --old_str 'a = 1' --new_str 'a = 2'", "The file has been edited.")),
         [("/repo/c.py", "modify", "-a = 1\n+a = 2\n")]),
        (steps(("str_replace_editor insert /repo/c.py --insert_line 2 --new_str 'c = 3'", "The file has been edited.")),
         [("/repo/c.py", "modify", "+c = 3\n")]),
        (steps(("str_replace_editor view /repo/c.py", "Here's the result"), ("ls", "a.py")), []),
        (steps(("cat > d.py <<'EOF'\nprint($HOME)\nEOF\npython d.py", "hi")), [("d.py", "create", "+print($HOME)\n")]),
        (steps(("cat <<EOF >> d.py\nmore\nEOF", "")), [("d.py", "modify", "+more\n")]),
        (steps(("cat > d.py <<EOF\n$(date)\nEOF", ""), ("cat <<'EOF'\nno file\nEOF", "no file")), []),
        (history(("open", {"path": "a.py"}, SHOWN), ("edit", {"search": "return 1", "replace": "return 2"}, "Text replaced.")),
         [("/repo/a.py", "modify", "-return 1\n+return 2\n")]),
        (history(("open", {"path": "a.py"}, SHOWN),
                 ("edit", {"start_line": 3, "end_line": 4, "replacement_text": "def f() -> int:\n    return 2"}, EDITED)),
         [("/repo/a.py", "modify", NEW)]),
        (history(("str_replace_editor", {"command": "str_replace", "path": "/r/a", "old_str": "1", "new_str": "2"}, "edited")),
         [("/r/a", "modify", "-1\n+2\n")]),
    ],
)  # fmt: skip
def test_what_a_command_changed(document, found):
    assert changed(document) == (found, 0)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (steps(OPEN, ("edit 3:4\nx\nend_of_edit", "Your proposed edit has introduced new syntax error(s).")), "lint"),
        (steps(("str_replace_editor str_replace /r/a --old_str 1 --new_str 2", "No replacement was performed")), "none"),
        (history(("str_replace_editor", {"command": "str_replace", "path": "/r/a", "old_str": "1", "new_str": "2"},
                  "No replacement was performed, old_str did not appear verbatim")), "none"),
        (history(("open", {"path": "a.py"}, SHOWN), ("edit", {"search": "zz", "replace": "y"}, "Text not found: zz")), "none"),
    ],
)  # fmt: skip
def test_an_edit_that_was_refused_changed_nothing(document, why):
    assert changed(document) == ([], 1), why


@pytest.mark.parametrize("code, count", [(0, 1), (1, 0)])
def test_a_here_document_of_mini_swe_agent_is_a_change_where_the_command_worked(code, count):
    messages = [
        {"role": "system", "content": "s"}, {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": "I write.\n```bash\ncat <<'EOF' > /testbed/t.py\na = 1\nEOF\n```"},
        {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n</output>"},
    ]  # fmt: skip
    found, _ = changed(
        {"info": {"mini_version": "1.1"}, "trajectory_format": "mini-swe-agent-1.1", "messages": messages}
    )
    assert found == [("/testbed/t.py", "create", "+a = 1\n")] * count


def test_odd_commands_are_no_edits():
    words = ("edit", "edit 1:2", "create", "insert", "str_replace_editor", "edit 'a", "insert 'x' two", "edit 9:1\nend_of_edit",
             "cat > x <<EOF", "str_replace_editor insert /a --insert_line", "create 'a\nb'", "edit 1:9999999\nx\nend_of_edit")  # fmt: skip
    assert changed(steps(*((word, "nothing") for word in words)))[1] == 0
