"""Ways out of a box: what is tried, by whom, and whether Landlock alone holds it. bubblewrap holds all of them.

`what` completes "a command could …". Each is a function of the same name in `escape_attempts.py`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Escape:
    """One way."""

    name: str
    what: str
    landlock: bool = False
    """Whether Landlock alone holds it."""
    only: str = ""
    """`root` or `other`: for whom it means anything; empty is both."""
    needs: str = ""
    """A file that the machine must have, or `kernel`: where it does not work outside, it is left out."""


ESCAPES = (
    # Files outside.
    Escape("write_outside", "write a file outside", landlock=True),
    Escape("append_outside", "append to a file outside", landlock=True),
    Escape("truncate_outside", "empty a file outside", landlock=True),
    Escape("unlink_outside", "remove a file outside", landlock=True),
    Escape("write_through_link", "write outside through a symbolic link that was there", landlock=True),
    Escape("write_through_new_link", "write outside through a symbolic link that it makes", landlock=True),
    Escape("write_through_hard_link", "write outside through a hard link that it makes", landlock=True),
    Escape("rename_outside", "move a file of the workspace outside", landlock=True),
    Escape("write_home", "write a startup file of the shell", landlock=True),
    Escape("read_home_secret", "read a key in the home folder"),
    Escape("read_unknown_secret", "read a secret in the home folder that no table knows"),
    Escape("read_data_folder", "read the key of workbench's data folder"),
    Escape("read_etc_shadow", "read the passwords of the system", only="root"),
    # Other processes.
    Escape("proc_root", "write through /proc/PID/root of a process outside", landlock=True),
    Escape("proc_cwd", "write through /proc/PID/cwd of a process outside", landlock=True),
    Escape("proc_fd", "write through /proc/PID/fd of a process outside", landlock=True),
    Escape("proc_environ", "read the environment of a process outside", landlock=True),
    Escape("ptrace", "attach to a process outside (ptrace)", landlock=True, needs="kernel"),
    Escape("kill", "signal a process outside", landlock=True),
    Escape("limit", "set a limit of a process outside", landlock=True),
    Escape("remove_memory", "remove shared memory of a process outside", landlock=True),
    Escape("set_namespace", "enter the namespaces of a process outside", only="root", landlock=True),
    Escape("stay", "leave a process running (two forks and a session of its own)", landlock=True),
    # Sockets and the network.
    Escape("abstract_socket", "connect to an abstract Unix socket outside", landlock=True),
    Escape("docker_socket", "connect to the Unix socket of a daemon outside", landlock=True),
    Escape("workspace_socket", "connect to a Unix socket in the workspace", landlock=True),
    Escape("tcp", "connect to a TCP port of this machine", landlock=True),
    Escape("udp", "send a UDP packet to this machine", landlock=True),
    Escape("vsock", "make a socket to the machine that this one runs on", needs="kernel", landlock=True),
    Escape("keyring", "write into the key ring of the kernel", needs="kernel", landlock=True),
    # The system.
    Escape("setuid", "become root by a setuid program", only="other", landlock=True),
    Escape(
        "set_user_bit",
        "let every user run a file of the workspace with the rights of its user",
        landlock=True,
    ),
    Escape("make_device", "make a device", only="root", landlock=True),
    Escape("read_device", "read a device that is in the workspace", only="root"),
    Escape("kernel_memory", "open a device of the kernel", only="root", needs="kernel"),
    Escape("kernel_setting", "open a setting of the kernel to write it", only="root", landlock=True),
    Escape("system_setting", "open a file of /sys to write it", only="root", needs="kernel", landlock=True),
    # What controls the workspace.
    Escape("git_hook", "write a hook of git"),
    Escape("git_config", "write git's settings"),
    Escape("git_renamed", "rename .git and make another one"),
    Escape("git_above_renamed", "rename the folder of a repository and make another one"),
    Escape("git_exchanged", "exchange .git for another folder"),
    Escape("git_mounted_over", "mount another folder over .git", landlock=True),
    Escape("git_nested", "make a repository in a folder below", landlock=True),
    Escape("git_nested_file", "make a .git that names another repository", landlock=True),
    Escape("git_bare", "make a folder that git takes for a repository", landlock=True),
    Escape("git_other_case", "make a repository by a name in capitals", landlock=True),
    Escape("autorun_changed", "change a file that a shell hook runs"),
    Escape("autorun_replaced", "replace such a file by another one"),
    Escape("autorun_linked", "change such a file by a hard link to it"),
    Escape("autorun_deep", "move the folder away that such a file is in, and make it again"),
    Escape("autorun_new", "make such a file where none was", landlock=True),
    Escape("autorun_new_folder", "make tasks of an editor where none were", landlock=True),
    Escape("instructions_link", "replace a link by instructions for agents", landlock=True),
    Escape("governing_new", "make a settings file of workbench", landlock=True),
    Escape("closed_in_namespace", "replace a closed file from a user namespace of its own", landlock=True),
    Escape("fifo", "write into a named pipe of the workspace that is read outside"),
)
