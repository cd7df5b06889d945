"""Templates and conditions in prompts, commands and paths, and the facts of code hosts that templates name.

Small languages read with regular expressions. A filled value is not looked into again, a shell command gets
values as variables, and no code is evaluated. Pure.
"""

# What the trusted manifest says of the project is its own text, and a command of it is several words: it is
# put into a command as it stands.
#
# Any other value in a command is a variable. Where a template stood, the shell expands a variable that holds
# the value, within whatever quotes are there: no quoting of ours can be broken out of, because nothing is
# quoted.

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from msgspec import Struct

from workbench.domain.values import Json
from workbench.text.safe import one_line

_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{\s*([A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199})\s*\}\}")
_EXPRESSION: Final = re.compile(r"(?<!\$)\{\{([^{}\n]{1,200}?(?:==|!=|\|\|?|&&)[^{}\n]{1,200}?)\}\}")
ALWAYS_KNOWN: Final = frozenset(
    {
        "input", "pipeline_id", "pipeline_name", "step_id", "timestamp", "workspace",
        "pipeline_context.pipeline_id", "pipeline_context.pipeline_name", "pipeline_context.step_id",
        "pipeline_context.branch_name", "branch_name", "attempt", "run.id", "run.name",
    }
)  # fmt: skip
"""Names that every step of every run has."""
ITEM_NAMES: Final = ("item", "task")
"""Names of the item in a step with a matrix."""
VARIABLE_PREFIX: Final = "WORKBENCH_VALUE_"


class UnresolvedTemplate(ValueError):
    """A template names nothing that is there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nothing is called {{{{ {name} }}}} here")
        self.name = name


def template_names(text: str) -> Iterator[str]:
    """Yield the names of the templates in a text, in order."""
    for match in _TEMPLATE.finditer(text):
        yield match[1]


def canonical_name(name: str) -> str:
    """Return a name in its short form: `x.out.n`, `steps.x.artifacts.n`, `steps.x.results`: `x.output`."""
    if not name.startswith("steps."):
        step, is_output, rest = name.partition(".out.")
        return f"{step}.output.{rest}" if is_output else name
    short = name.removeprefix("steps.")
    step, is_artifact, rest = short.partition(".artifacts.")
    if is_artifact:
        return f"{step}.output.{rest}"
    step, is_results, rest = short.partition(".results")
    return f"{step}.output{rest}" if is_results else short


def fill_templates(text: str, value: Callable[[str], str]) -> str:
    """Return a text with its templates filled, values are not read again. Raises UnresolvedTemplate."""
    return _TEMPLATE.sub(lambda match: value(match[1]), text)


def fill_prose(text: str, value: Callable[[str], str]) -> str:
    """Fill the templates of a sentence: where a value is empty, the blank before it goes with it."""
    pieces: list[str] = []
    position = 0
    for match in _TEMPLATE.finditer(text):
        before, filled = text[position : match.start()], value(match[1])
        pieces += [before if filled else before.removesuffix(" "), filled]
        position = match.end()
    return "".join([*pieces, text[position:]])


class CommandPiece(Struct, frozen=True, kw_only=True):
    """A part of a shell command: text of it, or what takes the place of a template."""

    text: str
    name: str = ""
    """Of the template; empty for text of the command itself."""
    variable: str = ""
    """Holds the template's value; empty where the value is a part of the command."""


def shell_command(
    text: str, value: Callable[[str], str], own_text: Callable[[str], str | None]
) -> tuple[str, dict[str, str]]:
    """Return a shell command with its templates filled, and the variables that hold their values.

    `own_text` returns what the trusted manifest itself says under a name, which becomes a part of the
    command; None for names whose value comes from elsewhere. Raises UnresolvedTemplate.
    """
    pieces = command_pieces(text, own_text)
    variables = {piece.variable: value(piece.name) for piece in pieces if piece.variable}
    return "".join(piece.text for piece in pieces), variables


def command_pieces(text: str, own_text: Callable[[str], str | None]) -> list[CommandPiece]:
    """Take a shell command apart at its templates."""
    pieces: list[CommandPiece] = []
    state, position, count = "", 0, 0
    for match in _TEMPLATE.finditer(text):
        before, position = text[position : match.start()], match.end()
        state = _shell_quoting(before, state)
        own = own_text(match[1])
        pieces.append(CommandPiece(text=before))
        if own is not None:
            state = _shell_quoting(own, state)
            pieces.append(CommandPiece(text=own, name=match[1]))
            continue
        count += 1
        name = f"{VARIABLE_PREFIX}{count}"
        written = _QUOTED_VARIABLES[state[-1:]].format(name)
        pieces.append(CommandPiece(text=written, name=match[1], variable=name))
    return [*pieces, CommandPiece(text=text[position:])]


