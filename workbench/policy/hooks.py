"""Hooks of the configuration: commands run before and after a tool call, and the files that they name.

A hook before a call can block it; one after it cannot. Agents may not write the files that hooks name.
"""

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from workbench.domain.events import HookRan
from workbench.domain.values import GateVerdict, HookEvent, HookRule, PermissionPattern, SandboxLevel
from workbench.policy import permissions
from workbench.policy.gate import ScreenedCall
from workbench.policy.shell.risk_lists import COMMAND_STARTERS, COMMAND_WRAPPERS, SHELLS
from workbench.policy.shell.variable_risk import ASSIGNMENT
from workbench.secrets.scrubber import scrub, scrub_value
from workbench.text.safe import one_line, safe_text

_MAX_NESTING: Final = 4
_SHELL_TOKEN: Final = re.compile(
    r"""(?P<blank>[^\S\n]+)|(?P<operator>[;&|()\n<>`]+)"""
    r"""|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>`'"\\]|['"\\])+)""",
    re.DOTALL,
)
_INTERPRETER: Final = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|deno|bun|lua|tclsh|Rscript|pwsh|osascript|tsx|ts-node|awk|gawk|sed)"
    r"[0-9.]*(?:w|\.exe)?"
)
_DURATION: Final = re.compile(r"[\d.]+[smhd]?")
_FILE_OPTIONS: Final = frozenset({
    "-r", "--require", "--import", "--loader", "-I", "--rcfile", "--init-file", "-f", "--file",
    "--config", "-S",
})  # fmt: skip
_VALUE_OPTIONS: Final = frozenset({"-W", "-X", "-O", "+O", "-o", "+o", "--check-hash-based-pycs"})
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-E", "-m", "-p", "--eval", "--print", "-pe", "-ne", "-n"})
_SUBCOMMANDS: Final = frozenset({"run", "eval", "task", "exec", "x", "test"})
_EXPANSION_SIGNS: Final = frozenset("$`*?[~")
_NESTED_COMMAND: Final = re.compile(
    r"(?:\$\(|`|[;&|]\s*)\s*(?:\.{0,2}/)?(?![/$])[\w.-]+/[^\s]*|(?:\$\(|`)\s*\.{1,2}/"
)


class UnresolvedHookPath(Exception):
    """A path of a hook cannot be found out, or names nothing; the message is a sentence."""


class _Word(Struct, frozen=True):
    start: int
    end: int
    raw: str
    text: str | None
    """Quotes taken off; None where the shell would expand it."""


class _ExecutedWord(Struct, frozen=True):
    """A word that is run: a program, a script of an interpreter, or a whole command for a shell."""

    word: _Word
    is_code: bool = False
    is_program: bool = False


def resolved_hook_command(command: str, folder: str, depth: int = _MAX_NESTING) -> str:
    """Return a command with the programs and scripts of its own folder, or raise `UnresolvedHookPath`."""
    if not folder:
        return command
    pieces, end = list[str](), 0
    for use in _executed_words(command):
        replacement = _replacement(use, folder, depth)
        if replacement is not None:
            pieces += [command[end : use.word.start], replacement]
            end = use.word.end
    return "".join((*pieces, command[end:]))


def _replacement(use: _ExecutedWord, folder: str, depth: int) -> str | None:
    text = use.word.text
    if text is None:
        if _is_relative(use):
            raise UnresolvedHookPath(
                f"the hook names a relative path in {use.word.raw}; write an absolute path"
            )
        return None
    if use.is_code:
        if depth == 0:
            raise UnresolvedHookPath("the hook calls shells within shells; write it as a script")
        inner = resolved_hook_command(text, folder, depth - 1)
        return None if inner == text else shlex.quote(inner)
    if use.is_program and "/" not in text:
        return None
    path = os.path.normpath(os.path.join(folder, text))  # noqa: PTH118 -- text may be absolute
    if not os.path.exists(path):  # noqa: PTH110 -- text
        raise UnresolvedHookPath(f"the hook names {path}, which is not there")
    return None if path == text or text.startswith("/") else shlex.quote(path)


def _is_relative(use: _ExecutedWord) -> bool:
    raw = use.word.raw
    if use.is_code or raw.lstrip('"').startswith(("/", "$", "~")):
        return bool(_NESTED_COMMAND.search(raw))
    return not use.is_program or "/" in raw


def hook_protected_paths(
    command: str, folder: str, cwd: str, path: str, depth: int = _MAX_NESTING
) -> Iterator[str]:
    """Yield the real paths that any word of a hook names, in `folder`, in `cwd` or in the `PATH`."""
    for use in _executed_words(command):
        text = use.word.text or use.word.raw.strip("\"'")
        if use.is_code and depth:
            yield from hook_protected_paths(text, folder, cwd, path, depth - 1)
        elif use.is_program and "/" not in text:
            yield from _program_path(text, path)
        else:
            yield os.path.realpath(os.path.join(folder or cwd, text))  # noqa: PTH118 -- text may be absolute
    for word in _words(command):
        for text in _named_path(word):
            for base in dict.fromkeys((folder or cwd, cwd)):
                name = os.path.join(base, os.path.expanduser(text))  # noqa: PTH111, PTH118 -- as above
                if os.path.isfile(name):  # noqa: PTH113 -- as above
                    yield os.path.realpath(name)


