"""Table of what is known to be harmless in package managers, build tools and service clients."""

from typing import Final

_TEST_OPTIONS: Final = (
    "-q -v -s --silent --quiet --verbose --json --long --all -a --depth: --if-present --loglevel:"
)
_PACKAGE_OPTIONS: Final = (
    f"{_TEST_OPTIONS} -D -E -O -P --omit: --include: --production --prod --dev --no-audit --no-fund"
    " --save-dev --save-exact --save --no-save --prefer-offline --offline --legacy-peer-deps --parseable"
    " --frozen-lockfile --workspaces --ws --workspace: -w: --no-color --no-progress --dry-run"
    " --audit-level: --ignore-scripts --recursive -r --filter:"
)
_CARGO_OPTIONS: Final = (
    "-q -v -r -j: -p: --quiet --verbose --release --all --workspace --all-targets --all-features"
    " --features: -F: --lib --bins --no-default-features --package: --exclude: --bin: --tests --test:"
    " --examples --example: --benches --bench: --doc --jobs: --keep-going --profile: --offline --locked"
    " --frozen --color: --message-format: --no-run --no-fail-fast"
)
_GO_OPTIONS: Final = (
    "WHOLE -v -x -n -a -race -msan -asan -cover -covermode: -coverpkg: -tags: -mod: -trimpath -buildvcs?"
    " -p: -json -run: -count: -short -timeout: -bench: -benchmem -benchtime: -cpu: -failfast -list:"
    " -parallel: -shuffle: -skip: -vet: -work"
)
_KUBECTL_OPTIONS: Final = (
    "-n: --namespace: -A --all-namespaces -l: --selector: --field-selector: -o: --output: -w --watch -L:"
    " --label-columns: --show-labels --no-headers --sort-by: --context: --ignore-not-found --show-kind"
    " --request-timeout: --cluster:"
)
_GH_OPTIONS: Final = (
    "-R: --repo: --json: -q: --jq: -t: --template: -L: --limit: -s: --state: -a: --assignee: -A: --author:"
    " -l: --label: -S: --search: -B: --base: -H: --head: -c --comments --name-only --patch --log"
    " --log-failed -j: --job: -e: --event: --verbose -v --exit-status --required --branch: -b: --workflow:"
    " --status: -u: --user: --color: --watch -i: --interval:"
)
_SCRIPT_OPTIONS: Final = f"PASSES {_TEST_OPTIONS} --workspaces --workspace: -w: --ws --filter: --recursive -r"
_PACKAGER_OPTIONS: Final = "SUB -v -s --silent --version --prefix/ -C/ --dir/ --cwd/"
PACKAGERS: Final = ("npm", "pnpm", "yarn")
_SCRIPT_SUBCOMMANDS: Final = ("test", "t", "run", "run-script", "start")
_PACKAGE_SUBCOMMANDS: Final = (
    "ci", "install", "i", "add", "ls", "list", "outdated", "audit", "why", "dedupe",
)  # fmt: skip
_QUERY_SUBCOMMANDS: Final = ("view", "info", "explain", "root", "prefix", "bin", "ping", "search")
_CARGO_BUILD_SUBCOMMANDS: Final = (
    "test", "t", "build", "b", "check", "c", "bench", "run", "r",
)  # fmt: skip
_CARGO_TEST_OPTIONS: Final = (
    "TEXT -q --nocapture --no-capture --test-threads: --exact --ignored --include-ignored --show-output"
    " --list --quiet --skip: --color: --format:"
)
_DOTNET_OPTIONS: Final = (
    "WHOLE --no-build --no-restore -c: --configuration: -v: --verbosity: --nologo --filter: -f:"
    " --framework: -t --list-tests"
)
_HELM_OPTIONS: Final = (
    "TEXT -A -a -n: -o: -q --all --short --namespace: --all-namespaces --max: --output: --revision:"
)
_GH_GROUPS: Final = ("pr", "issue", "run", "repo", "release", "workflow", "auth", "search", "label")
_GH_QUERY_SUBCOMMANDS: Final = (
    "pr view", "pr list", "pr status", "pr diff", "pr checks", "issue view", "issue list", "issue status",
    "run list", "run view", "run watch", "repo view", "repo list", "release list", "release view",
    "workflow list", "workflow view", "search issues", "search prs", "search code", "search repos",
    "label list",
)  # fmt: skip
KNOWN_DEV_TOOLS: Final[dict[str, str]] = {
    # --- Python
    "pytest": "-qvxslh -r: -k: -m: -n: -p: -W: --co --tb: --lf --ff --nf --sw --maxfail: --durations:"
        " --durations-min: --last-failed --failed-first --new-first --stepwise --stepwise-skip"
        " --collect-only --no-header --no-summary --verbose --quiet --exitfirst --showlocals --capture:"
        " --color: --code-highlight: --cov? --no-cov --cov-report: --cov-branch --cov-fail-under:"
        " --no-cov-on-fail --numprocesses: --dist: --maxprocesses: --deselect: --ignore/ --ignore-glob:"
        " --timeout: --asyncio-mode: --strict --strict-markers --strict-config --disable-warnings"
        " --disable-pytest-warnings --cache-clear --setup-show --setup-only --setup-plan --fixtures"
        " --markers --import-mode: --runxfail --doctest-modules --reruns: --reruns-delay: --show-capture:"
        " --keep-duplicates --full-trace --version",
    "unittest": "-vqfbc -k: -s/ -p: -t/ --verbose --quiet --failfast --buffer --catch --locals"
        " --start-directory/ --pattern:",
    "pip": "SUB -q -v --quiet --verbose --no-color --disable-pip-version-check --no-input --version",
    "pip list": "-o -u -e -l --outdated --uptodate --editable --local --user --format: --not-required"
        " --exclude: --pre",
    "pip show": "TEXT -f --files -v --verbose",
    "pip freeze": "-l --local --all --exclude-editable --exclude:",
    "pip check": "",
    "pip install": "-q -U -e/ -r/ -c/ --quiet --upgrade --editable/ --requirement/ --constraint/ --no-deps"
        " --pre --no-input --no-build-isolation --no-cache-dir",
    "pip uninstall": "TEXT -y --yes",
    "pip index": "TEXT",
    "uv": "SUB -q -v --quiet --verbose --offline --no-progress --color: --version",
    "uv sync": "-q --all-extras --extra: --group: --all-groups --no-dev --dev --frozen --locked --offline"
        " --no-install-project",
    "uv lock": "-q -U --upgrade --check --locked --offline",
    "uv tree": "-q -d: --depth: --frozen --locked --outdated --no-dev",
    "uv pip": "SUB -q --quiet",
    "uv pip list": "--outdated --format: --exclude:",
    "uv pip show": "TEXT",
    "uv pip freeze": "",
    "ruff": "SUB -q -v --quiet --verbose --version",
    "ruff check": "-q -v -s -n --fix --no-fix --unsafe-fixes --fix-only --show-fixes --diff --select:"
        " --ignore: --extend-select: --extend-ignore: --output-format: --statistics --no-cache --quiet"
        " --silent --verbose --exit-zero --exit-non-zero-on-fix --show-files --show-settings --line-length:"
        " --target-version: --preview --exclude: --force-exclude --respect-gitignore",
    "ruff format": "-q -v -n --check --diff --quiet --verbose --silent --no-cache --line-length:"
        " --target-version: --preview --exclude: --force-exclude",
    "ruff rule": "TEXT --all --output-format:",
    "mypy": "-v -p: -m: --strict --ignore-missing-imports --show-error-codes --hide-error-codes --pretty"
        " --no-pretty --no-error-summary --python-version: --follow-imports: --check-untyped-defs"
        " --disallow-untyped-defs --disallow-any-generics --disallow-incomplete-defs"
        " --disallow-untyped-calls --no-implicit-optional --warn-unreachable --warn-unused-ignores"
        " --warn-return-any --warn-redundant-casts --no-incremental --namespace-packages"
        " --explicit-package-bases --show-column-numbers --show-error-context --no-color-output --package:"
        " --module: --exclude: --platform: --disable-error-code: --enable-error-code: --non-interactive"
        " --verbose --version",
    "pyright": "--outputjson --stats --warnings --pythonversion: --pythonplatform: --level: --verbose"
        " --version",
    "black": "-q -v -S -C -l: -t: --check --diff --color --no-color --fast --safe --quiet --verbose"
        " --line-length: --target-version: --skip-string-normalization --preview --exclude:"
        " --extend-exclude: --include: --version",
    "isort": "-c -q -v -l: --check --check-only --diff --quiet --verbose --profile: --line-length: --atomic"
        " --skip: --skip-glob: --version",
    "flake8": "-q -v --max-line-length: --max-complexity: --select: --ignore: --extend-ignore:"
        " --extend-select: --exclude: --extend-exclude: --per-file-ignores: --count --statistics"
        " --show-source --verbose --quiet --version",
    "pylint": "-E -d: -e: -f: -r: -s: -j: --errors-only --disable: --enable: --output-format: --reports:"
        " --score: --jobs: --max-line-length: --ignore: --fail-under: --fail-on: --recursive: --version",
    "coverage": "SUB",
    "coverage report": "-m -i --show-missing --skip-covered --skip-empty --no-skip-covered --fail-under:"
        " --include: --omit: --precision: --sort: --ignore-errors --format:",
    "coverage erase": "-q",
    "coverage combine": "-a -q --append --keep",
    "tox": "PASSES -a -l -q -v -r -p: -e: --recreate --listenvs --list --quiet --verbose --parallel:"
        " --skip-missing-interpreters? --notest --version",
    # --- JavaScript
    **dict.fromkeys(("npm", "pnpm", "yarn"), _PACKAGER_OPTIONS),
    **{f"{name} {sub}": _SCRIPT_OPTIONS for name in PACKAGERS for sub in _SCRIPT_SUBCOMMANDS},
    **{f"{name} {sub}": _PACKAGE_OPTIONS for name in PACKAGERS for sub in _PACKAGE_SUBCOMMANDS},
    **{f"{name} {sub}": f"TEXT {_TEST_OPTIONS}" for name in PACKAGERS for sub in _QUERY_SUBCOMMANDS},
    "tsc": "WHOLE -p/ --project/ --noEmit -noEmit --strict --pretty --skipLibCheck --listFiles"
        " --listFilesOnly --showConfig -v --version --build/ -b/ --incremental --target: --module:"
        " --moduleResolution: --jsx: --lib: --types: --allowJs --checkJs --esModuleInterop --watch -w"
        " --diagnostics --extendedDiagnostics --traceResolution --explainFiles --isolatedModules"
        " --resolveJsonModule --force --verbose --noUnusedLocals --noUnusedParameters --noImplicitAny"
        " --noErrorTruncation --preserveWatchOutput -t: -m:",
    "eslint": "-f: -h -v --ext: --fix --no-fix --fix-dry-run --fix-type: --quiet --max-warnings: --format:"
        " --rule: --cache --no-cache --ignore-pattern: --no-ignore --no-eslintrc"
        " --report-unused-disable-directives --no-error-on-unmatched-pattern --no-warn-ignored"
        " --no-inline-config --debug --color --no-color --pass-on-no-patterns --stats --version --env:",
    "prettier": "-c -w -l -u --check --write --list-different --ignore-unknown --log-level: --loglevel:"
        " --tab-width: --print-width: --use-tabs --single-quote --no-semi --trailing-comma: --parser:"
        " --no-config --no-color --prose-wrap: --end-of-line: --cache --no-error-on-unmatched-pattern"
        " --version --arrow-parens: --bracket-same-line",
    "jest": "-b -f -i -o -u -w: -t: --ci --coverage? --watch? --watchAll? --testNamePattern:"
        " --testPathPattern: --testPathPatterns: --runInBand --verbose? --silent? --bail? --maxWorkers:"
        " --passWithNoTests --updateSnapshot --detectOpenHandles --forceExit --listTests --no-coverage"
        " --onlyChanged --onlyFailures --json --no-cache --clearCache --findRelatedTests --testTimeout:"
        " --logHeapUsage --colors --no-colors --showConfig --version",
    "vitest": "-u -t: --run --reporter: --testNamePattern: --coverage? --silent? --bail: --passWithNoTests"
        " --update --no-coverage --watch? --changed? --globals --no-color --testTimeout: --hideSkippedTests"
        " --version",
    "mocha": "-b -g: -f: -t: -i --bail --grep: --fgrep: --timeout: --invert --recursive --exit"
        " --forbid-only --retries: --parallel --color --no-color --check-leaks --dry-run",
    # --- compiled languages and their builders
    "cargo": "SUB -q -v --quiet --verbose --offline --locked --frozen --color: --version -V",
    **{f"cargo {sub}": f"PASSES {_CARGO_OPTIONS}" for sub in _CARGO_BUILD_SUBCOMMANDS},
    "cargo clippy": f"PASSES {_CARGO_OPTIONS} --fix --allow-dirty --allow-staged --no-deps",
    "cargo doc": f"{_CARGO_OPTIONS} --no-deps",
    "cargo fmt": "PASSES -q -v -p: --all --check --package: --quiet",
    "cargo fmt --": "--check -l --files-with-diff -q",
    "cargo tree": f"{_CARGO_OPTIONS} -i: -e: -d --invert: --edges: --duplicates"
        " --depth: --prefix: --no-dedupe",
    "cargo metadata": "-q --no-deps --format-version: --offline --locked",
    "cargo clean": "-q -p: --release",
    "cargo nextest": "SUB",
    "cargo nextest run": "-r -p: -j: --release --workspace --all-targets --all-features --features: -F: --lib"
        " --bins --no-default-features --package: --exclude: --bin: --tests --test: --examples --example:"
        " --benches --bench: --offline --locked --frozen --color: --no-run --no-fail-fast",
    **{f"cargo {sub} --": _CARGO_TEST_OPTIONS for sub in ("test", "t")},
    "cargo clippy --": "TEXT -D: -W: -A: -F: --deny: --warn: --allow: --forbid: --cap-lints:",
    "rustc": "WHOLE --version -V -vV --explain:",
    "rustfmt": "-l -q -v --check --edition: --color: --files-with-diff --version",
    "go": "SUB",
    **dict.fromkeys(( "go test", "go build", "go vet", "go list", "go install", "go get"), _GO_OPTIONS),
    "go list": f"{_GO_OPTIONS} -m -u -e -f: -deps -test -find -versions -export",
    "go fmt": "WHOLE -n -x -mod:",
    "go install": "WHOLE -v -x -n -a -race -tags: -mod: -trimpath",
    "go get": "WHOLE -u? -t -v -x -d",
    "go env": "WHOLE TEXT -json",
    "go version": "WHOLE -m -v",
    "go doc": "WHOLE TEXT -all -short -src -u -c -cmd",
    "go mod": "SUB",
    "go mod tidy": "WHOLE -v -x -e",
    "go mod download": "WHOLE TEXT -x -json",
    "go mod why": "WHOLE TEXT -m -vendor",
    "go mod graph": "WHOLE",
    "go mod verify": "WHOLE",
    "go vet": "WHOLE -v -x -n -json -tags: -mod: -c:",
    "gofmt": "WHOLE -d -e -l -s -w -r:",
    "make": "-bBdiknpqrRsSwtv -j? -l? -O? --jobs? --keep-going --silent --quiet --dry-run --just-print"
        " --always-make --no-print-directory --print-directory --question --debug? --trace --output-sync?"
        " --ignore-errors --no-builtin-rules -C/ --directory/ --version",
    "ninja": "-vn -j: -k: -l: -C/ --verbose --quiet --version",
    "cmake": "-N -B/ -S/ -G: -D: -W: --build/ -j? -t: --target: --config: --parallel? --clean-first --fresh"
        " -L -A: --preset: --list-presets? --verbose -v PASSES",
    "ctest": "WHOLE -V -VV -Q -N -R: -E: -L: -LE: -j? --output-on-failure --test-dir/ --rerun-failed -C:"
        " --timeout: --parallel? --verbose --extra-verbose --progress --quiet --stop-on-failure --repeat:"
        " --preset: --show-only? --no-tests:",
    "gcc": "GNU WHOLE -c -S -E -v -w -g -g3 -ggdb -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Wpedantic -Werror"
        " -Wshadow -Wconversion -pedantic -fsyntax-only -fPIC -pthread -std: -M -MM -m32 -m64 -D: -l: -I/"
        " --version -dumpversion -dumpmachine",
    "mvn": "WHOLE -q -B -e -X -U -o -N -T: -pl: -am -fae -ff -ntp -Dtest: -DskipTests -DskipITs"
        " -DfailIfNoTests: -P: --quiet --batch-mode --errors --offline --no-transfer-progress --version -v"
        " -Dmaven.test.skip: -Dit.test: -DskipTests:",
    "gradle": "-q -i -d -s -w -m -x: --quiet --info --debug --warn --stacktrace --full-stacktrace --tests:"
        " --no-daemon --daemon --continue --offline --parallel --rerun-tasks --dry-run --console:"
        " --exclude-task: --build-cache --no-build-cache --version",
    "dotnet": "SUB",
    **dict.fromkeys(("dotnet test", "dotnet build", "dotnet restore"), _DOTNET_OPTIONS),
    "terraform": "SUB",
    "terraform plan": "WHOLE -no-color -input: -refresh: -detailed-exitcode -compact-warnings -lock:",
    "terraform validate": "WHOLE -no-color -json",
    "terraform fmt": "WHOLE -check -diff -recursive -list: -no-color",
    "rspec": "-b -f: -e: -t: --backtrace --format: --example: --tag: --fail-fast? --color --no-color"
        " --only-failures --seed:",
    "pre-commit": "SUB",
    "pre-commit run": "TEXT -a -v --all-files --verbose --show-diff-on-failure",
    # --- other version control
    "hg": "SUB",
    "svn": "SUB",
    "hg log": "-l: -r: -v -p -G --limit: --rev: --stat",
    "hg status": "-mardcu -A",
    "hg diff": "-c: -r: -U: --stat",
    "svn log": "-l: -r: -v -q --limit:",
    "svn status": "-q -u -v",
    "svn diff": "-r: -c: --summarize",
    "svn info": "",
    # --- services
    "docker": "SUB",
    "docker ps": "-a -q -s -n: -l -f: --all --quiet --size --latest --last: --filter: --format: --no-trunc",
    "docker images": "TEXT -a -q -f: --all --quiet --filter: --format: --no-trunc --digests",
    "docker logs": "TEXT -f -t -n: --follow --tail: --since: --until: --timestamps --details",
    "docker inspect": "TEXT -f: -s --format: --size --type:",
    "docker container inspect": "TEXT -f: -s --format: --size --type:",
    "docker image inspect": "TEXT -f: -s --format: --size --type:",
    "docker version": "-f: --format:",
    "docker info": "-f: --format:",
    "docker top": "TEXT",
    "docker port": "TEXT",
    "docker diff": "TEXT",
    "docker stats": "TEXT -a --all --no-stream --no-trunc --format:",
    "docker container": "SUB",
    "docker image": "SUB",
    "docker container ls": "-a -q --all --quiet --format:",
    "docker image ls": "-a -q --all --quiet --format:",
    "docker network": "SUB",
    "docker network ls": "-q --format:",
    "docker volume": "SUB",
    "docker volume ls": "-q --format:",
    "docker compose": "SUB",
    "docker compose ps": "TEXT -a -q --all --quiet --format: --services",
    "docker compose logs": "TEXT -f -t -n: --follow --tail: --since: --no-color --timestamps"
        " --no-log-prefix",
    "docker compose images": "-q",
    "docker compose ls": "-a -q --format:",
    "docker build": "-q -t: -f/ --tag: --file/ --target: --no-cache --pull --progress: --platform:"
        " --build-arg: --quiet",
    "helm": "SUB",
    **dict.fromkeys(("helm list", "helm ls", "helm status", "helm history"), _HELM_OPTIONS),
    "helm version": "--short",
    "kubectl": f"SUB {_KUBECTL_OPTIONS}",
    "kubectl get": f"TEXT {_KUBECTL_OPTIONS}",
    "kubectl describe": f"TEXT {_KUBECTL_OPTIONS}",
    "kubectl top": f"TEXT {_KUBECTL_OPTIONS} --containers",
    "kubectl logs": "TEXT -f -p -c: -n: -l: --follow --previous --container: --namespace: --selector:"
        " --tail: --since: --timestamps --all-containers --prefix --context:",
    "kubectl version": "--client --short -o:",
    "kubectl config": "SUB",
    "kubectl config view": "--minify -o:",
    "kubectl config current-context": "",
    "kubectl config get-contexts": "TEXT -o: --no-headers",
    "kubectl api-resources": "-o: --namespaced? --no-headers",
    "kubectl explain": "TEXT --recursive --api-version:",
    "kubectl cluster-info": "",
    "kubectl rollout": "SUB",
    "kubectl rollout status": f"TEXT {_KUBECTL_OPTIONS} --timeout:",
    "kubectl rollout history": f"TEXT {_KUBECTL_OPTIONS}",
    "gh": "SUB --version",
    **dict.fromkeys(map("gh {}".format, _GH_GROUPS), "SUB"),
    **dict.fromkeys(map("gh {}".format, _GH_QUERY_SUBCOMMANDS), f"TEXT {_GH_OPTIONS}"),
    "gh auth status": "",
}  # fmt: skip
"""By program, or program and sub-command, the options that are known to be harmless."""