_QUOTED_VARIABLES: Final = {
    "": '"${{{}}}"', "(": '"${{{}}}"', "+": "${{{}}}", '"': "${{{}}}", "'": "'\"${{{}}}\"'", "#": "",
}  # fmt: skip
"""What takes the place of a template, by the innermost construct around it."""


def _shell_quoting(text: str, state: str) -> str:
    """Return what is open behind a text, the innermost last.

    A quote, `#` for a comment, `(` for commands in brackets, also in `$( )`, and `+` for brackets of
    arithmetic.
    """
    position, is_word_start = 0, True
    while position < len(text):
        sign, inner = text[position], state[-1:]
        if inner == "#":
            state = state[:-1] if sign == "\n" else state
        elif sign == "\\" and inner != "'":
            position += 1
        elif inner in ("'", '"') and sign == inner:
            state = state[:-1]
        elif inner != "'" and text.startswith("$(", position):
            is_arithmetic = text.startswith("$((", position)
            state += "++" if is_arithmetic else "("
            position += 2 if is_arithmetic else 1
            sign = "("
        elif inner not in ("'", '"'):
            state = _unquoted_state(sign, state, is_word_start=is_word_start)
        is_word_start = sign in " \t\n;&|("
        position += 1
    return state


def _unquoted_state(sign: str, state: str, *, is_word_start: bool) -> str:
    if sign in "'\"" or (sign == "#" and is_word_start):
        return state + sign
    if sign == "(":
        return state + ("+" if state.endswith("+") else "(")
    return state[:-1] if sign == ")" and state[-1:] in ("(", "+") else state


def unfilled_expressions(text: str) -> Iterator[str]:
    """Yield what stands in double braces, looks like a question and is no name: it stays as it is."""
    for match in _EXPRESSION.finditer(text):
        yield match[1].strip()


def member_value(value: Json, path: str) -> Json:
    """Return a value below another by a dotted way; None if there is none."""
    for part in filter(None, path.split(".")):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Json]", value).get(part)
    return value


def value_text(value: Json) -> str:
    """Return a value as a template shows it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


OUTCOMES: Final = ("success", "failure")
TRUE_WORDS: Final = frozenset({"true", "yes", "done"})
"""What a template by itself has to come to."""
_PLAIN_CONDITION: Final = re.compile(
    r"(outcome|context\.[A-Za-z0-9_.-]{1,100})\s*(==?|!=)\s*(.{1,200})", re.DOTALL
)
_CONDITION_TOKEN: Final = re.compile(
    r"\s*(?:(?P<op>==|!=|&&|\|\||!)|'(?P<single>[^']{0,200})'|\"(?P<double>[^\"]{0,200})\""
    r"|(?P<name>[A-Za-z0-9_][A-Za-z0-9_./\[\]-]{0,199}))"
)
_CONDITION_HELP: Final = (
    "known are outcome=success, outcome=failure, context.KEY=VALUE and {{ STEP.output.FIELD == 'text' }}"
)


class BadCondition(ValueError):
    """A condition that nobody can ask; says what is wrong."""


class ConditionOperand(Struct, frozen=True, kw_only=True):
    """A name that stands for a value, or a text."""

    text: str
    is_name: bool = False


class ConditionTerm(Struct, frozen=True, kw_only=True):
    """One comparison."""

    left: ConditionOperand
    right: ConditionOperand | None = None
    """None: the left has to be true."""
    is_negated: bool = False


class Condition(Struct, frozen=True, kw_only=True):
    """Any of these, each of which is all of its terms; none at all always holds."""

    any_of: tuple[tuple[ConditionTerm, ...], ...] = ()

    def names(self) -> Iterator[str]:
        for term in (term for terms in self.any_of for term in terms):
            yield from (
                operand.text for operand in (term.left, term.right) if operand is not None and operand.is_name
            )

    def holds(self, value: Callable[[str], str]) -> bool:
        """Return whether it holds, given what its names stand for."""
        return not self.any_of or any(
            all(_term_holds(term, value) for term in terms) for terms in self.any_of
        )


def _term_holds(term: ConditionTerm, value: Callable[[str], str]) -> bool:
    def of(operand: ConditionOperand) -> str:
        return value(operand.text).strip() if operand.is_name else operand.text

    holds = of(term.left) == of(term.right) if term.right else of(term.left).lower() in TRUE_WORDS
    return holds != term.is_negated


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises BadCondition."""
    inner = text.strip()
    if not inner:
        return Condition()
    if inner.startswith("{{") and inner.endswith("}}"):
        return _parse_expression(inner[2:-2])
    match = _PLAIN_CONDITION.fullmatch(inner)
    if match is None:
        raise BadCondition(f"{one_line(inner, 80)} is not a condition; {_CONDITION_HELP}")
    name, sign, expected = match[1], match[2], match[3].strip().strip("'\"")
    if name == "outcome" and expected not in OUTCOMES:
        raise BadCondition(f"outcome is success or failure, not {one_line(expected, 60)}")
    term = ConditionTerm(
        left=ConditionOperand(text=name, is_name=True),
        right=ConditionOperand(text=expected),
        is_negated=sign == "!=",
    )
    return Condition(any_of=((term,),))


