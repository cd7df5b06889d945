"""What is known to be harmless of the programs that agents use most: their options and sub-commands, as data.

Owns the table. A row names a program, or one sub-command of it, and then every option that starts no program,
loads no code or configuration, and writes no file at a place that it names. What is missing is not known, and
a pattern has to be the whole line to cover it. How a row is read stands in `known_options`.

An option is written as it is typed, `-abc` for several letters. Behind it stands what it takes: nothing, `:`
text, `::` two texts, `/` a path, `?` text within the same word. `-#` is any number. Words in capitals say how
a program reads its words, or what its operands are (`known_options.WORDS`).
"""

from typing import Final

from workbench.policy.known_builders import BUILDERS
from workbench.policy.known_git import GIT

_COPY: Final = (
    "-f -i -n -u -v -p -T -t/ --force --interactive --no-clobber --update? --verbose --target-directory/"
)
_GREP: Final = (
    "SCRIPT -abcEFGhHiIlLnoPqrRsTUvVwxyzZ -A: -B: -C: -m: -e: -f/ -d: -D: -# --extended-regexp"
    " --fixed-strings --basic-regexp --perl-regexp --regexp: --file/ --ignore-case --no-ignore-case"
    " --word-regexp --line-regexp --null-data --no-messages --invert-match --version --max-count:"
    " --byte-offset --line-number --line-buffered --with-filename --no-filename --label: --only-matching"
    " --quiet --silent --binary-files: --text --directories: --devices: --recursive --dereference-recursive"
    " --include: --exclude: --exclude-from/ --exclude-dir: --files-without-match --files-with-matches"
    " --count --initial-tab --null --before-context: --after-context: --context: --color? --colour?"
    " --no-group-separator --group-separator:"
)

