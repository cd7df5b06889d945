"""What Claude Code writes about its calls: questions with their choices and answers, and progress.

Progress is output so far, steps of agents and hooks. Nothing here decides how a call ended.
"""

from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats import records as r

QUESTION_TOOLS: Final = ("ExitPlanMode", "exit_plan_mode", "AskUserQuestion")
_PLAN_CHOICES: Final = (("approve", "Approve the plan"), ("keep planning", "Keep planning"))
_NO_PLAN: Final = "Leave plan mode and start with the work?"
_KINDS: Final = {
    "bash_progress": "output", "powershell_progress": "output", "agent_progress": "agent",
    "hook_progress": "hook", "mcp_progress": "output",
}  # fmt: skip
_MOST_LINE: Final = 300
"""Characters of one step of an agent; its own session holds it whole."""


def question_of(call: r.ToolCall, at: int | None) -> r.CallQuestion:
    """Return the question that a call of one of the question tools is."""
    questions = r.objects_of(call.arguments, "questions")
    if call.tool != "AskUserQuestion":
        plan = r.text_of(call.arguments, "plan")
        return r.CallQuestion(call=call.id, prompt=plan or _NO_PLAN, choices=_PLAN_CHOICES, at=at)
    if len(questions) == 1:
        return r.CallQuestion(
            call=call.id, prompt=_question_text(questions[0]), choices=_choices(questions[0]), at=at
        )
    parts = [
        "\n".join([
            f"{number}. {_question_text(question)}",
            *(f"   - {label}" for _, label in _choices(question)),
        ])
        for number, question in enumerate(questions, 1)
    ]  # fmt: skip
    return r.CallQuestion(call=call.id, prompt="\n".join(parts) or "A question without words", at=at)


def answer_to(call: r.ToolCall, outcome: JsonObject, said: str, at: int | None) -> r.CallDecision:
    """Return what a human answered; `outcome` is the structured result, `said` its text."""
    if call.tool != "AskUserQuestion":
        return r.CallDecision(call=call.id, is_approved=True, choice=_PLAN_CHOICES[0][0], at=at)
    answers = [(question, r.as_text(answer)) for question, answer in r.object_of(outcome, "answers").items()]
    questions = r.objects_of(call.arguments, "questions")
    if len(answers) == 1:
        answer = answers[0][1]
        known = {key for question in questions for key, _ in _choices(question)}
        choice = answer if answer in known else ""
        return r.CallDecision(call=call.id, is_approved=True, choice=choice, text=answer, at=at)
    text = "\n".join(f"{question} {answer}" for question, answer in answers) or said
    return r.CallDecision(call=call.id, is_approved=True, text=text, at=at)


def _question_text(question: JsonObject) -> str:
    return r.first_text(question, "question", "header")


def _choices(question: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(
        (label, " — ".join(filter(None, (label, r.text_of(option, "description")))))
        for option in r.objects_of(question, "options")
        if (label := r.text_of(option, "label"))
    )


class ProgressReader:
    """Reads the progress records of one session."""

    def __init__(self) -> None:
        self._outputs: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        """The agent that works for a call, by the call's id, once it is known."""

    def read(self, row: JsonObject, number: int) -> r.CallProgress | None:
        """Return what a record tells of a call, None if it is about none."""
        data = r.object_of(row, "data")
        call = r.first_text(row, "parentToolUseID", "toolUseID")
        if not call:
            return None
        kind = r.text_of(data, "type")
        if agent := r.text_of(data, "agentId"):
            self.agents[call] = agent
        return r.CallProgress(
            call=call, kind=_KINDS.get(kind, "other"), text=self._text(call, kind, data), content=row,
            at=r.time_of(row, "timestamp"), line=number,
        )  # fmt: skip

    def _text(self, call: str, kind: str, data: JsonObject) -> str:
        if kind == "agent_progress":
            return _agent_step(r.object_of(r.object_of(data, "message"), "message"))
        output = r.first_text(data, "fullOutput", "output") if _KINDS.get(kind) == "output" else ""
        if not output:
            return ""
        before = self._outputs.get(call, "")
        self._outputs[call] = output
        return output[len(before) :] if output.startswith(before) else output


def _agent_step(message: JsonObject) -> str:
    steps: list[str] = []
    for block in r.objects_of(message, "content"):
        match r.text_of(block, "type"):
            case "text" if message.get("role") == "assistant":
                steps.append(r.text_of(block, "text"))
            case "tool_use":
                about = next(
                    (v for v in r.object_of(block, "input").values() if isinstance(v, str) and v.strip()), ""
                )
                steps.append(f"{r.text_of(block, 'name')} {about}".strip())
            case _:
                pass
    lines = [" ".join(step[: 4 * _MOST_LINE].split())[:_MOST_LINE] for step in steps]
    return "".join(f"{line}\n" for line in lines if line)
