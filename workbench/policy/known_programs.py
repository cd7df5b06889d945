"""What is known to be harmless of the programs that agents use most: their options and sub-commands, as data.

Owns the table. A row names a program, or one sub-command of it, and then every option that starts no program,
loads no code or configuration, and writes no file at a place that it names. What is missing here is not known,
and a pattern has to be the whole line to cover it. How a row is read stands in `known_options`.

An option is written as it is typed, `-abc` for several letters. Behind it stands what it takes: nothing, `:` text,
`::` two texts, `/` a path, `?` text within the same word. `-#` is any number. A word in capitals says how a
program reads its words, or what its operands are (`known_options.WORDS`).
"""

from typing import Final

from workbench.policy.known_git import GIT

_TEST: Final = "-q -v -s --silent --quiet --verbose --json --long --all -a --depth: --if-present --loglevel:"
_PACKAGES: Final = (
    f"{_TEST} -g -D -E -O -P --global --omit: --include: --production --prod --dev --no-audit --no-fund --save-dev"
    " --save-exact --save --no-save --prefer-offline --offline --legacy-peer-deps --parseable --frozen-lockfile"
    " --workspaces --ws --workspace: -w: --no-color --no-progress --dry-run --audit-level: --ignore-scripts --recursive -r"
    " --filter:"
)
_CARGO: Final = (
    "-q -v -r -j: -p: --quiet --verbose --release --all --workspace --all-targets --all-features --features: -F: --lib --bins"
    " --no-default-features --package: --exclude: --bin: --tests --test: --examples --example: --benches --bench: --doc --jobs:"
    " --keep-going --profile: --offline --locked --frozen --color: --message-format: --no-run --no-fail-fast"
)
_GO: Final = (
    "WHOLE -v -x -n -a -race -msan -asan -cover -covermode: -coverpkg: -tags: -mod: -trimpath -buildvcs? -p: -json -run:"
    " -count: -short -timeout: -bench: -benchmem -benchtime: -cpu: -failfast -list: -parallel: -shuffle: -skip: -vet: -work"
)
_KUBE: Final = (
    "-n: --namespace: -A --all-namespaces -l: --selector: --field-selector: -o: --output: -w --watch -L: --label-columns:"
    " --show-labels --no-headers --sort-by: --context: --ignore-not-found --show-kind --request-timeout: --cluster:"
)
_GH: Final = (
    "-R: --repo: --json: -q: --jq: -t: --template: -L: --limit: -s: --state: -a: --assignee: -A: --author: -l: --label:"
    " -S: --search: -B: --base: -H: --head: -c --comments --name-only --patch --log --log-failed -j: --job: -e: --event: --verbose"
    " -v --exit-status --required --branch: -b: --workflow: --status: -u: --user: --color: --watch -i: --interval:"
)
_COPY: Final = "-f -i -n -u -v -p -T -t/ --force --interactive --no-clobber --update? --verbose --target-directory/"
_GREP: Final = (
    "SCRIPT -abcEFGhHiIlLnoPqrRsTUvVwxyzZ -A: -B: -C: -m: -e: -f/ -d: -D: -# --extended-regexp --fixed-strings --basic-regexp"
    " --perl-regexp --regexp: --file/ --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data --no-messages"
    " --invert-match --version --max-count: --byte-offset --line-number --line-buffered --with-filename --no-filename --label:"
    " --only-matching --quiet --silent --binary-files: --text --directories: --devices: --recursive --dereference-recursive"
    " --include: --exclude: --exclude-from/ --exclude-dir: --files-without-match --files-with-matches --count --initial-tab"
    " --null --before-context: --after-context: --context: --color? --colour? --no-group-separator --group-separator:"
)

