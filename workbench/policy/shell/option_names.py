"""Every option of the programs that people deny, with all of its names."""

# A grant needs to know what is harmless (`known_programs`); a denial needs to know what is the same. A row
# has every option of a program or of its sub-command, so that no spelling of a denied option is overlooked:
#
# - `-f|--force` are names of one option. `:` behind them: it takes a value, joined or as the next word. `?`:
#   it takes a value that is joined only.
# - Letters may be bundled (`-rf`) and long names cut short while they are unique (`--forc`), as GNU getopt
#   and git have it. EXACT: long names are not cut short. WHOLE: options of one dash are whole words.
# - SUB: the first operand is a sub-command, with a row of its own. GLOBAL: the options of this row may also
#   follow a sub-command. BOOLS: `--force=false` is an option that is not set; WORDBOOLS: `--force false` too.
# - STOP: words behind the first operand belong to another program. INNER: so does the first operand. STOP2:
#   options end at the second operand. LETTERS: the first word is a group of letters also without a dash.
#
# Sources: the manual pages of GNU coreutils 9.1, findutils 4.9, sed 4.8, tar 1.34, make 4.3, procps 4.0,
# psmisc 23.6, OpenSSH 9.2, rsync 3.2, sudo 1.9, curl 7.88 (newer options: its documentation), wget 1.21 and
# systemd 252. Options of BSD and macOS that differ are added to the same row where they do not contradict.

from typing import Final

from workbench.policy.shell.git_option_names import GIT_OPTION_NAMES
from workbench.policy.shell.service_option_names import SERVICE_OPTION_NAMES

