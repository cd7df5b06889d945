"""Sessions that go on and on, in processes as a user starts them: limits, working time, prices, crashes."""

import json
import signal

import pytest

from tests.support.stage import call, exchange, recording, result, text
from tests.support.waits import PATIENCE, until

SLOW = {"text": "and on ", "after_ms": 400}


def kinds(shop):
    """Return the kinds of events of the only session."""
    if not shop.home.exists():
        return []
    sessions = shop.json("sessions", "list")
    if not sessions:
        return []
    lines = shop.call("sessions", "export", sessions[0]["id"]).stdout.splitlines()
    return [json.loads(line).get("kind") for line in lines]


def play(shop, *exchanges):
    shop.recording.write_text(json.dumps(recording(*exchanges)))
    return ("run", "-p", "go on", "--recording", str(shop.recording), "--output-format", "json")


def read_only(shop):
    """Let agents read in this project without asking."""
    (shop.project / "a.txt").write_text("x" * 300_000)
    shop.call("trust", "--yes", "--read")


@pytest.mark.spec(137)
def test_a_run_stops_when_its_working_time_is_over_and_a_human_lets_it_go_on(shop):
    words = play(shop, exchange(text("on "), *[SLOW] * 60), exchange(text("Done.")))
    done = shop.call(*words, "--timeout", "1", code=1)
    found = json.loads(done.stdout)
    assert (found["status"], found["reason"], found["exit"]) == ("paused", "limit reached", 1)
    assert "Stopped at a limit. It worked for 1.0 s" in done.stderr
    again = json.loads(shop.call("run", "--continue", "-p", "now", "--output-format", "json").stdout)
    assert (again["reply"], again["exit"]) == ("Done.", 0)


@pytest.mark.spec(137)
def test_so_many_model_calls_and_no_more(shop):
    read_only(shop)
    reads = [exchange(call(f"c{n}", "read_file", path="a.txt")) for n in range(5)]
    done = shop.call(*play(shop, *reads, exchange(text("Done."))), "--max-turns", "3", code=1)
    found = json.loads(done.stdout)
    assert (found["status"], found["reason"]) == ("paused", "limit reached")
    assert "3 model calls in one turn" in done.stderr
    again = json.loads(shop.call("run", "--continue", "--output-format", "json", code=0).stdout)
    assert again["reply"] == "Done."


def test_what_a_model_is_shown_of_a_file_is_bounded(shop):
    read_only(shop)
    seen = exchange(text("Done."), expect=result("c1", "succeeded"))
    shop.call(*play(shop, exchange(call("c1", "read_file", path="a.txt")), seen))
    (session,) = json.loads(shop.call("sessions", "list", "--json").stdout)
    lines = shop.call("sessions", "export", session["id"], "--format", "assistant").stdout
    assert len(lines) < 3 * 102_400


@pytest.mark.spec(138)
def test_usage_is_added_up_over_runs_and_priced_where_prices_are_known(shop):
    usage = {"usage": {"input_tokens": 1_000_000, "output_tokens": 500_000}}
    prices = {"input_per_million": 2, "output_per_million": 10}
    shop.home.mkdir(exist_ok=True)
    config = {"config_version": 1, "providers": {"recorded": {"kind": "recorded", "prices": prices}}}
    words = play(shop, exchange(text("a"), usage), exchange(text("b"), usage))
    unpriced = json.loads(shop.call(*words).stdout)
    assert (unpriced["usage"]["total_tokens"], unpriced["cost"]) == (1_500_000, None)
    (shop.home / "config.json").write_text(json.dumps(config))
    found = json.loads(shop.call("run", "--continue", "-p", "more", "--output-format", "json").stdout)
    assert found["usage"] == {
        "input_tokens": 2_000_000,
        "output_tokens": 1_000_000,
        "total_tokens": 3_000_000,
    }
    assert found["cost"] == 14.0


def test_a_killed_run_calls_no_model_until_a_human_says_so(shop):
    words = play(shop, exchange(text("on "), *[SLOW] * 60), exchange(text("Done.")))
    process = shop.start(*words)
    until(lambda: "text.streamed" in kinds(shop))
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    shop.call("host", "restart")
    until(lambda: any(row["reason"] == "host lost" for row in shop.json("sessions", "list")))
    assert kinds(shop).count("turn.started") == 1
    shop.call("host", "stop")
    again = shop.start("run", "--continue", "--output-format", "json")
    until(lambda: kinds(shop).count("turn.started") == 2)
    again.send_signal(signal.SIGINT)
    assert again.wait(PATIENCE) == 130


@pytest.mark.parametrize(
    "words", [("--timeout", "0"), ("--timeout", "x"), ("--max-turns", "1.5"), ("--timeout", "nan")]
)
def test_limits_that_are_none_are_named(shop, words):
    done = shop.call("run", "-p", "x", *words, code=2)
    assert words[0] in done.stderr and "above 0" in done.stderr


def test_a_session_keeps_its_limits(shop):
    done = shop.call("run", "--continue", "--max-turns", "3", code=2)
    assert "--max-turns has no place here" in done.stderr
