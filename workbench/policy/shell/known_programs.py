"""Table of options, sub-commands and operands of common programs and git known to be harmless."""

from typing import Final

from workbench.policy.shell.known_dev_tools import KNOWN_DEV_TOOLS, PACKAGERS

_COMMIT_OPTIONS: Final = (
    " --all --branches? --tags? --remotes? --not --max-count: --skip: --since: --after: --until: --before:"
    " --author: --committer: --grep: --all-match --invert-grep --regexp-ignore-case --extended-regexp"
    " --fixed-strings --perl-regexp --merges --no-merges --first-parent --reverse --date-order --topo-order"
    " --author-date-order --left-right --cherry-pick --cherry-mark --cherry --count --no-walk?"
    " --walk-reflogs --boundary --simplify-by-decoration --full-history --ancestry-path? --date:"
    " --abbrev-commit --no-abbrev-commit --oneline --pretty? --format: --parents --children --graph"
    " --no-graph --glob: --exclude:"
)
_DIFF_OPTIONS: Final = (
    " -pusRabwzWt -U? -S: -G: -M? -C? -B? -D -l: -X? --patch --no-patch --unified? --raw --patch-with-raw"
    " --patch-with-stat --minimal --indent-heuristic --no-indent-heuristic --patience --histogram"
    " --anchored: --diff-algorithm: --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative"
    " --summary --name-only --name-status --submodule? --color? --no-color --color-moved? --no-color-moved"
    " --word-diff? --word-diff-regex: --color-words? --no-renames --rename-empty --check --full-index"
    " --binary --abbrev? --break-rewrites? --find-renames? --find-copies? --find-copies-harder"
    " --irreversible-delete --diff-filter: --pickaxe-all --pickaxe-regex --relative? --text"
    " --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space"
    " --ignore-blank-lines --ignore-matching-lines: --inter-hunk-context: --function-context --exit-code"
    " --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix"
    " --line-prefix: --ws-error-highlight: --no-relative"
)
_LOG_OPTIONS: Final = (
    "ENDS -cgivEFP -n: -L: -# --decorate? --no-decorate --source --follow --full-diff --log-size --mailmap"
    " --no-mailmap --show-signature --notes? --no-notes --cc --diff-merges: --no-diff-merges"
    f" --no-expand-tabs{_COMMIT_OPTIONS}{_DIFF_OPTIONS}"
)
_FETCH_OPTIONS: Final = (
    "-v -q -a -p -P -t -n -j? --all --append --atomic --depth: --deepen: --shallow-since: --unshallow"
    " --dry-run --force -f --keep --prune --prune-tags --no-tags --tags --jobs? --quiet --verbose"
    " --progress --ipv4 --ipv6 -4 -6 --recurse-submodules? --no-recurse-submodules --set-upstream"
    " --write-fetch-head --no-write-fetch-head"
)
_PICK_OPTIONS: Final = (
    "-n -x -s -m: --continue --abort --skip --quit --no-commit --signoff --mainline: --ff --allow-empty"
    " --no-edit"
)
_STASH_OPTIONS: Final = (
    "ENDS -u -k -q -p -a -S -m: --include-untracked --keep-index --no-keep-index --quiet --patch --all"
    " --staged --message:"
)
_BISECT_SUBCOMMANDS: Final = ("good", "bad", "skip", "reset", "log", "new", "old")
KNOWN_GIT: Final[dict[str, str]] = {
    "git": "SUB -P --no-pager --no-optional-locks --version --literal-pathspecs --no-replace-objects",
    "git status": "ENDS -svbzu? --short --verbose --branch --show-stash --ahead-behind --no-ahead-behind"
        " --porcelain? --long --null --untracked-files? --ignored? --ignore-submodules? --column?"
        " --no-column --no-renames --renames --find-renames?",
    "git log": _LOG_OPTIONS,
    "git show": _LOG_OPTIONS,
    "git whatchanged": _LOG_OPTIONS,
    "git diff": "ENDS --cached --staged --merge-base --no-index --base --ours --theirs --cc -1 -2 -3"
        f" -0{_DIFF_OPTIONS}",
    "git diff-tree": "ENDS -r -c -m -v --cc --root --stdin --no-commit-id --pretty? --format:"
        f" --merge-base{_DIFF_OPTIONS}",
    "git diff-index": f"ENDS -m --cached --merge-base{_DIFF_OPTIONS}",
    "git diff-files": f"ENDS -q -c --cc --base --ours --theirs{_DIFF_OPTIONS}",
    "git range-diff": f"--creation-factor: --no-dual-color --left-only --right-only{_DIFF_OPTIONS}",
    "git rev-list": "ENDS -n: -i -E -F -# --objects --timestamp --quiet --header"
        f" --disk-usage?{_COMMIT_OPTIONS}",
    "git rev-parse": "ENDS TEXT -q --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir"
        " --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository"
        " --is-shallow-repository --abbrev-ref? --symbolic-full-name --symbolic --short? --verify --quiet"
        " --all --branches? --tags? --remotes? --show-superproject-working-tree --show-object-format? --not"
        " --sq --since: --until: --git-path: --local-env-vars --path-format:",
    "git ls-files": "ENDS -cdomiustkvfz -x: --cached --deleted --modified --others --ignored --stage"
        " --unmerged --killed --directory --eol --no-empty-directory --exclude: --exclude-standard"
        " --error-unmatch --full-name --recurse-submodules --abbrev? --debug --deduplicate --resolve-undo"
        " --format:",
    "git ls-tree": "ENDS -drtlz --long --name-only --name-status --full-name --full-tree --abbrev? --format:"
        " --object-only",
    "git ls-remote": "ENDS REMOTE -h -t -q --heads --tags --refs --quiet --exit-code --get-url --sort:"
        " --symref",
    "git cat-file": "TEXT -t -s -e -p --batch-check? --allow-unknown-type",
    "git hash-object": "-t: --stdin --path:",
    "git blame": "ENDS -beclfkMCpstw -L: --root --show-stats --progress --score-debug --show-name"
        " --show-number --porcelain --line-porcelain --show-email --since: --date: --abbrev? --color-lines"
        " --color-by-age --first-parent --reverse --incremental --ignore-rev:",
    "git annotate": "ENDS -beclfkMCpstw -L: --since: --date:",
    "git describe": "ENDS TEXT --all --tags --long --first-parent --abbrev? --exact-match --candidates:"
        " --match: --exclude: --always --dirty? --contains",
    "git grep": "ENDS SCRIPT -aiInHlLczovwWEFGPphrq -A: -B: -C: -e: -m: -# --cached --untracked --no-index"
        " --exclude-standard --no-exclude-standard --recurse-submodules --invert-match --ignore-case"
        " --word-regexp --text --recursive --no-recursive --max-depth: --extended-regexp --basic-regexp"
        " --fixed-strings --perl-regexp --line-number --column --full-name --files-with-matches --name-only"
        " --files-without-match --null --only-matching --count --color? --no-color --break --heading"
        " --show-function --context: --before-context: --after-context: --function-context --threads: --and"
        " --or --not --all-match --quiet --max-count: --no-textconv",
    "git shortlog": f"ENDS {_COMMIT_OPTIONS} -n -s -e -c -w? --numbered --summary --email --committer"
        " --group: --format:",
    "git reflog": _LOG_OPTIONS,
    "git name-rev": "ENDS TEXT --tags --refs: --exclude: --all --name-only --no-undefined --always",
    "git merge-base": "ENDS TEXT -a --all --octopus --independent --is-ancestor --fork-point",
    "git count-objects": "-v -H --verbose --human-readable",
    "git show-ref": "ENDS TEXT -q -s -d --head --heads --tags --dereference --hash? --verify --quiet"
        " --abbrev? --exists",
    "git for-each-ref": "ENDS TEXT --count: --sort: --format: --points-at? --merged? --no-merged?"
        " --contains? --no-contains? --ignore-case --color?",
    "git show-branch": "TEXT -a -r --all --remotes --current --topo-order --date-order --sparse --more?"
        " --list --topics --color? --no-color",
    "git symbolic-ref": "TEXT -q --quiet --short",
    "git check-ignore": "ENDS -q -v -z -n --quiet --verbose --non-matching --no-index --stdin",
    "git check-attr": "ENDS -a -z --all --cached --stdin",
    "git var": "TEXT -l",
    "git version": "--build-options",
    "git cherry": "TEXT -v --abbrev?",
    "git fsck": "TEXT -v --unreachable --dangling --no-dangling --root --tags --cache --no-reflogs --full"
        " --no-full --strict --verbose --connectivity-only --name-objects --progress --no-progress",
    "git verify-commit": "TEXT -v --verbose --raw",
    "git check-ref-format": "TEXT --branch --normalize --allow-onelevel",
    "git config": "TEXT -l -z --get --get-all --get-regexp --get-urlmatch --list --null --name-only"
        " --show-origin --show-scope --global --local --system --worktree --type: --bool --int --path"
        " --default: --includes --no-includes --all --regexp",
    # --- what is in the index and on branches changes
    "git add": "ENDS -nvfuANp --patch --all --no-all --update --dry-run --verbose --force --intent-to-add"
        " --refresh --ignore-errors --ignore-missing --renormalize --no-ignore-removal --ignore-removal"
        " --sparse --chmod:",
    "git commit": "ENDS -aqvnso -m: -F/ -C: -c: -u? -z --all --message: --amend --no-edit --no-verify"
        " --signoff --no-signoff --quiet --verbose --dry-run --short --branch --porcelain --long --null"
        " --allow-empty --allow-empty-message --author: --date: --reset-author --reuse-message: --fixup:"
        " --squash: --only --include -i --no-status --status --file/ --cleanup: --trailer:"
        " --untracked-files? --no-post-rewrite --no-gpg-sign",
    "git checkout": "ENDS -q -f -b: -B: -t -l -d --quiet --progress --no-progress --force --ours --theirs"
        " --track? --no-track --detach --orphan: --merge -m --conflict: --patch -p"
        " --ignore-skip-worktree-bits --overlay --no-overlay --guess --no-guess",
    "git switch": "ENDS TEXT -q -c: -C: -d -f -m -t --create: --force-create: --detach --guess --no-guess"
        " --force --discard-changes --merge --conflict: --quiet --no-progress --progress --track? --no-track"
        " --orphan: --ignore-other-worktrees",
    "git restore": "ENDS -q -s: -S -W -p --source: --staged --worktree --quiet --progress --no-progress"
        " --ours --theirs --merge --conflict: --patch --ignore-unmerged --overlay --no-overlay",
    "git reset": "ENDS -q -p -N --quiet --no-quiet --soft --mixed --hard --merge --keep --patch"
        " --intent-to-add --no-refresh --refresh",
    "git rm": "ENDS -n -q -f -r --dry-run --quiet --cached --force --ignore-unmatch --sparse",
    "git mv": "ENDS -v -n -f -k --verbose --dry-run --force --sparse",
    "git clean": "ENDS -n -d -f -x -X -q -e: --dry-run --force --quiet --exclude:",
    "git branch": "ENDS TEXT -avvqrfdDmMcCliu: -t --all --verbose --quiet --remotes --force --delete --move"
        " --copy --list --show-current --contains? --no-contains? --merged? --no-merged? --points-at:"
        " --format: --sort: --color? --no-color --column? --no-column --abbrev? --no-abbrev --ignore-case"
        " --track? --no-track --set-upstream-to: --unset-upstream --create-reflog --omit-empty",
    "git tag": "ENDS TEXT -adlifn? -m: -F/ --annotate --delete --list --force --message: --file/ --sort:"
        " --contains? --no-contains? --merged? --no-merged? --points-at? --format: --color? --column?"
        " --no-column --ignore-case --verify -v --cleanup: --create-reflog",
    "git merge": "ENDS TEXT -n -q -v -m: -s: -X: --stat --no-stat --log? --no-log --squash --no-squash"
        " --commit --no-commit --no-edit --ff --no-ff --ff-only --message: --abort --quit --continue"
        " --allow-unrelated-histories --quiet --verbose --progress --no-progress --signoff --no-signoff"
        " --no-verify --verify --autostash --no-autostash --no-rerere-autoupdate --verify-signatures",
    "git rebase": "TEXT -q -v -n -f -m --onto: --keep-base --root --continue --abort --skip --quit"
        " --show-current-patch --apply --merge --autosquash --no-autosquash --autostash --no-autostash"
        " --fork-point --no-fork-point --quiet --verbose --stat --no-stat --no-verify --verify"
        " --force-rebase --no-ff --rebase-merges? --no-rebase-merges --update-refs --no-update-refs"
        " --empty: --no-keep-empty --keep-empty --committer-date-is-author-date --ignore-whitespace"
        " --reset-author-date --signoff",
    "git cherry-pick": f"TEXT {_PICK_OPTIONS} --keep-redundant-commits --empty: --strategy-option: -X:",
    "git revert": f"TEXT {_PICK_OPTIONS} --reference",
    "git stash": "SUB -u -k -q -p -a -S --include-untracked --keep-index --no-keep-index --quiet --patch"
        " --all --staged",
    "git stash push": _STASH_OPTIONS,
    "git stash save": _STASH_OPTIONS,
    "git stash list": _LOG_OPTIONS,
    "git stash show": f"ENDS -u --include-untracked --only-untracked{_DIFF_OPTIONS}",
    **dict.fromkeys(("git stash pop", "git stash apply"), "TEXT -q --index --quiet"),
    "git stash drop": "TEXT -q --quiet",
    "git stash clear": "",
    "git stash branch": "TEXT",
    "git archive": "ENDS -l -v --list --verbose --format: --prefix: --worktree-attributes -0 -9",
    "git apply": "ENDS -v -q -R -p: -C: --check --stat --numstat --summary --cached --reverse --verbose"
        " --quiet --whitespace: --recount",
    "git am": "--continue --skip --abort --quit --show-current-patch?",
    "git worktree": "SUB",
    "git worktree list": "-v -z --porcelain --verbose",
    "git worktree prune": "-n -v --dry-run --verbose",
    "git submodule": "SUB -q --quiet",
    "git submodule status": "--cached --recursive",
    "git submodule summary": "--cached --files",
    "git bisect": "SUB",
    **dict.fromkeys(map("git bisect {}".format, _BISECT_SUBCOMMANDS), "TEXT"),
    "git bisect start": "--no-checkout --first-parent",
    "git notes": "SUB",
    "git notes list": "TEXT",
    "git notes show": "TEXT",
    "git lfs": "SUB",
    "git lfs ls-files": "-l -s -n --long --size --name-only",
    "git lfs status": "--porcelain --json",
    "git gc": "-q --auto --quiet",
    # --- other places are named by a remote
    "git clone": "ENDS TEXT1 -q -v -b: --depth: --branch: --single-branch --no-single-branch --no-tags"
        " --quiet --verbose --progress --filter: --no-checkout",
    "git remote": "SUB -v --verbose",
    "git remote show": "REMOTE -n",
    "git remote get-url": "TEXT --push --all",
    "git remote prune": "TEXT -n --dry-run",
    "git remote update": "TEXT -p --prune",
    "git fetch": f"REMOTE {_FETCH_OPTIONS}",
    "git pull": f"REMOTE {_FETCH_OPTIONS} -r -s: -X: --rebase? --no-rebase --ff --ff-only --no-ff --squash"
        " --no-squash --commit --no-commit --no-edit --stat --no-stat --autostash --no-autostash"
        " --allow-unrelated-histories --no-verify --signoff --log? --no-log",
    "git push": "REMOTE -v -q -u -f -d -n -4 -6 --all --branches --mirror --delete --tags --dry-run"
        " --porcelain --force --force-with-lease? --no-force-with-lease --force-if-includes --set-upstream"
        " --thin --no-thin --prune --no-verify --verify --follow-tags --no-follow-tags --atomic --no-atomic"
        " --quiet --verbose --progress --ipv4 --ipv6 --signed? --no-signed --recurse-submodules: -o:"
        " --push-option:",
}  # fmt: skip
"""By sub-command, the options that are known to be harmless."""
_COPY_OPTIONS: Final = (
    "GNU ENDS -f -i -n -u -v -p -T -t/ --force --interactive --no-clobber --update? --verbose"
    " --target-directory/"
)
_GREP_OPTIONS: Final = (
    "GNU ENDS SCRIPT -abcEFGhHiIlLnoPqrRsTUvVwxyzZ -A: -B: -C: -m: -e: -f/ -d: -D: -# --extended-regexp"
    " --fixed-strings --basic-regexp --perl-regexp --regexp: --file/ --ignore-case --no-ignore-case"
    " --word-regexp --line-regexp --null-data --no-messages --invert-match --version --max-count:"
    " --byte-offset --line-number --line-buffered --with-filename --no-filename --label: --only-matching"
    " --quiet --silent --binary-files: --text --directories: --devices: --recursive --dereference-recursive"
    " --include: --exclude: --exclude-from/ --exclude-dir: --files-without-match --files-with-matches"
    " --count --initial-tab --null --before-context: --after-context: --context: --color? --colour?"
    " --no-group-separator --group-separator:"
)
KNOWN_PROGRAMS: Final[dict[str, str]] = {
    **KNOWN_GIT,
    **KNOWN_DEV_TOOLS,
    # --- files are listed, read and compared
    "ls": "GNU ENDS -aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -T: -w: --all --almost-all --author --escape"
        " --block-size: --color? --directory --dired --classify? --file-type --format: --full-time"
        " --group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink?"
        " --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --hide-control-chars"
        " --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style:"
        " --tabsize: --width: --context --zero --version",
    "cat": "GNU ENDS -AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank"
        " --show-tabs --show-nonprinting",
    "head": "GNU ENDS -qvz -c: -n: -# --bytes: --lines: --quiet --silent --verbose --zero-terminated",
    "tail": "GNU ENDS -fFqrvz -c: -n: -s: -# --bytes: --lines: --follow? --retry --quiet --silent --verbose"
        " --sleep-interval: --max-unchanged-stats: --zero-terminated --pid:",
    "wc": "GNU ENDS -cmlLw --bytes --chars --lines --max-line-length --words --total:",
    "nl": "GNU ENDS -p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format:"
        " --number-width: --number-separator:",
    "tac": "GNU ENDS -br -s: --before --regex --separator:",
    "rev": "GNU ENDS",
    "fold": "GNU ENDS -bs -w: --bytes --spaces --width:",
    "column": "GNU ENDS -tenxJrL -s: -o: -c: -N: -R: -H: -W: -d --table --separator: --output-separator:"
        " --columns: --json",
    "sort": "GNU ENDS -bdfghiMnRrVcCmsuz -k: -t: -S: --ignore-leading-blanks --dictionary-order"
        " --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort"
        " --numeric-sort --random-sort --reverse --sort: --version-sort --check? --merge --key:"
        " --field-separator: --stable --unique --zero-terminated --parallel: --buffer-size: --debug",
    "uniq": "GNU -cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields: --ignore-case"
        " --skip-chars: --unique --zero-terminated --check-chars: --group?",
    "cut": "GNU ENDS -nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement"
        " --only-delimited --output-delimiter: --zero-terminated",
    "tr": "GNU ENDS TEXT -cCdst --complement --delete --squeeze-repeats --truncate-set1",
    "paste": "GNU ENDS -sz -d: --delimiters: --serial --zero-terminated",
    "join": "GNU ENDS -iz -a: -e: -1: -2: -j: -o: -t: -v:",
    "comm": "GNU ENDS -123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated",
    "diff": "GNU ENDS -aBbcdeEinNpqrstTuwyZ -C: -F: -I: -U: -W: -x: -# --brief --report-identical-files"
        " --unified? --context? --side-by-side --width: --left-column --suppress-common-lines"
        " --show-c-function --recursive --new-file --ignore-case --ignore-all-space --ignore-space-change"
        " --ignore-blank-lines --ignore-trailing-space --ignore-matching-lines: --text --strip-trailing-cr"
        " --minimal --color? --exclude: --label: --normal --no-dereference",
    "cmp": "GNU ENDS -bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:",
    "grep": _GREP_OPTIONS,
    "zgrep": _GREP_OPTIONS,
    "rg": "ENDS SCRIPT -abcFHiIlLnNopPqsSuUvwx0. -A: -B: -C: -d: -e: -E: -f/ -g: -j: -m: -M: -r: -t: -T:"
        " --after-context: --before-context: --context: --regexp: --file/ --files --files-with-matches"
        " --files-without-match --count --count-matches --fixed-strings --follow --glob: --iglob:"
        " --glob-case-insensitive --heading --no-heading --hidden --ignore-case --case-sensitive"
        " --smart-case --line-number --no-line-number --line-regexp --max-columns: --max-count: --max-depth:"
        " --max-filesize: --multiline --multiline-dotall --no-filename --with-filename --no-ignore"
        " --no-ignore-vcs --no-ignore-parent --no-messages --no-config --null --only-matching --passthru"
        " --path-separator: --pcre2 --pretty --quiet --replace: --sort: --sortr: --stats --text --threads:"
        " --trim --type: --type-not: --type-list --unrestricted --vimgrep --word-regexp --invert-match"
        " --json --color: --column --crlf --debug --encoding: --one-file-system --context-separator:"
        " --field-match-separator: --no-context-separator --no-unicode --engine: --colors: --binary"
        " --no-require-git",
    "find": "GNU WHOLE MARKS -H -L -P -name: -iname: -path: -ipath: -wholename: -iwholename: -regex:"
        " -iregex: -regextype: -type: -xtype: -maxdepth: -mindepth: -mtime: -mmin: -atime: -amin: -ctime:"
        " -cmin: -size: -newer/ -newermt: -empty -print -print0 -printf: -ls -prune -quit -not -and -or -a"
        " -o -true -false -perm: -user: -group: -uid: -gid: -depth -xdev -mount -follow -daystart -links:"
        " -inum: -readable -writable -executable -samefile/ -lname: -ilname: -nouser -nogroup -noleaf",
    "fd": "ENDS SCRIPT -HIugFsialLp0qF1 -d: -t: -e: -E: -S: -j: --hidden --no-ignore --no-ignore-vcs"
        " --unrestricted --glob --regex --fixed-strings --case-sensitive --ignore-case --absolute-path"
        " --list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --type:"
        " --extension: --exclude: --size: --changed-within: --changed-before: --color: --max-results:"
        " --quiet --and: --prune --one-file-system --threads:",
    "sed": "GNU ENDS SCRIPT -nErsuz -e: -l: --quiet --silent --expression: --regexp-extended --null-data"
        " --unbuffered --posix --debug --sandbox --separate --line-length:",
    "awk": "GNU ENDS TEXT1 -F: -v: --field-separator: --assign: --posix --re-interval --sandbox",
    "jq": "TEXT1 -acCeMnrRsSj --compact-output --color-output --monochrome-output --null-input --raw-output"
        " --join-output --slurp --raw-input --sort-keys --exit-status --ascii-output --tab --indent:"
        " --arg:: --argjson:: --stream --seq",
    "tree": "ENDS -adfilpqstuvrghDFJXNnC -L: -I: -P: --dirsfirst --noreport --gitignore --prune --du --si"
        " --charset: --filelimit: --inodes --device --matchdirs --ignore-case --sort? --filesfirst",
    "du": "GNU ENDS -0abcDhHklLmsSx -B: -d: -t: --all --apparent-size --block-size: --bytes --total"
        " --max-depth: --human-readable --summarize --exclude: --one-file-system --separate-dirs --si"
        " --threshold: --time?",
    "df": "GNU ENDS -ahHiklPTv -B: -t: -x: --all --human-readable --inodes --local --print-type --total"
        " --output? --type: --exclude-type:",
    "stat": "GNU ENDS -fLtx -c: --dereference --file-system --format: --printf: --terse",
    "file": "-bhiIkLNnprsvz0 -F: -e: --brief --mime --mime-type --mime-encoding --dereference --separator:"
        " --exclude:",
    "xxd": "-abeEiprRu -c: -g: -l: -o: -s: -n:",
    "hexdump": "GNU ENDS -bcCdovx -n: -s: -e:",
    "od": "GNU ENDS -abcdfilosvx -A: -j: -N: -S: -t: -w?",
    "md5sum": "GNU ENDS -btz --binary --text --tag --zero",
    "sha1sum": "GNU ENDS -btz --binary --text --tag --zero",
    "sha256sum": "GNU ENDS -btz --binary --text --tag --zero",
    "cksum": "GNU ENDS",
    "strings": "GNU ENDS -a -f -n: -t: -e: --all --bytes: --radix:",
    "base64": "GNU ENDS -diD -w: --decode --ignore-garbage --wrap:",
    "iconv": "GNU ENDS -f: -t: -c -l --from-code: --to-code: --list",
    "bat": "-pAn -l: -r: --plain --style: --color: --line-range: --language: --number --show-all",
    # --- words, names and facts
    "echo": "ANY TEXT",
    "printf": "ANY TEXT",
    "true": "ANY TEXT",
    "false": "ANY TEXT",
    ":": "ANY TEXT",
    "sleep": "GNU TEXT",
    "seq": "GNU TEXT -w -f: -s: -# --equal-width --format: --separator:",
    "expr": "GNU ANY TEXT",
    "pwd": "ENDS -LP",
    "cd": "ENDS -LPe@",
    "basename": "GNU ENDS TEXT -az -s: --multiple --suffix: --zero",
    "dirname": "GNU ENDS TEXT -z --zero",
    "yes": "GNU ANY TEXT",
    "realpath": "GNU ENDS -eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical"
        " --no-symlinks --strip --quiet --relative-to/ --relative-base/ --zero",
    "readlink": "GNU ENDS -efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing"
        " --no-newline --verbose",
    "which": "GNU TEXT -as --all",
    "type": "ENDS TEXT -afptP",
    "command": "TEXT -vV",
    "whereis": "GNU TEXT -bmsu",
    "date": "GNU ENDS TEXT -uRj -I? -d: -v: --date: --utc --universal --iso-8601? --rfc-3339: --rfc-email"
        " --debug",
    "test": "ANY",
    "[": "ANY",
    "set": "ANY TEXT",
    "env": "GNU",
    "printenv": "GNU ENDS TEXT -0 --null",
    "id": "GNU ENDS TEXT -agGnruzZ",
    "whoami": "GNU",
    "uname": "GNU -asnrvmpio --all --kernel-name --kernel-release --machine",
    "hostname": "GNU -fisIdAy",
    "arch": "GNU",
    "nproc": "GNU --all --ignore:",
    "uptime": "GNU -ps",
    "free": "GNU -bkmghtwl -s: -c:",
    "groups": "GNU TEXT",
    "tty": "GNU -s",
    "ps": "GNU TEXT -AaCcdefFHhjlLMmNOrSTvVwXxyZ -p: -u: -U: -o: -g: -G: -t: --forest --no-headers --sort:"
        " --pid: --user: --format: --ppid: --width:",
    "pgrep": "GNU TEXT -afilnovwxc -u: -U: -P: -g: -t: -d:",
    "lsof": "-nPtlaR -i? -p: -u: -c:",
    "exit": "TEXT",
    "wait": "TEXT -n",
    "export": "ANY",
    # --- files that are named are made, moved and removed
    "mkdir": "GNU ENDS -pv -m: --parents --verbose --mode:",
    "rmdir": "GNU ENDS -pv --parents --verbose --ignore-fail-on-non-empty",
    "touch": "GNU ENDS -acmh -d: -t: -r/ --no-create --date: --reference/ --no-dereference",
    "cp": _COPY_OPTIONS,
    "mv": _COPY_OPTIONS,
    "rm": "GNU ENDS -frRidv --force --recursive --verbose --dir -I --interactive? --one-file-system",
    "tee": "GNU ENDS -aip --append",
    "ln": "GNU ENDS -sfnvrT --symbolic --force --no-dereference --verbose --relative",
    "truncate": "GNU ENDS -c -s: --size:",
    "chmod": "GNU ENDS TEXT1 -Rcfv --recursive --changes --verbose --silent --quiet",
    "tar": "GNU TAR -tcvzjJaOphk -f/ --list --create --verbose --gzip --bzip2 --xz --zstd --file/ --exclude:"
        " --strip-components: --wildcards --to-stdout --auto-compress --dereference",
    "zip": "-rqjv0123456789uy",
    "unzip": "-lqvZ",
    "gzip": "GNU ENDS -cdfklnqrtv123456789 --stdout --decompress --keep --list --test --best --fast",
    "gunzip": "GNU -cfklqtv --stdout --keep --list --test",
    "zcat": "GNU",
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
_DOTNET_BUILDS: Final = ("dotnet test", "dotnet build", "dotnet restore")
_DOTNET_VALUES: Final = {
    **dict.fromkeys(("-c", "--configuration"), "Debug|Release"),
    **dict.fromkeys(("-f", "--framework"), r"net[\w.]+"),
    **dict.fromkeys(("-v", "--verbosity"), "q|quiet|m|minimal|n|normal|d|detailed|diag|diagnostic"),
    "--filter": r"[\w.=~&|!() -]+",
}  # fmt: skip
_KUBE_OUTPUT: Final = r"wide|json|yaml|name|(?:jsonpath|custom-columns|go-template)=.*"
KNOWN_VALUES: Final[dict[str, str]] = {
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
    **{f"{key} {option}": value for key in _DOTNET_BUILDS for option, value in _DOTNET_VALUES.items()},
    "ps -u": r"x|(?!x)[\w.,-]+",
}  # fmt: skip
"""Expressions for the harmless values of options that also have others."""
_NPM_PACKAGE: Final = r"(?:@[\w.~-]+/)?[\w.~-]+(?:@[\w.^~<>=*|-]+)?"
"""A package of the registry, with a version. `owner/name` and addresses start git, and git starts ssh."""
KNOWN_OPERANDS: Final[dict[str, str]] = {
    "git clone": r"https://[A-Za-z0-9.-]+/[A-Za-z0-9_./-]+",
    "date": r"\+.*",
    "hostname": "(?!)",
    "env": "(?!)",
    "ps": r"[A-DF-Za-df-z]+|[\d,]+",
    "curl": r"(?i:https?)://\S+|[A-Za-z0-9.-]+(?::\d+)?(?:[/?#]\S*)?",
    "jq": r"(?s)(?!.*\b(?:import|include)\b).*",
    "mvn": r"[a-z][a-z-]*(?::[a-z][A-Za-z-]*)?",
    **dict.fromkeys(_DOTNET_BUILDS, r"(?!/)[\w./-]+"),
    "docker build": r"(?!github\.com/)[^:@]+",
    **{f"{name} {sub}": rf"{_NPM_PACKAGE}|[\w.\[\]-]+" for name in PACKAGERS for sub in ("view", "info")},
    **{f"{name} {sub}": rf"{_NPM_PACKAGE}|\.\.?(?:/[\w.@/-]*)?"
       for name in PACKAGERS for sub in ("install", "i", "add")},
}  # fmt: skip
"""Expressions for the harmless operands of programs that also have others."""
MOST_OPERANDS: Final[dict[str, int]] = {"git symbolic-ref": 1}
"""Programs that write with more operands than so many: `git symbolic-ref A B` writes the file A of git."""
VERSION_ALONE: Final = frozenset({"cmake", "ctest"})
"""Programs that print their version where `--version` stands alone, and write it where a file is named."""
REQUIRED_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "tar": frozenset({"-t", "-c", "--list", "--create"}),
    "unzip": frozenset({"-l", "-v", "-Z"}),
    "wget": frozenset({"-O", "--output-document", "--spider"}),
    "git apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
}  # fmt: skip
"""Programs that are harmless only with one of these options."""