PROGRAMS: Final[dict[str, str]] = {
    **GIT,
    **BUILDERS,
    # --- files are listed, read and compared
    "ls": "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -T: -w: --all --almost-all --author --escape"
        " --block-size: --color? --directory --dired --classify? --file-type --format: --full-time"
        " --group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink?"
        " --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --hide-control-chars"
        " --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style:"
        " --tabsize: --width: --context --zero --version",
    "cat": "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs"
        " --show-nonprinting",
    "head": "-qvz -c: -n: -# --bytes: --lines: --quiet --silent --verbose --zero-terminated",
    "tail": "-fFqrvz -c: -n: -s: -# --bytes: --lines: --follow? --retry --quiet --silent --verbose"
        " --sleep-interval: --max-unchanged-stats: --zero-terminated --pid:",
    "wc": "-cmlLw --bytes --chars --lines --max-line-length --words --total:",
    "nl": "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-width:"
        " --number-separator:",
    "tac": "-br -s: --before --regex --separator:",
    "rev": "",
    "fold": "-bs -w: --bytes --spaces --width:",
    "column": "-tenxJrL -s: -o: -c: -N: -R: -H: -W: -d --table --separator: --output-separator: --columns:"
        " --json",
    "sort": "-bdfghiMnRrVcCmsuz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case"
        " --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort"
        " --random-sort --reverse --sort: --version-sort --check? --merge --key: --field-separator:"
        " --stable --unique --zero-terminated --parallel: --buffer-size: --debug",
    "uniq": "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields: --ignore-case"
        " --skip-chars: --unique --zero-terminated --check-chars: --group?",
    "cut": "-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement"
        " --only-delimited --output-delimiter: --zero-terminated",
    "tr": "TEXT -cCdst --complement --delete --squeeze-repeats --truncate-set1",
    "paste": "-sz -d: --delimiters: --serial --zero-terminated",
    "join": "-iz -a: -e: -1: -2: -j: -o: -t: -v:",
    "comm": "-123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated",
    "diff": "-aBbcdeEilnNpqrstTuwyZ -C: -F: -I: -U: -W: -x: -# --brief --report-identical-files --unified?"
        " --context? --side-by-side --width: --left-column --suppress-common-lines --show-c-function"
        " --recursive --new-file --ignore-case --ignore-all-space --ignore-space-change"
        " --ignore-blank-lines --ignore-trailing-space --ignore-matching-lines: --text --strip-trailing-cr"
        " --minimal --color? --exclude: --label: --normal --no-dereference",
    "cmp": "-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:",
    "grep": _GREP,
    "zgrep": _GREP,
    "rg": "SCRIPT -abcFHiIlLnNopPqsSuUvwx0. -A: -B: -C: -d: -e: -E: -f/ -g: -j: -m: -M: -r: -t: -T:"
        " --after-context: --before-context: --context: --regexp: --file/ --files --files-with-matches"
        " --files-without-match --count --count-matches --fixed-strings --follow --glob: --iglob:"
        " --glob-case-insensitive --heading --no-heading --hidden --ignore-case --case-sensitive"
        " --smart-case --line-number --no-line-number --line-regexp --max-columns: --max-count:"
        " --max-depth: --max-filesize: --multiline --multiline-dotall --no-filename --with-filename"
        " --no-ignore --no-ignore-vcs --no-ignore-parent --no-messages --no-config --null --only-matching"
        " --passthru --path-separator: --pcre2 --pretty --quiet --replace: --sort: --sortr: --stats --text"
        " --threads: --trim --type: --type-not: --type-list --unrestricted --vimgrep --word-regexp"
        " --invert-match --json --color: --column --crlf --debug --encoding: --one-file-system"
        " --context-separator: --field-match-separator: --no-context-separator --no-unicode --engine:"
        " --colors: --binary --no-require-git",
    "find": "WHOLE MARKS -H -L -P -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex:"
        " -regextype: -type: -xtype: -maxdepth: -mindepth: -mtime: -mmin: -atime: -amin: -ctime: -cmin:"
        " -size: -newer/ -newermt: -empty -print -print0 -printf: -ls -prune -quit -not -and -or -a -o"
        " -true -false -perm: -user: -group: -uid: -gid: -depth -xdev -mount -follow -daystart -links:"
        " -inum: -readable -writable -executable -samefile/ -lname: -ilname: -nouser -nogroup -noleaf",
    "fd": "SCRIPT -HIugFsialLp0qF1 -d: -t: -e: -E: -S: -j: --hidden --no-ignore --no-ignore-vcs"
        " --unrestricted --glob --regex --fixed-strings --case-sensitive --ignore-case --absolute-path"
        " --list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --type:"
        " --extension: --exclude: --size: --changed-within: --changed-before: --color: --max-results:"
        " --quiet --and: --prune --one-file-system --threads:",
    "sed": "SCRIPT -nErsuz -e: -l: --quiet --silent --expression: --regexp-extended --null-data"
        " --unbuffered --posix --debug --sandbox --separate --line-length:",
    "awk": "TEXT1 -F: -v: --field-separator: --assign: --posix --re-interval --sandbox",
    "jq": "TEXT1 -acCeMnrRsSj --compact-output --color-output --monochrome-output --null-input --raw-output"
        " --join-output --slurp --raw-input --sort-keys --exit-status --ascii-output --tab --indent:"
        " --arg:: --argjson:: --stream --seq",
    "tree": "-adfilpqstuvrghDFJXNnC -L: -I: -P: --dirsfirst --noreport --gitignore --prune --du --si"
        " --charset: --filelimit: --inodes --device --matchdirs --ignore-case --sort? --filesfirst",
    "du": "-0abcDhHklLmsSx -B: -d: -t: --all --apparent-size --block-size: --bytes --total --max-depth:"
        " --human-readable --summarize --exclude: --one-file-system --separate-dirs --si --threshold:"
        " --time?",
    "df": "-ahHiklPTv -B: -t: -x: --all --human-readable --inodes --local --print-type --total --output?"
        " --type: --exclude-type:",
    "stat": "-fLtx -c: --dereference --file-system --format: --printf: --terse",
    "file": "-bhiIkLNnprsvz0 -F: -e: --brief --mime --mime-type --mime-encoding --dereference --separator:"
        " --exclude:",
    "xxd": "-abeEiprRu -c: -g: -l: -o: -s: -n:",
    "hexdump": "-bcCdovx -n: -s: -e:",
    "od": "-abcdfilosvx -A: -j: -N: -S: -t: -w?",
    "md5sum": "-btz --binary --text --tag --zero",
    "sha1sum": "-btz --binary --text --tag --zero",
    "sha256sum": "-btz --binary --text --tag --zero",
    "cksum": "",
    "strings": "-a -f -n: -t: -e: --all --bytes: --radix:",
    "base64": "-diD -w: --decode --ignore-garbage --wrap:",
    "iconv": "-f: -t: -c -l --from-code: --to-code: --list",
    "bat": "-pAn -l: -r: --plain --style: --color: --line-range: --language: --number --show-all",
    # --- words, names and facts
    "echo": "ANY TEXT",
    "printf": "ANY TEXT",
    "true": "ANY TEXT",
    "false": "ANY TEXT",
    ":": "ANY TEXT",
    "sleep": "TEXT",
    "seq": "TEXT -w -f: -s: -# --equal-width --format: --separator:",
    "expr": "ANY TEXT",
    "pwd": "-LP",
    "cd": "-LPe@",
    "basename": "TEXT -az -s: --multiple --suffix: --zero",
    "dirname": "TEXT -z --zero",
    "yes": "ANY TEXT",
    "realpath": "-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical --no-symlinks"
        " --strip --quiet --relative-to/ --relative-base/ --zero",
    "readlink": "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"
        " --verbose",
    "which": "TEXT -as --all",
    "type": "TEXT -afptP",
    "command": "TEXT -vV",
    "whereis": "TEXT -bmsu",
    "date": "TEXT -uRj -I? -d: -v: --date: --utc --universal --iso-8601? --rfc-3339: --rfc-email --debug",
    "test": "ANY",
    "[": "ANY",
    "set": "ANY TEXT",
    "env": "",
    "printenv": "TEXT -0 --null",
    "id": "TEXT -agGnruzZ",
    "whoami": "",
    "uname": "-asnrvmpio --all --kernel-name --kernel-release --machine",
    "hostname": "-fisIdAy",
    "arch": "",
    "nproc": "--all --ignore:",
    "uptime": "-ps",
    "free": "-bkmghtwl -s: -c:",
    "groups": "TEXT",
    "tty": "-s",
    "ps": "TEXT -AaCcdefFHhjlLMmNOrSTvVwXxyZ -p: -u: -U: -o: -g: -G: -t: --forest --no-headers --sort:"
        " --pid: --user: --format: --ppid: --width:",
    "pgrep": "TEXT -afilnovwxc -u: -U: -P: -g: -t: -d:",
    "lsof": "-nPtlaR -i? -p: -u: -c:",
    "exit": "TEXT",
    "wait": "TEXT -n",
    "export": "ANY",
    # --- files that are named are made, moved and removed
    "mkdir": "-pv -m: --parents --verbose --mode:",
    "rmdir": "-pv --parents --verbose --ignore-fail-on-non-empty",
    "touch": "-acmh -d: -t: -r/ --no-create --date: --reference/ --no-dereference",
    "cp": _COPY,
    "mv": _COPY,
    "rm": "-frRidv --force --recursive --verbose --dir -I --interactive? --one-file-system",
    "tee": "-aip --append",
    "ln": "-sfnvrT --symbolic --force --no-dereference --verbose --relative",
    "truncate": "-c -s: --size:",
    "chmod": "TEXT1 -Rcfv --recursive --changes --verbose --silent --quiet",
    "tar": "TAR -tcvzjJaOphk -f/ --list --create --verbose --gzip --bzip2 --xz --zstd --file/ --exclude:"
        " --strip-components: --wildcards --to-stdout --auto-compress --dereference",
    "zip": "-rqjv0123456789uy",
    "unzip": "-lqvZ",
    "gzip": "-cdfklnqrtv123456789 --stdout --decompress --keep --list --test --best --fast",
    "gunzip": "-cfklqtv --stdout --keep --list --test",
    "zcat": "",
    # --- the network
    "curl": "-#0123456fgGiIjkLNqsSvZ -A: -d: -e: -F: -H: -m: -o: -r: -u: -w: -X: -b: --http1.1 --http2"
        " --ipv4 --ipv6 --fail --fail-with-body --globoff --get --include --head --insecure --location"
        " --silent --show-error --verbose --compressed --user-agent: --data: --data-raw: --data-binary:"
        " --data-urlencode: --json: --referer: --form: --form-string: --header: --max-time:"
        " --connect-timeout: --output: --range: --user: --write-out: --request: --cookie: --retry:"
        " --retry-delay: --retry-connrefused --retry-all-errors --max-redirs: --no-progress-meter"
        " --progress-bar --no-buffer --limit-rate: --max-filesize:",
    "wget": "-qSv46 -O: -T: -t: -U: -w: --quiet --spider --server-response --no-verbose --timeout: --tries:"
        " --user-agent: --header: --method: --body-data: --post-data: --output-document: --max-redirect:"
        " --content-on-error",
}  # fmt: skip
"""By program, or program and sub-command, the options that are known to be harmless."""

