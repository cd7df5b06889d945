"""Golden sessions about what runs and what fails: commands, interrupts, providers, dead hosts.

Owns their recordings and what the human does.
"""

from tests.golden.scenario import golden
from tests.golden.shop import FILES
from tests.golden.staging import GONE
from tests.golden.words import create, edit, error, exchange, prompt, read, result, run, said, thought

REPORT = r"""#!/bin/sh
# Says for every line of the shop whether a test runs it.
number=0
for file in src/shop/app.py src/shop/cart.py src/shop/login.py src/shop/router.py; do
    line=0
    while [ $line -lt 40 ]; do
        line=$((line + 1))
        number=$((number + 1))
        printf '%4d  %s:%d  covered by the tests of the shop, seen in this run\n' $number $file $line
    done
done
printf '\033[32m%d lines\033[0m\n' $number
"""


# What is ended while it runs is one process: whether a second one is counted as left over is a race.


@golden("commands", [
    exchange(said("First the tests, as they are."), run("c1", "sh scripts/test.sh"), run("c2", "ls src/shop"),
             tokens=(610, 40)),
    exchange(
        said("Two of five fail: nothing is called dispatch yet. What do the tests cover at all?"),
        run("c3", "sh scripts/report.sh"), run("c4", "rm -rf docs"), tokens=(980, 58),
        expect=result("c1", "failed", "3 failed"),
    ),
    exchange(said("All of it. Is the shop up?"), run("c5", "sleep 30", timeout_seconds=1),
             tokens=(5100, 31), expect=result("c4", "denied", "docs are kept")),
    exchange(said("It does not answer within a second, so I stop here."), tokens=(5190, 19),
             expect=result("c5", "failed", "longer than 1 s")),
], files={"scripts/report.sh": REPORT}, config={
    "approvals": {"allow": ["Bash(ls *)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash(rm *)", "command": "printf 'docs are kept: use git rm\\n'; exit 2"}],
        "PostToolUse": [{"matcher": "Bash(ls *)", "command": "cat > /dev/null; printf 'listed\\n'"}],
    },
})  # fmt: skip
def commands(scene):
    scene.begin("what is tested", "Run the tests and tell me what they cover.")
    yield
    scene.approve(after=5)
    yield
    scene.approve(after=8)
    yield
    scene.approve(after=4)
    yield


@golden("interrupted", [
    exchange(
        said("I'll watch the log while I write the page."),
        run("c1", "printf 'watching the log\\n'; exec sleep 60"), create("c2", "docs/log.md", "# Log\n"),
        tokens=(540, 44),
    ),
    exchange(
        thought("They stopped me. The log is in another place, perhaps."),
        said("The log of the shop is written by the server, not by the application. One could read it "
             "from the journal of the system, or have the application write its own and rotate it every night."),
        tokens=(720, 60), when=prompt("Where"),
    ),
    exchange(said("Then I write nothing."), tokens=(810, 8)),
])  # fmt: skip
def interrupted(scene):
    scene.begin("watch the log", "Watch the log and note what is odd.")
    yield
    scene.approve(scene.one("printf"), 7)
    yield lambda progress: "output.streamed" in _kinds(scene)
    scene.passes(19).interrupt()
    yield
    scene.say("Where is the log?", after=12)
    pauses = iter(range(8))
    # After some pieces of the reply the human has heard enough.
    scene.at_sleep = lambda seconds: next(pauses, None) is None and (scene.interrupt() or True)
    yield
    scene.at_sleep = None
    scene.say("Leave it.", after=15)
    yield


def _kinds(scene):
    return {event.kind for event in scene.journal.events(scene.session_id)}


@golden("provider-errors", [
    exchange(error(status=429, retry_after_s=2, message="slow down: 60 requests a minute")),
    exchange(said("The catalogue is read in"), error(status=503, message="upstream connect error")),
    exchange(said("The catalogue is read in app.py."), read("c1", "src/shop/app.py"), tokens=(700, 24)),
    exchange(said("It is all one list."), read("c2", "src/shop/cart.py"), tokens=(1320, 21)),
    exchange(said("And the cart keeps none of it."), read("c3", "src/shop/router.py"), tokens=(1710, 19)),
    exchange(error(status=400, message="messages: the context is longer than 8192 tokens"), when=prompt("pages")),
    exchange(said("Pages of twenty would do."), tokens=(2200, 9), when=prompt("shorter")),
], config={"approvals": {"read_only": "auto"}, "limits": {"max_turns": 3}})  # fmt: skip
def provider_errors(scene):
    scene.begin("slow catalogue", "The catalogue is slow. Why?")
    yield
    scene.say("Would pages help?", after=40)
    yield
    scene.say("In shorter words: what should I do?", after=25)
    yield
    scene.say("And after that?", after=60)
    yield


CART = FILES["src/shop/cart.py"]


@golden("crash-recovery", [
    exchange(said("The tests first."), run("c1", "sh scripts/test.sh login"), tokens=(480, 17)),
    exchange(
        said("Nobody knows how far they got, and I do not run them again by myself. The page about carts:"),
        create("c2", "docs/cart.md", "# Cart\n\nLines of product and quantity.\n"), tokens=(640, 52),
        expect=result("c1", "interrupted", "not run again"),
    ),
    exchange(
        said("It was written after all. Now remove():"),
        edit("c3", "src/shop/cart.py", "        del self._lines[product]\n",
             "        self._lines.pop(product, None)\n"),
        tokens=(760, 49), expect=result("c2", "succeeded"),
    ),
    exchange(
        said("Not written. Once more:"),
        edit("c4", "src/shop/cart.py", "        del self._lines[product]\n",
             "        self._lines.pop(product, None)\n"),
        tokens=(850, 47), expect=result("c3", "interrupted", "before anything was written"),
    ),
    exchange(said("You changed the file meanwhile, so it stays as you left it."), tokens=(940, 20),
             expect=result("c4", "interrupted", "left as they are")),
])  # fmt: skip
def crash_recovery(scene):
    scene.begin("cart page", "Check the login tests, write a page about carts, make remove() forgiving.")
    yield
    yield from _dying(scene, "call.process_recorded")
    yield from _dying(scene, "apply.renamed", away=3600)
    yield from _dying(scene, "call.executing")
    yield from _dying(scene, "call.executing", meanwhile=lambda: scene.write(
        "src/shop/cart.py", CART.replace("del self", "# forgiving, from next week on\n        del self")
    ))  # fmt: skip


def _dying(scene, point, away=180, meanwhile=lambda: None):
    scene.approve(after=9)
    yield GONE
    scene.dies_at(point, away=away)
    meanwhile()
    yield
    scene.go_on(after=25)
    yield
