import json
from dataclasses import replace

import pytest
from hypothesis import given
from strategies_domain import events

from workbench.domain import codec
from workbench.domain.events import BODIES, BY_KIND, ActionOpened, ReplyCompleted, TextStreamed, Unknown
from workbench.domain.values import FilePlan, ReplyCall


@given(events())
@pytest.mark.spec(213)
def test_a_line_says_everything_of_an_event(event):
    assert codec.parse_line(codec.to_line(event)) == event


@given(events())
def test_what_we_stored_is_read_back_by_the_trusted_door(event):
    body, raw = codec.trusted_body(event.kind, codec.body_json(event))
    assert (body, raw) == (event.body, None)


@given(events())
def test_a_line_is_one_line_of_json_with_iso_times(event):
    line = codec.to_line(event)
    assert "\n" not in line
    assert json.loads(line)["at"].endswith("Z")


def test_kinds_are_past_tense_dotted_and_unique():
    assert len(BY_KIND) == len(BODIES)
    assert all(len(kind.split(".")) == 2 for kind in BY_KIND)


@pytest.mark.spec(213)
def test_unknown_fields_at_any_depth_are_kept_as_they_came():
    line = {
        "id": "e1", "session_id": "s", "at": "2026-11-21T12:00:00Z", "actor": {"kind": "agent"},
        "kind": "reply.completed",
        "body": {"text": "hi", "mood": "good", "calls": [{"call_id": "c", "provider_call_id": "p", "tool": "t", "later": 1}]},
    }  # fmt: skip
    event = codec.parse(line)
    assert isinstance(event.body, ReplyCompleted)
    assert event.body.calls[0].tool == "t"
    assert codec.to_object(event)["body"] == line["body"]
    body, raw = codec.trusted_body(event.kind, codec.body_json(event))
    assert body == event.body
    assert json.loads(raw) == line["body"]


@pytest.mark.spec(213)
def test_an_unknown_kind_is_kept_verbatim():
    line = {
        "id": "e",
        "session_id": "s",
        "at": 5,
        "actor": {"kind": "user"},
        "kind": "moon.rose",
        "body": {"phase": [1, 2]},
    }
    event = codec.parse(line)
    assert event.body == Unknown(original_kind="moon.rose", content={"phase": [1, 2]})
    assert event.kind == "moon.rose"
    assert codec.to_object(event)["kind"] == "moon.rose"
    assert codec.trusted_body("moon.rose", codec.body_json(event)) == (event.body, None)


GOOD = {
    "id": "e",
    "session_id": "s",
    "at": 5,
    "actor": {"kind": "user"},
    "kind": "text.streamed",
    "body": {"block": 0, "offset": 0, "text": "a"},
}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": None}, "kind"),
        ({"at": "yesterday"}, "at"),
        ({"actor": {"kind": "ghost"}}, "actor.kind"),
        ({"id": 7}, "id"),
        ({"body": {"block": -1, "offset": 0, "text": "a"}}, "block"),
        ({"body": {"block": 0, "offset": 0, "text": 3}}, "text"),
        ({"body": {"block": "0", "offset": 0, "text": "a"}}, "block"),
        ({"body": {"offset": 0, "text": "a"}}, "block"),
        ({"body": [1]}, "body"),
    ],
)
def test_a_bad_line_is_refused_and_the_field_is_named(change, named):
    assert codec.parse(GOOD).body == TextStreamed(block=0, offset=0, text="a")
    with pytest.raises(codec.MalformedEventError, match=named):
        codec.parse({**GOOD, **change})


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "3", '{"a":'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(codec.MalformedEventError):
        codec.parse_line(text)


@pytest.mark.spec(143)
def test_a_percentage_stays_within_its_range():
    body = {"message": "half", "percentage": 101}
    with pytest.raises(codec.MalformedEventError, match="percentage"):
        codec.parse({**GOOD, "kind": "progress.reported", "body": body})


@pytest.mark.spec(138)
def test_token_counts_are_never_negative():
    body = {"usage": {"input_tokens": -1, "output_tokens": 0}}
    with pytest.raises(codec.MalformedEventError, match="input_tokens"):
        codec.parse({**GOOD, "kind": "reply.completed", "body": body})


def test_validate_refuses_what_a_producer_built_wrongly():
    event = codec.parse(GOOD)
    assert codec.validate(event) is event
    with pytest.raises(codec.MalformedEventError, match="offset"):
        codec.validate(replace(event, body=TextStreamed(block=0, offset=-3, text="")))


def test_every_reference_that_an_event_holds_is_found():
    call = ReplyCall(call_id="c", provider_call_id="p", tool="t", arguments_ref="sealed:1")
    plan = FilePlan(path="a", base=None, after="x", mode=0o644, base_ref="sealed:3", after_ref="sealed:4")
    opened = ActionOpened(
        action_kind="tool", tool="t", target="a", digest="d", created_at=1, expires_at=2,
        files=(plan,), hunks_ref="recorded:5", parameters_ref="sealed:6",
    )  # fmt: skip
    assert list(codec.blob_refs(ReplyCompleted(text_ref="sealed:2", calls=(call,)))) == [
        "sealed:2",
        "sealed:1",
    ]
    assert list(codec.blob_refs(opened)) == ["sealed:6", "recorded:5", "sealed:3", "sealed:4"]


def test_no_field_that_names_a_blob_is_forgotten():
    held = {
        f"{cls.__name__}.{name}"
        for cls in BODIES
        for name in cls.__dataclass_fields__
        if name.endswith("_ref")
    }
    assert held == {
        "SessionCreated.system_prompt_ref", "PromptSubmitted.text_ref", "ReplyCompleted.text_ref",
        "CallProposed.parameters_ref", "ActionOpened.hunks_ref", "ActionOpened.parameters_ref", "FileChanged.before_ref", "FileChanged.after_ref",
        "CallFinished.result_ref", "CallFinished.output_ref", "RunRequested.input_ref",
        "RunStarted.definition_ref", "StepChanged.output_ref", "ArtifactStored.content_ref",
    }  # fmt: skip


def test_a_line_holds_no_character_that_steers_a_terminal():
    event = codec.parse({**GOOD, "body": {"block": 0, "offset": 0, "text": "a\u202e\x9b\x7f\x1b\U000e0041b"}})
    line = codec.to_line(event)
    assert not {"\u202e", "\x9b", "\x7f", "\x1b", "\U000e0041"}.intersection(line)
    assert codec.parse_line(line) == event
