"""Tokens, cost, days and five-hour blocks against ccusage, of Claude Code and Codex files that are drawn anew.

ccusage (https://github.com/ccusage/ccusage, MIT) comes through npm and runs offline with our prices. Where npm
gives none the tests are skipped, unless NEED_CCUSAGE says that they must not be. Files of one's own are
compared too: `CCUSAGE_FILES` names a folder with `claude*.jsonl` and `codex*.jsonl`.
"""

import json
import os
import random
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE
from workbench.config.model_prices import listed_price

pytestmark = pytest.mark.campaign

FILES = os.environ.get("CCUSAGE_FILES")
PACKAGES = ("ccusage@20.0.24", "@ccusage/ccusage-linux-x64@20.0.24")
CLAUDE_MODELS = ("claude-opus-4-5-20251101", "claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929")
CODEX_MODELS = ("gpt-5-codex", "gpt-5.1-codex-mini")
BEGIN = datetime(2026, 3, 1, 8, 17, tzinfo=UTC)


@pytest.fixture(scope="session")
def ccusage(tmp_path_factory):
    """Return the program, installed by npm."""
    folder = tmp_path_factory.mktemp("npm")
    asked = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", *PACKAGES]
    npm = shutil.which("npm")
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300) if npm else None
    program = folder / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    if done is None or done.returncode or not program.exists():
        why = "npm is not here" if done is None else f"npm gives no ccusage: {done.stderr[-300:]}"
        if os.environ.get("NEED_CCUSAGE"):
            pytest.fail(why)
        pytest.skip(why)
    program.chmod(0o755)
    return program


def overrides():
    """Return our prices as ccusage takes them."""
    prices = {}
    for model in (*CLAUDE_MODELS, *CODEX_MODELS):
        usual = listed_price(model).usual
        prices[model] = {
            "inputCostPerToken": usual.input / 1e6, "outputCostPerToken": usual.output / 1e6,
            "cacheReadInputTokenCost": usual.cache_read / 1e6,
            "cacheCreationInputTokenCost": usual.cache_write / 1e6,
        }  # fmt: skip
    return prices


