"""What programs print where a sandbox refuses something, and what is read from it: `kind target` for each.

Each was printed by the program in bubblewrap: a read-only system, a home folder with nothing in it, no network, no
capabilities, nothing in /run and /srv; as root and as nobody. Trimmed to the lines that count, the workspace is /w.
Programs: git 2.39, coreutils 9.1, bash 5.2, curl 7.88, wget 1.21, OpenSSH 9.2, rsync 3.5, Python 3.11, pip 24, uv and
poetry of 2026, Node 20, npm 11, cargo 1.95, rustc 1.95, Go 1.19, OpenJDK 17, Maven 3.8, Ruby 3.1, PHP 8.2, Perl 5.36,
GNU make 4.3, apt 2.6, docker 28, GnuPG 2.2, sudo 1.9.
"""

MESSAGES = {
    # --- git
    "fatal: Unable to create '/w/.git/index.lock': Read-only file system": "write /w/.git/index.lock",
    "error: cannot open '.git/FETCH_HEAD': Read-only file system": "write .git/FETCH_HEAD",
    "error: could not lock config file .git/config: Read-only file system": "write .git/config",
    "fatal: cannot lock ref 'refs/heads/wt': Unable to create '/w/.git/refs/heads/wt.lock': Read-only file system":
        "write /w/.git/refs/heads/wt.lock",
    "error: unable to create temporary file: Read-only file system\nfatal: unable to write note object": "write a file",
    "warning: unable to unlink '.git/BISECT_LOG': Read-only file system": "write .git/BISECT_LOG",
    "fatal: cannot mkdir /opt/repo: Read-only file system": "write /opt/repo",
    "fatal: could not create work tree dir '/opt/clone': Read-only file system": "write /opt/clone",
    "fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com": "network example.com",
    "ssh: Could not resolve hostname github.com: Temporary failure in name resolution\n"
    "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights":
        "network github.com",
    "fatal: unable to connect to 10.0.0.1:\n10.0.0.1[0: 10.0.0.1]: errno=Network is unreachable": "network 10.0.0.1",
    # --- tools of the shell
    "touch: cannot touch '/etc/x': Read-only file system": "write /etc/x",
    "touch: cannot touch 'x': Read-only file system": "write x",
    "bash: line 1: /etc/x: Read-only file system": "write /etc/x",
    "mkdir: cannot create directory ‘/opt/x’: Read-only file system": "write /opt/x",
    "cp: cannot create regular file '/usr/local/bin/x': Read-only file system": "write /usr/local/bin/x",
    "mv: inter-device move failed: 'a.txt' to '/etc/x'; unable to remove target: Read-only file system": "write /etc/x",
    "ln: failed to create symbolic link '/usr/bin/zz': Read-only file system": "write /usr/bin/zz",
    "tee: /etc/x: Read-only file system": "write /etc/x",
    "sed: couldn't open temporary file /etc/sedjiNaRd: Read-only file system": "write /etc/sedjiNaRd",
    "chmod: changing permissions of '/etc/passwd': Read-only file system": "write /etc/passwd",
    "tar: /opt/x.tar: Cannot open: Read-only file system": "write /opt/x.tar",
    "gzip: /etc/passwd.gz: Read-only file system": "write /etc/passwd.gz",
    "awk: cmd. line:1: fatal: cannot redirect to `/etc/x': Read-only file system": "write /etc/x",
    "find: cannot delete ‘/etc/passwd’: Read-only file system": "write /etc/passwd",
    "ldconfig: Can't create temporary cache file /etc/ld.so.cache~: Read-only file system": "write /etc/ld.so.cache~",
    'rsync: [Receiver] mkdir "/opt/x" failed: Read-only file system (30)': "write /opt/x",
    "/usr/bin/ld: cannot open output file /opt/x: Read-only file system\ncollect2: error: ld returned 1 exit status":
        "write /opt/x",
    "install: cannot create regular file '/usr/local/bin/z': Read-only file system\n"
    "make: *** [Makefile:2: install] Error 1": "write /usr/local/bin/z",
    "cat: /srv/other/notes.md: No such file or directory": "read /srv/other/notes.md",
    "cat: HOME/.ssh/id_rsa: No such file or directory": "read HOME/.ssh/id_rsa",
    "ls: cannot access 'HOME/.aws': No such file or directory": "read HOME/.aws",
    "bash: line 1: HOME/.nvm/nvm.sh: No such file or directory": "read HOME/.nvm/nvm.sh",
    "bash: line 1: cd: /srv/project: No such file or directory": "read /srv/project",
    "make: /srv/other/Makefile: No such file or directory": "read /srv/other/Makefile",
    "touch: cannot touch 'HOME/x': Permission denied": "write HOME/x",
    # --- clients
    "curl: (6) Could not resolve host: example.com": "network example.com",
    "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"
    "curl: (6) Could not resolve host: example.com": "network example.com",
    "curl: (7) Failed to connect to 127.0.0.1 port 3000 after 0 ms: Couldn't connect to server": "network 127.0.0.1:3000",
    "curl: (7) Failed to connect to 2606:2800::1 port 80 after 0 ms: Couldn't connect to server":
        "network [2606:2800::1]:80",
    "Resolving example.com (example.com)... failed: Temporary failure in name resolution.\n"
    "wget: unable to resolve host address ‘example.com’": "network example.com",
    "Connecting to 10.0.0.1:80... failed: Network is unreachable.": "network 10.0.0.1:80",
    "ssh: connect to host 10.0.0.1 port 22: Network is unreachable": "network 10.0.0.1:22",
    "ssh: Could not resolve hostname h.example.com: Temporary failure in name resolution\nscp: Connection closed":
        "network h.example.com",
    'nc: getaddrinfo for host "example.com" port 80: Temporary failure in name resolution': "network example.com",
    'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused':
        "network localhost:5432",
    'psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory':
        "read /var/run/postgresql/.s.PGSQL.5432",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?":
        "read /var/run/docker.sock",
    'error during connect: Get "http://10.0.0.1:2375/v1.50/containers/json": dial tcp 10.0.0.1:2375: connect: network is '
    "unreachable": "network 10.0.0.1:2375",
    # --- Python
    "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n"
    "OSError: [Errno 30] Read-only file system: '/etc/x'": "write /etc/x",
    "OSError: [Errno 30] Read-only file system: 'a' -> '/usr/x'": "write /usr/x",
    "OSError: [Errno 30] Read-only file system: 'RECORD'": "write RECORD",
    "Error: [Errno 30] Read-only file system: '/opt/v'": "write /opt/v",
    "FileNotFoundError: [Errno 2] No such file or directory: 'HOME/.ssh/id_rsa'": "read HOME/.ssh/id_rsa",
    "PermissionError: [Errno 13] Permission denied: 'HOME/x'": "write HOME/x",
    "python3: can't open file '/srv/other/x.py': [Errno 2] No such file or directory": "read /srv/other/x.py",
    "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>": "network the network",
    "OSError: [Errno 101] Network is unreachable": "network the network",
    "socket.gaierror: [Errno -2] Name or service not known": "network the network",
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.com', port=443): Max retries exceeded with "
    "url: / (Caused by NameResolutionError(\"HTTPSConnection(host='example.com', port=443): Failed to resolve "
    "'example.com' ([Errno -3] Temporary failure in name resolution)\"))": "network example.com",
    "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by "
    "'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f0000000000>: Failed to establish a"
    " new connection: [Errno -3] Temporary failure in name resolution')': /simple/requests/\n"
    "ERROR: No matching distribution found for requests": "network the network",
    "HTTPSConnectionPool(host='example.com', port=443): Max retries exceeded: [Errno 101] Network is unreachable":
        "network example.com:443",
    "error: Request failed after 3 retries in 5.7s\n  cause: Failed to fetch: https://pypi.org/simple/requests/\n"
    "  cause: error sending request for url (https://pypi.org/simple/requests/)\n  cause: client error (Connect)\n"
    "  cause: dns error\n  cause: failed to lookup address information: Temporary failure in name resolution":
        "network pypi.org",
    "error: failed to create directory `/opt/uv/tools`: Read-only file system (os error 30)": "write /opt/uv/tools",
    "All attempts to connect to pypi.org failed.\n\nProbable Causes:": "network pypi.org",
    # --- Node
    "node:fs:581\nError: EROFS: read-only file system, open '/etc/x'\n    at Object.openSync (node:fs:581:18) {\n"
    "  errno: -30,\n  code: 'EROFS',\n  syscall: 'open',\n  path: '/etc/x'\n}": "write /etc/x",
    "Error: ENOENT: no such file or directory, open 'HOME/.npmrc'\n  code: 'ENOENT',\n  path: 'HOME/.npmrc'":
        "read HOME/.npmrc",
    "Error: EACCES: permission denied, mkdir 'HOME/x'": "write HOME/x",
    "Error: getaddrinfo EAI_AGAIN example.com\n  errno: -3001,\n  code: 'EAI_AGAIN',": "network example.com",
    "Error: getaddrinfo ENOTFOUND example.com": "network example.com",
    "Error: queryA ECONNREFUSED example.com": "network example.com",
    "Error: connect ENETUNREACH 10.0.0.1:80 - Local (0.0.0.0:0)": "network 10.0.0.1:80",
    "  [cause]: Error: connect ECONNREFUSED 127.0.0.1:3000": "network 127.0.0.1:3000",
    "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\nnpm error errno EAI_AGAIN\nnpm error request to "
    "https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org":
        "network registry.npmjs.org",
    # --- Rust
    "warning: spurious network error (1 try remaining): [6] Could not resolve hostname (Could not resolve host: "
    "index.crates.io)\nerror: download of config.json failed": "network index.crates.io",
    'error: Read-only file system (os error 30) at path "/opt/cargo/bin/upd"': "write /opt/cargo/bin/upd",
    'called `Result::unwrap()` on an `Err` value: Os { code: 30, kind: ReadOnlyFilesystem, message: "Read-only file '
    'system" }': "write a file",
    'called `Result::unwrap()` on an `Err` value: Os { code: 101, kind: NetworkUnreachable, message: "Network is '
    'unreachable" }': "network the network",
    'value: Custom { kind: Uncategorized, error: "failed to lookup address information: Temporary failure in name '
    'resolution" }': "network the network",
    # --- Go
    "2026/01/02 03:04:05 open /etc/x: read-only file system\nexit status 1": "write /etc/x",
    "go: module github.com/google/uuid: Get \"https://proxy.golang.org/github.com/google/uuid/@v/list\": dial tcp: "
    "lookup proxy.golang.org on 192.0.2.53:53: dial udp 192.0.2.53:53: connect: network is unreachable":
        "network proxy.golang.org",
    "dial tcp 10.0.0.1:80: connect: network is unreachable": "network 10.0.0.1:80",
    "dial tcp [::1]:80: connect: connection refused": "network [::1]:80",
    # --- the Java machine
    'Exception in thread "main" java.net.UnknownHostException: example.com\n\tat java.base/sun.nio.ch.NioSocketImpl':
        "network example.com",
    "Caused by: java.nio.channels.UnresolvedAddressException": "network the network",
    'Exception in thread "main" java.io.FileNotFoundException: /etc/x (Read-only file system)': "write /etc/x",
    'Exception in thread "main" java.nio.file.FileSystemException: /etc/x: Read-only file system': "write /etc/x",
    "\x1b[1;31m[ERROR]\x1b[m Could not transfer artifact a:b:pom:2.6 from/to central (https://repo.maven.apache.org/maven2"
    "): transfer failed for https://repo.maven.apache.org/maven2/x.pom: Unknown host repo.maven.apache.org: Temporary "
    "failure in name resolution -> \x1b[1m[Help 1]\x1b[m": "network repo.maven.apache.org",
    # --- Ruby, PHP, Perl
    "-e:1:in `write': Read-only file system @ rb_sysopen - /etc/x (Errno::EROFS)": "write /etc/x",
    "ERROR:  While executing gem ... (Errno::EROFS)\n    Read-only file system @ dir_s_mkdir - /opt/.local":
        "write /opt/.local",
    "getaddrinfo': Failed to open TCP connection to example.com:80 (getaddrinfo: Temporary failure in name resolution) "
    "(SocketError)": "network example.com:80",
    "-e:1:in `initialize': Network is unreachable - connect(2) for \"10.0.0.1\" port 80 (Errno::ENETUNREACH)":
        "network 10.0.0.1:80",
    "PHP Warning:  fopen(/etc/x): Failed to open stream: Read-only file system in Command line code on line 1":
        "write /etc/x",
    "php_network_getaddresses: getaddrinfo for example.com failed: Temporary failure in name resolution in Command line":
        "network example.com",
    "Read-only file system at -e line 1.": "write a file",
    "Can't do inplace edit on /etc/passwd: Cannot make temp name: Read-only file system.": "write /etc/passwd",
    "IO::Socket::INET: Bad hostname 'example.com:80' at -e line 1.": "network example.com",
    # --- the system
    "Err:1 http://deb.debian.org/debian bookworm InRelease\n  Temporary failure resolving 'deb.debian.org'":
        "network deb.debian.org",
    "W: chmod 0700 of directory /var/lib/apt/lists/partial failed - SetupAPTPartialDirectory (30: Read-only file system)":
        "write /var/lib/apt/lists/partial",
    "dpkg: error: unable to access the dpkg database directory /var/lib/dpkg: Read-only file system":
        "write /var/lib/dpkg",
    "gpg: Fatal: can't create directory '/opt/.gnupg': Read-only file system": "write /opt/.gnupg",
    'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.': "privilege sudo",
    "sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Invalid argument": "privilege sudo",
    "sudo: /etc/sudo.conf is owned by uid 65534, should be 0": "privilege sudo",
    "su: cannot set groups: Operation not permitted": "privilege su",
    "mount: /mnt: permission denied.\n       dmesg(1) may have more information after failed mount system call.":
        "privilege mount",
    "mount: /mnt: must be superuser to use mount.": "privilege mount",
    "chroot: cannot change root directory to '/': Operation not permitted": "privilege chroot",
    "RTNETLINK answers: Operation not permitted": "privilege ip",
    "Failed to connect to bus: No medium found": "privilege D-Bus",
    "Could not open a connection to your authentication agent.": "privilege ssh-agent",
}  # fmt: skip

