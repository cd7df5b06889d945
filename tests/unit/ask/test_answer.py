"""How the reply of a model becomes a command: whole JSON, a fence, one object among words, or an error."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.ask.answer import ANSWER_SCHEMA, AnswerUnreadable, read_answer

GOOD = json.dumps({"command": "fd -e go", "explanation": "Lists {them}."})
OTHER = json.dumps({"command": "ls", "explanation": "x"})


@pytest.mark.spec(181)
@each_row(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"\ufeff{GOOD}",
        f"Sure!\n```json\n{GOOD}\n```\nAnything else?",
        f"```\n{GOOD}\n```",
        f"~~~~ json\n{json.dumps(json.loads(GOOD), indent=2)}\n~~~~",
        f"Here {{it}} is: {GOOD} Done {{}}.",
        f"```sh\nfd -e go\n```\nAs JSON: {GOOD}",
        f'{{"reasoning": 1}} then {GOOD}',
        json.dumps({**json.loads(GOOD), "confidence": 1}),
        f"```json\n{GOOD}\n```\n```json\n{{\"note\": 1}}\n```",
    ],
)  # fmt: skip
def test_an_answer_is_found(text):
    answer = read_answer(text)
    assert (answer.command, answer.explanation) == ("fd -e go", "Lists {them}.")


@pytest.mark.spec(181)
@each_row(
    "text, why",
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("fd -e go", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"command": "ls"}', "no text for explanation"),
        ('{"command": "ls \\ud800", "explanation": "x"}', "half a character"),
        ('{"command": "ls", "explanation": "\\udfff"}', "half a character"),
        ('{"command": 3, "explanation": null}', "no text for command and explanation"),
        ('{"command": "  \\n", "explanation": "x"}', "its command is empty"),
        (f"{GOOD} or {OTHER}", "2 answers"),
        (f"```\n{GOOD}\n```\n```\n{OTHER}\n```", "2 answers"),
        (json.dumps({"command": "a" * 100_001, "explanation": ""}), "more than 100,000 characters"),
        ("{" * 5_000, "not a JSON object"),
        ('{"a":' * 3_000, "not a JSON object"),
        ("NaN", "not a JSON object"),
    ],
)  # fmt: skip
def test_everything_else_is_an_error_that_keeps_the_reply(text, why):
    with pytest.raises(AnswerUnreadable) as caught:
        read_answer(text)
    assert why in caught.value.why and caught.value.raw == text


@given(
    st.text(max_size=60), st.text(max_size=60), st.sampled_from(["{0}", "```json\n{0}\n```", "It: {0} ok"])
)
def test_what_the_schema_allows_comes_back_as_it_was(command, explanation, around):
    answer = {"command": f"x{command}x", "explanation": explanation}
    jsonschema.validate(answer, ANSWER_SCHEMA)
    found = read_answer(around.format(json.dumps(answer)))
    assert (found.command, found.explanation) == (answer["command"], explanation.strip())


@each_row(
    "command, is_hidden", [("ls", False), ("ls\n\tcd", False), ("rm \u202ea", True), ("a\x1b[2Kb", True)]
)
def test_a_command_that_is_not_what_it_looks_like_is_known(command, is_hidden):
    assert read_answer(json.dumps({"command": command, "explanation": ""})).is_hidden is is_hidden


@each_row(
    ("front", "piece", "times"),
    [
        ("", "```a\n", 40_000),
        ("", "~", 200_000),
        ("", "`" * 999 + "\n", 200),
        ('{"a":[' * 900, "1,", 95_000),
        ('{"a":"', '{"a":"\\"', 25_000),
    ],
)
def test_a_reply_that_is_made_to_be_slow_is_refused_by_work_of_its_length(front, piece, times):
    def refused(reply):
        with pytest.raises(AnswerUnreadable):
            read_answer(reply)

    assert_grows_with_length(refused, front + piece * (times // 8), front + piece * times)
