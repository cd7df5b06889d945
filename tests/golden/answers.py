"""Golden sessions about answers: every way in which an approval can end.

Owns their recordings and what the human does. Read them as work on a web shop.
"""

from tests.golden.scenario import golden
from tests.golden.shop import FILES
from tests.golden.staging import MINUTE
from tests.golden.words import call, create, edit, exchange, prompt, read, result, run, said, thought
from workbench.domain.events import MarkAdded, RuleAdded, SessionChanged
from workbench.domain.values import Decision, SelectedHunk
from workbench.host import workspace_trust
from workbench.journal.decisions import add_rule, decide_action, expire_due_actions, revoke_rule

ROUTER = FILES["src/shop/router.py"]
DISPATCH = (
    ROUTER.replace(
        "    def handle(self, request):\n",
        '    def dispatch(self, request):\n        log.debug("dispatch %s", request.path)\n',
    )
    .replace("for route in self.routes:", "for route in sorted(self.routes, key=len):")
    .replace(
        "        response = self.handle(Request(environ))\n",
        "        response = self.dispatch(Request(environ))\n"
        "        if response is None:\n"
        '            raise LookupError(environ["PATH_INFO"])\n',
    )
)
API = """\
# Routes

`Router.dispatch(request)` finds the route of a request and calls its handler. It was called `handle` before 1.4.

| raises | when |
|---|---|
| `NotFound` | no route accepts the path |
| `LookupError` | the handler returned nothing |

Routes are tried in the order in which they were added.
"""


@golden("rename-handler", [
    exchange(
        thought("The name is used in a string somewhere. A search for handle( alone would miss it."),
        said("I'll look where it is called first."),
        read("c1", "src/shop/router.py"), run("c2", "grep -rn handle src"),
        tokens=(2140, 96),
    ),
    exchange(
        said("Two calls in router.py and one in app.py that goes through a string. "
             "I'll change the router first, with its log line and a check for empty answers:"),
        call("c3", "replace_string_in_file", path="src/shop/router.py", old_string=ROUTER, new_string=DISPATCH),
        edit("c4", "src/shop/app.py", 'getattr(router, "handle")', 'getattr(router, "dispatch")'),
        tokens=(3411, 612), expect=result("c2", "succeeded", "app.py"),
    ),
    exchange(
        said("The order stays, then. Now the tests."), run("c5", "sh scripts/test.sh router"),
        tokens=(4302, 48), when=result("c3", "partial"),
    ),
    exchange(
        said("All three pass. I'll write the page about routes."), create("c6", "docs/routes.md", API),
        tokens=(4480, 240), expect=result("c5", "succeeded", "all passed"),
    ),
    exchange(
        said("Done: `handle` is called `dispatch` everywhere, routes keep their order as you asked, "
             "and docs/routes.md says so."),
        tokens=(4790, 58), expect=result("c6", "succeeded"),
    ),
])  # fmt: skip
def rename_handler(scene):
    workspace_trust.grant_trust(scene.journal, str(scene.workspace), True, scene.user)
    rule = RuleAdded(
        rule="", effect="allow", origin="user", scope="workspace", tool="run_in_terminal", pattern_kind="glob",
        pattern="Bash(grep *)", description="searching the shop", scope_id=str(scene.workspace),
    )  # fmt: skip
    add_rule(scene.journal, rule, scene.user)
    scene.begin("rename handler", "Rename Router.handle to dispatch everywhere, keep the tests green.")
    yield
    scene.note(MarkAdded(label="where it is called"))
    scene.approve(scene.one("router"), 41, hunks=[1, 3], reason="keep the order, it is tested")
    scene.approve(scene.one("app"), 9)
    yield
    scene.approve(after=4)
    yield
    scene.approve(after=27)
    yield
    scene.passes(60).note(SessionChanged(tags=("router", "1.4")))


LOGIN = FILES["src/shop/login.py"]


