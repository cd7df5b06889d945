"""A session file that is followed in pieces comes to what following all of it at once comes to."""

import io
import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.followed_files import FollowedFile
from tests.support.stage import recording
from tests.unit.formats.agent_files import QWEN
from tests.unit.formats.foreign_files import CODEX
from tests.unit.formats.test_claude_code import answers, asks, line
from tests.unit.host.test_import_growth import claude_lines, codex_lines
from workbench.domain.events import CallProposed, ReplyCompleted
from workbench.domain.values import ReplyCall, Usage
from workbench.formats import detect
from workbench.host import transcript_follower

KEYS = itertools.count()


@pytest.fixture
def stage(staged):
    stage = staged(recording())
    stage.driver()
    yield stage
    stage.lock.close()


def followed(stage, form, *pieces, restarts=()):
    """Return a file whose session has a name of its own and pays itself, followed as it grows by pieces."""
    stage.journal.change(lambda live: live.database.execute("DELETE FROM paid_request"))
    return FollowedFile(stage, f"k{next(KEYS)}", form).grow(*pieces, restarts=restarts)


def whole_counts(data, form):
    """Return what an importer makes of a session and its forks: tokens, and calls whose results the file holds."""
    owners = {}

    def is_paid(session, request):
        return owners.setdefault(request, session) != session

    opened = detect.open_file(
        io.BytesIO(data), "x", 0, form, store=lambda _: None, current_id=str, is_paid=is_paid
    )
    events = list(opened.events)
    below = {each.session_id for each in opened.summaries if "/" in each.key and "/fork" not in each.key}
    events = [event for event in events if event.session_id not in below]
    usage, lost = Usage(), 0
    for event in events:
        if isinstance(event.body, ReplyCompleted):
            usage = usage.plus(event.body.usage)
        lost += event.kind == "call.finished" and "holds no " in event.body.error
    return usage, sum(isinstance(event.body, CallProposed) for event in events) - lost


def counts(file):
    return file.session().usage, len(file.stage.journal.calls(file.session_id))


def data_of(rows):
    return "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows).encode()


def claude_data():
    """Return lines in which each message has its own id, and a repeated message the same one."""
    rows = [json.loads(row) for row in claude_lines()]
    for row in rows:
        if row["type"] == "assistant":
            row["message"]["id"] = row["requestId"] = row["uuid"].removeprefix("again-")
    return data_of(rows)