_KUBE_OUTPUT: Final = r"wide|json|yaml|name|(?:jsonpath|custom-columns|go-template)=.*"

VALUES: Final[dict[str, str]] = {
    "pytest -p": r"no:[\w.-]+",
    "pytest --cov-report": r"(?:term|term-missing)(?::skip-covered)?|",
    "pytest -W": r"(?:error|ignore|default|always|module|once)(?:::\w*)?",
    "unittest -p": r"[\w*?.-]+",
    **dict.fromkeys(("pylint -f", "pylint --output-format"), "text|json|json2|colorized|parseable"),
    "isort --profile": "black|django|pycharm|google|open_stack|plone|attrs|hug|wemake|appnexus",
    **dict.fromkeys(("eslint -f", "eslint --format"), "stylish|json|html"),
    "prettier --parser": r"[a-z0-9-]+",
    "vitest --reporter": "default|basic|verbose|dot|json|tap|tap-flat",
    **dict.fromkeys(("rspec -f", "rspec --format"), r"[pdj]|progress|documentation|json"),
    **dict.fromkeys(("tar -f", "tar --file"), r"[^:]+"),
    "cmake -D": r"CMAKE_BUILD_TYPE(?::STRING)?=\w+|[A-Za-z]\w*(?::BOOL)?=(?i:on|off|true|false)",
    **dict.fromkeys(("curl -o", "curl --output", "wget -O", "wget --output-document"), r"-|/dev/null"),
    **dict.fromkeys(("curl -w", "curl --write-out"), r"(?s)[^@].*"),
    **dict.fromkeys(("curl -b", "curl --cookie"), r"[^=@]+=.*"),
    "cargo test -- --format": "pretty|terse|json",
    **{f"kubectl {sub} {option}": _KUBE_OUTPUT for sub in ("get", "describe", "top")
       for option in ("-o", "--output")},
    **dict.fromkeys(("kubectl -o", "kubectl --output"), "wide|json|yaml|name"),
    **{f"go {sub} -mod": "readonly|vendor|mod" for sub in ("test", "build", "vet", "list", "install", "fmt")},
    **{f"git {sub} -s": "ours|recursive|resolve|octopus|subtree|ort" for sub in ("merge", "pull")},
    "ps -u": r"x|(?!x)[\w.,-]+",
}  # fmt: skip
"""What is known of the values of an option of which not each is harmless: an expression for all of one."""

OPERANDS: Final[dict[str, str]] = {
    "git clone": r"https://[A-Za-z0-9.-]+/[A-Za-z0-9_./-]+",
    "date": r"\+.*",
    "hostname": "(?!)",
    "env": "(?!)",
    "ps": r"[A-DF-Za-df-z]+|[\d,]+",
    "curl": r"(?i:https?)://\S+|[A-Za-z0-9.-]+(?::\d+)?(?:[/?#]\S*)?",
    "jq": r"(?s)(?!.*\b(?:import|include)\b).*",
}  # fmt: skip
"""What is known of the operands of a program of which not each is harmless: an expression for all of one."""

REQUIRED: Final[dict[str, frozenset[str]]] = {
    "tar": frozenset({"-t", "-c", "--list", "--create"}),
    "unzip": frozenset({"-l", "-v", "-Z"}),
    "wget": frozenset({"-O", "--output-document", "--spider"}),
    "git apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
}  # fmt: skip
"""Programs that are harmless only with one of these options."""
