// Draws the Bokeh figures of a page, and lets a reader search a network, click into it and see what is answered.
"use strict";
const topicloom = (() => {
  const PARTS = { sub: "#0072B2", pub: "#CC79A7", relay: "#E69F00", chosen: "#D55E00" };
  const FOUND = 12, NARROW = 480;
  let drawn = 0;
  Bokeh.logger.set_level("error");

  // One after the other, as a figure's document is the last that was made.
  let turn = Promise.resolve();
  function drawAll(root) {
    for (const box of root.querySelectorAll(".drawing")) turn = turn.then(() => draw(box));
    return turn;
  }

  async function draw(box) {
    const script = box.querySelector("script.item");
    if (!script) return;
    const item = JSON.parse(script.textContent);
    script.remove();
    box.id = `drawing-${++drawn}`;
    box.views = await Bokeh.embed.embed_item(item, box.id);
    const figure = Bokeh.documents[Bokeh.documents.length - 1].roots()[0];
    box.figure = figure;
    if (box.clientWidth < NARROW) for (const model of figure.references()) if (model.type === "Legend") model.ncols = 2;
    paint(figure);
    const network = box.closest(".network");
    if (network) { thin(part(figure, "labels"), box); enliven(network, figure); }
    box.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }

  // Figures that are about to be replaced would be kept by Bokeh for ever.
  function forget(root) {
    for (const box of root.querySelectorAll(".drawing")) {
      if (!box.figure) continue;
      Bokeh.documents.splice(Bokeh.documents.indexOf(box.figure.document), 1);
      box.views.clear();
    }
  }

  // Names were placed for a wide picture: where it is smaller, those that would cover others are left out.
  function thin(labels, box) {
    const { row, x, y, dx, dy, name } = labels.data, taken = [];
    const kept = Array.from(row, (_, at) => at).filter((at) => {
      const across = (x[at] + 1.2) / 2.4 * box.clientWidth + dx[at], down = (1.2 - y[at]) / 2.4 * (box.clientHeight - 40) + dy[at];
      const half = 3.3 * name[at].length;
      if (taken.some(([left, right, middle]) => across - half < right && left < across + half && Math.abs(middle - down) < 13)) return false;
      return taken.push([across - half, across + half, down]);
    });
    labels.data = Object.fromEntries(Object.entries(labels.data).map(([key, values]) => [key, kept.map((at) => values[at])]));
  }

  const part = (figure, name) => [...figure.references()].find((model) => model.name === name);

  // Text and lines of figures follow the colours of the page, which may be dark.
  function paint(figure) {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim() || "#1b1f24";
    const line = style.getPropertyValue("--line").trim() || "#d8dee4";
    const paper = style.getPropertyValue("--paper").trim() || "#ffffff";
    for (const model of figure.references()) {
      const set = (values) => model.setv(Object.fromEntries(Object.entries(values).filter(([key]) => key in model.properties)));
      if (/Axis$/.test(model.type)) set({ axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: line, major_tick_line_color: line, minor_tick_line_color: null });
      if (model.type === "Grid") set({ grid_line_color: line });
      if (model.type === "Legend") set({ label_text_color: ink, background_fill_alpha: 0, border_line_alpha: 0 });
      if (model.type === "Text") set({ text_color: { value: ink } });
      if (model.type === "Title") set({ text_color: ink });
      if (model.name === "nodes") { model.data.edge = model.data.x.map ? Array.from(model.data.x, () => paper) : model.data.edge; model.change.emit(); }
    }
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const box of document.querySelectorAll(".drawing")) if (box.figure) paint(box.figure);
  });

  function enliven(network, figure) {
    const nodes = part(figure, "nodes"), links = part(figure, "links"), labels = part(figure, "labels");
    const calm = { colour: [...links.data.colour], width: [...links.data.width], alpha: [...links.data.alpha] };
    const carried = network.querySelector("script.carried");
    const known = carried ? JSON.parse(carried.textContent) : null;
    const answer = network.querySelector(".answer"), found = network.querySelector(".found");
    const tools = network.querySelector(".tools");
    const first = answer ? answer.innerHTML : "";
    const colouring = () => `by ${tools.elements.colour ? tools.elements.colour.value : ""}`;
    const ask = async (kind, number) => known
      ? known.answers[`${kind}/${number}`] || { html: "<p>This page knows no more of it.</p>" }
      : get("ask", { key: network.dataset.key, kind, number });

    function show(about) {
      const among = about && (about.nodes || about.links);
      const parts = (among && about.nodes) || {}, chosen = new Set((among && about.links) || []);
      const usual = nodes.data[colouring()] || nodes.data.colour;
      nodes.data.colour = Array.from(nodes.data.x, (_, row) => among ? PARTS[parts[row]] || usual[row] : usual[row]);
      nodes.data.alpha = Array.from(nodes.data.x, (_, row) => (!among || row in parts ? 1 : 0.15));
      links.data.colour = calm.colour.map((colour, row) => (chosen.has(row) ? PARTS.chosen : colour));
      links.data.width = calm.width.map((width, row) => (chosen.has(row) ? width + 2 : width));
      links.data.alpha = calm.alpha.map((alpha, row) => (chosen.has(row) ? 1 : among ? alpha / 5 : alpha));
      labels.data.alpha = Array.from(labels.data.row, (row) => (!among || row in parts ? 1 : 0.15));
      for (const source of [nodes, links, labels]) source.change.emit();
    }

    async function choose(kind, number, focus) {
      if (!answer) return;
      answer.innerHTML = "<p>…</p>";
      const about = await ask(kind, number);
      answer.innerHTML = about.html;
      show(about);
      network.dataset.shown = `${kind}/${number}`;
      if (focus) answer.focus({ preventScroll: true });
    }

    function clear() {
      show(null);
      delete network.dataset.shown;
      found.replaceChildren();
      if (answer) answer.innerHTML = first;
      nodes.selected.indices = []; links.selected.indices = [];
    }

    for (const [source, kind] of [[links, "link"], [nodes, "node"]]) {
      source.selected.properties.indices.change.connect(() => {
        const [row] = source.selected.indices;
        if (row === undefined || (kind === "link" && nodes.selected.indices.length)) return;
        setTimeout(() => kind === "link" && nodes.selected.indices.length || choose(kind, row));
      });
    }

    async function search(text) {
      const wanted = text.trim().toLocaleLowerCase();
      if (!wanted) return [];
      if (!known) return (await get("find", { key: network.dataset.key, text })).found;
      const hits = [];
      for (const [kind, names] of Object.entries(known.names))
        for (const [number, name] of names) if (name.toLocaleLowerCase().includes(wanted)) hits.push([kind, number, name]);
      return hits.sort((a, b) => a[2].length - b[2].length).slice(0, FOUND);
    }

    let latest = 0;
    async function list(text) {
      const mine = ++latest, hits = await search(text);
      if (mine !== latest) return;
      found.replaceChildren(...hits.map(([kind, number, name]) => {
        const item = document.createElement("li"), button = document.createElement("button"), word = document.createElement("small");
        word.textContent = ` ${kind}`;
        button.type = "button";
        button.append(name.length > 60 ? `${name.slice(0, 59)}…` : name, word);
        button.dataset.kind = kind; button.dataset.number = number;
        item.append(button);
        return item;
      }));
      if (!hits.length && text.trim()) found.replaceChildren(Object.assign(document.createElement("li"), { textContent: "nothing has that in its name" }));
    }

    network.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.name === "all") { tools.reset(); clear(); }
      else if (button.dataset.kind) { choose(button.dataset.kind, button.dataset.number, true); found.replaceChildren(); }
    });
    tools.addEventListener("input", (event) => { if (event.target.name === "find") list(event.target.value); });
    tools.addEventListener("change", (event) => { if (event.target.name === "colour") show(null); });
    tools.addEventListener("submit", async (event) => {
      event.preventDefault();
      const [hit] = await search(tools.elements.find.value);
      if (hit) { found.replaceChildren(); choose(hit[0], hit[1], true); }
    });
    network.addEventListener("keydown", (event) => { if (event.key === "Escape") { tools.reset(); clear(); tools.elements[0].focus(); } });
    show(null);
    network.choose = choose;
  }

  async function get(path, values) {
    const answered = await fetch(`${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(values)}`, { headers: { accept: "application/json" } });
    if (!answered.ok) return { html: "", found: [], problem: await answered.text() };
    return answered.json();
  }

  return { drawAll, forget, get, part };
})();
topicloom.drawAll(document);
