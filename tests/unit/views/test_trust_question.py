"""The trust question in lists: what would run first, then the choices, then the files."""

from tests.unit.views.making import NOW, action
from workbench.domain.events import ActionOpened
from workbench.domain.values import Choice
from workbench.views import approvals
from workbench.views.action_detail import NOTHING_TO_TRUST, action_detail, trust_acts, trust_files

CHOICES = (Choice(key="trust", label="Trust it"), Choice(key="not_now", label="not now"))
SUBJECT = {
    "workspace": "/w/shop", "content_hash": "h", "files": ["b.yaml", ".workbench/a.md", ".workbench/c.md"],
    "hooks": [{"event": "PreToolUse", "matcher": "Bash", "argv": ["/bin/sh", "-c", "./check.sh && rm x"]}],
    "hook_count": 60,
    "servers": [
        {"provider": "o", "base_url": "http://other/v1", "model": "", "used": False},
        {"provider": "e", "base_url": "https://used/v1", "model": "big", "used": True},
    ],
    "pipeline_commands": 2,
}  # fmt: skip


def made(subject, **row):
    opened = ActionOpened(
        action_kind="trust", tool=None, target="/w/shop", digest="d", created_at=NOW, expires_at=None, cwd="/w",
        prompt="Trust /w/shop?", choices=CHOICES, subject=subject,
    )  # fmt: skip
    return action_detail(action(kind="trust", target="/w/shop", **row), opened, (), NOW)


def test_what_would_run_stands_in_lists_before_the_choices_and_nothing_is_left_out():
    rule = {"tool": "run_in_terminal", "pattern": "make", "description": "builds"}
    detail = made({**SUBJECT, "checker": "make lint", "rules": [rule], "rule_count": 3})
    assert [(part.heading, part.rows) for part in detail.acts] == [
        (
            "would run",
            (
                ("PreToolUse Bash", "./check.sh && rm x"),
                ("and", "59 more"),
                ("to check findings", "make lint"),
            ),
        ),
        ("would be allowed without asking", (("run_in_terminal builds", "make"), ("and", "2 more"))),
        (
            "model servers",
            (("conversation goes to", "https://used/v1 big"), ("also names", "http://other/v1")),
        ),
        ("pipelines", (("when you start one", "commands on 2 lines"),)),
    ]
    (files,) = detail.covers
    assert (files.heading, files.rows) == ("3 files", (("", "b.yaml"), (".workbench/", "a.md   c.md")))
    assert detail.prompt.startswith("/w/shop\n") and "hooks can run commands" in detail.prompt


def test_row_and_title_say_it_in_plain_words_and_an_answered_one_keeps_only_its_answer():
    (row,) = approvals.queue_rows([action(kind="trust", target="/w/shop", verb="ask")], {}, NOW)
    assert (row.verb, row.target) == ("trust", "this folder")
    done = made(SUBJECT, state="approved", choice="trust", decided_at=NOW, decided_by="user")
    assert ([choice.key for choice in done.choices], done.acts, done.covers) == (["trust"], (), ())
    assert made({**SUBJECT, "files": []}).prompt.endswith(NOTHING_TO_TRUST)


def test_a_question_that_records_no_facts_says_what_its_words_say():
    assert made({"workspace": "/w/shop"}).prompt == "Trust /w/shop?"


def test_untrusted_names_are_one_safe_line_each_and_wrong_shapes_are_passed_over():
    hostile = {"files": ["a\x1b[2J\nb", 7], "hooks": ["x", {"event": 1, "argv": "rm"}], "servers": None,
               "pipeline_commands": True, "hook_count": "many"}  # fmt: skip
    (files,) = trust_files(hostile)
    assert "\x1b" not in str(files.rows) and "\n" not in str(files.rows)
    assert [part.rows for part in trust_acts(hostile)] == [(("hook", ""),)]
