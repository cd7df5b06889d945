"""Reads a drawing back: knows nothing but its text and where the steps stand, and finds the edges."""

from workbench.text.width import cell_width

L, R, U, D = 1, 2, 4, 8
OPPOSITE = {L: R, R: L, U: D, D: U}
STEP = {L: (-1, 0), R: (1, 0), U: (0, -1), D: (0, 1)}
ARMS = dict(zip(" ╴╶─╵┘└┴╷┐┌┬│┤├┼", range(16), strict=True)) | {
    "╮": L | D,
    "╭": R | D,
    "╯": L | U,
    "╰": R | U,
}
TURNS = "╮╭╯╰"


class Sheet:
    """A drawing as cells; the boxes of the steps are blank."""

    def __init__(self, picture, lines):
        self.lines = [expand(line, picture.width) for line in lines]
        self.starts, self.boxed = {}, {}
        for step, place in enumerate(picture.places):
            if place.is_boxed:
                self._box(step, place)
                continue
            self.starts[place.sign_x + (picture.kind == "strip"), place.y] = step
            for x in [place.sign_x, *range(place.name_x, place.end)]:
                self.boxed[x, place.y] = step
                if x < picture.width:
                    self.lines[place.y][x] = " "
            for y in range(place.y + 1, place.y + 1 + place.below):
                for x in range(place.below_x, min(picture.width, place.below_x + place.below_room)):
                    self.lines[y][x] = " "
        self.is_ascii, self.is_list = picture.is_ascii, picture.kind == "list"
        self.arms = {}
        for y, line in enumerate(self.lines):
            for x, glyph in enumerate(line):
                if glyph != " ":
                    self.arms[x, y] = self._arms(x, y, glyph)

    def _box(self, step, place):
        """A box is blank with its frame, and entered at the first cell within."""
        self.starts[place.sign_x - 1, place.y] = step
        for y in place.lines:
            for x in range(place.start, place.end):
                self.boxed[x, y] = step
                self.lines[y][x] = " "

    def at(self, x, y):
        return self.lines[y][x] if 0 <= y < len(self.lines) and 0 <= x < len(self.lines[y]) else " "

    def _arms(self, x, y, glyph):
        if not self.is_ascii:
            return ARMS[glyph]
        if glyph in "-|":
            return L | R if glyph == "-" else U | D
        left, right = self.at(x - 1, y) == "-", self.at(x + 1, y) == "-"
        up, down = self._vertical(x, y - 1, "|+."), self._vertical(x, y + 1, "|+'")
        if glyph in ".'":
            assert left != right, f"two ways at {x},{y}"
            return (L if left else R) | (D if glyph == "." else U)
        assert glyph == "+"
        return left * L | right * R | up * U | down * D

    def _vertical(self, x, y, glyphs):
        return self.at(x, y) in glyphs or (self.is_list and (x, y) in self.starts)

    def is_turn(self, x, y):
        glyph = self.at(x, y)
        if not self.is_ascii:
            return glyph in TURNS
        return glyph == "+" and self.arms[x, y] in (R | D, L | U)


def expand(line, width):
    cells = []
    for character in line:
        step = cell_width(character)
        if step:
            cells += [character] + [" "] * (step - 1)
    return cells + [" "] * (width - len(cells))


def successors(picture, lines):
    """Follow the lines from every step; return the set of steps reached from each."""
    sheet = Sheet(picture, lines)
    return [follow(sheet, place.end, place.y) for place in picture.places]


def follow(sheet, x, y):
    if not sheet.arms.get((x, y), 0) & L or (x, y) in sheet.boxed:
        return set()
    reached, seen, todo = set(), set(), [(x, y, R)]
    while todo:
        x, y, way = state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        arms = sheet.arms.get((x, y), 0)
        if not arms:
            step = sheet.starts.get((x + 1, y)) if way == R else None
            assert step is not None, f"a line ends at {x},{y}"
            reached.add(step)
            continue
        if not arms & OPPOSITE[way]:
            crosses = arms == U | D and way in (L, R)
            assert crosses, f"a line meets a wall at {x},{y}"
            todo.append((x + STEP[way][0], y, way))
            continue
        leftward = sheet.is_turn(x, y) or way == L
        for out in (L, R, U, D):
            if arms & out and out != OPPOSITE[way] and (out != L or leftward):
                todo += [(x + STEP[out][0], y + STEP[out][1], out)]
    return reached


def loose_arms(picture, lines):
    """List the cells with an arm that nothing answers."""
    sheet = Sheet(picture, lines)
    found = []
    for (x, y), arms in sheet.arms.items():
        if arms in (L, R, U, D):
            found.append((x, y, "stub"))
        for way in (L, R, U, D):
            if arms & way and not answered(sheet, x, y, way):
                found += [(x, y, way)]
    return found


def answered(sheet, x, y, way):
    dx, dy = STEP[way]
    near = x + dx, y + dy
    arms = sheet.arms.get(near, 0)
    if arms & OPPOSITE[way]:
        return True
    if way in (U, D):
        return sheet.is_list and near in sheet.starts
    if arms == U | D:  # a crossing: the line must come out behind it
        return bool(sheet.arms.get((near[0] + dx, y), 0) & OPPOSITE[way])
    if arms:
        return False
    if sheet.is_list:
        return near in sheet.starts
    if way == R:
        return (near[0] + 1, y) in sheet.starts
    return near in sheet.boxed


def list_successors(picture, lines):
    """Follow each lane of a compact list down and note every horizontal that it joins."""
    sheet = Sheet(picture, lines)
    return [
        follow_lane(sheet, place.sign_x, place.y) | referred(picture, place, lines)
        for place in picture.places
    ]


def referred(picture, place, lines):
    """Find the steps that are named behind an arrow, on the line of a step or below it."""
    arrow = ">" if picture.is_ascii else "→"
    text = " ".join(line[place.name_x :].strip() for line in lines[place.y : place.y + 1 + place.below])
    names = [step.id for step in picture.steps()]
    return {named(name, names) for name in text.partition(f" {arrow} ")[2].split(", ") if name}


def named(name, names):
    """Find the only step that a name means, which may have been shortened."""
    if name in names:
        return names.index(name)
    head, _, tail = name.replace("..", "…").partition("…")
    (found,) = (at for at, one in enumerate(names) if one.startswith(head) and one.endswith(tail))
    return found


def follow_lane(sheet, x, y):
    reached = set()
    y += 1
    while True:
        if (x, y) in sheet.starts:
            reached.add(sheet.starts[x, y])
            return reached
        arms = sheet.arms.get((x, y), 0)
        if not arms & U:
            return reached
        if arms & (L | R):
            reached.add(
                sign_on(sheet, x, y, L if arms & L else R)
                if not arms & L or not arms & R
                else either(sheet, x, y)
            )
        if not arms & D:
            return reached
        y += 1


def sign_on(sheet, x, y, way):
    dx = STEP[way][0]
    while (x + dx, y) not in sheet.starts:
        x += dx
        assert sheet.arms.get((x, y), 0), f"a line ends at {x},{y}"
    return sheet.starts[x + dx, y]


def either(sheet, x, y):
    """Find the step of a horizontal that leads on to both sides: it stands at one of its ends."""
    for way in (L, R):
        try:
            return sign_on(sheet, x, y, way)
        except AssertionError:
            continue
    raise AssertionError(f"no step on the line at {x},{y}")