class Stage:
    """A home of ours and the two folders that ccusage looks into."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.claude, self.codex = folder / "claude/projects/shop", folder / "codex/sessions/2026/03/01"
        self.claude.mkdir(parents=True)
        self.codex.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"pricingOverrides": overrides()}))
        self.env = {
            **os.environ, "HOME": str(folder / "nobody"), "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "CODEX_HOME": str(folder / "codex"), "WORKBENCH_HOME": str(folder / "home"), "TZ": "UTC",
        }  # fmt: skip

    def theirs(self, *words):
        config = () if words[0] == "codex" else ("--config", str(self.folder / "config.json"))
        asked = [str(self.program), *words, "--json", "--offline", *config]
        if words[-1] != "blocks":
            asked += ["-z", "UTC"]
        done = subprocess.run(asked, env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ours(self, *words):
        asked = ["workbench", "sessions", *words, "--json"]
        done = subprocess.run(asked, env=self.env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def take(self):
        self.ours("import", str(self.claude), str(self.codex))


@pytest.fixture
def stage(tmp_path, ccusage):
    return Stage(tmp_path, ccusage)


def claude_line(draw, session, number, at, model, *, usage=None, key=None):
    usage = usage or {
        "input_tokens": draw.randrange(2_000), "output_tokens": draw.randrange(1, 4_000),
        "cache_read_input_tokens": draw.choice((0, draw.randrange(150_000))),
        "cache_creation_input_tokens": draw.choice((0, draw.randrange(40_000))),
    }  # fmt: skip
    written = usage["cache_creation_input_tokens"]
    if draw.random() < 0.5:
        hour = draw.randrange(written + 1)
        kept = {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour}
        usage["cache_creation"] = kept
    key = key or f"msg_{session}_{number}"
    return {
        "type": "assistant", "uuid": f"{session}-{number}", "parentUuid": None, "sessionId": session,
        "cwd": "/shop", "version": "2.1.0", "timestamp": stamp(at), "requestId": f"req_{key}",
        "message": {
            "id": key, "type": "message", "role": "assistant", "model": model, "usage": usage,
            "content": [{"type": "text", "text": f"reply {number}"}],
        },
    }  # fmt: skip


def stamp(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def write_claude(draw, folder, sessions=5):
    """Write sessions with pauses of minutes to many hours; some replies stand in two lines, as they do."""
    for name in range(sessions):
        session, at = f"00000000-0000-4000-8000-{name:012}", BEGIN + timedelta(hours=draw.randrange(90))
        lines = [{
            "type": "user", "uuid": f"{session}-p", "sessionId": session, "cwd": "/shop",
            "timestamp": stamp(at), "message": {"role": "user", "content": "rename it"},
        }]  # fmt: skip
        for number in range(draw.randrange(5, 40)):
            at += timedelta(seconds=draw.choice((20, 300, 4_000, 20_000)) * (0.5 + draw.random()))
            line = claude_line(draw, session, number, at, draw.choice(CLAUDE_MODELS))
            lines.append(line)
            if draw.random() < 0.1:
                line["costUSD"] = round(draw.random(), 4)
            elif draw.random() < 0.3:
                # Where a reply stands in several lines the first may count what had come of it by then.
                first = json.loads(json.dumps(line))
                first["message"]["usage"]["output_tokens"] = 1
                lines.insert(-1, {**first, "uuid": f"{line['uuid']}-first"})
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        (folder / f"{session}.jsonl").write_text(text)


def write_codex(draw, folder, sessions=4):
    """Write rollouts whose counts are running totals with those of the last request beside them."""
    for name in range(sessions):
        at = BEGIN + timedelta(hours=draw.randrange(90))
        model, key = draw.choice(CODEX_MODELS), f"00000000-0000-7000-8000-{name:012}"
        lines = [
            codex_line(at, "session_meta", id=key, timestamp=stamp(at), cwd="/shop", cli_version="0.146.0"),
            codex_line(at, "turn_context", cwd="/shop", model=model),
        ]
        total = dict.fromkeys(
            ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"), 0
        )
        for _ in range(draw.randrange(3, 25)):
            at += timedelta(seconds=draw.randrange(5, 9_000))
            sent, received = draw.randrange(1, 90_000), draw.randrange(1, 3_000)
            last = {
                "input_tokens": sent, "cached_input_tokens": draw.randrange(sent), "output_tokens": received,
                "reasoning_output_tokens": draw.randrange(received),
            }  # fmt: skip
            total = {name: total[name] + last[name] for name in total}
            words = [{"type": "output_text", "text": "ok"}]
            lines.append(codex_line(at, "response_item", type="message", role="assistant", content=words))
            info = {"total_token_usage": with_total(total), "last_token_usage": with_total(last)}
            lines.append(codex_line(at, "event_msg", type="token_count", info=info))
        path = folder / f"rollout-2026-03-01T00-00-00-{key}.jsonl"
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def codex_line(at, kind, **payload):
    return {"timestamp": stamp(at), "type": kind, "payload": payload}


def with_total(counts):
    return {**counts, "total_tokens": counts["input_tokens"] + counts["output_tokens"]}


def our_tokens(row):
    names = ("new_input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return tuple(row[name] for name in names)


def their_tokens(row):
    return tuple(
        row[name] for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    )


def assert_days_agree(stage, agent, origin):
    theirs = {row["date"]: row for row in stage.theirs(agent, "daily")["daily"]}
    ours = {row["key"]: row for row in stage.ours("stats", "--by", "day", "--origin", origin)["rows"]}
    assert set(ours) == set(theirs) and theirs
    for day, row in ours.items():
        cost = theirs[day].get("totalCost", theirs[day].get("costUSD"))
        assert our_tokens(row) == their_tokens(theirs[day]), day
        assert row["cost"] == pytest.approx(cost, abs=0.005), day


@pytest.mark.parametrize("seed", range(3))
def test_days_of_claude_code_agree_in_tokens_and_cost(stage, seed):
    write_claude(random.Random(seed), stage.claude)
    stage.take()
    assert_days_agree(stage, "claude", "claude-code")


@pytest.mark.parametrize("is_copy_first", [False, True])
def test_a_history_that_was_copied_into_another_session_counts_once(stage, is_copy_first):
    """As Claude Code does where a session is forked: the same replies, under another session's id."""
    write_claude(random.Random(7), stage.claude, sessions=2)
    (source, _) = sorted(stage.claude.glob("*.jsonl"))
    other = "00000000-0000-4000-8000-00000000000f"
    copied = source.read_text().replace(source.stem, other).replace(f"msg_{other}", f"msg_{source.stem}")
    later = claude_line(random.Random(8), other, 99, BEGIN + timedelta(days=9), CLAUDE_MODELS[0])
    target = stage.claude / f"{other}.jsonl"
    target.write_text(copied + json.dumps(later, separators=(",", ":")) + "\n")
    if is_copy_first:
        stage.ours("import", str(target))
    stage.take()
    assert len(stage.ours("import", str(stage.claude))["sessions"]) == 3
    assert_days_agree(stage, "claude", "claude-code")