@golden("fix-flaky-login", [
    exchange(
        thought("is_open compares with the wall clock. The test sleeps exactly as long as a session lives, "
                "so it fails when the clock is coarse."),
        said("The test races with the clock. I'd give Sessions a clock of its own:"),
        edit("c1", "src/shop/login.py",
             "    def __init__(self):\n        self._ends = {}\n\n    def open(self, token):\n"
             "        self._ends[token] = time.time() + LIFETIME\n",
             "    def __init__(self, clock=time.monotonic, lifetime=LIFETIME):\n        self._ends = {}\n"
             "        self._clock = clock\n        self._lifetime = lifetime\n\n    def open(self, token):\n"
             "        self._ends[token] = self._clock() + self._lifetime\n"),
        tokens=(1820, 310),
    ),
    exchange(
        said("Without a lifetime of its own, then. Next the comparison:"),
        edit("c2", "src/shop/login.py", "return self._ends.get(token, 0) > time.time()",
             "return self._ends.get(token, float(\"-inf\")) > self._clock()"),
        tokens=(2310, 120), expect=result("c1", "partial"),
    ),
    exchange(
        said("And the test without the sleep:"),
        edit("c3", "tests/test_login.py", "    time.sleep(0.01)\n", "    time.sleep(0.5)\n"),
        tokens=(2590, 88),
    ),
    exchange(
        said("Right, sleeping longer only hides it. With a clock that the test turns:"),
        create("c4", "tests/test_login_clock.py",
               '"""Sessions end by the clock that they were given."""\n\nfrom shop import login\n\n\n'
               "def test_a_session_ends():\n    now = [0.0]\n    sessions = login.Sessions(clock=lambda: now[0])\n"
               '    sessions.open("t1")\n    now[0] += login.LIFETIME\n    assert not sessions.is_open("t1")\n'),
        tokens=(2840, 230), expect=result("c3", "rejected", "hides it"),
    ),
    exchange(said("Now the tests."), run("c5", "sh scripts/test.sh login"), tokens=(3020, 33)),
    exchange(said("Both pass, and nothing sleeps any more."), tokens=(3110, 24),
             expect=result("c5", "succeeded")),
])  # fmt: skip
def fix_flaky_login(scene):
    scene.begin("fix flaky login", "test_a_session_ends fails about once a day in CI. Find out why.")
    yield
    # Lines 1 to 6 of the one hunk: the signature with the lifetime and its field are left.
    scene.approve(after=55, hunks=[SelectedHunk(hunk=1, lines=(3, 5, 6))], reason="no lifetime for now")
    yield
    edited = scene.text("src/shop/login.py").replace(
        "self._ends.get(token, 0) > time.time()", "self._clock() < self._ends.get(token, 0)"
    )
    scene.approve(after=70, edited={"src/shop/login.py": edited})
    yield
    scene.reject(after=12, reason="a longer sleep only hides it: turn the clock instead")
    yield
    scene.approve(after=31)
    yield
    scene.approve(after=3)
    yield


@golden("bump-deps", [
    exchange(
        said("Jinja2 3.1.3 has a known hole, 3.1.4 closes it. MarkupSafe stays."),
        edit("c1", "requirements.txt", "jinja2==3.1.3", "jinja2==3.1.4"),
        run("c2", "git push --force origin main"),
        call("c3", "create_file", path="CHANGES.md"),
        create("c4", "docs/changes.md", "# Changes\n\n- Jinja2 3.1.4\n"),
        call("c5", "npm_audit", fix=True),
        tokens=(1410, 190),
    ),
    exchange(
        said("Nobody was there for requirements.txt, so I leave it as it is and ask once more."),
        edit("c6", "requirements.txt", "jinja2==3.1.3", "jinja2==3.1.4"),
        tokens=(1890, 75), expect=result("c1", "expired"),
    ),
    exchange(said("Bumped."), tokens=(1990, 12), expect=result("c6", "succeeded")),
], config={
    "approvals": {"deny": ["Bash(git push *)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "command": "printf 'looked at by the audit hook\\n'"}],
        "PostToolUse": [{"matcher": "Write", "command": "printf 'formatted\\n'; exit 3"}],
    },
})  # fmt: skip
def bump_deps(scene):
    rule = RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool="create_file", pattern_kind="regex",
        pattern=r'"path":"docs/[a-z]+\.md"', description="pages below docs",
    )  # fmt: skip
    add_rule(scene.journal, rule, scene.user)
    scene.begin("bump deps", "Bump what has known holes and push it.")
    yield
    action = scene.one()
    scene.passes(15 * MINUTE + 1)
    expire_due_actions(scene.journal)
    yield
    scene.approve(action, after=2)
    yield
    revoke_rule(scene.passes(40).journal, "R1", scene.user)
    scene.go_on(after=600)
    yield
    scene.approve(after=5)
    yield