PROGRAMS: Final[dict[str, str]] = {
    **GIT,
    # --- files are listed, read and compared
    "ls": "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -T: -w: --all --almost-all --author --escape --block-size: --color?"
    " --directory --dired --classify? --file-type --format: --full-time --group-directories-first --no-group --human-readable"
    " --si --dereference --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal"
    " --hide-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize:"
    " --width: --context --zero --version",
    "cat": "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
    "head": "-qvz -c: -n: -# --bytes: --lines: --quiet --silent --verbose --zero-terminated",
    "tail": "-fFqrvz -c: -n: -s: -# --bytes: --lines: --follow? --retry --quiet --silent --verbose --sleep-interval:"
    " --max-unchanged-stats: --zero-terminated --pid:",
    "wc": "-cmlLw --bytes --chars --lines --max-line-length --words --total:",
    "nl": "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-width: --number-separator:",
    "tac": "-br -s: --before --regex --separator:",
    "rev": "", "fold": "-bs -w: --bytes --spaces --width:",
    "column": "-tenxJrL -s: -o: -c: -N: -R: -H: -W: -d --table --separator: --output-separator: --columns: --json",
    "sort": "-bdfghiMnRrVcCmsuz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort"
    " --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort: --version-sort"
    " --check? --merge --key: --field-separator: --stable --unique --zero-terminated --parallel: --buffer-size: --debug",
    "uniq": "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields: --ignore-case --skip-chars: --unique"
    " --zero-terminated --check-chars: --group?",
    "cut": "-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited"
    " --output-delimiter: --zero-terminated",
    "tr": "TEXT -cCdst --complement --delete --squeeze-repeats --truncate-set1",
    "paste": "-sz -d: --delimiters: --serial --zero-terminated", "join": "-iz -a: -e: -1: -2: -j: -o: -t: -v:",
    "comm": "-123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated",
    "diff": "-aBbcdeEilnNpqrstTuwyZ -C: -F: -I: -U: -W: -x: -# --brief --report-identical-files --unified? --context?"
    " --side-by-side --width: --left-column --suppress-common-lines --show-c-function --recursive --new-file --ignore-case"
    " --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-matching-lines: --text"
    " --strip-trailing-cr --minimal --color? --exclude: --label: --normal --no-dereference",
    "cmp": "-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:",
    "grep": _GREP, "zgrep": _GREP,
    "rg": "SCRIPT -abcFHiIlLnNopPqsSuUvwx0. -A: -B: -C: -d: -e: -E: -f/ -g: -j: -m: -M: -r: -t: -T: --after-context:"
    " --before-context: --context: --regexp: --file/ --files --files-with-matches --files-without-match --count"
    " --count-matches --fixed-strings --follow --glob: --iglob: --glob-case-insensitive --heading --no-heading --hidden"
    " --ignore-case --case-sensitive --smart-case --line-number --no-line-number --line-regexp --max-columns: --max-count:"
    " --max-depth: --max-filesize: --multiline --multiline-dotall --no-filename --with-filename --no-ignore"
    " --no-ignore-vcs --no-ignore-parent --no-messages --no-config --null --only-matching --passthru --path-separator: --pcre2"
    " --pretty --quiet --replace: --sort: --sortr: --stats --text --threads: --trim --type: --type-not: --type-list"
    " --unrestricted --vimgrep --word-regexp --invert-match --json --color: --column --crlf --debug --encoding: --one-file-system"
    " --context-separator: --field-match-separator: --no-context-separator --no-unicode --engine: --colors: --binary --no-require-git",
    "find": "WHOLE MARKS -H -L -P -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -type: -xtype:"
    " -maxdepth: -mindepth: -mtime: -mmin: -atime: -amin: -ctime: -cmin: -size: -newer/ -newermt: -empty -print -print0"
    " -printf: -ls -prune -quit -not -and -or -a -o -true -false -perm: -user: -group: -uid: -gid: -depth -xdev -mount -follow"
    " -daystart -links: -inum: -readable -writable -executable -samefile/ -lname: -ilname: -nouser -nogroup -noleaf",
    "fd": "SCRIPT -HIugFsialLp0qF1 -d: -t: -e: -E: -S: -j: --hidden --no-ignore --no-ignore-vcs --unrestricted --glob --regex"
    " --fixed-strings --case-sensitive --ignore-case --absolute-path --list-details --follow --full-path --print0"
    " --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before:"
    " --color: --max-results: --quiet --and: --prune --one-file-system --threads:",
    "sed": "SCRIPT -nErsuz -e: -l: --quiet --silent --expression: --regexp-extended --null-data --unbuffered --posix --debug"
    " --sandbox --separate --line-length:",
    "awk": "TEXT1 -F: -v: --field-separator: --assign: --posix --re-interval --sandbox",
    "jq": "TEXT1 -acCeMnrRsSj --compact-output --color-output --monochrome-output --null-input --raw-output --join-output"
    " --slurp --raw-input --sort-keys --exit-status --ascii-output --tab --indent: --arg:: --argjson:: --stream --seq",
    "tree": "-adfilpqstuvrghDFJXNnC -L: -I: -P: --dirsfirst --noreport --gitignore --prune --du --si --charset: --filelimit:"
    " --inodes --device --matchdirs --ignore-case --sort? --filesfirst",
    "du": "-0abcDhHklLmsSx -B: -d: -t: --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable"
    " --summarize --exclude: --one-file-system --separate-dirs --si --threshold: --time?",
    "df": "-ahHiklPTv -B: -t: -x: --all --human-readable --inodes --local --print-type --total --output? --type: --exclude-type:",
    "stat": "-fLtx -c: --dereference --file-system --format: --printf: --terse",
    "file": "-bhiIkLNnprsvz0 -F: -e: --brief --mime --mime-type --mime-encoding --dereference --separator: --exclude:",
    "xxd": "-abeEiprRu -c: -g: -l: -o: -s: -n:", "hexdump": "-bcCdovx -n: -s: -e:",
    "od": "-abcdfilosvx -A: -j: -N: -S: -t: -w?",
    "md5sum": "-btz --binary --text --tag --zero", "sha1sum": "-btz --binary --text --tag --zero",
    "sha256sum": "-btz --binary --text --tag --zero", "cksum": "", "strings": "-a -f -n: -t: -e: --all --bytes: --radix:",
    "base64": "-diD -w: --decode --ignore-garbage --wrap:", "iconv": "-f: -t: -c -l --from-code: --to-code: --list",
    "bat": "-pAn -l: -r: --plain --style: --color: --line-range: --language: --number --show-all",
    # --- words, names and facts
    "echo": "ANY TEXT", "printf": "ANY TEXT", "true": "ANY TEXT", "false": "ANY TEXT", ":": "ANY TEXT", "sleep": "TEXT",
    "seq": "TEXT -w -f: -s: -# --equal-width --format: --separator:", "expr": "ANY TEXT", "pwd": "-LP", "cd": "-LPe@",
    "basename": "TEXT -az -s: --multiple --suffix: --zero", "dirname": "TEXT -z --zero", "yes": "ANY TEXT",
    "realpath": "-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical --no-symlinks --strip --quiet"
    " --relative-to/ --relative-base/ --zero",
    "readlink": "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --verbose",
    "which": "TEXT -as --all", "type": "TEXT -afptP", "command": "TEXT -vV", "whereis": "TEXT -bmsu",
    "date": "TEXT -uRj -I? -d: -v: --date: --utc --universal --iso-8601? --rfc-3339: --rfc-email --debug",
    "test": "ANY", "[": "ANY", "set": "ANY TEXT", "env": "", "printenv": "TEXT -0 --null", "id": "TEXT -agGnruzZ",
    "whoami": "", "uname": "-asnrvmpio --all --kernel-name --kernel-release --machine", "hostname": "-fisIdAy",
    "arch": "", "nproc": "--all --ignore:", "uptime": "-ps", "free": "-bkmghtwl -s: -c:", "groups": "TEXT", "tty": "-s",
    "ps": "TEXT -AaCcdefFHhjlLMmNOrSTvVwXxyZ -p: -u: -U: -o: -g: -G: -t: --forest --no-headers --sort: --pid: --user: --format:"
    " --ppid: --width:",
    "pgrep": "TEXT -afilnovwxc -u: -U: -P: -g: -t: -d:", "lsof": "-nPtlaR -i? -p: -u: -c:", "exit": "TEXT", "wait": "TEXT -n",
    "export": "ANY",
    # --- files that are named are made, moved and removed
    "mkdir": "-pv -m: --parents --verbose --mode:", "rmdir": "-pv --parents --verbose --ignore-fail-on-non-empty",
    "touch": "-acmh -d: -t: -r/ --no-create --date: --reference/ --no-dereference", "cp": _COPY, "mv": _COPY,
    "rm": "-frRidv --force --recursive --verbose --dir -I --interactive? --one-file-system", "tee": "-aip --append",
    "ln": "-sfnvrT --symbolic --force --no-dereference --verbose --relative", "truncate": "-c -s: --size:",
    "chmod": "TEXT1 -Rcfv --recursive --changes --verbose --silent --quiet",
    "tar": "TAR -tcvzjJaOphk -f/ --list --create --verbose --gzip --bzip2 --xz --zstd --file/ --exclude: --strip-components:"
    " --wildcards --to-stdout --auto-compress --dereference",
    "zip": "-rqjv0123456789uy", "unzip": "-lqvZ", "gzip": "-cdfklnqrtv123456789 --stdout --decompress --keep --list --test --best --fast",
    "gunzip": "-cfklqtv --stdout --keep --list --test", "zcat": "",
    # --- the network
    "curl": "-#0123456fgGiIjkLNqsSvZ -A: -d: -e: -F: -H: -m: -o: -r: -u: -w: -X: -b: --http1.1 --http2 --ipv4 --ipv6 --fail"
    " --fail-with-body --globoff --get --include --head --insecure --location --silent --show-error --verbose --compressed"
    " --user-agent: --data: --data-raw: --data-binary: --data-urlencode: --json: --referer: --form: --form-string: --header:"
    " --max-time: --connect-timeout: --output: --range: --user: --write-out: --request: --cookie: --retry: --retry-delay:"
    " --retry-connrefused --retry-all-errors --max-redirs: --no-progress-meter --progress-bar --no-buffer --limit-rate: --max-filesize:",
    "wget": "-qSv46 -O: -T: -t: -U: -w: --quiet --spider --server-response --no-verbose --timeout: --tries: --user-agent:"
    " --header: --method: --body-data: --post-data: --output-document: --max-redirect: --content-on-error",
    # --- Python
    "pytest": "-qvxslh -r: -k: -m: -n: -p: -W: --co --tb: --lf --ff --nf --sw --maxfail: --durations: --durations-min: --last-failed"
    " --failed-first --new-first --stepwise --stepwise-skip --collect-only --no-header --no-summary --verbose --quiet --exitfirst"
    " --showlocals --capture: --color: --code-highlight: --cov? --no-cov --cov-report: --cov-branch --cov-fail-under: --no-cov-on-fail"
    " --numprocesses: --dist: --maxprocesses: --deselect: --ignore/ --ignore-glob: --timeout: --asyncio-mode: --strict --strict-markers"
    " --strict-config --disable-warnings --disable-pytest-warnings --cache-clear --setup-show --setup-only --setup-plan --fixtures"
    " --markers --import-mode: --runxfail --doctest-modules --reruns: --reruns-delay: --show-capture: --keep-duplicates --full-trace"
    " --version",
    "unittest": "-vqfbc -k: -s/ -p: -t/ --verbose --quiet --failfast --buffer --catch --locals --start-directory/ --pattern:",
    "pip": "SUB -q -v --quiet --verbose --no-color --disable-pip-version-check --no-input --version",
    "pip list": "-o -u -e -l --outdated --uptodate --editable --local --user --format: --not-required --exclude: --pre",
    "pip show": "TEXT -f --files -v --verbose", "pip freeze": "-l --local --all --exclude-editable --exclude:", "pip check": "",
    "pip install": "-q -U -e/ -r/ -c/ --quiet --upgrade --editable/ --requirement/ --constraint/ --no-deps --pre --no-input"
    " --break-system-packages --no-build-isolation --no-cache-dir --user",
    "pip uninstall": "TEXT -y --yes", "pip index": "TEXT",
    "uv": "SUB -q -v --quiet --verbose --offline --no-progress --color: --version",
    "uv sync": "-q --all-extras --extra: --group: --all-groups --no-dev --dev --frozen --locked --offline --no-install-project",
    "uv lock": "-q -U --upgrade --check --locked --offline", "uv tree": "-q -d: --depth: --frozen --locked --outdated --no-dev",
    "uv pip": "SUB -q --quiet", "uv pip list": "--outdated --format: --exclude:", "uv pip show": "TEXT", "uv pip freeze": "",
    "ruff": "SUB -q -v --quiet --verbose --version",
    "ruff check": "-q -v -s -n --fix --no-fix --unsafe-fixes --fix-only --show-fixes --diff --select: --ignore: --extend-select:"
    " --extend-ignore: --output-format: --statistics --no-cache --quiet --silent --verbose --exit-zero --exit-non-zero-on-fix"
    " --show-files --show-settings --line-length: --target-version: --preview --exclude: --force-exclude --respect-gitignore",
    "ruff format": "-q -v -n --check --diff --quiet --verbose --silent --no-cache --line-length: --target-version: --preview"
    " --exclude: --force-exclude",
    "ruff rule": "TEXT --all --output-format:",
    "mypy": "-v -p: -m: --strict --ignore-missing-imports --show-error-codes --hide-error-codes --pretty --no-pretty"
    " --no-error-summary --python-version: --follow-imports: --check-untyped-defs --disallow-untyped-defs --disallow-any-generics"
    " --disallow-incomplete-defs --disallow-untyped-calls --no-implicit-optional --warn-unreachable --warn-unused-ignores"
    " --warn-return-any --warn-redundant-casts --no-incremental --namespace-packages --explicit-package-bases --show-column-numbers"
    " --show-error-context --no-color-output --package: --module: --exclude: --platform: --disable-error-code: --enable-error-code:"
    " --non-interactive --verbose --version",
    "pyright": "--outputjson --stats --warnings --pythonversion: --pythonplatform: --level: --verbose --version",
    "black": "-q -v -S -C -l: -t: --check --diff --color --no-color --fast --safe --quiet --verbose --line-length: --target-version:"
    " --skip-string-normalization --preview --exclude: --extend-exclude: --include: --version",
    "isort": "-c -q -v -l: --check --check-only --diff --quiet --verbose --profile: --line-length: --atomic --skip: --skip-glob: --version",
    "flake8": "-q -v --max-line-length: --max-complexity: --select: --ignore: --extend-ignore: --extend-select: --exclude:"
    " --extend-exclude: --per-file-ignores: --count --statistics --show-source --verbose --quiet --version",
    "pylint": "-E -d: -e: -f: -r: -s: -j: --errors-only --disable: --enable: --output-format: --reports: --score: --jobs:"
    " --max-line-length: --ignore: --fail-under: --fail-on: --recursive: --version",
    "coverage": "SUB", "coverage report": "-m -i --show-missing --skip-covered --skip-empty --no-skip-covered --fail-under: --include:"
    " --omit: --precision: --sort: --ignore-errors --format:", "coverage erase": "-q", "coverage combine": "-a -q --append --keep",
    "tox": "PASSES -a -l -q -v -r -p: -e: --recreate --listenvs --list --quiet --verbose --parallel: --skip-missing-interpreters?"
    " --notest --version",
    # --- JavaScript
    **dict.fromkeys(("npm", "pnpm", "yarn"), "SUB -v -s --silent --version --prefix/ -C/ --dir/ --cwd/"),
    **{f"{name} {sub}": f"PASSES {_TEST} --workspaces --workspace: -w: --ws --filter: --recursive -r"
       for name in ("npm", "pnpm", "yarn") for sub in ("test", "t", "run", "run-script", "start")},
    **{f"{name} {sub}": _PACKAGES for name in ("npm", "pnpm", "yarn")
       for sub in ("ci", "install", "i", "add", "ls", "list", "outdated", "audit", "why", "dedupe")},
    **{f"{name} {sub}": f"TEXT {_TEST}" for name in ("npm", "pnpm", "yarn")
       for sub in ("view", "info", "explain", "root", "prefix", "bin", "ping", "search")},
    "tsc": "WHOLE -p/ --project/ --noEmit -noEmit --strict --pretty --skipLibCheck --listFiles --listFilesOnly --showConfig -v --version"
    " --build/ -b/ --incremental --target: --module: --moduleResolution: --jsx: --lib: --types: --allowJs --checkJs --esModuleInterop"
    " --watch -w --diagnostics --extendedDiagnostics --traceResolution --explainFiles --isolatedModules --resolveJsonModule --force"
    " --verbose --noUnusedLocals --noUnusedParameters --noImplicitAny --noErrorTruncation --preserveWatchOutput -t: -m:",
    "eslint": "-f: -h -v --ext: --fix --no-fix --fix-dry-run --fix-type: --quiet --max-warnings: --format: --rule: --cache --no-cache"
    " --ignore-pattern: --no-ignore --no-eslintrc --report-unused-disable-directives --no-error-on-unmatched-pattern"
    " --no-warn-ignored --no-inline-config --debug --color --no-color --pass-on-no-patterns --stats --version --env:",
    "prettier": "-c -w -l -u --check --write --list-different --ignore-unknown --log-level: --loglevel: --tab-width: --print-width:"
    " --use-tabs --single-quote --no-semi --trailing-comma: --parser: --no-config --no-color --prose-wrap: --end-of-line: --cache"
    " --no-error-on-unmatched-pattern --version --arrow-parens: --bracket-same-line",
    "jest": "-b -f -i -o -u -w: -t: --ci --coverage? --watch? --watchAll? --testNamePattern: --testPathPattern: --testPathPatterns:"
    " --runInBand --verbose? --silent? --bail? --maxWorkers: --passWithNoTests --updateSnapshot --detectOpenHandles --forceExit"
    " --listTests --no-coverage --onlyChanged --onlyFailures --json --no-cache --clearCache --findRelatedTests --testTimeout:"
    " --logHeapUsage --colors --no-colors --showConfig --version",
    "vitest": "-u -t: --run --reporter: --testNamePattern: --coverage? --silent? --bail: --passWithNoTests --update --no-coverage"
    " --watch? --changed? --globals --no-color --testTimeout: --hideSkippedTests --version",
    "mocha": "-b -g: -f: -t: -i --bail --grep: --fgrep: --timeout: --invert --recursive --exit --forbid-only --retries: --parallel"
    " --color --no-color --check-leaks --dry-run",
    # --- compiled languages and their builders
    "cargo": "SUB -q -v --quiet --verbose --offline --locked --frozen --color: --version -V",
    **{f"cargo {sub}": f"PASSES {_CARGO}" for sub in ("test", "t", "build", "b", "check", "c", "bench", "run", "r", "nextest run")},
    "cargo clippy": f"PASSES {_CARGO} --fix --allow-dirty --allow-staged --no-deps", "cargo doc": f"{_CARGO} --no-deps",
    "cargo fmt": "PASSES -q -v -p: --all --check --package: --quiet", "cargo fmt --": "--check -l --files-with-diff -q",
    "cargo tree": f"{_CARGO} -i: -e: -d --invert: --edges: --duplicates --depth: --prefix: --no-dedupe",
    "cargo metadata": "-q --no-deps --format-version: --offline --locked", "cargo clean": "-q -p: --release", "cargo nextest": "SUB",
    **{f"cargo {sub} --": "TEXT -q --nocapture --no-capture --test-threads: --exact --ignored --include-ignored --show-output --list"
       " --quiet --skip: --color: --format:" for sub in ("test", "t", "nextest run")},
    "cargo clippy --": "TEXT -D: -W: -A: -F: --deny: --warn: --allow: --forbid: --cap-lints:",
    "rustc": "WHOLE --version -V -vV --explain:", "rustfmt": "-l -q -v --check --edition: --color: --files-with-diff --version",
    "go": "SUB", **dict.fromkeys(("go test", "go build", "go vet", "go list", "go install", "go get"), _GO),
    "go list": f"{_GO} -m -u -e -f: -deps -test -find -versions -export", "go fmt": "WHOLE -n -x -mod:",
    "go install": "WHOLE -v -x -n -a -race -tags: -mod: -trimpath", "go get": "WHOLE -u? -t -v -x -d", "go env": "WHOLE TEXT -json",
    "go version": "WHOLE -m -v", "go doc": "WHOLE TEXT -all -short -src -u -c -cmd", "go mod": "SUB", "go mod tidy": "WHOLE -v -x -e",
    "go mod download": "WHOLE TEXT -x -json", "go mod why": "WHOLE TEXT -m -vendor", "go mod graph": "WHOLE", "go mod verify": "WHOLE",
    "go vet": "WHOLE -v -x -n -json -tags: -mod: -c:", "gofmt": "WHOLE -d -e -l -s -w -r:",
    "make": "-bBdiknpqrRsSwtv -j? -l? -O? --jobs? --keep-going --silent --quiet --dry-run --just-print --always-make --no-print-directory"
    " --print-directory --question --debug? --trace --output-sync? --ignore-errors --no-builtin-rules -C/ --directory/ --version",
    "ninja": "-vn -j: -k: -l: -C/ --verbose --quiet --version",
    "cmake": "-N -B/ -S/ -G: -D: -W: --build/ -j? -t: --target: --config: --parallel? --clean-first --fresh -L -A: --preset:"
    " --list-presets? --verbose -v --version PASSES",
    "ctest": "WHOLE -V -VV -Q -N -R: -E: -L: -LE: -j? --output-on-failure --test-dir/ --rerun-failed -C: --timeout: --parallel? --verbose"
    " --extra-verbose --progress --quiet --stop-on-failure --repeat: --preset: --show-only? --no-tests: --version",
    "gcc": "WHOLE -c -S -E -v -w -g -g3 -ggdb -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -pedantic"
    " -fsyntax-only -fPIC -pthread -std: -M -MM -m32 -m64 -D: -l: -I/ --version -dumpversion -dumpmachine",
    "mvn": "WHOLE -q -B -e -X -U -o -N -T: -pl: -am -fae -ff -ntp -Dtest: -DskipTests -DskipITs -DfailIfNoTests: -P: --quiet --batch-mode"
    " --errors --offline --no-transfer-progress --version -v -Dmaven.test.skip: -Dit.test: -DskipTests:",
    "gradle": "-q -i -d -s -w -m -x: --quiet --info --debug --warn --stacktrace --full-stacktrace --tests: --no-daemon --daemon"
    " --continue --offline --parallel --rerun-tasks --dry-run --console: --exclude-task: --build-cache --no-build-cache --version",
    "dotnet": "SUB", **dict.fromkeys(("dotnet test", "dotnet build", "dotnet restore"),
        "WHOLE --no-build --no-restore -c: --configuration: -v: --verbosity: --nologo --filter: -f: --framework: -t --list-tests"),
    "terraform": "SUB", "terraform plan": "WHOLE -no-color -input: -refresh: -detailed-exitcode -compact-warnings -lock:",
    "terraform validate": "WHOLE -no-color -json", "terraform fmt": "WHOLE -check -diff -recursive -list: -no-color",
    "rspec": "-b -f: -e: -t: --backtrace --format: --example: --tag: --fail-fast? --color --no-color --only-failures --seed:",
    "pre-commit": "SUB", "pre-commit run": "TEXT -a -v --all-files --verbose --show-diff-on-failure",
    # --- other version control
    "hg": "SUB", "svn": "SUB", "hg log": "-l: -r: -v -p -G --limit: --rev: --stat", "hg status": "-mardcu -A", "hg diff": "-c: -r: -U: --stat",
    "svn log": "-l: -r: -v -q --limit:", "svn status": "-q -u -v", "svn diff": "-r: -c: --summarize", "svn info": "",
    # --- services
    "docker": "SUB",
    "docker ps": "-a -q -s -n: -l -f: --all --quiet --size --latest --last: --filter: --format: --no-trunc",
    "docker images": "TEXT -a -q -f: --all --quiet --filter: --format: --no-trunc --digests",
    "docker logs": "TEXT -f -t -n: --follow --tail: --since: --until: --timestamps --details",
    **dict.fromkeys(("docker inspect", "docker container inspect", "docker image inspect"), "TEXT -f: -s --format: --size --type:"),
    "docker version": "-f: --format:", "docker info": "-f: --format:", "docker top": "TEXT", "docker port": "TEXT", "docker diff": "TEXT",
    "docker stats": "TEXT -a --all --no-stream --no-trunc --format:", "docker container": "SUB", "docker image": "SUB",
    "docker container ls": "-a -q --all --quiet --format:", "docker image ls": "-a -q --all --quiet --format:", "docker network": "SUB",
    "docker network ls": "-q --format:", "docker volume": "SUB", "docker volume ls": "-q --format:", "docker compose": "SUB",
    "docker compose ps": "TEXT -a -q --all --quiet --format: --services", "docker compose logs": "TEXT -f -t -n: --follow --tail: --since:"
    " --no-color --timestamps --no-log-prefix", "docker compose images": "-q", "docker compose ls": "-a -q --format:",
    "docker build": "-q -t: -f/ --tag: --file/ --target: --no-cache --pull --progress: --platform: --build-arg: --quiet",
    "helm": "SUB", **dict.fromkeys(("helm list", "helm ls", "helm status", "helm history"), "TEXT -A -a -n: -o: -q --all --short --namespace:"
    " --all-namespaces --max: --output: --revision:"), "helm version": "--short",
    "kubectl": f"SUB {_KUBE}", "kubectl get": f"TEXT {_KUBE}", "kubectl describe": f"TEXT {_KUBE}", "kubectl top": f"TEXT {_KUBE} --containers",
    "kubectl logs": "TEXT -f -p -c: -n: -l: --follow --previous --container: --namespace: --selector: --tail: --since: --timestamps"
    " --all-containers --prefix --context:", "kubectl version": "--client --short -o:", "kubectl config": "SUB",
    "kubectl config view": "--minify -o:", "kubectl config current-context": "", "kubectl config get-contexts": "TEXT -o: --no-headers",
    "kubectl api-resources": "-o: --namespaced? --no-headers", "kubectl explain": "TEXT --recursive --api-version:", "kubectl cluster-info": "",
    "kubectl rollout": "SUB", "kubectl rollout status": f"TEXT {_KUBE} --timeout:", "kubectl rollout history": f"TEXT {_KUBE}",
    "gh": "SUB --version", **dict.fromkeys(("gh pr", "gh issue", "gh run", "gh repo", "gh release", "gh workflow", "gh auth", "gh search",
        "gh label"), "SUB"),
    **{f"gh {words}": f"TEXT {_GH}" for words in ("pr view", "pr list", "pr status", "pr diff", "pr checks", "issue view", "issue list",
        "issue status", "run list", "run view", "run watch", "repo view", "repo list", "release list", "release view", "workflow list",
        "workflow view", "search issues", "search prs", "search code", "search repos", "label list")},
    "gh auth status": "",
}  # fmt: skip
"""By program, or program and sub-command, the options that are known to be harmless."""