NOTHING_REFUSED = (
    "", "FAILED tests/test_x.py::test_y - AssertionError", "error: cannot rebase: You have unstaged changes.",
    # In a place that a sandbox lets a command write, or where it shows all there is.
    "touch: cannot touch '/w/a': Read-only file system", "OSError: [Errno 30] Read-only file system: '/tmp/x'",
    "bash: /w/run.sh: Permission denied", "cat: /w/a.txt: No such file or directory",
    "cat: a.txt: No such file or directory", "cat: /tmp/a: No such file or directory",
    "python3: can't open file '/w/x.py': [Errno 2] No such file or directory",
    "cat: /etc/nothing: No such file or directory", "fatal error: /usr/include/x.h: No such file or directory",
    "error: HOME/.cache/x: Read-only file system", "cat: HOME/.cache/x: No such file or directory",
    # What a user may not do without a sandbox either.
    "cat: /etc/shadow: Permission denied", "bash: line 1: /etc/passwd: Permission denied",
    "ls: cannot open directory '/root': Permission denied", "error: .git/objects/aa: Permission denied",
    "E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)",
    "git@github.com: Permission denied (publickey).", "Permission denied, please try again.",
    "chown: changing ownership of 'a.txt': Operation not permitted",
    # Words that only look like a message.
    "This test needs a Read-only file system to run", "the lookup table on disk is stale", "Unknown host key",
    "ConnectionRefusedError: [Errno 111] Connection refused", "Unable to connect to database",
    "npm warn old lockfile: see https://docs.npmjs.com/resolving for more", "could not resolve dependencies",
    "Unresolved reference: foo https://example.com", "expected ENOENT", "assert code == 'EROFX'", "doas", "sudo: 3 tests",
    "bus error", "mount: ok", "getaddrinfo", "no such file or directory", "permission denied", "refused bequest",
)  # fmt: skip
"""Output of commands that failed for another reason."""
