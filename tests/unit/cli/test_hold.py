"""`workbench hold` and `release`: said once, kept, told by status and doctor, refused to agents."""


def test_a_hold_lasts_until_it_is_released_and_both_may_be_said_twice(shell):
    assert shell("release") == 0
    assert shell.out == "Agents are not held.\n"
    assert shell("hold") == 0
    assert shell.out.splitlines()[0] == "Held."
    first = shell.json("hold", "--json")
    assert (first["held"], first["changed"]) == (True, False)
    assert first["by"].startswith("user (cli, pid ")
    shell("host", "status")
    assert "workbench release ends that" in shell.out
    assert shell.json("host", "status", "--json")["hold"]["held_at"] == first["held_at"]
    checks = {check["name"]: check for check in shell.json("doctor", "--json")["checks"]}
    assert checks["hold"]["ok"] and checks["hold"]["hold"]["held"]
    assert shell.json("release", "--json") == {"held": False, "held_at": None, "by": None, "changed": True}


def test_no_agent_holds_or_releases(shell, monkeypatch):
    shell("hold")
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    for command in ("hold", "release"):
        assert shell(command) != 0
        assert "started by an agent" in shell.err
    monkeypatch.delenv("WORKBENCH_AGENT")
    assert shell.json("hold", "--json")["changed"] is False