def codex_data():
    """Return lines whose last tokens belong to a reply."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    ends = [("response_item", said), ("event_msg", {"type": "task_complete"})]
    return data_of([*codex_lines(), *({"type": kind, "payload": payload} for kind, payload in ends)])


SHAPES = {
    "claude": ("claude-code", claude_data()),
    "codex": ("codex", codex_data()),
    "codex-calls": ("codex", CODEX),
    "qwen": ("qwen", QWEN),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_bytes_that_come_one_after_the_other_come_to_the_whole(stage, shape):
    form, data = SHAPES[shape]
    data = data[:4_000]
    whole = followed(stage, form, data)
    single = followed(stage, form, *(data[place : place + 1] for place in range(len(data))))
    assert single.told() == whole.told()
    assert counts(single) == counts(whole)
    assert counts(whole)[0] != Usage()


@pytest.mark.parametrize("shape", SHAPES)
def test_tokens_and_calls_are_those_of_an_import(stage, shape):
    form, data = SHAPES[shape]
    assert counts(followed(stage, form, data)) == whole_counts(data, form)


# --- drawn sessions ------------------------------------------------------------------------------------


class Drawn:
    """Lines of a session of Claude Code, made from words that were drawn."""

    def __init__(self):
        self.rows, self.count, self.open = [], 0, []

    def add(self, kind):
        number = self.count = self.count + 1
        made = getattr(self, kind)(number)
        self.rows += made if isinstance(made, list) else [made]

    def spent(self, number):
        usage = {"input_tokens": 7 * number, "output_tokens": number}
        return {"id": f"m{number}", "model": "big", "usage": usage}

    def at(self, number, row):
        stamp = f"2026-11-21T12:{number // 60:02}:{number % 60:02}Z"
        return {**row, "uuid": f"u{number}", "timestamp": stamp, "requestId": f"r{number}"}

    def prompt(self, number):
        return self.at(number, line(number, "user", f"do {number}"))

    def reply(self, number):
        blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"said {number}"}]
        return self.at(number, line(number, "assistant", blocks, message=self.spent(number)))

    def pieces(self, number):
        """A message in two lines; the tokens of the last one count."""
        first = self.reply(number)
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": f"echo {number}"},
        }
        spent = {**self.spent(number), "usage": {"input_tokens": 7 * number, "output_tokens": 3 * number}}
        self.open.append(f"t{number}")
        return [
            first,
            {**self.at(number, line(number, "assistant", [call], message=spent)), "uuid": f"v{number}"},
        ]

    def call(self, number):
        self.open.append("call_0")
        row = asks(number, "call_0", "Edit", file_path="a.txt", old_string="a", new_string=str(number))
        return self.at(number, {**row, "message": {**row["message"], **self.spent(number)}})

    def result(self, number):
        return self.at(number, answers(number, self.open.pop() if self.open else "none", f"out {number}"))

    def refusal(self, number):
        key, text = self.open.pop() if self.open else "none", "User rejected tool use"
        return self.at(number, answers(number, key, text, is_error=True))

    def again(self, number):
        """A repeated history, as in the file of a resumed session."""
        return [
            {**row, "uuid": f"{number}-{row['uuid']}"}
            for row in self.rows[-4:]
            if isinstance(row, dict) and "uuid" in row
        ]

    def agent(self, number):
        row = self.at(
            number, line(number, "assistant", [{"type": "text", "text": "below"}], message=self.spent(number))
        )
        return {**row, "isSidechain": True, "parentUuid": None}

    def back(self, number):
        return {**self.prompt(number), "parentUuid": None}

    def stop(self, number):
        return self.at(number, line(number, "user", "[Request interrupted by user]"))

    def title(self, number):
        return {"type": "summary", "summary": f"title {number}", "leafUuid": f"u{number - 1}"}

    def failure(self, number):
        blocks = [{"type": "text", "text": "Overloaded"}]
        return {**self.at(number, line(number, "assistant", blocks)), "isApiErrorMessage": True}

    def damage(self, number):
        return ["{ not whole\n", "\n", "\0\0\n", f'"{number}"\n']

    def long(self, number):
        return f'"{"x" * 5_000}{number}"\n'

    @property
    def data(self):
        return data_of(self.rows)


KINDS = [
    name for name in vars(Drawn) if not name.startswith("_") and name not in ("add", "spent", "at", "data")
]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=3, max_size=14), draw=st.data())
def test_a_drawn_session_is_the_same_however_it_is_cut_and_whoever_goes_on(stage, kinds, draw):
    drawn = Drawn()
    for kind in ("prompt", *kinds):
        drawn.add(kind)
    data = drawn.data
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(transcript_follower, "MOST_LINE", 4_000)
        patched.setattr(
            transcript_follower, "LOOK_BYTES", draw.draw(st.sampled_from([700, 1 << 20]), "bytes a look")
        )
        whole = followed(stage, "claude-code", data)
        cuts = sorted(draw.draw(st.sets(st.integers(0, len(data)), max_size=8), "cuts"))
        pieces = [data[start:end] for start, end in itertools.pairwise([0, *cuts, len(data)])]
        restarts = draw.draw(st.sets(st.integers(1, len(pieces)), max_size=3), "restarts")
        cut = followed(stage, "claude-code", *pieces, restarts=restarts)
        assert cut.told() == whole.told()
        usage, calls = whole_counts(data, "claude-code")
        assert counts(whole)[0] == usage
        if not {"stop", "back"} & set(kinds):  # an importer counts calls that were cut off by these
            assert counts(whole)[1] == calls
        again = len(whole.told())
        whole.restart()
        assert len(whole.grow(b"").told()) == again


def test_another_session_in_the_file_and_what_says_nothing_are_left_out(stage):
    other = {**line(3, "user", "elsewhere"), "sessionId": "other", "parentUuid": None}
    rows = [
        line(0, "user", "here"),
        line(1, "user", " "),
        line(2, "assistant", [{"type": "text", "text": "Yes."}]),
        other,
    ]
    said = {
        **line(4, "assistant", [{"type": "text", "text": "No."}], message={"model": "big"}),
        "sessionId": "other",
    }
    file = followed(stage, "claude-code", data_of([*rows, said]))
    prompts = [
        event.body.text for event in stage.journal.events(file.session_id) if event.kind == "prompt.submitted"
    ]
    assert prompts == ["here"]


def test_a_call_with_the_name_of_a_built_in_tool_is_not_shown_as_that(stage):
    rows = [line(0, "user", "make it"), asks(1, "t1", "create_file", path="a"), answers(2, "t1", "made")]
    assert counts(followed(stage, "claude-code", data_of(rows)))[1] == 0


def test_a_call_whose_exact_input_is_gone_is_matched_by_nothing(stage):
    file = followed(stage, "claude-code")
    gone = ReplyCall(call_id="c1", provider_call_id="t9", tool="Bash", arguments_ref="sealed:" + "0" * 64)
    file.follower.note(file.writer.event(ReplyCompleted(calls=(gone,)), turn_id="t"))
    rows = [line(0, "user", "look"), asks(1, "t1", "Bash", command="ls"), answers(2, "t1", "a.txt")]
    assert counts(file.grow(data_of(rows)))[1] == 1


def test_a_long_file_is_stored_in_several_transactions(stage, monkeypatch):
    monkeypatch.setattr(transcript_follower, "_MOST_STORED", 7)
    form, data = SHAPES["claude"]
    several = followed(stage, form, data).told()
    monkeypatch.undo()
    assert several == followed(stage, form, data).told()