ROW_WORDS: Final = frozenset({
    "BOOLS", "EXACT", "GLOBAL", "INNER", "LETTERS", "STOP", "STOP2", "SUB", "WHOLE", "WORDBOOLS",
})  # fmt: skip
_OWNERS: Final = (
    "-c|--changes -f|--silent|--quiet -v|--verbose --dereference -h|--no-dereference --from:"
    " --no-preserve-root --preserve-root --reference: -R|--recursive -H -L -P -x --help --version"
)
_SSH: Final = (
    "-4 -6 -A -a -B: -b: -C -c: -D: -E: -e: -F: -f -G -g -I: -i: -J: -K -k -L: -l: -M -m: -N -n -O: -o: -P:"
    " -p: -Q: -q -R: -S: -s -T -t -V -v -W: -w: -X -x -Y -y"
)
OPTION_NAMES: Final[dict[str, str]] = {
    **GIT_OPTION_NAMES,
    **SERVICE_OPTION_NAMES,
    # --- files
    "rm": "-f|--force -i -I --interactive? --one-file-system --no-preserve-root --preserve-root?"
        " -r|-R|--recursive -d|--dir -v|--verbose -P -W -x --help --version",
    "rmdir": "--ignore-fail-on-non-empty -p|--parents -v|--verbose --help --version",
    "chmod": "-c|--changes -f|--silent|--quiet -v|--verbose -h|--no-dereference --dereference"
        " --no-preserve-root --preserve-root --reference: -R|--recursive -H -L -P --help --version",
    "chown": _OWNERS,
    "chgrp": _OWNERS,
    "mv": "--backup? -b -f|--force -i|--interactive -n|--no-clobber --no-copy --exchange -h"
        " --strip-trailing-slashes -S|--suffix: -t|--target-directory: -T|--no-target-directory -u --update?"
        " -v|--verbose -Z|--context --debug --help --version",
    "cp": "-a|--archive --attributes-only --backup? -b --copy-contents -d -f|--force -i|--interactive -H"
        " -l|--link -L|--dereference -n|--no-clobber -P|--no-dereference -p --preserve? --no-preserve:"
        " --parents -R|-r|--recursive --reflink? --remove-destination --sparse: --strip-trailing-slashes"
        " -s|--symbolic-link -S|--suffix: -t|--target-directory: -T|--no-target-directory -u --update?"
        " -v|--verbose -x|--one-file-system -X -c -Z --context? --debug --keep-directory-symlink --help"
        " --version",
    "ln": "--backup? -b -d|-F|--directory -f|--force -h -i|--interactive -L|--logical -n|--no-dereference"
        " -P|--physical -r|--relative -s|--symbolic -S|--suffix: -t|--target-directory:"
        " -T|--no-target-directory -v|--verbose -w --help --version",
    "shred": "-f|--force -n|--iterations: --random-source: -s|--size: -u --remove? -v|--verbose -x|--exact"
        " -z|--zero --help --version",
    "truncate": "-c|--no-create -o|--io-blocks -r|--reference: -s|--size: --help --version",
    "dd": "--help --version",
    "sed": "-n|--quiet|--silent --debug -e|--expression: -f|--file: --follow-symlinks -i|--in-place?"
        " -l|--line-length: --posix -E|-r|--regexp-extended -s|--separate --sandbox -u|--unbuffered"
        " -z|--null-data --help --version",
    "find": "WHOLE -H -L -P -D: -daystart -follow -nowarn -regextype: -warn -depth -d -files0-from:"
        " -maxdepth:"
        " -mindepth: -mount -noleaf -xdev -x -ignore_readdir_race -noignore_readdir_race -amin: -anewer:"
        " -atime:"
        " -cmin: -cnewer: -context: -ctime: -empty -false -fstype: -gid: -group: -ilname: -iname: -inum:"
        " -ipath:"
        " -iwholename: -iregex: -links: -lname: -mmin: -mtime: -name: -newer: -newermt: -newerct: -newerat:"
        " -nouser -nogroup -path: -perm:"
        " -regex: -readable -writable -executable -wholename: -size: -true -type: -uid: -used: -user: -xtype:"
        " -samefile: -delete -print0 -print -printf: -fprintf: -fprint0: -fprint: -ls -fls: -prune -quit"
        " -exec"
        " -ok -execdir -okdir -not -a -o -and -or -E -X -s -O? -help -version",
    "tar": "LETTERS -A|--catenate|--concatenate -c|--create --delete -d|--diff|--compare -r|--append"
        " --test-label"
        " -t|--list -u|--update -x|--extract|--get --check-device -g|--listed-incremental: -G|--incremental"
        " --hole-detection: --ignore-failed-read --level: --no-check-device --no-seek -n|--seek --occurrence?"
        " --sparse-version: -S|--sparse --add-file: -C|--directory|--cd: --exclude: --exclude-backups"
        " --exclude-caches --exclude-caches-all --exclude-caches-under --exclude-ignore:"
        " --exclude-ignore-recursive: --exclude-tag: --exclude-tag-all: --exclude-tag-under: --exclude-vcs"
        " --exclude-vcs-ignores --no-null --no-recursion --no-unquote --no-verbatim-files-from --null"
        " --recursion"
        " -T|--files-from: --unquote --verbatim-files-from -X|--exclude-from: --anchored --ignore-case"
        " --no-anchored --no-ignore-case --no-wildcards --no-wildcards-match-slash --wildcards"
        " --wildcards-match-slash --keep-directory-symlink --keep-newer-files -k|--keep-old-files"
        " --no-overwrite-dir --one-top-level? --overwrite --overwrite-dir --recursive-unlink --remove-files"
        " --skip-old-files -U|--unlink-first -W|--verify --ignore-command-error --no-ignore-command-error"
        " -O|--to-stdout --to-command: --atime-preserve? --clamp-mtime --delay-directory-restore --group:"
        " --group-map: --mode: --mtime: -m|--touch --no-delay-directory-restore --no-same-owner"
        " --no-same-permissions --numeric-owner --owner: --owner-map:"
        " -p|--preserve-permissions|--same-permissions"
        " --same-owner --sort: -s|--preserve-order|--same-order --acls --no-acls --no-selinux --no-xattrs"
        " --selinux --xattrs --xattrs-exclude: --xattrs-include: --force-local -f|--file:"
        " -F|--info-script|--new-volume-script: -L|--tape-length: -M|--multi-volume --rmt-command:"
        " --rsh-command:"
        " --volno-file: -b|--blocking-factor: -B|--read-full-records -i|--ignore-zeros --record-size:"
        " -H|--format: --old-archive|--portability --pax-option: --posix -V|--label: -a|--auto-compress"
        " -I|--use-compress-program: -j|--bzip2 -J|--xz --lzip --lzma --lzop --no-auto-compress --zstd"
        " -z|--gzip|--gunzip|--ungzip -Z|--compress|--uncompress --backup? --hard-dereference"
        " -h|--dereference"
        " -K|--starting-file: --newer-mtime: -N|--newer|--after-date: --one-file-system -P|--absolute-names"
        " --suffix: --strip-components: --transform|--xform: --checkpoint? --checkpoint-action: --full-time"
        " --index-file: -l|--check-links --no-quote-chars: --quote-chars: --quoting-style: -R|--block-number"
        " --show-defaults --show-omitted-dirs --show-snapshot-field-ranges"
        " --show-transformed-names|--show-stored-names --totals? --utc -v|--verbose --warning:"
        " -w|--interactive|--confirmation -o --help --restrict --usage --version",
    # --- the network
    "curl": "--abstract-unix-socket: --alt-svc: --anyauth -a|--append --aws-sigv4: --basic --ca-native"
        " --cacert:"
        " --capath: -E|--cert: --cert-status --cert-type: --ciphers: --compressed --compressed-ssh"
        " -K|--config:"
        " --connect-timeout: --connect-to: -C|--continue-at: -b|--cookie: -c|--cookie-jar: --create-dirs"
        " --create-file-mode: --crlf --crlfile: --curves: -d|--data|--data-ascii: --data-binary: --data-raw:"
        " --data-urlencode: --delegation: --digest -q|--disable --disable-eprt --disable-epsv"
        " --disallow-username-in-url --dns-interface: --dns-ipv4-addr: --dns-ipv6-addr: --dns-servers:"
        " --doh-cert-status --doh-insecure --doh-url: -D|--dump-header: --ech: --egd-file: --engine: --eprt"
        " --epsv --etag-compare: --etag-save: --expect100-timeout: -f|--fail --fail-early --fail-with-body"
        " --false-start -F|--form: --form-escape --form-string: --ftp-account: --ftp-alternative-to-user:"
        " --ftp-create-dirs --ftp-method: --ftp-pasv -P|--ftp-port: --ftp-pret --ftp-skip-pasv-ip"
        " --ftp-ssl-ccc"
        " --ftp-ssl-ccc-mode: --ftp-ssl-control -G|--get -g|--globoff --happy-eyeballs-timeout-ms:"
        " --haproxy-clientip: --haproxy-protocol -I|--head -H|--header: -h|--help: --hostpubmd5:"
        " --hostpubsha256:"
        " --hsts: --http0.9 -0|--http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --http3-only"
        " --ignore-content-length -i|--include|--show-headers -k|--insecure --interface: --ip-tos:"
        " --ipfs-gateway:"
        " -4|--ipv4 -6|--ipv6 --json: -j|--junk-session-cookies --keepalive-cnt: --keepalive-time: --key:"
        " --key-type: --krb: --libcurl: --limit-rate: -l|--list-only --local-port: -L|--location"
        " --location-trusted --login-options: --mail-auth: --mail-from: --mail-rcpt: --mail-rcpt-allowfails"
        " -M|--manual --max-filesize: --max-redirs: -m|--max-time: --metalink --mptcp --negotiate -n|--netrc"
        " --netrc-file: --netrc-optional --next --no-alpn -N|--no-buffer --no-clobber --no-keepalive"
        " --no-npn"
        " --no-progress-meter --no-sessionid --noproxy: --ntlm --ntlm-wb --oauth2-bearer: -o|--output:"
        " --output-dir: -Z|--parallel --parallel-immediate --parallel-max: --pass: --path-as-is"
        " --pinnedpubkey:"
        " --post301 --post302 --post303 --preproxy: -#|--progress-bar --proto: --proto-default:"
        " --proto-redir:"
        " -x|--proxy: --proxy-anyauth --proxy-basic --proxy-ca-native --proxy-cacert: --proxy-capath:"
        " --proxy-cert:"
        " --proxy-cert-type: --proxy-ciphers: --proxy-crlfile: --proxy-digest --proxy-header: --proxy-http2"
        " --proxy-insecure --proxy-key: --proxy-key-type: --proxy-negotiate --proxy-ntlm --proxy-pass:"
        " --proxy-pinnedpubkey: --proxy-service-name: --proxy-ssl-allow-beast --proxy-ssl-auto-client-cert"
        " --proxy-tls13-ciphers: --proxy-tlsauthtype: --proxy-tlspassword: --proxy-tlsuser: --proxy-tlsv1"
        " -U|--proxy-user: --proxy1.0: -p|--proxytunnel --pubkey: -Q|--quote: --random-file: -r|--range:"
        " --rate:"
        " --raw -e|--referer: -J|--remote-header-name -O|--remote-name --remote-name-all -R|--remote-time"
        " --remove-on-error -X|--request: --request-target: --resolve: --retry: --retry-all-errors"
        " --retry-connrefused --retry-delay: --retry-max-time: --sasl-authzid: --sasl-ir --service-name:"
        " -S|--show-error -s|--silent --skip-existing --socks4: --socks4a: --socks5: --socks5-basic"
        " --socks5-gssapi --socks5-gssapi-nec --socks5-gssapi-service: --socks5-hostname: -Y|--speed-limit:"
        " -y|--speed-time: --ssl --ssl-allow-beast --ssl-auto-client-cert --ssl-no-revoke --ssl-reqd"
        " --ssl-revoke-best-effort -2|--sslv2 -3|--sslv3 --stderr: --styled-output --suppress-connect-headers"
        " --tcp-fastopen --tcp-nodelay -t|--telnet-option: --tftp-blksize: --tftp-no-options -z|--time-cond:"
        " --tls-max: --tls13-ciphers: --tlsauthtype: --tlspassword: --tlsuser: -1|--tlsv1 --tlsv1.0 --tlsv1.1"
        " --tlsv1.2 --tlsv1.3 --tr-encoding --trace: --trace-ascii: --trace-config: --trace-ids --trace-time"
        " --unix-socket: -T|--upload-file: --url: --url-query: -B|--use-ascii -u|--user: -A|--user-agent:"
        " --variable: -v|--verbose -V|--version --vlan-priority: -w|--write-out: --xattr",
    "wget": "-V|--version -h|--help -b|--background -e|--execute: -o|--output-file: -a|--append-output:"
        " -d|--debug"
        " -q|--quiet -v|--verbose -n: --no-verbose --report-speed: -i|--input-file: --input-metalink:"
        " -F|--force-html"
        " -B|--base: --config: --no-config --rejected-log: -t|--tries: --retry-connrefused"
        " --retry-on-http-error:"
        " -O|--output-document: --no-clobber --no-netrc -c|--continue --start-pos: --progress:"
        " --show-progress"
        " -N|--timestamping --no-if-modified-since --no-use-server-timestamps -S|--server-response --spider"
        " -T|--timeout: --dns-timeout: --connect-timeout: --read-timeout: -w|--wait: --waitretry:"
        " --random-wait"
        " --no-proxy -Q|--quota: --bind-address: --limit-rate: --no-dns-cache --restrict-file-names:"
        " --ignore-case"
        " -4|--inet4-only -6|--inet6-only --prefer-family: --user: --password: --ask-password --use-askpass:"
        " --no-iri --local-encoding: --remote-encoding: --unlink --xattr --no-directories"
        " -x|--force-directories"
        " --no-host-directories --protocol-directories -P|--directory-prefix: --cut-dirs: --http-user:"
        " --http-password: --no-cache --default-page: -E|--adjust-extension|--html-extension --ignore-length"
        " --header: --compression: --max-redirect: --proxy-user: --proxy-password: --referer: --save-headers"
        " -U|--user-agent: --no-http-keep-alive --no-cookies --load-cookies: --save-cookies:"
        " --keep-session-cookies --post-data: --post-file: --method: --body-data: --body-file:"
        " --content-disposition --content-on-error --auth-no-challenge --secure-protocol: --https-only"
        " --no-check-certificate --certificate: --certificate-type: --private-key: --private-key-type:"
        " --ca-certificate: --ca-directory: --crl-file: --pinnedpubkey: --ciphers: --no-hsts --hsts-file:"
        " --ftp-user: --ftp-password: --no-remove-listing --no-glob --no-passive-ftp --preserve-permissions"
        " --retr-symlinks --ftps-implicit --ftps-resume-ssl --ftps-clear-data-connection"
        " --ftps-fallback-to-ftp"
        " --warc-file: --warc-header: --warc-max-size: --warc-cdx --warc-dedup: --no-warc-compression"
        " --no-warc-digests --no-warc-keep-log --warc-tempdir: -r|--recursive -l|--level: --delete-after"
        " -k|--convert-links --convert-file-only --backups: -K|--backup-converted -m|--mirror"
        " -p|--page-requisites"
        " --strict-comments -A|--accept: -R|--reject: --accept-regex: --reject-regex: --regex-type:"
        " -D|--domains:"
        " --exclude-domains: --follow-ftp --follow-tags: --ignore-tags: -H|--span-hosts -L|--relative"
        " -I|--include-directories: --trust-server-names -X|--exclude-directories: --no-parent",
    "ssh": f"STOP2 {_SSH}",
    "scp": "-3 -4 -6 -A -B -C -c: -D: -F: -i: -J: -l: -O -o: -P: -p -q -R -r -S: -s -T -v -X:",
    "rsync": "EXACT -v|--verbose -q|--quiet --no-motd --info: --debug: --stderr: -c|--checksum -a|--archive"
        " -r|--recursive"
        " -R|--relative --no-implied-dirs -b|--backup --backup-dir: --suffix: -u|--update --inplace --append"
        " --append-verify -d|--dirs --old-dirs --mkpath -l|--links -L|--copy-links --copy-unsafe-links"
        " --safe-links --munge-links -k|--copy-dirlinks -K|--keep-dirlinks -H|--hard-links -p|--perms"
        " -E|--executability --chmod: -A|--acls -X|--xattrs -o|--owner -g|--group --devices --copy-devices"
        " --write-devices --specials -D -t|--times -U|--atimes --open-noatime -N|--crtimes"
        " -O|--omit-dir-times"
        " -J|--omit-link-times --super --fake-super -S|--sparse --preallocate -n|--dry-run -W|--whole-file"
        " --checksum-choice|--cc: -x|--one-file-system -B|--block-size: -e|--rsh: --rsync-path: --existing"
        " --ignore-non-existing --ignore-existing --remove-source-files --del --delete --delete-before"
        " --delete-during --delete-delay --delete-after --delete-excluded --ignore-missing-args"
        " --delete-missing-args --ignore-errors --force --max-delete: --max-size: --min-size: --max-alloc:"
        " --partial --partial-dir: --delay-updates -m|--prune-empty-dirs --numeric-ids --usermap: --groupmap:"
        " --chown: --timeout: --contimeout: -I|--ignore-times -M|--remote-option: --size-only"
        " -@|--modify-window:"
        " -T|--temp-dir: -y|--fuzzy --compare-dest: --copy-dest: --link-dest: -z|--compress"
        " --compress-choice|--zc:"
        " --compress-level|--zl: --skip-compress: -C|--cvs-exclude -f|--filter: -F --exclude: --exclude-from:"
        " --include: --include-from: --files-from: -0|--from0 --old-args -s|--secluded-args|--protect-args"
        " --trust-sender --copy-as: --address: --port: --sockopts: --blocking-io --outbuf: --stats"
        " -8|--8-bit-output -h|--human-readable --progress -P -i|--itemize-changes --out-format: --log-file:"
        " --log-file-format: --password-file: --early-input: --list-only --bwlimit: --stop-after:"
        " --stop-at: --fsync"
        " --write-batch: --only-write-batch: --read-batch: --protocol: --iconv: --checksum-seed: -4|--ipv4"
        " -6|--ipv6"
        " -V|--version --help",
    # --- other programs, processes and services
    "sudo": "INNER STOP -A|--askpass -B|--bell -b|--background -C|--close-from: -D|--chdir: -E"
        " --preserve-env? -e|--edit"
        " -g|--group: -H|--set-home --help -h|--host: -i|--login -K|--remove-timestamp -k|--reset-timestamp"
        " -l|--list"
        " -N|--no-update -n|--non-interactive -P|--preserve-groups -p|--prompt: -R|--chroot: -r|--role:"
        " -S|--stdin"
        " -s|--shell -t|--type: -T|--command-timeout: -U|--other-user: -u|--user: -V|--version -v|--validate",
    "xargs": "INNER STOP -0|--null -a|--arg-file: -d|--delimiter: -E: -e|--eof? -I: -i|--replace? -L:"
        " --max-lines? -l? -J:"
        " -n|--max-args: -o|--open-tty -P|--max-procs: -p|--interactive --process-slot-var:"
        " -r|--no-run-if-empty"
        " -R: -S: -s|--max-chars: --show-limits -t|--verbose -x|--exit --help --version",
    "kill": "-s|-n|--signal: -l|--list? -L|--table -q|--queue: -a|--all -p|--pid --verbose --timeout:"
        " --help --version",
    "pkill": "--signal: -q|--queue: -e|--echo -c|--count -f|--full -g|--pgroup: -G|--group:"
        " -i|--ignore-case -n|--newest"
        " -o|--oldest -O|--older: -P|--parent: -s|--session: -t|--terminal: -u|--euid: -U|--uid: -x|--exact"
        " -F|--pidfile: -L|--logpidfile -r|--runstates: -A|--ignore-ancestors --cgroup: --ns: --nslist:"
        " -h|--help"
        " -V|--version",
    "killall": "-e|--exact -I|--ignore-case -g|--process-group -y|--younger-than: -o|--older-than:"
        " -i|--interactive"
        " -l|--list -q|--quiet -r|--regexp -s|--signal: -u|--user: -v|--verbose -V|--version -w|--wait"
        " -n|--ns:"
        " -Z|--context: -m -d -c: -t:",
    "make": "-b -m -B|--always-make -C|--directory: -d --debug? -e|--environment-overrides -E|--eval:"
        " -f|--file|--makefile: -h|--help -i|--ignore-errors -I|--include-dir: -j|--jobs? -k|--keep-going"
        " -l|--load-average|--max-load? -L|--check-symlink-times -n|--just-print|--dry-run|--recon"
        " -o|--old-file|--assume-old: -O|--output-sync? -p|--print-data-base -q|--question"
        " -r|--no-builtin-rules"
        " -R|--no-builtin-variables -s|--silent|--quiet --no-silent -S|--no-keep-going|--stop --shuffle?"
        " -t|--touch"
        " --trace -v|--version -w|--print-directory --no-print-directory"
        " -W|--what-if|--new-file|--assume-new:"
        " --warn-undefined-variables",
    "systemctl": "SUB GLOBAL -h|--help --version --system --user -H|--host: -M|--machine: -C|--capsule:"
        " -t|--type:"
        " --state: --failed -p|--property: -P: -a|--all -l|--full -r|--recursive --reverse --after --before"
        " --with-dependencies --job-mode: -T|--show-transaction --show-types --value --check-inhibitors: -i"
        " --kill-whom|--kill-who:"
        " --kill-value: --kill-subgroup: -s|--signal: --what: --now --dry-run -q|--quiet -v|--verbose --wait"
        " --no-block --no-wall --message: --no-reload --no-warn --legend: --no-legend --no-pager"
        " --no-ask-password"
        " --global --runtime -f|--force --preset-mode: --root: --image: --image-policy: -n|--lines:"
        " -o|--output:"
        " --firmware-setup --boot-loader-menu: --boot-loader-entry: --plain --timestamp: --read-only"
        " --mkdir --marked"
        " --drop-in: --when: --stdin",
    **{f"systemctl {sub}": "" for sub in (
        "start", "stop", "reload", "restart", "try-restart", "reload-or-restart", "isolate", "kill", "clean",
        "freeze", "thaw", "enable", "disable", "reenable", "preset", "mask", "unmask", "link", "revert",
        "edit", "set-default", "daemon-reload", "daemon-reexec", "reset-failed", "halt", "poweroff", "reboot",
        "kexec", "suspend", "hibernate", "hybrid-sleep", "rescue", "emergency", "default", "exit",
        "set-environment", "unset-environment", "import-environment", "set-property", "status", "show", "cat",
        "list-units", "list-unit-files", "is-active", "is-enabled", "is-failed",
    )},
}  # fmt: skip
