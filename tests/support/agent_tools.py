"""The tools of a fake agent, written here once more by the agent's rules.

What the driver expects of them is compared with something else that way. Imports nothing but the standard
library: the agent also runs as a process of its own.
"""


def run_tool(folder, tool, given, between=lambda: None):
    """Do what the agent's tool does; returns what it prints. Raises ValueError where it fails.

    `between` is called after each file of a patch.
    """
    if tool == "Bash":
        return "ran"
    if tool == "Read":
        return (folder / given["file_path"]).read_text()
    if tool == "apply_patch":
        return _patch(folder, given["patch"], between)
    path = folder / given["file_path"]
    if tool == "Write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(given["content"].encode())
        return "written"
    if tool == "MultiEdit":
        for edit in given["edits"]:
            run_tool(folder, "Edit", {"file_path": given["file_path"], **edit})
        return "edited"
    if not given["old_string"] and not path.exists():
        path.write_bytes(given["new_string"].encode())
        return "created"
    text = path.read_bytes().decode()
    # Agents see and edit a file with Windows line ends without them, and write them back.
    is_windows = "\r\n" in text and text.count("\n") == text.count("\r\n") == text.count("\r")
    old, new = given["old_string"], given["new_string"]
    if is_windows:
        text, old, new = (each.replace("\r\n", "\n") for each in (text, old, new))
    count = text.count(old)
    if count == 0 or (count > 1 and not given.get("replace_all")):
        raise ValueError(f"{count} occurrences")
    text = text.replace(old, new)
    path.write_bytes((text.replace("\n", "\r\n") if is_windows else text).encode())
    return "edited"


def _patch(folder, text, between):
    """Apply sections of a patch whose context is exact."""
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("*** Begin Patch", "*** End Patch"), text
    path, old, new = None, [], []

    def flush():
        if path is not None and (old or new):
            before = path.read_text() if path.exists() else ""
            part = "".join(f"{line}\n" for line in old)
            assert before.count(part) >= 1 or not old, (path, part)
            path.write_text(
                before.replace(part, "".join(f"{line}\n" for line in new), 1)
                if old
                else before + "".join(f"{line}\n" for line in new)
            )
            between()
        old.clear(), new.clear()

    for line in lines[1:-1]:
        if line.startswith("*** "):
            flush()
            kind, _, name = line.removeprefix("*** ").partition(": ")
            path = folder / name
            if kind == "Delete File":
                path.unlink()
                path = None
        elif line.startswith("@@"):
            flush()
        elif line[:1] == "+":
            new.append(line[1:])
        elif line[:1] == "-":
            old.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])
    flush()
    return "patched"
