"use strict";
// Plays the film of this page. It reads one block of data, writes text and colours, and loads nothing.
(() => {
  const film = JSON.parse(document.getElementById("film").textContent);
  const find = (id) => document.getElementById(id);
  const screen = find("screen"), seek = find("seek"), clock = find("clock"), note = find("note");
  const play = find("play"), speed = find("speed"), kind = find("kind"), when = find("when");
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
  const times = film.frames.map((frame) => frame[0]);

  // Every frame as one row number a line: changes are added up once, so that any frame is there at once.
  const wholes = [];
  let last = new Int32Array(film.height).fill(-1);
  for (const frame of film.frames) {
    last = last.slice();
    for (let at = 0; at < frame[2].length; at += 2) last[frame[2][at]] = frame[2][at + 1];
    wholes.push(last);
  }

  const COLOUR = /^#[0-9a-f]{6}$/;
  const dress = (span, look) => {
    const [ink, , flags] = look;
    if (COLOUR.test(ink)) span.style.color = ink;
    if (flags & 1) span.style.fontWeight = "bold";
    if (flags & 2) span.style.fontStyle = "italic";
    const lines = [(flags & 4) && "underline", (flags & 8) && "line-through"].filter(Boolean);
    if (lines.length) span.style.textDecoration = lines.join(" ");
  };

  // Lines and blocks are drawn: as text they have gaps between rows. Their characters stay, to be copied.
  const THICK = ["", "var(--thin)", "var(--thick)"];
  const armsOf = (arms) => {
    const [up, down, left, right] = [...arms].map(Number), layers = [];
    const across = THICK[Math.max(left, right)] || "0px", along = THICK[Math.max(up, down)] || "0px";
    const put = (place, wide, high) => layers.push([place, wide + " " + high]);
    if (left && left === right) put("50% 50%", "100%", THICK[left]);
    else {
      if (left) put("0 50%", `calc(50% + ${along} / 2)`, THICK[left]);
      if (right) put("100% 50%", `calc(50% + ${along} / 2)`, THICK[right]);
    }
    if (up && up === down) put("50% 50%", THICK[up], "100%");
    else {
      if (up) put("50% 0", THICK[up], `calc(50% + ${across} / 2)`);
      if (down) put("50% 100%", THICK[down], `calc(50% + ${across} / 2)`);
    }
    return layers;
  };
  const blockOf = ([left, right, top, bottom]) => [
    [(left ? "100%" : "0") + " " + (top ? "100%" : "0"), (right - left) * 12.5 + "% " + (bottom - top) * 12.5 + "%"],
  ];
  const draw = (span, sign) => {
    if (film.rounds[sign]) {
      const [right, down] = film.rounds[sign];
      span.className = "drawn round";
      const ends = (side) => (side > 0 ? ["calc(50% - var(--thin) / 2)", "0"] : ["0", "calc(50% - var(--thin) / 2)"]);
      const [[west, east], [north, south]] = [ends(right), ends(down)];
      span.style.setProperty("--round", [north, east, south, west].join(" "));
      const is = (on) => (on ? "var(--thin)" : "0");
      span.style.setProperty("--sides", [is(down > 0), is(right < 0), is(down < 0), is(right > 0)].join(" "));
      const corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
      span.style.setProperty("--bend", corners.map(([x, y]) => (x === right && y === down ? ".3em" : "0")).join(" "));
      return;
    }
    const layers = film.arms[sign] ? armsOf(film.arms[sign]) : blockOf(film.blocks[sign]);
    span.className = "drawn";
    span.style.backgroundImage = layers.map(() => "linear-gradient(currentColor,currentColor)").join(",");
    span.style.backgroundPosition = layers.map((one) => one[0]).join(",");
    span.style.backgroundSize = layers.map((one) => one[1]).join(",");
  };
  const isDrawn = (sign) => sign in film.arms || sign in film.blocks || sign in film.rounds;
  // A text in pieces: words, and runs of one drawn character; level lines are one piece, others one a cell.
  const piecesOf = (text, wide) => {
    const signs = [...text];
    if (signs.length !== wide || !signs.some(isDrawn)) return [[text, wide]];
    const pieces = [];
    for (const sign of signs) {
      const last = pieces[pieces.length - 1];
      const joins = last && (isDrawn(sign) ? "─━".includes(sign) && last[0].endsWith(sign) : !isDrawn(last[0][0]));
      if (joins) { last[0] += sign; last[1] += 1; } else pieces.push([sign, 1]);
    }
    return pieces;
  };
  const place = (element, column, wide) => {
    element.style.left = column + "ch";
    element.style.width = wide + "ch";
  };
  const drawn = [];
  const lineOf = (number) => {
    if (!drawn[number]) {
      const line = document.createElement("div"), cells = film.rows[number];
      let ground = null;
      for (let at = 0; at < cells.length; at += 4) {
        const look = film.looks[cells[at + 2]], paper = look[1];
        let column = cells[at];
        // One background for all that follows on the same one.
        if (ground && ground.paper === paper) ground.wide += cells[at + 1];
        else {
          ground = { paper, column, wide: cells[at + 1], element: document.createElement("b") };
          if (COLOUR.test(paper)) ground.element.style.backgroundColor = paper;
          line.append(ground.element);
        }
        place(ground.element, ground.column, ground.wide);
        for (const [text, wide] of piecesOf(cells[at + 3], cells[at + 1])) {
          const span = document.createElement("span");
          place(span, column, wide);
          span.textContent = text;
          dress(span, look);
          if (isDrawn(text[0])) draw(span, text[0]);
          line.append(span);
          column += wide;
        }
      }
      drawn[number] = line;
    }
    // The same row may stand twice on the screen.
    return drawn[number].cloneNode(true);
  };

  let now = 0, shown = -1, isPlaying = false, stamp = 0;
  const shownRows = new Int32Array(film.height).fill(-2);
  const sheet = document.createElement("div");
  sheet.id = "sheet";
  screen.textContent = "";
  screen.append(sheet);
  for (let row = 0; row < film.height; row++) sheet.append(document.createElement("div"));

  // A narrow page shows one pane: what asks, else the conversation.
  const NARROW = 700, LEAST = 10;
  const whole = [0, 0, film.width, film.height];
  const isNarrow = () => innerWidth < NARROW && film.parts.length > 0;
  let letter = 0.6, room = 0;
  const narrowSize = (part) => Math.max(LEAST, Math.min(14, Math.floor(20 * room / (part[2] * letter)) / 20));
  const showPart = () => {
    const part = isNarrow() && film.parts[film.frames[Math.max(0, shown)][3]];
    const [left, top, wide, high] = part || whole;
    if (part && room) setSize(narrowSize(part));
    screen.style.width = wide + "ch";
    screen.style.height = `calc(${high} * var(--row))`;
    sheet.style.transform = left || top ? `translate(${-left}ch, calc(${-top} * var(--row)))` : "";
  };
  // Rows are whole pixels high, so that backgrounds meet.
  const ROW = 1.2;
  const setSize = (size) => {
    const unit = 1 / (devicePixelRatio || 1);
    const pixels = (ems) => Math.max(1, Math.round(size * ems / unit)) * unit + "px";
    screen.style.fontSize = size + "px";
    screen.style.setProperty("--row", Math.max(1, Math.floor(size * ROW / unit)) * unit + "px");
    screen.style.setProperty("--thin", pixels(0.085));
    screen.style.setProperty("--thick", pixels(0.17));
  };

  const frameAt = (time) => {
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  };
  const words = (micros) => {
    const whole = Math.floor(micros / 1e6), pad = (n) => String(n).padStart(2, "0");
    const hours = Math.floor(whole / 3600), rest = pad(Math.floor(whole / 60) % 60) + ":" + pad(whole % 60);
    return hours ? hours + ":" + rest : rest;
  };
  const show = () => {
    const index = frameAt(now);
    if (index !== shown) {
      const whole = wholes[index];
      for (let row = 0; row < film.height; row++) {
        if (whole[row] !== shownRows[row]) {
          shownRows[row] = whole[row];
          sheet.children[row].replaceWith(lineOf(whole[row]));
        }
      }
      shown = index;
      if (isNarrow()) showPart();
      when.textContent = new Date(film.frames[index][1] / 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
    }
    seek.value = String(film.length ? now * 1000 / film.length : 0);
    seek.setAttribute("aria-valuetext", words(now));
    clock.textContent = words(now) + " / " + words(film.length);
    play.textContent = isPlaying ? "pause" : "play";
    const gap = film.gaps.find((one) => one[0] <= now && now < one[0] + 2e6);
    note.textContent = gap ? words(gap[1]) + " without an event left out here" : "";
  };

  const tick = (at) => {
    if (!isPlaying) return;
    now = Math.min(film.length, now + (at - stamp) * 1000 * Number(speed.value));
    stamp = at;
    if (now >= film.length) isPlaying = false;
    show();
    if (isPlaying) requestAnimationFrame(tick);
  };
  const start = () => {
    if (now >= film.length) now = 0;
    begin.hidden = true;
    isPlaying = film.length > 0;
    stamp = performance.now();
    show();
    if (isPlaying) requestAnimationFrame(tick);
  };
  const stop = () => { isPlaying = false; show(); };
  const toggle = () => (isPlaying ? stop() : start());
  const go = (time) => { now = Math.max(0, Math.min(film.length, time)); show(); };
  const step = (count) => { stop(); go(times[Math.max(0, Math.min(times.length - 1, shown + count))]); };
  const faster = (count) => {
    const at = SPEEDS.indexOf(Number(speed.value)) + count;
    speed.value = String(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]);
  };
  const jump = (direction) => {
    const chosen = film.marks.filter((one) => kind.value === "" || one[1] === kind.value);
    const ahead = direction > 0 ? chosen.find((one) => one[0] > now) : chosen.reverse().find((one) => one[0] < now);
    if (ahead) { stop(); go(ahead[0]); note.textContent = ahead[1] + ": " + ahead[2]; }
    else note.textContent = "No " + (direction > 0 ? "later " : "earlier ") + (kind.value || "mark");
  };

  for (const one of SPEEDS) speed.append(new Option(one + " ×", String(one), one === 1, one === 1));
  kind.append(new Option("any", ""));
  for (const one of new Set(film.marks.map((mark) => mark[1]))) kind.append(new Option(one, one));
  // Signs stand above the track where there is room, what matters most first; the rest are short lines.
  const WEIGHT = ["error", "expiry", "approval", "edit", "prompt", "step"];
  const marks = find("marks"), card = find("card");
  const share = (time) => (film.length ? time / film.length : 0);
  const drawMarks = () => {
    const width = marks.clientWidth, taken = [];
    marks.textContent = "";
    const put = (time, name, glyph) => {
      const sign = document.createElement("i");
      sign.style.left = share(time) * 100 + "%";
      sign.className = glyph ? name + " sign" : name;
      sign.textContent = glyph;
      marks.append(sign);
    };
    for (const [time] of film.gaps) put(time, "gap", "");
    const weight = (mark) => (WEIGHT.indexOf(mark[1]) + 1 || 9);
    for (const mark of [...film.marks].sort((one, other) => weight(one) - weight(other))) {
      const x = share(mark[0]) * width, isFree = taken.every((other) => Math.abs(other - x) >= 14);
      if (isFree) taken.push(x);
      put(mark[0], mark[1], isFree ? mark[3] : "");
    }
  };
  const nearest = (event) => {
    const box = marks.getBoundingClientRect();
    let best = null, least = 9;
    for (const mark of film.marks) {
      const apart = Math.abs(box.left + share(mark[0]) * box.width - event.clientX);
      if (apart < least) { best = mark; least = apart; }
    }
    return best;
  };
  const hideCard = () => { card.hidden = true; };
  const showCard = (event) => {
    const mark = nearest(event);
    if (!mark) return hideCard();
    card.textContent = mark[3] + " " + mark[1] + ", " + mark[2] + "  " + words(mark[0]);
    card.style.left = share(mark[0]) * 100 + "%";
    card.hidden = false;
  };
  find("track").addEventListener("pointermove", showCard);
  find("track").addEventListener("pointerleave", hideCard);
  marks.addEventListener("click", (event) => {
    const mark = nearest(event);
    if (mark) { stop(); go(mark[0]); }
  });
  const begin = find("begin");
  begin.addEventListener("click", () => { begin.hidden = true; if (now === poster) now = film.start; start(); });

  play.addEventListener("click", toggle);
  find("back").addEventListener("click", () => jump(-1));
  find("forth").addEventListener("click", () => jump(1));
  seek.addEventListener("input", () => go(Number(seek.value) * film.length / 1000));
  // Until something is played the first question stands there: it says more than an empty screen.
  const asked = film.marks.find((mark) => mark[2] === "waiting");
  const poster = film.start || !asked ? film.start : asked[0];
  const KEYS = {
    " ": toggle, k: toggle, ArrowLeft: () => go(now - 5e6), ArrowRight: () => go(now + 5e6),
    ",": () => step(-1), ".": () => step(1), "[": () => jump(-1), "]": () => jump(1),
    "-": () => faster(-1), "+": () => faster(1), "=": () => faster(1),
    Home: () => go(0), End: () => { stop(); go(film.length); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
    const isButton = event.target instanceof HTMLButtonElement && event.key === " ";
    const tenth = /^[0-9]$/.test(event.key) ? () => go(film.length * Number(event.key) / 10) : null;
    const act = KEYS[event.key] || tenth;
    if (!act || isButton) return;
    event.preventDefault();
    act();
  });

  // As large as the window lets it be with the bar below it: always all columns, and all rows unless letters
  // would get too small to read. Then the page scrolls and its scrollbar takes room: it is measured twice. On a
  // narrow page letters have a size to read, and what is wider than the page is scrolled across.
  const fit = () => {
    const main = screen.parentElement, isPart = isNarrow();
    for (const element of [main, screen]) element.classList.toggle("part", isPart);
    main.style.minHeight = "";
    for (let pass = 0; pass < 2; pass++) {
      room = 0;
      setSize(20);
      showPart();
      const box = screen.getBoundingClientRect();
      if (!box.width || !box.height) return;
      letter = box.width / parseFloat(screen.style.width) / 20;
      room = main.clientWidth;
      const down = innerHeight - 14 - (document.body.getBoundingClientRect().height - box.height);
      const size = Math.min(room / (film.width * letter), Math.max(down / (film.height * ROW), LEAST), 20);
      setSize(Math.floor(20 * Math.max(3, size)) / 20);
    }
    // Parts of other heights move nothing below them.
    const highest = Math.max(...film.parts.map((part) => part[3] * narrowSize(part) * ROW));
    if (isPart) main.style.minHeight = Math.ceil(highest + 16) + "px";
    showPart();
    drawMarks();
  };
  addEventListener("resize", fit);
  find("bar").hidden = false;
  begin.hidden = film.length === 0;
  now = poster;
  fit();
  show();
})();
