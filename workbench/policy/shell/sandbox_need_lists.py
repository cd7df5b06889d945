"""Lists of programs and sub-commands that need something that a sandbox does not give, as data."""

from collections.abc import Mapping
from typing import Final

from workbench.policy.shell.risk_lists import NETWORK_PROGRAMS


def _names(rows: Mapping[str, str]) -> frozenset[str]:
    """Return `npm install`, `go mod download`: a `/` joins the words of one sub-command."""
    return frozenset(
        f"{program} {subcommand.replace('/', ' ')}"
        for programs, subcommands in rows.items()
        for program in programs.split()
        for subcommand in subcommands.split()
    )


def _programs(names: str) -> frozenset[str]:
    return frozenset(names.split())


_NAMED_ELSEWHERE: Final = ("docker ", "git ", "rsync")
NETWORK_COMMANDS: Final = (
    frozenset(name for name in NETWORK_PROGRAMS if not name.startswith(_NAMED_ELSEWHERE))
    | _programs(
        # --- clients of hosts that are named
        "ab autossh cpan cpanm curlie drill fping freshclam grpcurl hey host hping3 iperf iperf3 links lynx"
        " mosh mtr nslookup ntpdate ping6 rclone rsh sendmail siege smbclient snmpwalk speedtest ssh-copy-id"
        " ssh-keyscan sshfs tftp traceroute tracepath vegeta w3m websocat wget2 whois wrk youtube-dl yt-dlp"
        # --- servers of databases and queues: a sandbox has a loopback of its own
        " clickhouse-client cqlsh createdb createuser dropdb influx kafkacat kcat mariadb mongo mongodump"
        " mongorestore mongosh mycli mysql mysqladmin mysqldump pg_dump pg_dumpall pg_isready pg_restore"
        " pgcli psql redis-cli sqlcmd sqlplus usql"
        # --- services and clusters
        " aliyun ansible ansible-galaxy ansible-playbook bq cf civo cloudflared cosign crane doctl eb"
        " eksctl firebase fly flyctl glab gsutil hcloud helm heroku hub ibmcloud k9s kubectl linode-cli"
        " netlify ngrok oc oci oras pulumi railway sentry-cli serverless skopeo sls stern supabase tsh twine"
        " vercel wrangler"
        # --- programs that fetch what they run or install
        " bunx dnf pnpx uvx yum"
    )
    | _names({
        "npm": "access add audit adduser ci create dedupe deprecate dist-tag doctor install install-ci-test"
            " install-test login logout org outdated owner ping profile publish search star team token"
            " unpublish update view whoami",
        "pnpm": "add audit create dlx fetch install outdated publish self-update update",
        "yarn": "add audit create dlx global/add info install npm/audit npm/info npm/login npm/publish"
            " npm/whoami outdated publish set/version up upgrade upgrade-interactive",
        "bun": "add create install outdated publish update upgrade x",
        "deno": "add cache install outdated publish upgrade",
        "pip": "download index install search wheel",
        "uv": "add lock pip/compile pip/install pip/sync publish python/install remove self/update sync"
            " tool/install tool/run tool/upgrade",
        "poetry": "add install lock publish remove self/add self/update sync update",
        "pipenv": "install lock sync update upgrade", "pipx": "inject install run upgrade upgrade-all",
        "pdm": "add install lock publish sync update", "rye": "add fetch install lock publish sync",
        "hatch flit": "publish", "maturin": "publish upload",
        "conda mamba micromamba": "create env/create env/update install search update upgrade",
        "pixi": "add global/install install update",
        "cargo": "add audit binstall fetch generate-lockfile info install login owner publish search update"
            " vendor yank",
        "rustup": "component/add install self/update target/add toolchain/install update",
        "go": "get install mod/download mod/tidy mod/vendor",
        "gem": "fetch install outdated push search update yank", "bundle": "add install lock outdated"
            " update",
        "pod": "install repo/update update",
        "composer": "create-project global/require install outdated require update",
        "dotnet": "add/package nuget/push restore tool/install tool/restore tool/update workload/install",
        "nuget": "install push restore",
        "mvn": "dependency:get dependency:go-offline dependency:resolve deploy",
        "gradle": "publish", "swift": "package/resolve package/update",
        "mix": "deps.get deps.update hex.info hex.publish local.hex local.rebar",
        "dart flutter": "pub/add pub/get pub/global/activate pub/outdated pub/publish pub/upgrade upgrade",
        "cabal": "fetch install update upload", "stack": "setup update upload upgrade",
        "opam nimble": "install refresh update upgrade", "luarocks": "install search upload",
        "asdf": "install plugin/add plugin/update", "mise": "install upgrade use",
        "nvm fnm volta": "install ls-remote", "pyenv rbenv nodenv sdk": "install update",
        "corepack": "install prepare up use",
        "brew port": "fetch install reinstall search selfupdate tap update upgrade",
        "apt apt-get aptitude": "build-dep dist-upgrade download full-upgrade install source update"
            " upgrade",
        "apk zypper": "add dup fetch in install ref refresh up update upgrade",
        "snap flatpak": "install refresh update",
        "terraform": "apply destroy get import init login plan providers/lock providers/mirror refresh",
        "cdk": "bootstrap deploy destroy diff", "sam": "delete deploy sync", "packer": "build init",
        "vault": "kv login read write", "amplify": "publish pull push",
        "git": "imap-send lfs/clone lfs/fetch lfs/pull lfs/push p4 send-email svn",
        "svn": "checkout ci co commit export log ls switch up update",
        "hg": "clone fetch incoming outgoing pull push", "jj": "git/clone git/fetch git/push",
        "dvc git-lfs": "clone fetch get import pull push",
        "playwright": "install install-deps", "cypress": "install", "pre-commit": "autoupdate",
        "huggingface-cli hf": "download login upload whoami",
        "semantic-release changeset lerna": "publish version",
        "snyk": "auth monitor test", "trivy": "image repo", "expo eas": "build login publish submit update",
        "gpg": "--recv-keys --refresh-keys --search-keys --send-keys",
        "prisma": "db/pull db/push migrate/deploy migrate/dev migrate/reset",
    })
)  # fmt: skip
"""Programs and sub-commands that reach other machines, or a server outside."""
DAEMON_COMMANDS: Final = _programs(
    # --- containers and virtual machines
    "act buildah buildctl colima ctop devcontainer dive docker docker-compose finch incus k3d kind lima"
    " limactl lxc minikube multipass nerdctl ollama podman podman-compose skaffold tilt vagrant virsh"
    # --- agents, timers, the session and its desktop
    " adb at batch busctl crontab dbus-send gdbus gpg gpg-connect-agent gpgconf gsettings launchctl"
    " loginctl notify-send osascript pbcopy pbpaste secret-tool ssh-add systemd-run wl-copy wl-paste xclip"
    " xdg-open xdotool xsel zenity"
    # --- processes that other commands started
    " killall pkill"
)  # fmt: skip
"""Programs that have a program outside do their work, or act on one."""
PRIVILEGE_COMMANDS: Final = _programs(
    "sudo su doas pkexec run0 runuser gosu su-exec sudoedit visudo"
    " service mount umount losetup cryptsetup mkfs mkswap swapon swapoff fdisk parted"
    " iptables ip6tables nft ufw firewall-cmd modprobe insmod rmmod setcap chroot nsenter"
    " useradd userdel usermod groupadd groupdel passwd chpasswd adduser deluser"
    " reboot shutdown halt poweroff timedatectl hostnamectl update-alternatives ldconfig dpkg-reconfigure"
    " tcpdump bpftrace"
)  # fmt: skip
"""Programs that act with more rights than a sandbox leaves."""
GIT_WRITING_TOOLS: Final = _names({
    "pre-commit lefthook": "install uninstall", "overcommit": "--install", "git-lfs dvc": "install",
    "git": "lfs/install lfs/track", "npm pnpm yarn": "version", "lerna": "version", "changeset": "tag",
    "cargo": "release", "mvn": "release:prepare release:perform", "cz": "bump commit",
    "graphite gt": "create modify submit sync", "gh": "pr/checkout",
}) | _programs(
    "bump-my-version bump2version bumpversion husky lint-staged release-it simple-git-hooks"
    " standard-version semantic-release"
)  # fmt: skip
"""Programs and sub-commands that commit, tag, or set up hooks."""
OUTSIDE_WRITING_COMMANDS: Final = _names({
    "make ninja": "install uninstall", "npm pnpm yarn pip conda": "config/delete config/set",
    "npm pnpm yarn": "link unlink", "corepack": "disable enable", "go": "env/-w", "rustup": "default",
    "direnv": "allow", "mkcert": "-install",
})  # fmt: skip
"""Commands that write into the home folder or the system without naming a path there."""
NEEDING_NOTHING: Final = _names({
    "docker podman nerdctl": "compose/config compose/version completion help", "docker-compose": "config",
    "kubectl": "completion explain kustomize", "helm": "completion create lint template",
    "gpg": "--dearmor --enarmor --list-packets --print-md", "ansible-playbook": "--syntax-check",
    "kind minikube": "completion", "mount": "-l",
})  # fmt: skip
"""Sub-commands that work alone, of programs that otherwise need something."""
LOCAL_OPTIONS: Final = frozenset({"--offline", "--no-index", "--help", "--version"})
"""Options with which a command reaches nothing, whatever its program."""
