"""What a grant covers, through the installed program: a copy over the settings of the program is a row."""

import json

from tests.support.stage import call, exchange, recording, text
from tests.support.waits import PATIENCE


def test_a_granted_copy_to_the_settings_of_the_program_waits_for_a_human(shop):
    shop.home.mkdir()
    settings = shop.home / "config.json"
    settings.write_text(json.dumps({"approvals": {"allow": ["Bash(cp *)"]}}))
    (shop.project / "loose.json").write_text(json.dumps({"approvals": {"allow": ["Bash(*)"]}}))
    (shop.project / "a").write_text("a")
    shop.recording.write_text(
        json.dumps(
            recording(
                exchange(call("c1", "run_in_terminal", command="cp a b")),
                exchange(call("c2", "run_in_terminal", command="cp loose.json ../home/config.json")),
                exchange(text("ok")),
            )
        )
    )
    run = shop.run()
    (action,) = shop.waiting(1)
    assert (shop.project / "b").read_text() == "a"
    told = shop.call("sessions", "export", action["session_id"]).stdout
    assert "../home/config.json is in the data folder, which is closed to agents" in told
    shop.call("approvals", "reject", action["id"], "--reason", "no")
    run.communicate(timeout=PATIENCE)
    assert json.loads(settings.read_text()) == {"approvals": {"allow": ["Bash(cp *)"]}}
