"use strict";
// Search, links and colours of this page. It loads nothing; without it the page reads as it is.
(() => {
  const find = (id) => document.getElementById(id);
  const root = document.documentElement, field = find("find"), count = find("count"), said = find("said");
  const MOST = 10000;
  const BLOCKS = "p,pre,li,td,th,dd,dt,h1,h2,h3,h4,h5,h6,summary,ins,del,.hunk,.plain,blockquote";
  find("bar").hidden = find("keys").hidden = false;

  let timer = 0;
  const say = (words) => {
    said.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => { said.textContent = ""; }, 2500);
  };

  // What is folded away is opened before it is gone to.
  const reveal = (node) => {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      // A summary is seen while its own fold is closed.
      if (fold !== element.closest("summary")?.parentElement) fold.open = true;
    }
    return element;
  };

  // --- search ---------------------------------------------------------------------------------
  let ranges = [], at = -1, searched = "", wait = 0;
  const painted = typeof Highlight === "function" && CSS.highlights;

  const blockOf = (node) => node.parentElement.closest(BLOCKS) || node.parentElement;
  const rangeOf = (pieces, start, end) => {
    const range = document.createRange();
    let before = 0, isBegun = false;
    for (const piece of pieces) {
      const after = before + piece.data.length;
      if (!isBegun && start < after) { range.setStart(piece, start - before); isBegun = true; }
      if (end <= after) { range.setEnd(piece, end - before); return range; }
      before = after;
    }
    return range;
  };
  const search = (words) => {
    ranges = []; at = -1; searched = words;
    if (words) {
      const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&"), "giu");
      const walker = document.createTreeWalker(find("page"), NodeFilter.SHOW_TEXT);
      let block = null, pieces = [];
      const look = () => {
        for (const match of pieces.map((piece) => piece.data).join("").matchAll(pattern)) {
          if (ranges.length >= MOST) return;
          ranges.push(rangeOf(pieces, match.index, match.index + match[0].length));
        }
      };
      for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
        if (node.parentElement.closest("#outline")) continue;
        const own = blockOf(node);
        if (own !== block) { look(); block = own; pieces = []; }
        pieces.push(node);
      }
      look();
    }
    if (painted) CSS.highlights.set("found", new Highlight(...ranges));
    show();
  };
  const show = () => {
    for (const hit of document.querySelectorAll(".hit")) hit.classList.remove("hit");
    if (painted) CSS.highlights.delete("here");
    const most = ranges.length >= MOST ? `${MOST.toLocaleString("en")}+` : ranges.length.toLocaleString("en");
    count.textContent = !searched ? "" : !ranges.length ? "not found" : at < 0 ? most : `${at + 1} of ${most}`;
    if (at < 0) return;
    const range = ranges[at], element = reveal(range.startContainer);
    if (painted) { const here = new Highlight(range); here.priority = 1; CSS.highlights.set("here", here); }
    else element.classList.add("hit");
    element.scrollIntoView({ block: "center" });
    // A long text is scrolled to the line, too.
    const box = range.getBoundingClientRect();
    if (box.top < 60 || box.bottom > innerHeight) scrollBy(0, box.top - innerHeight / 2);
  };
  const step = (by) => {
    if (field.value !== searched) search(field.value);
    if (!ranges.length) return;
    at = at < 0 ? (by > 0 ? 0 : ranges.length - 1) : (at + by + ranges.length) % ranges.length;
    show();
  };
  field.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => search(field.value), 200);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { field.value = ""; search(""); field.blur(); }
  });
  find("bar").addEventListener("submit", (event) => event.preventDefault());
  find("next").addEventListener("click", () => step(1));
  find("previous").addEventListener("click", () => step(-1));

  // --- links ----------------------------------------------------------------------------------
  const goTo = () => {
    const target = location.hash.length > 1 && find(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.tagName === "DETAILS") target.open = true;
    reveal(target).scrollIntoView();
  };
  const copy = (text) => {
    const fallback = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const isCopied = document.execCommand("copy");
      area.remove();
      say(isCopied ? "Link copied" : "The link is in the address bar");
    };
    if (!navigator.clipboard) { fallback(); return; }
    navigator.clipboard.writeText(text).then(() => say("Link copied"), fallback);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.anchor");
    if (link) copy(link.href);
  });
  addEventListener("hashchange", goTo);
  goTo();

  // --- folds, colours, keys ---------------------------------------------------------------------
  const folds = () => document.querySelectorAll("#page details");
  const unfold = find("unfold");
  unfold.addEventListener("click", () => {
    const isOpen = unfold.getAttribute("aria-pressed") !== "true";
    for (const fold of folds()) fold.open = isOpen;
    unfold.setAttribute("aria-pressed", String(isOpen));
    unfold.textContent = isOpen ? "close all" : "open all";
  });
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const fold of folds()) if (!fold.open) { closed.push(fold); fold.open = true; }
  });
  addEventListener("afterprint", () => { for (const fold of closed.splice(0)) fold.open = false; });

  const THEMES = ["auto", "light", "dark"], theme = find("theme");
  const paint = (name) => {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    theme.textContent = `colours: ${name}`;
  };
  const kept = () => { try { return localStorage.getItem("transcript-theme"); } catch { return null; } };
  paint(THEMES.includes(kept()) ? kept() : "auto");
  theme.addEventListener("click", () => {
    const name = THEMES[(THEMES.indexOf(root.dataset.theme || "auto") + 1) % THEMES.length];
    paint(name);
    try { localStorage.setItem("transcript-theme", name); } catch { /* a page without a store forgets it */ }
  });

  const nextPrompt = (by) => {
    const prompts = [...document.querySelectorAll(".prompt")].filter((one) => !one.closest("details:not([open])"));
    const tops = prompts.map((one) => one.getBoundingClientRect().top - 80);
    const index = by > 0 ? tops.findIndex((top) => top > 1) : tops.findLastIndex((top) => top < -1);
    if (prompts[index]) prompts[index].scrollIntoView();
  };
  const KEYS = {
    "/": () => { field.focus(); field.select(); }, "n": () => step(1), "N": () => step(-1),
    "j": () => nextPrompt(1), "k": () => nextPrompt(-1), "o": () => unfold.click(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input,textarea,select")) return;
    if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
  });
})();