@golden("late-answers", [
    exchange(
        said("I'd write the page first and then look at the log."),
        create("c1", "docs/errors.md", "# Errors\n\nA path that no route accepts is a 404.\n"),
        run("c2", "grep -n raise src/shop/router.py"),
        tokens=(870, 64),
    ),
    exchange(said("The page is there."), tokens=(990, 9)),
])  # fmt: skip
def late_answers(scene):
    scene.begin("document errors", "Write down which errors the router raises.")
    yield
    page, command = scene.waiting()
    scene.passes(14 * MINUTE)
    scene.extend(page)
    scene.approve(page, after=3)
    scene.passes(30)
    scene.extend(command, after=2)
    (longer,) = scene.waiting("errors")
    for _ in range(3):
        scene.extend(scene.one("errors"), after=5 * MINUTE)
        scene.extend(scene.one("grep"), after=1)
    scene.extend(scene.one("errors"), after=10)
    scene.extend(scene.one("errors"), after=4)
    newest = scene.one("errors")
    seen = Decision(action_id=newest.id, verdict="approve")
    decide_action(scene.journal, seen, newest.digest[::-1], scene.user)
    scene.approve(newest, after=6)
    scene.reject(newest, after=1, reason="too late")
    scene.reject(longer, after=1)
    yield
    command = scene.one("grep")
    scene.passes(16 * MINUTE)
    scene.approve(command, after=0)
    expire_due_actions(scene.journal)
    yield
    scene.go_on(after=90)
    yield


@golden("any-order", [
    exchange(
        said("Four pages, one for each part. You can answer them in any order."),
        create("c1", "docs/cart.md", "# Cart\n\nLines of product and quantity.\n"),
        create("c2", "docs/login.md", "# Login\n\nA session lives for 30 minutes.\n"),
        create("c3", "docs/router.md", "# Router\n\nRoutes keep their order.\n"),
        run("c4", "ls docs"),
        tokens=(1210, 205),
    ),
    exchange(said("Three pages are there, docs/login.md is not: you did not want it."), tokens=(1530, 31),
             expect=result("c2", "rejected")),
    exchange(said("It is short enough as it is."), tokens=(1600, 14), when=prompt("longer")),
])  # fmt: skip
def any_order(scene):
    scene.begin("docs pass", "One page in docs for each part of the shop.")
    yield
    first, second, third, last = scene.waiting()
    scene.approve(last, 11)
    scene.approve(third, 5)
    yield
    scene.reject(second, 9, reason="the login changes this week")
    yield
    scene.approve(first, 14)
    yield
    scene.say("Should the page about the router be longer?")
    yield


CART = FILES["src/shop/cart.py"]


@golden("stacked-edits", [
    exchange(
        said("Two steps in cart.py: first a check in remove, then a shorter total."),
        edit("c1", "src/shop/cart.py", "        del self._lines[product]\n",
             "        if product not in self._lines:\n            raise KeyError(product)\n"
             "        del self._lines[product]\n"),
        edit("c2", "src/shop/cart.py",
             "        total = 0\n        for product, quantity in self._lines.items():\n"
             "            total += prices[product] * quantity\n        return total\n",
             "        return sum(prices[product] * quantity for product, quantity in self._lines.items())\n"),
        tokens=(1480, 260),
    ),
    exchange(
        said("Both are in. One more round: quantities below one, and a name for the check."),
        edit("c3", "src/shop/cart.py", "    def add(self, product, quantity=1):\n",
             "    def add(self, product, quantity=1):\n        if quantity < 1:\n"
             "            raise ValueError(quantity)\n"),
        edit("c4", "src/shop/cart.py", "            raise KeyError(product)\n",
             '            raise KeyError(f"{product} is not in the cart")\n'),
        edit("c5", "src/shop/cart.py", "            raise ValueError(quantity)\n",
             '            raise ValueError(f"{quantity} is no quantity")\n'),
        tokens=(1920, 240), when=result("c2", "succeeded"),
    ),
    exchange(
        said("The quantities stay unchecked, and so my message for them had nothing to stand on. "
             "The check in remove has its words."),
        tokens=(2280, 40), expect=result("c4", "succeeded"),
    ),
])  # fmt: skip
def stacked_edits(scene):
    scene.begin("tidy the cart", "Make Cart.remove say what is missing, and tidy total().")
    yield
    check, total = scene.waiting()
    scene.approve(total, 16)
    scene.approve(check, 8)
    yield
    quantities, words, _ = scene.waiting()
    scene.approve(words, 12)
    scene.reject(quantities, 21, reason="zero is used to clear a line")
    yield
    scene.approve(scene.one(), 18)
    yield