def _named_path(word: _Word) -> Iterator[str]:
    text = word.text or word.raw.strip("\"'")
    yield from (part for part in (text, text.partition("=")[2]) if part and "\0" not in part)


def _program_path(name: str, path: str) -> Iterator[str]:
    program = shutil.which(name, path=path) if path else None
    if program is not None:
        yield os.path.abspath(program)  # noqa: PTH100 -- the link itself counts, and what it leads to
        yield os.path.realpath(program)


def absolute_search_path(path: str) -> str:
    """Return a `PATH` without its relative entries: those would be searched where a hook runs."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))


# --- reading ---------------------------------------------------------------------------------------


def _tokens(command: str) -> Iterator[_Word | str]:
    for match in _SHELL_TOKEN.finditer(command):
        if match["operator"]:
            yield match["operator"]
        elif raw := match["word"]:
            yield _Word(match.start(), match.end(), raw, _unquoted(raw))


def _unquoted(raw: str) -> str | None:
    """Return a word without its quotes; None where a shell would put something else there."""
    loose = re.sub(r"'[^']*'", "", raw)
    if _EXPANSION_SIGNS & set(loose) and not re.fullmatch(r'"[^"$`\\]*"', raw):
        return None
    try:
        words = shlex.split(raw)
    except ValueError:  # an open quote
        return None
    return words[0] if len(words) == 1 else None


def _words(command: str) -> Iterator[_Word]:
    return (token for token in _tokens(command) if isinstance(token, _Word))


def _executed_words(command: str) -> Iterator[_ExecutedWord]:
    simple, is_target = list[_Word](), False
    for token in (*_tokens(command), ";"):
        if isinstance(token, _Word):
            if not is_target:
                simple.append(token)
            is_target = False
        elif set(token) <= set("<>&") and set(token) & set("<>"):
            is_target = not token.endswith("&")
            if simple and simple[-1].raw.isdigit():
                simple.pop()
        else:
            yield from _executed_by_simple(simple)
            simple = []


def _executed_by_simple(words: list[_Word]) -> Iterator[_ExecutedWord]:
    rest = iter(words)
    is_wrapped = is_after_option = False
    for word in rest:
        text = word.text
        if ASSIGNMENT.match(word.raw) or text in COMMAND_STARTERS:
            continue
        if is_wrapped and text is not None and (text.startswith("-") or _DURATION.fullmatch(text)):
            is_after_option = text.startswith("-") and "=" not in text
            continue
        yield _ExecutedWord(word, is_program=True)
        name = os.path.basename(text or "")  # noqa: PTH119 -- text
        if name in COMMAND_WRAPPERS:
            is_wrapped, is_after_option = True, False
        elif is_after_option and "/" not in word.raw and not _runs_a_file(name):
            # The value of that option (`sudo -u NAME`), or the program: then the next word is an argument.
            is_after_option = False
        else:
            yield from _executed_by_program(name, rest)
            return


def _runs_a_file(name: str) -> bool:
    return name in SHELLS or name in (".", "source", "eval") or bool(_INTERPRETER.fullmatch(name))


def _executed_by_program(name: str, rest: Iterable[_Word]) -> Iterator[_ExecutedWord]:
    is_shell = name in SHELLS
    if not _runs_a_file(name):
        return
    before = ""
    for word in rest:
        text = word.text or ""
        if before in _VALUE_OPTIONS:
            before = ""
        elif before in _FILE_OPTIONS:
            yield _ExecutedWord(word, is_program="/" not in text)
            before = ""
        elif (is_shell and before.startswith("-") and "c" in before and not before.startswith("--")) or (
            name == "eval"
        ):
            yield _ExecutedWord(word, is_code=True)
            return
        elif text.startswith(("-", "+")) and text != "-":
            if not is_shell and text in _CODE_OPTIONS:
                return
            before = text
        elif name in ("deno", "bun") and text in _SUBCOMMANDS:
            continue
        elif name in ("awk", "gawk", "sed") or text == "-" or (is_shell and before == "-s"):
            return
        else:
            yield _ExecutedWord(word)
            return


HOOK_TIMEOUT_SECONDS: Final = 30.0
_MAX_OUTPUT: Final = 8000
_MAX_REASON: Final = 600


class HookProcessEnd(Protocol):
    """How a hook's process ended; `effects.child_processes.HookExit` is one."""

    @property
    def code(self) -> int | None:
        """Exit code, or None if a signal ended it."""
        ...

    @property
    def output(self) -> bytes: ...

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was up."""
        ...


HookRunner = Callable[[str, bytes, SandboxLevel | None], Awaitable[HookProcessEnd]]
"""Runs a shell command with these bytes as its input, for at most `HOOK_TIMEOUT_SECONDS`, at a level."""


class HookPayload(Struct, frozen=True, kw_only=True):
    """What a hook is told about a call."""

    passed: ScreenedCall
    session_id: str
    outcome: str | None = None

    def stdin(self, event: HookEvent) -> bytes:
        """Return the JSON that a hook reads, without secrets."""
        parameters, _ = scrub_value(dict(self.passed.parameters))
        document = {
            "event": event,
            "session_id": self.session_id,
            "tool": self.passed.descriptor.id,
            "parameters": parameters,
            "cwd": self.passed.folder,
        }
        if self.outcome is not None:
            document["outcome"] = self.outcome
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def hook_key(command: str, matcher: str) -> str:
    return f"{command}{matcher}"


def hooks_already_run(events: Iterable[HookRan]) -> dict[str, HookRan]:
    """Return the PreToolUse hooks that have run for a call, by `hook_key`."""
    return {hook_key(ran.command, ran.matcher): ran for ran in events if ran.event == "PreToolUse"}


def matching_hooks(hooks: Iterable[HookRule], event: HookEvent, passed: ScreenedCall) -> tuple[HookRule, ...]:
    return tuple(hook for hook in hooks if hook.event == event and _matcher_matches(hook.matcher, passed))


async def run_pre_tool_hooks(
    hooks: Sequence[HookRule],
    payload: HookPayload,
    already: Mapping[str, HookRan],
    runner: HookRunner,
    on_ran: Callable[[HookRan], None],
    clock: Callable[[], float] = time.monotonic,
) -> GateVerdict | None:
    """Run the hooks before a call until one blocks; return its verdict.

    A hook in `already` ran for this call before a crash: its result counts, and it is not run again.
    """
    for hook in matching_hooks(hooks, "PreToolUse", payload.passed):
        ran = already.get(hook_key(hook.command, hook.matcher))
        if ran is None:
            ran = await _run_hook(hook, payload, runner, clock)
            on_ran(ran)
        if ran.blocked:
            return _blocking_verdict(hook, ran)
    return None


async def run_post_tool_hooks(
    hooks: Sequence[HookRule],
    payload: HookPayload,
    runner: HookRunner,
    on_ran: Callable[[HookRan], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run every matching hook after a call; none of them can block."""
    for hook in matching_hooks(hooks, "PostToolUse", payload.passed):
        on_ran(await _run_hook(hook, payload, runner, clock))


