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
    const [ink, paper, flags] = look;
    if (COLOUR.test(ink)) span.style.color = ink;
    if (COLOUR.test(paper)) span.style.backgroundColor = paper;
    if (flags & 1) span.style.fontWeight = "bold";
    if (flags & 2) span.style.fontStyle = "italic";
    const lines = [(flags & 4) && "underline", (flags & 8) && "line-through"].filter(Boolean);
    if (lines.length) span.style.textDecoration = lines.join(" ");
  };
  // Upright lines are drawn: as text they have gaps between rows.
  const RULES = { "│": "thin", "┃": "thick" };
  const drawn = [];
  const lineOf = (number) => {
    if (!drawn[number]) {
      const line = document.createElement("div"), cells = film.rows[number];
      for (let at = 0; at < cells.length; at += 4) {
        const span = document.createElement("span");
        span.style.left = cells[at] + "ch";
        span.style.width = cells[at + 1] + "ch";
        span.textContent = cells[at + 3];
        dress(span, film.looks[cells[at + 2]]);
        if (RULES[cells[at + 3]]) span.classList.add(RULES[cells[at + 3]]);
        line.append(span);
      }
      drawn[number] = line;
    }
    // The same row may stand twice on the screen.
    return drawn[number].cloneNode(true);
  };

  let now = 0, shown = -1, isPlaying = false, stamp = 0;
  const shownRows = new Int32Array(film.height).fill(-2);
  screen.textContent = "";
  screen.style.width = film.width + "ch";
  for (let row = 0; row < film.height; row++) screen.append(document.createElement("div"));

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
          screen.children[row].replaceWith(lineOf(whole[row]));
        }
      }
      shown = index;
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
  const place = (time) => (film.length ? time / film.length : 0);
  const drawMarks = () => {
    const width = marks.clientWidth, taken = [];
    marks.textContent = "";
    const put = (time, name, glyph) => {
      const sign = document.createElement("i");
      sign.style.left = place(time) * 100 + "%";
      sign.className = glyph ? name + " sign" : name;
      sign.textContent = glyph;
      marks.append(sign);
    };
    for (const [time] of film.gaps) put(time, "gap", "");
    const weight = (mark) => (WEIGHT.indexOf(mark[1]) + 1 || 9);
    for (const mark of [...film.marks].sort((one, other) => weight(one) - weight(other))) {
      const x = place(mark[0]) * width, isFree = taken.every((other) => Math.abs(other - x) >= 14);
      if (isFree) taken.push(x);
      put(mark[0], mark[1], isFree ? mark[3] : "");
    }
  };
  const nearest = (event) => {
    const box = marks.getBoundingClientRect();
    let best = null, least = 9;
    for (const mark of film.marks) {
      const apart = Math.abs(box.left + place(mark[0]) * box.width - event.clientX);
      if (apart < least) { best = mark; least = apart; }
    }
    return best;
  };
  const hideCard = () => { card.hidden = true; };
  const showCard = (event) => {
    const mark = nearest(event);
    if (!mark) return hideCard();
    card.textContent = mark[3] + " " + mark[1] + ", " + mark[2] + "  " + words(mark[0]);
    card.style.left = place(mark[0]) * 100 + "%";
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
  // would get too small to read. Then the page scrolls and its scrollbar takes room: it is measured twice.
  const fit = () => {
    for (let pass = 0; pass < 2; pass++) {
      const across = screen.parentElement.clientWidth;
      screen.style.fontSize = "14px";
      const box = screen.getBoundingClientRect();
      if (!box.width || !box.height) return;
      const down = innerHeight - 14 - (document.body.getBoundingClientRect().height - box.height);
      const size = Math.min(across / box.width, Math.max(down / box.height, 10 / 14)) * 14;
      screen.style.fontSize = Math.floor(20 * Math.max(3, Math.min(20, size))) / 20 + "px";
    }
    drawMarks();
  };
  addEventListener("resize", fit);
  find("bar").hidden = false;
  begin.hidden = film.length === 0;
  now = poster;
  fit();
  show();
})();
