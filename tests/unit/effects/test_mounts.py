"""Which paths lie on a file system that another machine serves."""

from pathlib import Path

from tests.support.tables import each_row
from workbench.effects.mounts import network_mount

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /net rw - autofs systemd-1 rw
31 22 0:31 / /net rw shared:2 master:3 - nfs4 server:/export rw
32 31 0:32 / /net/local rw - tmpfs tmpfs rw
33 22 0:33 / /with\\040space rw - cifs //server/share rw
34 22 0:34 / /mnt/c rw - 9p C:\\134 rw,aname=drvfs
35 22 0:35 / /mnt/cover rw - nfs server:/a rw
36 22 0:36 / /mnt/cover rw - ext4 /dev/sdb1 rw
37 22 0:37 / /home/u/remote rw - fuse.sshfs u@h: rw
broken line
38 22 0:38 / /short rw -
"""


@each_row(
    ("path", "kind"),
    [
        ("/nowhere/x", None),
        ("/net", "nfs4"),
        ("/net/home/u", "nfs4"),
        ("/network", None),
        ("/net/local/x", None),
        ("/with space/home", "cifs"),
        ("/with", None),
        ("/mnt/c/Users", "9p"),
        ("/mnt/cover/x", None),
        ("/home/u/remote/.workbench", "fuse.sshfs"),
        ("/short/x", None),
    ],
)
def test_the_longest_and_latest_mount_decides(path: str, kind: str | None) -> None:
    assert network_mount(path, TABLE) == kind


def test_links_are_resolved_first(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    table = f"22 1 8:1 / / rw - ext4 a rw\n23 22 0:1 / {tmp_path.resolve()}/real rw - ceph b rw\n"
    assert network_mount(tmp_path / "link" / "home", table) == "ceph"


def test_no_table_is_local() -> None:
    assert network_mount("/x", "") is None
    assert network_mount("/") is None
