"""Questions that Claude Code asks in its calls, and the answers that it records."""

from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r

_PLAN_CHOICES: Final = (("approve", "Approve the plan"), ("keep planning", "Keep planning"))
_NO_PLAN: Final = "Leave plan mode and start with the work?"


def question_of(call: r.ToolCall, time_us: int | None) -> r.CallQuestion:
    """Return the question that a call of one of the question tools is."""
    questions = j.objects_of(call.arguments, "questions")
    if call.tool != "AskUserQuestion":
        plan = j.text_of(call.arguments, "plan")
        return r.CallQuestion(call=call.id, prompt=plan or _NO_PLAN, choices=_PLAN_CHOICES, at=time_us)
    if len(questions) == 1:
        return r.CallQuestion(
            call=call.id, prompt=_question_text(questions[0]), choices=_choices(questions[0]), at=time_us
        )
    parts = [
        "\n".join([
            f"{number}. {_question_text(question)}",
            *(f"   - {label}" for _, label in _choices(question)),
        ])
        for number, question in enumerate(questions, 1)
    ]  # fmt: skip
    return r.CallQuestion(call=call.id, prompt="\n".join(parts) or "A question without words", at=time_us)


def answer_to(call: r.ToolCall, outcome: JsonObject, result_text: str, time_us: int | None) -> r.CallDecision:
    """Return what a human answered; `outcome` is the structured result, `result_text` its text."""
    if call.tool != "AskUserQuestion":
        return r.CallDecision(call=call.id, is_approved=True, choice=_PLAN_CHOICES[0][0], at=time_us)
    answers = [(question, j.as_text(answer)) for question, answer in j.object_of(outcome, "answers").items()]
    questions = j.objects_of(call.arguments, "questions")
    if len(answers) == 1:
        answer = answers[0][1]
        choices = {key for question in questions for key, _ in _choices(question)}
        choice = answer if answer in choices else ""
        return r.CallDecision(call=call.id, is_approved=True, choice=choice, text=answer, at=time_us)
    text = "\n".join(f"{question} {answer}" for question, answer in answers) or result_text
    return r.CallDecision(call=call.id, is_approved=True, text=text, at=time_us)


def _question_text(question: JsonObject) -> str:
    return j.first_text(question, "question", "header")


def _choices(question: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(
        (label, " — ".join(filter(None, (label, j.text_of(option, "description")))))
        for option in j.objects_of(question, "options")
        if (label := j.text_of(option, "label"))
    )
