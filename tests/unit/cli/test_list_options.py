"""Every filter, order and page of S3's log viewer on the command line, over logs of S3 that were imported."""

import json
import time

import pytest

LOGS = {
    # id: query, model, status, time, [(command, explanation)]
    "one": ("List all Go files", "sonnet", "accepted", "2026-02-01T10:30:00Z", [("fd -e go", "Uses fd to find files")]),
    "two": ("remove docker images", "opus", "rejected", "2026-02-02T08:00:00.123456789+01:00",
            [("docker rmi $(docker images -q)", "Removes EVERYTHING"), ("docker image prune", "only dangling")]),
    "three": ("free disk space", "sonnet", "quit", "2026-02-03T23:59:59Z", [("df -h", "shows mounts")]),
    "four": ("list open ports", "haiku", "accepted", "2026-02-04T00:00:00Z", [("ss -tlnp", "Sockets that listen")]),
}  # fmt: skip

TITLES = {
    "one": "List all Go files",
    "two": "remove docker images",
    "three": "free disk space",
    "four": "list open ports",
}


def log(key, query, model, status, at, iterations):
    made = [
        {"feedback": "" if not number else "safer", "timestamp": at,
         "model_input": {"system_prompt": "s", "user_prompt": query},
         "model_output": {"raw_response": "{}", "command": command, "explanation": explanation}}
        for number, (command, explanation) in enumerate(iterations)
    ]  # fmt: skip
    return {
        "id": key, "user_query": query, "context_sources": {}, "iterations": made,
        "metadata": {"timestamp": at, "model": model, "final_status": status, "iteration_count": len(made)},
    }  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with the logs, imported once."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "in").mkdir()
    for key, (query, model, status, at, iterations) in LOGS.items():
        (folder / "in" / f"{key}.json").write_text(json.dumps(log(key, query, model, status, at, iterations)))
    return folder


@pytest.fixture
def listed(shell, home, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(home / "home"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    if not (home / "home").exists():
        assert shell("sessions", "import", str(home / "in")) == 0, shell.err

    def found(*words):
        assert shell("sessions", "list", "--all", "--json", *words) == 0, shell.err
        return [
            next(key for key, title in TITLES.items() if title == row["title"])
            for row in json.loads(shell.out)
        ]

    return found


@pytest.mark.spec(71, 177, 178, 179, 180)
@pytest.mark.parametrize(
    "words, keys",
    [
        ("", "four three two one"),
        ("--status accepted", "four one"),
        ("--status rejected", "two"),
        ("--status quit", "three"),
        ("--model sonnet", "three one"),
        ("--model opus --status accepted", ""),
        ("--search LIST", "four one"),
        ("--search fd", "one"),
        ("--search everything", "two"),
        ("--search prune", "two"),
        ("--search sockets", "four"),
        ("--search nowhere", ""),
        ("--from 2026-02-03", "four three"),
        ("--from 2026-02-02T07:00:01Z", "four three"),
        ("--from 2026-02-02T07:00:00Z", "four three two"),
        ("--from 2026-02-02T08:00:00+01:00", "four three two"),
        ("--to 2026-02-02", "two one"),
        ("--from 2026-02-02 --to 2026-02-03", "three two"),
        ("--from 2027-01-01", ""),
        ("--sort created", "four three two one"),
        ("--sort updated --order asc", "one two three four"),
        ("--sort title", "two four one three"),
        ("--sort title --order asc", "three one four two"),
        ("--sort model --order asc", "four two three one"),
        ("--sort status", "four three two one"),
        ("--sort tokens --order asc", "four three two one"),
        ("--sort workspace --order asc", "four three two one"),
        ("--order asc", "one two three four"),
        ("--order desc", "four three two one"),
        ("--limit 2", "four three"),
        ("--limit 0", ""),
        ("--offset 3", "one"),
        ("--offset 4", ""),
        ("--limit 1 --offset 1 --order asc", "two"),
        ("--status accepted --model haiku --search ports --from 2026-02-04 --to 2026-02-04 --limit 5", "four"),
    ],
)  # fmt: skip
def test_options_of_the_log_viewer(listed, words, keys):
    assert listed(*words.split()) == keys.split()


@pytest.mark.spec(177)
def test_logs_that_cannot_be_read_are_skipped_named_and_counted(shell, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for key, (query, model, status, at, iterations) in LOGS.items():
        (folder / f"{key}.json").write_text(json.dumps(log(key, query, model, status, at, iterations)))
    for number, text in enumerate(("", '{"id": "x", "user_query":', "[1]", "words")):
        (folder / f"broken{number}.json").write_text(text)
    assert shell("sessions", "import", str(folder)) == 0
    assert shell.out.splitlines()[-1] == "4 sessions in 8 files."
    named = [line for line in shell.err.splitlines() if line.startswith("Not imported: ")]
    assert [f"broken{number}.json: " in line for number, line in enumerate(sorted(named))] == [True] * 4
    assert [row["user_query"] for row in shell.json("ask", "logs", "--json")] == [
        TITLES[key] for key in ("four", "three", "two", "one")
    ]


@pytest.mark.parametrize("words", ["--status done", "--from yesterday-ish", "--to 2026-13-01", "--sort colour",
                                   "--order up", "--limit -1", "--limit x", "--offset 1.5"])  # fmt: skip
def test_what_no_option_means_is_refused(listed, shell, words):
    assert shell("sessions", "list", "--all", "--json", *words.split()) == 2
    assert not shell.out and len(shell.err.splitlines()) == 3


def test_a_list_that_is_cut_says_so(listed, shell):
    listed("--limit", "2")
    assert shell("sessions", "list", "--all", "--limit", "2") == 0
    assert len(shell.out.splitlines()) == 2 and "More match" in shell.err
    assert shell("sessions", "list", "--all", "--limit", "4") == 0 and not shell.err
