"""Providers: a megabyte of reply on each wire, a word from byte to screen, place 9 while servers stall.

    python -m benchmarks.providers [--only replies | words | place]

A reply's processor time is that of the thread that reads it, beside the same reply by chat completions
(aim: 1.3). Words are sent by a server in this process and looked for on a screen without a terminal, whose
driver runs in a thread beside it (aim: 80 ms, p95). Place 9 opens while every server that it asks says
nothing (aim: 300 ms).
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.chat_server import Answer, ChatServer, Stall, chunk, event
from tests.support.stage import USER, Stage, exchange, recording, text
from workbench.backend.providers import LocalProviders
from workbench.config.keys import ANTHROPIC, AZURE_OPENAI, OLLAMA, OPENAI_COMPATIBLE, OPENAI_RESPONSES
from workbench.domain.events import SessionChanged
from workbench.domain.messages import Message, ModelRequest, TextPart
from workbench.journal.journal import Journal
from workbench.providers.base import Endpoint, create_client
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import Backend

PIECE = "a few more words of it, "
COUNT = 1_000_000 // len(PIECE)
HELLO = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="hi"),))
KINDS = (OPENAI_COMPATIBLE, ANTHROPIC, AZURE_OPENAI, OLLAMA, OPENAI_RESPONSES)
RUNS = 5
WORDS = 60


def _sse(value: dict[str, object]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def _pieces(kind: str) -> list[bytes]:
    """Return a reply of one megabyte as a server of that kind sends it, an event or line a piece."""
    if kind == "ollama":
        lines = [{"model": "m", "message": {"role": "assistant", "content": PIECE}, "done": False}] * COUNT
        end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
        return [json.dumps(line).encode() + b"\n" for line in (*lines, end)]
    if kind == "anthropic":
        start = {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}
        begin = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": PIECE}}
        end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
        stops = [{"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"}]
        return [_sse(one) for one in (start, begin, *[delta] * COUNT, *stops)]
    if kind == "openai-responses":
        delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "delta": PIECE}
        end = {"type": "response.completed", "response": {"object": "response", "status": "completed"}}
        return [_sse(one) for one in ({"type": "response.created"}, *[delta] * COUNT, end)]
    chunks = [chunk({"content": PIECE})] * COUNT
    return [
        event(one)
        for one in (chunk({"role": "assistant", "content": ""}), *chunks, chunk(finish="stop"), "[DONE]")
    ]


async def _read(kind: str, server: ChatServer) -> float:
    """Return the processor time of this thread for one whole reply."""
    base_url = server.base_url.removesuffix("/v1") if kind == "ollama" else server.base_url
    row = next(one for one in KINDS if one.name == kind)
    endpoint = Endpoint(name="p", base_url=base_url, kind=row, context_tokens=4_096)
    provider = create_client(endpoint)
    started, size = time.thread_time(), 0
    async for part in provider.reply(HELLO):
        size += len(part.text) if isinstance(part, TextPart) else 0
    assert size == COUNT * len(PIECE), size
    return time.thread_time() - started


def replies() -> None:
    """Measure the wires in turn, so that a machine that slows down slows all of them."""
    found: dict[str, list[float]] = {kind.name: [] for kind in KINDS}
    answers = {}
    for kind in KINDS:
        pieces = _pieces(kind.name)
        joined = [b"".join(pieces[at : at + 40]) for at in range(0, len(pieces), 40)]
        more = {"headers": {"Content-Type": "application/x-ndjson"}} if kind is OLLAMA else {}
        answers[kind.name] = Answer(joined, **more)
    for _ in range(RUNS):
        for kind in KINDS:
            with ChatServer(answers[kind.name]) as server:
                found[kind.name].append(asyncio.run(_read(kind.name, server)))
    base = statistics.median(found[OPENAI_COMPATIBLE.name])
    for name, seconds in found.items():
        middle = statistics.median(seconds)
        print(f"1 MB of reply, {name:<18} {middle * 1000:7.0f} ms of processor time   {middle / base:.2f} x")


def words(root: Path) -> None:
    """Measure from the byte of a word to the word on the screen."""
    sent: dict[str, float] = {}

    def say(number: int) -> Iterator[object]:
        word = f"word{number:03d}"
        yield lambda: sent.update({word: time.monotonic()})
        yield event(chunk({"content": f"{word}\n"}))
        yield lambda: time.sleep(0.12)

    pieces = [piece for number in range(WORDS) for piece in say(number)]
    answer = Answer([*pieces, event(chunk(finish="stop")), event("[DONE]")])
    with ChatServer(answer) as server:
        config = {
            "providers": {"p": {"kind": "openai-compatible", "base_url": server.base_url, "model": "m"}}
        }
        stage = Stage(root, recording(exchange(text("unused"))), config=config)
        stage.trust().begin("say words")
        changed = SessionChanged(provider="p", model="m")
        stage.journal.append([stage.journal.event(changed, stage.session_id, USER)])
        looks: list[float] = []
        seen = asyncio.run(_watched(stage, sent, looks))
        stage.close()
    late = sorted((seen[word] - at) * 1000 for word, at in sent.items() if word in seen)
    p95 = statistics.quantiles(late, n=20)[-1]
    middle = statistics.median(late)
    slow = sorted(one * 1000 for one in looks)
    worst = statistics.quantiles(slow, n=20)[-1]
    floor = f"between two looks median {statistics.median(slow):.0f}, p95 {worst:.0f} ms"
    print(f"a word on the screen: {len(late)} of {WORDS}, median {middle:.0f} ms, p95 {p95:.0f} ms; {floor}")


async def _watched(stage: Stage, sent: dict[str, float], looks: list[float]) -> dict[str, float]:
    """Return when each word was on the screen first; `looks` gets the time between two looks at it."""
    with Journal.open(stage.home) as journal:
        app = WorkbenchApp(journal, Backend(), str(stage.workspace))
        seen: dict[str, float] = {}
        async with app.run_test(size=(120, 36)):
            await asyncio.sleep(2)
            driver = threading.Thread(target=stage.drive, kwargs={"seconds": 60.0}, daemon=True)
            driver.start()
            while driver.is_alive() or len(seen) < len(sent):
                begun = time.monotonic()
                await asyncio.sleep(0.004)
                looks.append(time.monotonic() - begun)
                wanted = [word for word in sent if word not in seen]
                if not wanted:
                    continue
                shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
                seen.update({word: time.monotonic() for word in wanted if word in shown})
                if not driver.is_alive() and time.monotonic() - max(sent.values()) > 5:
                    break
        return seen


def place(root: Path) -> None:
    """Measure from the key to the rows of place 9 while its servers say nothing."""
    with ChatServer(otherwise=Answer([Stall()], head=False)) as server:
        settings = {
            kind.name: {"kind": kind.name, "base_url": server.base_url, "model": "m"} for kind in KINDS
        }
        stalled = Stage(root / "stalled", recording(exchange(text("hi"))), config={"providers": settings})
        bare = Stage(root / "bare", recording(exchange(text("hi"))))
        found: list[float] = []
        floor: list[float] = []
        for _ in range(RUNS):
            found.append(asyncio.run(_opened(stalled, lambda shown: shown.count("is asked") == len(KINDS))))
            floor.append(asyncio.run(_opened(bare, lambda shown: "Models and providers" in shown)))
        stalled.close()
        bare.close()
    ratio = statistics.median(found) / statistics.median(floor)
    times = ", ".join(f"{one * 1000:.0f}" for one in found)
    without = ", ".join(f"{one * 1000:.0f}" for one in floor)
    print(
        f"place 9 while {len(KINDS)} servers stall: {times} ms; without servers: {without} ms; {ratio:.2f} x"
    )


async def _opened(stage: Stage, is_open: Callable[[str], bool]) -> float:
    backend = Backend()
    backend.providers = LocalProviders(stage.home, stage.journal, str(stage.workspace), servers=())
    app = WorkbenchApp(stage.journal, backend, str(stage.workspace))
    async with app.run_test(size=(120, 36)) as pilot:
        await asyncio.sleep(2)
        await pilot.press("escape")
        await asyncio.sleep(0.5)
        started = time.monotonic()
        pressed = asyncio.create_task(pilot.press("9"))
        while True:
            shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            if is_open(shown):
                took = time.monotonic() - started
                await pressed
                return took
            await asyncio.sleep(0.004)


def main() -> None:
    """Measure everything, or one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("replies", "words", "place"))
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        if only in (None, "replies"):
            replies()
        if only in (None, "words"):
            words(Path(folder) / "words")
        if only in (None, "place"):
            place(Path(folder) / "place")


if __name__ == "__main__":
    main()