VALUES: Final[dict[tuple[str, str], str]] = {
    ("pytest", "-p"): r"no:[\w.-]+", ("pytest", "--cov-report"): r"(?:term|term-missing)(?::skip-covered)?|",
    ("pytest", "-W"): r"(?:error|ignore|default|always|module|once)(?:::\w*)?", ("unittest", "-p"): r"[\w*?.-]+",
    ("pylint", "-f"): "text|json|json2|colorized|parseable", ("pylint", "--output-format"): "text|json|json2|colorized|parseable",
    ("isort", "--profile"): "black|django|pycharm|google|open_stack|plone|attrs|hug|wemake|appnexus",
    ("eslint", "-f"): "stylish|json|html", ("eslint", "--format"): "stylish|json|html", ("prettier", "--parser"): r"[a-z0-9-]+",
    ("vitest", "--reporter"): "default|basic|verbose|dot|json|tap|tap-flat", ("rspec", "-f"): r"[pdj]|progress|documentation|json",
    ("rspec", "--format"): r"[pdj]|progress|documentation|json", ("tar", "-f"): r"[^:]+", ("tar", "--file"): r"[^:]+",
    ("cmake", "-D"): r"CMAKE_BUILD_TYPE(?::STRING)?=\w+|[A-Za-z]\w*(?::BOOL)?=(?i:on|off|true|false)", ("curl", "-o"): r"-|/dev/null",
    ("curl", "--output"): r"-|/dev/null", ("curl", "-w"): r"(?s)[^@].*", ("curl", "--write-out"): r"(?s)[^@].*",
    ("curl", "-b"): r"[^=@]+=.*", ("curl", "--cookie"): r"[^=@]+=.*", ("curl", "-A"): r"[^@].*", ("wget", "-O"): r"-|/dev/null",
    ("wget", "--output-document"): r"-|/dev/null", ("cargo test --", "--format"): "pretty|terse|json", ("rustfmt", "--edition"): r"\d+",
    **{(f"kubectl {sub}", option): r"wide|json|yaml|name|(?:jsonpath|custom-columns|go-template)=.*" for option in ("-o", "--output")
       for sub in ("get", "describe", "top")},
    **{(f"kubectl {sub}", "-o"): "wide|json|yaml|name" for sub in ("version", "config view", "config get-contexts", "api-resources")},
    ("kubectl", "-o"): "wide|json|yaml|name", ("kubectl", "--output"): "wide|json|yaml|name",
    **{(f"go {sub}", "-mod"): "readonly|vendor|mod" for sub in ("test", "build", "vet", "list", "install", "fmt")},
    **{(f"git {sub}", "-s"): "ours|recursive|resolve|octopus|subtree|ort" for sub in ("merge", "pull")}, ("ps", "-u"): r"x|(?!x)[\w.,-]+",
    ("ruff check", "--output-format"): r"[a-z-]+",
}  # fmt: skip
"""The values that are known of options of which not every value is: a regular expression for the whole of one."""

OPERANDS: Final[dict[str, str]] = {
    "git clone": r"https://[A-Za-z0-9.-]+/[A-Za-z0-9_./-]+",    "date": r"\+.*", "hostname": "(?!)", "env": "(?!)", "ps": r"[A-DF-Za-df-z]+|[\d,]+",
    "curl": r"(?i:https?)://\S+|[A-Za-z0-9.-]+(?::\d+)?(?:[/?#]\S*)?", "jq": r"(?s)(?!.*\b(?:import|include)\b).*",
}  # fmt: skip
"""What is known of the operands of programs of which not every operand is: a regular expression for each."""

REQUIRED: Final[dict[str, frozenset[str]]] = {
    "tar": frozenset({"-t", "-c", "--list", "--create"}), "unzip": frozenset({"-l", "-v", "-Z"}),
    "wget": frozenset({"-O", "--output-document", "--spider"}),
    "git apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
}  # fmt: skip
"""Programs that are harmless only with one of these options."""