def _parse_expression(text: str) -> Condition:
    tokens = list(_condition_tokens(text))
    parts = _split_tokens(tokens, "||")
    return Condition(
        any_of=tuple(tuple(_parse_term(term, text) for term in _split_tokens(part, "&&")) for part in parts)
    )


def _condition_tokens(text: str) -> Iterator[str | ConditionOperand]:
    position = 0
    while text[position:].strip():
        match = _CONDITION_TOKEN.match(text, position)
        if match is None:
            raise BadCondition(
                f"{one_line(text.strip(), 80)} cannot be read as a condition; {_CONDITION_HELP}"
            )
        position = match.end()
        if match["op"]:
            yield match["op"]
        elif match["name"] and match["name"].lower() not in ("true", "false") and not match["name"].isdigit():
            yield ConditionOperand(text=match["name"], is_name=True)
        else:
            yield ConditionOperand(text=match["name"] or match["single"] or match["double"] or "")


def _split_tokens(
    tokens: "list[str | ConditionOperand]", sign: str
) -> "Iterator[list[str | ConditionOperand]]":
    part: list[str | ConditionOperand] = []
    for token in tokens:
        if token == sign:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _parse_term(tokens: "list[str | ConditionOperand]", text: str) -> ConditionTerm:
    match tokens:
        case [ConditionOperand() as left]:
            return ConditionTerm(left=left)
        case ["!", ConditionOperand() as left]:
            return ConditionTerm(left=left, is_negated=True)
        case [ConditionOperand() as left, "==" | "!=" as sign, ConditionOperand() as right]:
            return ConditionTerm(left=left, right=right, is_negated=sign == "!=")
        case _:
            raise BadCondition(
                f"{one_line(text.strip(), 80)} cannot be read as a condition; {_CONDITION_HELP}"
            )


CODE_HOSTS: Final[dict[str, tuple[str, str, str]]] = {
    "github": ("gh", "Pull Request", "pr"), "gitlab": ("glab", "Merge Request", "mr"),
    "gitea": ("tea", "Pull Request", "pulls"), "bitbucket": ("bb", "Pull Request", "pr"),
}  # fmt: skip
"""Kind of host to its command line, what it calls a change that is offered, and the command for those."""
CODE_HOST_MEMBERS: Final = frozenset({"type", "host", "owner", "repo", "cli_tool", "pr_term", "pr_command"})
"""Members of `forge` that a template may name."""
_REPOSITORY_ADDRESS: Final = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+)?[:/](?P<owner>[^\s]+)/(?P<repo>[^/\s]+?)(?:\.git)?/?"
)


def code_host_facts(address: str) -> dict[str, str]:
    """Return what is known of the host of a repository; empty for a path or no address."""
    match = _REPOSITORY_ADDRESS.fullmatch(address.strip())
    if match is None or "." not in match["host"]:
        return {}
    host = match["host"].lower()
    facts = {"host": host, "owner": match["owner"], "repo": match["repo"]}
    kind = next((name for name in CODE_HOSTS if name in host), "gitea" if host == "codeberg.org" else "")
    return {**facts, **facts_of_host_kind(kind)} if kind else facts


def facts_of_host_kind(kind: str) -> dict[str, str]:
    tool, term, command = CODE_HOSTS[kind]
    return {"type": kind, "cli_tool": tool, "pr_term": term, "pr_command": command}


def code_host_forms(text: str) -> list[str]:
    """Return what a text may come to, one for each kind of code host that it names; none if it names more."""
    if "{{" not in text:
        return [text]
    host_facts = [
        {f"forge.{key}": fact for key, fact in facts_of_host_kind(kind).items()} for kind in CODE_HOSTS
    ]
    if not all(name in host_facts[0] for name in template_names(text)) or "{{" in fill_templates(
        text, lambda name: host_facts[0].get(name, "")
    ):
        return []
    return [fill_templates(text, facts.__getitem__) for facts in host_facts]
