"""What is known to be harmless of git: its sub-commands and their options, as data.

Owns these rows of the table of `known_programs`; that module says how one is written. None of them starts a
program that the line names, and none writes a file that it names outside of what git keeps and checks out.
"""

from typing import Final

_COMMITS: Final = (
    " --all --branches? --tags? --remotes? --not --max-count: --skip: --since: --after: --until: --before:"
    " --author: --committer: --grep: --all-match --invert-grep --regexp-ignore-case --extended-regexp"
    " --fixed-strings --perl-regexp --merges --no-merges --first-parent --reverse --date-order --topo-order"
    " --author-date-order --left-right --cherry-pick --cherry-mark --cherry --count --no-walk?"
    " --walk-reflogs --boundary --simplify-by-decoration --full-history --ancestry-path? --date:"
    " --abbrev-commit --no-abbrev-commit --oneline --pretty? --format: --parents --children --graph"
    " --no-graph --glob: --exclude:"
)
_DIFF: Final = (
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
_LOG: Final = (
    "-cgivEFP -n: -L: -# --decorate? --no-decorate --source --follow --full-diff --log-size --mailmap"
    " --no-mailmap --show-signature --notes? --no-notes --cc --diff-merges: --no-diff-merges"
    f" --no-expand-tabs{_COMMITS}{_DIFF}"
)
_FETCH: Final = (
    "-v -q -a -p -P -t -n -j? --all --append --atomic --depth: --deepen: --shallow-since: --unshallow"
    " --dry-run --force -f --keep --prune --prune-tags --no-tags --tags --jobs? --quiet --verbose"
    " --progress --ipv4 --ipv6 -4 -6 --recurse-submodules? --no-recurse-submodules --set-upstream"
    " --write-fetch-head --no-write-fetch-head"
)
_PICK: Final = (
    "-n -x -s -m: --continue --abort --skip --quit --no-commit --signoff --mainline: --ff --allow-empty"
    " --no-edit"
)

_STASH: Final = (
    "-u -k -q -p -a -S -m: --include-untracked --keep-index --no-keep-index --quiet --patch --all --staged"
    " --message:"
)
_BISECT: Final = ("good", "bad", "skip", "reset", "log", "new", "old")

GIT: Final[dict[str, str]] = {
    "git": "SUB -P --no-pager --no-optional-locks --version --literal-pathspecs --no-replace-objects",
    "git status": "-svbzu? --short --verbose --branch --show-stash --ahead-behind --no-ahead-behind"
        " --porcelain? --long --null --untracked-files? --ignored? --ignore-submodules? --column?"
        " --no-column --no-renames --renames --find-renames?",
    "git log": _LOG,
    "git show": _LOG,
    "git whatchanged": _LOG,
    "git diff": f"--cached --staged --merge-base --no-index --base --ours --theirs --cc -1 -2 -3 -0{_DIFF}",
    "git diff-tree": "-r -c -m -v --cc --root --stdin --no-commit-id --pretty? --format:"
        f" --merge-base{_DIFF}",
    "git diff-index": f"-m --cached --merge-base{_DIFF}",
    "git diff-files": f"-q -c --cc --base --ours --theirs{_DIFF}",
    "git range-diff": f"--creation-factor: --no-dual-color --left-only --right-only{_DIFF}",
    "git rev-list": f"-n: -i -E -F -# --objects --timestamp --quiet --header --disk-usage?{_COMMITS}",
    "git rev-parse": "TEXT -q --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir"
        " --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository"
        " --is-shallow-repository --abbrev-ref? --symbolic-full-name --symbolic --short? --verify --quiet"
        " --all --branches? --tags? --remotes? --show-superproject-working-tree --show-object-format? --not"
        " --sq --since: --until: --git-path: --local-env-vars --path-format:",
    "git ls-files": "-cdomiustkvfz -x: --cached --deleted --modified --others --ignored --stage --unmerged"
        " --killed --directory --eol --no-empty-directory --exclude: --exclude-standard --error-unmatch"
        " --full-name --recurse-submodules --abbrev? --debug --deduplicate --resolve-undo --format:",
    "git ls-tree": "-drtlz --long --name-only --name-status --full-name --full-tree --abbrev? --format:"
        " --object-only",
    "git ls-remote": "REMOTE -h -t -q --heads --tags --refs --quiet --exit-code --get-url --sort: --symref",
    "git cat-file": "TEXT -t -s -e -p --batch-check? --allow-unknown-type",
    "git hash-object": "-t: --stdin --path:",
    "git blame": "-beclfkMCpstw -L: --root --show-stats --progress --score-debug --show-name --show-number"
        " --porcelain --line-porcelain --show-email --since: --date: --abbrev? --color-lines --color-by-age"
        " --first-parent --reverse --incremental --ignore-rev:",
    "git annotate": "-beclfkMCpstw -L: --since: --date:",
    "git describe": "TEXT --all --tags --long --first-parent --abbrev? --exact-match --candidates: --match:"
        " --exclude: --always --dirty? --contains",
    "git grep": "SCRIPT -aiInHlLczovwWEFGPphrq -A: -B: -C: -e: -m: -# --cached --untracked --no-index"
        " --exclude-standard --no-exclude-standard --recurse-submodules --invert-match --ignore-case"
        " --word-regexp --text --recursive --no-recursive --max-depth: --extended-regexp --basic-regexp"
        " --fixed-strings --perl-regexp --line-number --column --full-name --files-with-matches --name-only"
        " --files-without-match --null --only-matching --count --color? --no-color --break --heading"
        " --show-function --context: --before-context: --after-context: --function-context --threads: --and"
        " --or --not --all-match --quiet --max-count: --no-textconv",
    "git shortlog": f"{_COMMITS} -n -s -e -c -w? --numbered --summary --email --committer --group:"
        " --format:",
    "git reflog": _LOG,
    "git name-rev": "TEXT --tags --refs: --exclude: --all --name-only --no-undefined --always",
    "git merge-base": "TEXT -a --all --octopus --independent --is-ancestor --fork-point",
    "git count-objects": "-v -H --verbose --human-readable",
    "git show-ref": "TEXT -q -s -d --head --heads --tags --dereference --hash? --verify --quiet --abbrev?"
        " --exists",
    "git for-each-ref": "TEXT --count: --sort: --format: --points-at? --merged? --no-merged? --contains?"
        " --no-contains? --ignore-case --color?",
    "git show-branch": "TEXT -a -r --all --remotes --current --topo-order --date-order --sparse --more?"
        " --list --topics --color? --no-color",
    "git symbolic-ref": "TEXT -q --quiet --short",
    "git check-ignore": "-q -v -z -n --quiet --verbose --non-matching --no-index --stdin",
    "git check-attr": "-a -z --all --cached --stdin",
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
    "git add": "-nvfuANp --patch --all --no-all --update --dry-run --verbose --force --intent-to-add"
        " --refresh --ignore-errors --ignore-missing --renormalize --no-ignore-removal --ignore-removal"
        " --sparse --chmod:",
    "git commit": "-aqvnso -m: -F/ -C: -c: -u? -z --all --message: --amend --no-edit --no-verify --signoff"
        " --no-signoff --quiet --verbose --dry-run --short --branch --porcelain --long --null --allow-empty"
        " --allow-empty-message --author: --date: --reset-author --reuse-message: --fixup: --squash: --only"
        " --include -i --no-status --status --file/ --cleanup: --trailer: --untracked-files?"
        " --no-post-rewrite --no-gpg-sign",
    "git checkout": "-q -f -b: -B: -t -l -d --quiet --progress --no-progress --force --ours --theirs"
        " --track? --no-track --detach --orphan: --merge -m --conflict: --patch -p"
        " --ignore-skip-worktree-bits --overlay --no-overlay --guess --no-guess",
    "git switch": "TEXT -q -c: -C: -d -f -m -t --create: --force-create: --detach --guess --no-guess"
        " --force --discard-changes --merge --conflict: --quiet --no-progress --progress --track?"
        " --no-track --orphan: --ignore-other-worktrees",
    "git restore": "-q -s: -S -W -p --source: --staged --worktree --quiet --progress --no-progress --ours"
        " --theirs --merge --conflict: --patch --ignore-unmerged --overlay --no-overlay",
    "git reset": "-q -p -N --quiet --no-quiet --soft --mixed --hard --merge --keep --patch --intent-to-add"
        " --no-refresh --refresh",
    "git rm": "-n -q -f -r --dry-run --quiet --cached --force --ignore-unmatch --sparse",
    "git mv": "-v -n -f -k --verbose --dry-run --force --sparse",
    "git clean": "-n -d -f -x -X -q -e: --dry-run --force --quiet --exclude:",
    "git branch": "TEXT -avvqrfdDmMcCliu: -t --all --verbose --quiet --remotes --force --delete --move"
        " --copy --list --show-current --contains? --no-contains? --merged? --no-merged? --points-at:"
        " --format: --sort: --color? --no-color --column? --no-column --abbrev? --no-abbrev --ignore-case"
        " --track? --no-track --set-upstream-to: --unset-upstream --create-reflog --omit-empty",
    "git tag": "TEXT -adlifn? -m: -F/ --annotate --delete --list --force --message: --file/ --sort:"
        " --contains? --no-contains? --merged? --no-merged? --points-at? --format: --color? --column?"
        " --no-column --ignore-case --verify -v --cleanup: --create-reflog",
    "git merge": "TEXT -n -q -v -m: -s: -X: --stat --no-stat --log? --no-log --squash --no-squash --commit"
        " --no-commit --no-edit --ff --no-ff --ff-only --message: --abort --quit --continue"
        " --allow-unrelated-histories --quiet --verbose --progress --no-progress --signoff --no-signoff"
        " --no-verify --verify --autostash --no-autostash --no-rerere-autoupdate --verify-signatures",
    "git rebase": "TEXT -q -v -n -f -m --onto: --keep-base --root --continue --abort --skip --quit"
        " --show-current-patch --apply --merge --autosquash --no-autosquash --autostash --no-autostash"
        " --fork-point --no-fork-point --quiet --verbose --stat --no-stat --no-verify --verify"
        " --force-rebase --no-ff --rebase-merges? --no-rebase-merges --update-refs --no-update-refs"
        " --empty: --no-keep-empty --keep-empty --committer-date-is-author-date --ignore-whitespace"
        " --reset-author-date --signoff",
    "git cherry-pick": f"TEXT {_PICK} --keep-redundant-commits --empty: --strategy-option: -X:",
    "git revert": f"TEXT {_PICK} --reference",
    "git stash": "SUB -u -k -q -p -a -S --include-untracked --keep-index --no-keep-index --quiet --patch"
        " --all --staged",
    "git stash push": _STASH,
    "git stash save": _STASH,
    "git stash list": _LOG,
    "git stash show": f"-u --include-untracked --only-untracked{_DIFF}",
    **dict.fromkeys(("git stash pop", "git stash apply"), "TEXT -q --index --quiet"),
    "git stash drop": "TEXT -q --quiet",
    "git stash clear": "",
    "git stash branch": "TEXT",
    "git archive": "-l -v --list --verbose --format: --prefix: --worktree-attributes -0 -9",
    "git apply": "-v -q -R -p: -C: --check --stat --numstat --summary --cached --reverse --verbose --quiet"
        " --whitespace: --recount",
    "git am": "--continue --skip --abort --quit --show-current-patch?",
    "git worktree": "SUB",
    "git worktree list": "-v -z --porcelain --verbose",
    "git worktree prune": "-n -v --dry-run --verbose",
    "git submodule": "SUB -q --quiet",
    "git submodule status": "--cached --recursive",
    "git submodule summary": "--cached --files",
    "git bisect": "SUB",
    **dict.fromkeys(map("git bisect {}".format, _BISECT), "TEXT"),
    "git bisect start": "--no-checkout --first-parent",
    "git notes": "SUB",
    "git notes list": "TEXT",
    "git notes show": "TEXT",
    "git lfs": "SUB",
    "git lfs ls-files": "-l -s -n --long --size --name-only",
    "git lfs status": "--porcelain --json",
    "git gc": "-q --auto --quiet",
    # --- other places are named by a remote
    "git clone": "TEXT1 -q -v -b: --depth: --branch: --single-branch --no-single-branch --no-tags --quiet"
        " --verbose --progress --filter: --no-checkout",
    "git remote": "SUB -v --verbose",
    "git remote show": "REMOTE -n",
    "git remote get-url": "TEXT --push --all",
    "git remote prune": "TEXT -n --dry-run",
    "git remote update": "TEXT -p --prune",
    "git fetch": f"REMOTE {_FETCH}",
    "git pull": f"REMOTE {_FETCH} -r -s: -X: --rebase? --no-rebase --ff --ff-only --no-ff --squash"
        " --no-squash --commit --no-commit --no-edit --stat --no-stat --autostash --no-autostash"
        " --allow-unrelated-histories --no-verify --signoff --log? --no-log",
    "git push": "REMOTE -v -q -u -f -d -n -4 -6 --all --branches --mirror --delete --tags --dry-run"
        " --porcelain --force --force-with-lease? --no-force-with-lease --force-if-includes --set-upstream"
        " --thin --no-thin --prune --no-verify --verify --follow-tags --no-follow-tags --atomic --no-atomic"
        " --quiet --verbose --progress --ipv4 --ipv6 --signed? --no-signed --recurse-submodules: -o:"
        " --push-option:",
}  # fmt: skip
"""By sub-command, the options that are known to be harmless."""
