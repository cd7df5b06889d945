"""What hooks of other agents cost: the program that a hook runs, and a real background process behind it.

`python -m benchmarks.bridge`. The aims are in its lines; a bare interpreter is measured in turn with it.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.supervised import claim, p95
from tests.support.hook_place import HookPlace
from tests.support.stage import Stage, recording
from tests.support.waits import until

CALLS, AGENTS, QUESTIONS = 60, 20, 10
ALLOWED_MS, TIMES_BARE, ROW_MS, OUTPUT_MS, LARGE_SECONDS = 60.0, 1.3, 150.0, 50.0, 1.0
BARE = (sys.executable, "-I", "-S", "-c", "pass")
LINES = "".join(f"line {number}\n" for number in range(200))


def command(session: str, key: str) -> dict[str, object]:
    """Return the input of a hook about a command that a rule allows."""
    return hook_input(session, key, "Bash", {"command": "true"})


def hook_input(session: str, key: str, tool: str, given: dict[str, object]) -> dict[str, object]:
    """Return the input of a hook before a call."""
    return {"session_id": session, "tool_name": tool, "tool_input": given, "tool_use_id": key, "cwd": ""}


def milliseconds(work) -> float:
    """Return how long some work takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def ask(place: HookPlace, document: dict[str, object]) -> None:
    """Run the hook before a call that is allowed, and the one after it."""
    code, said, _ = place.output("claude", "PreToolUse", document)
    assert (code, said["hookSpecificOutput"]["permissionDecision"]) == (0, "allow")


def allowed_calls(place: HookPlace) -> bool:
    """Measure allowed calls in turn with a bare interpreter, and those of twenty agents at once."""
    for session in range(AGENTS):
        ask(place, command(f"s{session}", "first"))
        place.output("claude", "PostToolUse", command(f"s{session}", "first"))
    bare, client, calls = [], [], []
    left = {"session_id": "s0", "tool_name": "TodoWrite"}
    for number in range(CALLS):
        bare.append(milliseconds(lambda: subprocess.run(BARE, check=True)))
        client.append(milliseconds(lambda: place.output("claude", "PreToolUse", left)))
        document = command("s0", f"c{number}")
        calls.append(milliseconds(lambda document=document: ask(place, document)))
        place.output("claude", "PostToolUse", document)
    times, own = (statistics.median(each) / statistics.median(bare) for each in (calls, client))
    with ThreadPoolExecutor(AGENTS) as pool:
        alone = milliseconds(
            lambda: list(pool.map(lambda _: subprocess.run(BARE, check=True), range(AGENTS)))
        )
        together = milliseconds(
            lambda: list(pool.map(lambda n: ask(place, command(f"s{n}", "at once")), range(AGENTS)))
        )
    note = f"median {statistics.median(calls):.1f} ms, bare interpreter {statistics.median(bare):.1f} ms"
    return all([
        claim("allowed call, from the start of its hook to its end, p95", p95(calls), "ms", ALLOWED_MS, note),
        claim("an allowed call compared with a bare interpreter, medians", times, "x", TIMES_BARE),
        claim("a call left to the agent, compared with a bare interpreter", own, "x", TIMES_BARE),
        claim("twenty agents at once, each", together / AGENTS, "ms", ALLOWED_MS,
              f"{together / alone:.1f} x twenty bare interpreters"),
    ])  # fmt: skip


def questions(place: HookPlace) -> bool:
    """Measure a question until its row is in the journal, and an answer until the hook has printed it."""
    rows, outputs = [], []
    for number in range(QUESTIONS):
        given = {"file_path": "a.txt", "old_string": f"line {number}\n", "new_string": "changed\n"}
        began = time.perf_counter()
        hook = place.hook("claude", "PreToolUse", hook_input("edits", f"e{number}", "Edit", given))
        while not (waiting := place.waiting()):
            place.stage.journal.wait(place.stage.journal.last_position(), 0.02)
        rows.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        place.stage.reject(waiting[0], "no")
        hook.output()
        outputs.append((time.perf_counter() - began) * 1000)
    return all(
        [
            claim(
                "question, from the start of its hook to its row, median",
                statistics.median(rows),
                "ms",
                ROW_MS,
            ),
            claim("answer, until the hook has ended, median", statistics.median(outputs), "ms", OUTPUT_MS),
        ]
    )


def large_input(place: HookPlace) -> bool:
    """Measure an input of 50 MB until it is answered."""
    given = {"file_path": "a.txt", "content": "x" * 50_000_000}
    data = json.dumps(hook_input("large", "l", "Write", given)).encode()
    began = time.perf_counter()
    code, _, said = place.output("claude", "PreToolUse", data)
    seconds = time.perf_counter() - began
    assert (code, "too large" in said) == (2, True)
    return claim("50 MB of input, until it is denied", seconds, "s", LARGE_SECONDS)


def main() -> int:
    """Measure everything; return 1 if an aim was missed."""
    with tempfile.TemporaryDirectory() as root:
        config = {"approvals": {"allow": ["Bash(true)"]}}
        place = HookPlace(Stage(Path(root) / "hooks", recording(), files={"a.txt": LINES}, config=config))
        place.start_host()
        try:
            until(place.socket.exists, place.words)
            met = [part(place) for part in (allowed_calls, questions, large_input)]
        finally:
            place.close()
            place.stage.close()
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
