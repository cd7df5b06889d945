"""Drawn trees and patches for them: most fit, some nearly, some not at all."""

from tests.support.sizes import size

USUAL = (
    "a", "b", "  b", "b  ", "\tdef f", "x - y", "x \u2013 y", "say \u201chi\u201d", 'say "hi"', "", "", " ", "z\u00a0z", "+a", "-b",
    "class A", "c", "d", "    return",
)  # fmt: skip
WORDS = (*USUAL * 4, "@@", "*** End Patch", " @@ a")
NAMES = ("a", "src/b", "c d", "e")
SEED = 20_261_129
RUNS = size("WORKBENCH_PATCH_RUNS", 300, 20_000)


def tree(chance):
    """Return names and texts of files."""
    return {name: text(chance) for name in NAMES if chance.random() < 0.8}


def text(chance, *, ends=("\n", "\n", "\n", "\r\n")):
    """Return a text of a few lines; some are alike, some are empty, some have no end."""
    end = chance.choice(ends)
    lines = [chance.choice(WORDS) for _ in range(chance.choice((0, 1, 3, 8, 20)))]
    body = "".join(line + ("\n" if chance.random() < 0.03 else end) for line in lines)
    return body if chance.random() < 0.8 else body.removesuffix("\n").removesuffix("\r")


def patch(chance, files):
    """Return a patch that was made for files, and is then, now and then, damaged."""
    lines = ["*** Begin Patch"]
    for _ in range(chance.choice((1, 1, 2, 3))):
        lines += section(chance, files)
    lines.append("*** End Patch")
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        damage(chance, lines)
    return chance.choice(("\n", "\n", "\n", "\r\n")).join(lines)


def section(chance, files):
    kind = chance.choice(("Add", "Delete", "Update", "Update", "Update", "Update", "Update"))
    name = chance.choice(NAMES)
    head = [f"*** {kind} File: {name}"]
    if kind == "Add":
        return head + [f"+{chance.choice(WORDS)}" for _ in range(chance.choice((0, 1, 4)))]
    if kind == "Delete":
        return head
    if chance.random() < 0.15:
        head.append(f"*** Move to: {chance.choice((*NAMES, 'new', 'new/er'))}")
    return head + chunks(chance, files.get(name, "").split("\n"))


def chunks(chance, lines):
    rows, place = [], 0
    for number in range(chance.choice((1, 1, 2, 3))):
        if number or chance.random() < 0.8:
            rows.append("@@")
        if rows and chance.random() < 0.3 and place < len(lines):
            anchor = chance.randrange(place, len(lines))
            rows[-1] = f"@@ {altered(chance, lines[anchor])}"
            place = anchor + 1
        begin = min(len(lines), place + chance.choice((0, 0, 1, 2, 5)))
        count = chance.choice((0, 1, 2, 3, 5))
        for line in lines[begin : begin + count]:
            rows.append(chance.choice((" ", " ", "-")) + altered(chance, line.removesuffix("\r")))
            if chance.random() < 0.3:
                rows.append(f"+{chance.choice(WORDS)}")
        if chance.random() < 0.4:
            rows.append(f"+{chance.choice(WORDS)}")
        place = begin + count
        if chance.random() < 0.15:
            rows.append("*** End of File")
            rows += [""] * chance.choice((0, 0, 1))
    return rows


def altered(chance, line):
    """Return a line with other spaces or signs, now and then."""
    if chance.random() < 0.85:
        return line
    return chance.choice(
        (
            line + " ",
            "  " + line,
            line.strip(),
            line.replace("\u2013", "-").replace("\u201c", '"').replace("\u201d", '"'),
        )
    )


def damage(chance, lines):
    place = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(
                place,
                chance.choice(
                    (
                        "",
                        " ",
                        "@@",
                        "@@ ",
                        "*** End of File",
                        "*** End Patch",
                        " *** End Patch",
                        "*** Begin Patch",
                        "x",
                        "@@ a",
                        "*** Move to: q",
                    )
                ),
            )
        case 2:
            lines[place] = chance.choice((" ", "\t", "+")) + lines[place]
        case 3:
            lines[place] += chance.choice((" ", "\t", "\r"))
        case _:
            lines.insert(place, chance.choice(lines))
    if not lines:
        lines.append("")