async def _run_hook(
    hook: HookRule, payload: HookPayload, runner: HookRunner, clock: Callable[[], float]
) -> HookRan:
    started = clock()
    try:
        command = resolved_hook_command(hook.command, hook.folder)
        end = await runner(command, payload.stdin(hook.event), hook.sandbox)
        code, output, has_failed = end.code, _recorded_output(end.output), end.timed_out or end.code != 0
        if end.timed_out:
            output = f"{output}\nended after {HOOK_TIMEOUT_SECONDS:.0f} s".lstrip()
    except Exception as error:  # noqa: BLE001 -- whatever kept a hook from running, the call is not let through
        code, output, has_failed = None, _recorded_output(f"could not be run: {error}".encode()), True
    return HookRan(
        event=hook.event,
        command=hook.command,
        matcher=hook.matcher,
        exit_code=code,
        output=output,
        blocked=has_failed and hook.event == "PreToolUse",
        duration_ms=max(0, round((clock() - started) * 1000)),
    )


def _recorded_output(output: bytes) -> str:
    """Remove secrets before the text is cut, so that none of them loses its beginning."""
    text = safe_text(scrub(output.decode("utf-8", "replace")).text).strip()
    return (
        text
        if len(text) <= _MAX_OUTPUT
        else f"{text[:_MAX_OUTPUT]}\n… {len(text) - _MAX_OUTPUT} more characters"
    )


def _blocking_verdict(hook: HookRule, ran: HookRan) -> GateVerdict:
    how = "failed" if ran.exit_code is None else f"ended with {ran.exit_code}"
    output = one_line(ran.output, _MAX_REASON) or "it printed nothing"
    by = one_line(hook.command, 120)
    return GateVerdict(
        outcome="denied",
        step="hooks",
        by=f"{by} ({hook.origin})" if hook.origin else by,
        reason=f"the hook {how}: {output}",
        pattern=hook.matcher,
    )


def _matcher_matches(matcher: str, passed: ScreenedCall) -> bool:
    return any(_alternative_matches(part, passed) for part in _matcher_alternatives(matcher))


def _alternative_matches(pattern: str, passed: ScreenedCall) -> bool:
    parsed = permissions.parse_permission(pattern)
    if parsed.problem is not None:
        return True  # what cannot be read is taken to be about this call
    glob = PermissionPattern(text=pattern)
    return permissions.permission_matches(
        glob, passed.descriptor, passed.parameters, passed.named_paths, passed.view, purpose="deny"
    )


def _matcher_alternatives(matcher: str) -> list[str]:
    parts, depth = [""], 0
    for character in matcher:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
