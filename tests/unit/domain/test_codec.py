import json
import typing

import pytest
from hypothesis import given
from msgspec import Struct
from msgspec.structs import replace
from strategies_domain import events

from tests.support.tables import each_row
from workbench.domain import codec
from workbench.domain.codec import BODY_BY_KIND, EVENT_BODIES
from workbench.domain.events import ActionOpened, ProgressReported, ReplyCompleted, TextStreamed, Unknown
from workbench.domain.values import FilePlan, ReplyCall, Usage


@given(events())
@pytest.mark.spec(213)
def test_a_line_says_everything_of_an_event(event):
    assert codec.event_from_line(codec.event_to_line(event)) == event


@given(events())
def test_what_we_stored_is_read_back_by_the_trusted_door(event):
    body, raw = codec.decode_stored_body(event.kind, codec.body_json(event))
    assert (body, raw) == (event.body, None)


@given(events())
def test_a_line_is_one_line_of_json_with_iso_times(event):
    line = codec.event_to_line(event)
    assert "\n" not in line
    assert json.loads(line)["at"].endswith("Z")


def test_kinds_are_past_tense_dotted_and_unique():
    assert len(BODY_BY_KIND) == len(EVENT_BODIES)
    assert all(len(kind.split(".")) == 2 for kind in BODY_BY_KIND)


@pytest.mark.spec(213)
def test_unknown_fields_at_any_depth_are_kept_as_they_came():
    line = {
        "id": "e1", "session_id": "s", "at": "2026-11-21T12:00:00Z", "actor": {"kind": "agent"},
        "kind": "reply.completed",
        "body": {"text": "hi", "mood": "good", "calls": [{"call_id": "c", "provider_call_id": "p", "tool": "t", "later": 1}]},
    }  # fmt: skip
    event = codec.event_from_object(line)
    assert isinstance(event.body, ReplyCompleted)
    assert event.body.calls[0].tool == "t"
    assert codec.event_to_object(event)["body"] == line["body"]
    body, raw = codec.decode_stored_body(event.kind, codec.body_json(event))
    assert body == event.body
    assert json.loads(raw) == line["body"]


def test_every_struct_inside_a_body_refuses_unknown_fields_so_that_none_is_dropped_unseen():
    def inside(hint):
        if isinstance(hint, type) and issubclass(hint, Struct):
            return {hint}.union(*map(inside, typing.get_type_hints(hint).values()))
        return set().union(*map(inside, typing.get_args(hint)))

    structs = set().union(*map(inside, EVENT_BODIES))
    assert {ReplyCall, Usage, FilePlan} < structs
    assert [cls for cls in structs if not cls.__struct_config__.forbid_unknown_fields] == []


@pytest.mark.parametrize(
    ("kind", "stored", "field", "value"),
    [
        ("turn.ended", '{"outcome":"abandoned"}', "outcome", "abandoned"),
        ("progress.reported", '{"message":"m","percentage":101}', "percentage", 101),
        ("prompt.submitted", '{"text":"a\\ud800"}', "text", "a\ud800"),
        ("reply.completed", '{"usage":{"input_tokens":-1}}', "usage", Usage(input_tokens=-1)),
    ],
)
def test_what_another_version_stored_is_read_even_where_it_breaks_a_rule_of_this_one(
    kind, stored, field, value
):
    body, raw = codec.decode_stored_body(kind, stored)
    assert (getattr(body, field), raw) == (value, None)


def test_unknown_members_of_a_stored_body_are_dropped_and_its_text_is_kept():
    stored = (
        '{"calls":[{"call_id":"c","provider_call_id":"p","tool":"t","later":1}],"usage":{"output_tokens":-2}}'
    )
    body, raw = codec.decode_stored_body("reply.completed", stored)
    call = ReplyCall(call_id="c", provider_call_id="p", tool="t")
    assert body == ReplyCompleted(calls=(call,), usage=Usage(output_tokens=-2))
    assert raw == stored


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
    event = codec.event_from_object(line)
    assert event.body == Unknown(original_kind="moon.rose", content={"phase": [1, 2]})
    assert event.kind == "moon.rose"
    assert codec.event_to_object(event)["kind"] == "moon.rose"
    assert codec.decode_stored_body("moon.rose", codec.body_json(event)) == (event.body, None)


GOOD = {
    "id": "e",
    "session_id": "s",
    "at": 5,
    "actor": {"kind": "user"},
    "kind": "text.streamed",
    "body": {"block": 0, "offset": 0, "text": "a"},
}