@pytest.mark.parametrize("seed", range(3))
def test_days_of_codex_agree_in_tokens_and_cost(stage, seed):
    write_codex(random.Random(seed), stage.codex)
    stage.take()
    assert_days_agree(stage, "codex", "codex")


@pytest.mark.parametrize("seed", range(3))
def test_models_and_months_agree(stage, seed):
    write_claude(random.Random(seed), stage.claude)
    stage.take()
    months = stage.theirs("claude", "monthly")["monthly"]
    theirs = {
        part["modelName"]: part for row in months for part in row["modelBreakdowns"] if len(months) == 1
    }
    ours = {row["key"]: row for row in stage.ours("stats", "--by", "model")["rows"]}
    assert set(ours) == set(theirs) and theirs
    for model, row in ours.items():
        assert our_tokens(row) == their_tokens(theirs[model])
        assert row["cost"] == pytest.approx(theirs[model]["cost"], abs=0.005)
    (month,) = stage.ours("stats", "--by", "month")["rows"]
    assert month["cost"] == pytest.approx(months[0]["totalCost"], abs=0.005)


@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_five_hours_agree(stage, seed):
    write_claude(random.Random(seed), stage.claude, sessions=3)
    stage.take()
    theirs = [block for block in stage.theirs("claude", "blocks")["blocks"] if not block["isGap"]]
    ours = stage.ours("stats", "--by", "block")["rows"][::-1]
    assert [moment(row["start"]) for row in ours] == [moment(block["startTime"]) for block in theirs]
    for row, block in zip(ours, theirs, strict=True):
        counts = block["tokenCounts"]
        assert our_tokens(row) == (
            counts["inputTokens"], counts["outputTokens"], counts["cacheReadInputTokens"],
            counts["cacheCreationInputTokens"],
        )  # fmt: skip
        assert moment(row["last_at"]) == moment(block["actualEndTime"])
        assert row["cost"] == pytest.approx(block["costUSD"], abs=0.005)


def moment(text):
    return datetime.fromisoformat(text).replace(microsecond=0)


def test_files_of_ones_own_agree(stage):
    if not FILES:
        pytest.skip("CCUSAGE_FILES names no folder")
    for pattern, folder in (("claude*.jsonl", stage.claude), ("codex*.jsonl", stage.codex)):
        for number, path in enumerate(sorted(Path(FILES).rglob(pattern))):
            shutil.copy(path, folder / f"rollout-2026-03-01T00-00-00-{number:08}.jsonl")
    stage.take()
    assert_days_agree(stage, "claude", "claude-code")
    assert_days_agree(stage, "codex", "codex")