@each_row(
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
    assert codec.event_from_object(GOOD).body == TextStreamed(block=0, offset=0, text="a")
    with pytest.raises(codec.MalformedEventError, match=named):
        codec.event_from_object({**GOOD, **change})


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "3", '{"a":'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(codec.MalformedEventError):
        codec.event_from_line(text)


@pytest.mark.spec(143)
def test_a_percentage_stays_within_its_range():
    body = {"message": "half", "percentage": 101}
    with pytest.raises(codec.MalformedEventError, match="percentage"):
        codec.event_from_object({**GOOD, "kind": "progress.reported", "body": body})


@pytest.mark.spec(138)
def test_token_counts_are_never_negative():
    body = {"usage": {"input_tokens": -1, "output_tokens": 0}}
    with pytest.raises(codec.MalformedEventError, match="input_tokens"):
        codec.event_from_object({**GOOD, "kind": "reply.completed", "body": body})


@each_row("number", ["NaN", "Infinity", "-Infinity"])
@each_row(
    ("kind", "body"),
    [
        ("progress.reported", {"message": "m", "percentage": "NUMBER"}),
        ("call.finished", {"state": "done", "metadata": {"x": ["NUMBER"]}}),
        ("moon.rose", {"phase": "NUMBER"}),
    ],
)
def test_numbers_that_json_does_not_have_are_refused(number, kind, body):
    line = json.dumps({**GOOD, "kind": kind, "body": body}).replace('"NUMBER"', number)
    with pytest.raises(codec.MalformedEventError, match="body"):
        codec.event_from_line(line)
    wrong = ProgressReported(message="m", percentage=float(number))
    with pytest.raises(codec.MalformedEventError, match="body"):
        codec.validate_event(replace(codec.event_from_object(GOOD), body=wrong))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ({"call_id": "c", "provider_call_id": "p"}, r"calls\.0\.tool: missing"),
        ({"call_id": "c", "provider_call_id": "p", "tool": 1}, r"calls\.0\.tool: Expected `str`"),
        ({"call_id": "c", "provider_call_id": "p", "later": 1}, r"calls\.0\.tool: missing"),
        (3, r"calls\.0: Expected `object`"),
    ],
)
def test_the_place_of_a_wrong_member_is_named_also_beside_unknown_ones(call, named):
    with pytest.raises(codec.MalformedEventError, match=named):
        codec.event_from_object({**GOOD, "kind": "reply.completed", "body": {"calls": [call], "mood": 1}})


def test_validate_refuses_what_a_producer_built_wrongly():
    event = codec.event_from_object(GOOD)
    assert codec.validate_event(event) is event
    with pytest.raises(codec.MalformedEventError, match="offset"):
        codec.validate_event(replace(event, body=TextStreamed(block=0, offset=-3, text="")))


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
        for cls in EVENT_BODIES
        for name in cls.__struct_fields__
        if name.endswith("_ref")
    }
    assert held == {
        "ProcessStarted.files_ref", "CallFinished.files_ref",
        "SessionCreated.system_prompt_ref", "PromptSubmitted.text_ref", "ReplyCompleted.text_ref",
        "ConversationCompacted.summary_ref",
        "ReplyCompleted.opaque_ref", "CallProposed.parameters_ref", "ActionOpened.hunks_ref", "ActionOpened.subject_ref", "RunRequested.definition_ref", "ActionOpened.parameters_ref", "FileChanged.before_ref", "FileChanged.after_ref",
        "CallFinished.result_ref", "CallFinished.output_ref", "RunRequested.input_ref", "RunRequested.mounted_ref", "RunRequested.values_ref", "RunStarted.definition_ref", "StepChanged.output_ref", "ArtifactStored.content_ref", "StepChanged.items_ref",
        "StepChanged.said_ref", "ArtifactStored.written_ref", "IncidentsListed.incidents_ref",
        "IncidentChecked.output_ref", "IncidentsListed.lines_ref", "IncidentStarted.before_ref",
        "IncidentEnded.after_ref", "PatchRequested.parameters_ref",
    }  # fmt: skip


def test_a_line_holds_no_character_that_steers_a_terminal():
    event = codec.event_from_object(
        {**GOOD, "body": {"block": 0, "offset": 0, "text": "a\u202e\x9b\x7f\x1b\U000e0041b"}}
    )
    line = codec.event_to_line(event)
    assert not {"\u202e", "\x9b", "\x7f", "\x1b", "\U000e0041"}.intersection(line)
    assert codec.event_from_line(line) == event


@pytest.mark.spec(213)
def test_a_plan_that_moves_nothing_is_stored_as_before_there_were_moves():
    plan = FilePlan(path="a", base=None, after="d", mode=0o644)
    assert list(codec.to_json_value(plan)) == ["path", "base", "after", "mode", "base_ref", "after_ref"]
    moved = FilePlan(path="a", base=None, after="d", mode=0o644, moved_from="b")
    assert codec.to_json_value(moved)["moved_from"] == "b"
