// What views of the explorer do beyond their pictures: questions that are answered while one goes on, and play.
"use strict";
(() => {
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const choice = document.querySelector(".choice select");
  if (choice) choice.addEventListener("change", () => choice.form.submit());

  // A part of a picture that is too large to draw as a whole.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.open");
    if (link) {
      event.preventDefault();
      const [number, part] = link.closest(".network").dataset.key.split(":");
      location.href = `network?${new URLSearchParams({ of: number, part: part ? `${part}.${link.dataset.part}` : link.dataset.part })}`;
    }
    const copy = event.target.closest("button.copy");
    if (copy) navigator.clipboard.writeText(document.querySelector(".commands").textContent).then(() => { copy.textContent = "Copied"; });
  });

  // A question is asked, and asked after until it is answered; a newer question makes an older one stop.
  let latest = 0, running = null;
  async function ask(path, question, box, form) {
    const mine = ++latest, doing = form.querySelector(".doing"), bar = form.querySelector("progress"), stop = form.querySelector("[name=stop]");
    if (running) fetch(`stop?job=${running}`, { method: "POST" });
    doing.textContent = "asking…";
    let told = await post(path, question);
    while (mine === latest && told.job && told.html === undefined && !told.problem) {
      running = told.job;
      doing.textContent = told.doing || "working…";
      bar.hidden = stop.hidden = false;
      if (told.total) { bar.max = told.total; bar.value = told.done; } else bar.removeAttribute("value");
      await pause(150);
      told = await topicloom.get("job", { number: told.job });
    }
    if (mine !== latest) return;
    running = null;
    bar.hidden = stop.hidden = true;
    doing.textContent = told.problem || "";
    doing.classList.toggle("problem", Boolean(told.problem));
    if (told.html !== undefined && !told.problem) {
      topicloom.forget(box);
      box.innerHTML = told.html;
      box.dataset.answers = Number(box.dataset.answers || 0) + 1;
      await topicloom.drawAll(box);
      enliven(box);
    }
  }

  async function post(path, body) {
    const answered = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    return answered.ok ? answered.json() : { problem: await answered.text() };
  }

  for (const form of document.querySelectorAll("form.what-if")) {
    const field = (name) => form.elements[name];
    const box = document.querySelector(".answered");
    const visible = () => form.querySelector(`.parameters[data-designer="${CSS.escape(field("algorithm").value)}"]`);
    const turn = () => {
      const designs = field("reaction").value === "design";
      for (const part of form.querySelectorAll(".designing")) part.hidden = !designs || (part.classList.contains("parameters") && part !== visible());
    };
    const question = () => {
      const parameters = {};
      for (const input of visible().querySelectorAll("[name]")) parameters[input.name] = input.type === "checkbox" ? input.checked : input.value;
      const given = Object.fromEntries(["reaction", "algorithm", "killed", "forbidden", "added", "topics"].map((name) => [name, field(name).value]));
      return { ...given, overlay: Number(form.dataset.overlay), parameters };
    };
    let soon;
    const send = (wait) => { clearTimeout(soon); soon = setTimeout(() => ask("what-if", question(), box, form), wait); };
    form.addEventListener("submit", (event) => { event.preventDefault(); send(0); });
    form.addEventListener("input", (event) => {
      if (event.target.dataset.of) event.target.parentElement.querySelector(`[name="${event.target.dataset.of}"]`).value = event.target.value;
      if (event.target.matches(".pick, .pair, [name=added]")) return;
      turn();
      send(event.target.tagName === "TEXTAREA" ? 600 : 120);
    });
    form.addEventListener("change", (event) => {
      const { target } = event, add = (name, line) => { field(name).value += `${field(name).value && !field(name).value.endsWith("\n") ? "\n" : ""}${line}`; };
      if (target.matches(".pick") && target.value) { add(target.dataset.to, target.value); target.value = ""; if (target.dataset.to === "killed" || field("added").value) send(0); }
      if (target.matches(".pair")) {
        const pair = [...form.querySelectorAll(".pair")];
        if (pair.every((end) => end.value)) { add("forbidden", pair.map((end) => end.value).join(" - ")); pair.forEach((end) => { end.value = ""; }); send(0); }
      }
      if (target.name === "added" && field("topics").value) send(0);
    });
    form.elements.stop.addEventListener("click", () => running && fetch(`stop?job=${running}`, { method: "POST" }));
    turn();
    send(0);
  }

  for (const form of document.querySelectorAll("form.work")) {
    const box = document.querySelector(".answered");
    const send = () => ask(form.getAttribute("action"), Object.fromEntries(new FormData(form)), box, form);
    form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
    if (form.dataset.now !== undefined) send();
  }

  // The data of a figure are asked for when they are opened.
  document.addEventListener("toggle", async (event) => {
    const box = event.target;
    if (!box.open || !box.dataset.from) return;
    const from = box.dataset.from;
    delete box.dataset.from;
    const told = await topicloom.get(from, {});
    const rows = document.createElement("div");
    rows.innerHTML = told.html;
    if (told.problem) rows.textContent = told.problem;
    box.append(rows);
  }, true);

  // Points that lead somewhere.
  function enliven(root) {
    for (const box of root.querySelectorAll(".drawing.points")) {
      const points = box.figure && topicloom.part(box.figure, "points");
      if (points && !box.dataset.lively) {
        box.dataset.lively = "yes";
        points.selected.properties.indices.change.connect(() => { const [row] = points.selected.indices; if (row !== undefined && points.data.address) location.href = points.data.address[row]; });
      }
    }
  }
  document.addEventListener("drawn", () => enliven(document));

  // Events one after the other.
  for (const view of document.querySelectorAll(".time")) {
    const [button, slider, said] = [view.querySelector(".play button"), view.querySelector(".play input"), view.querySelector(".moment")];
    const rows = JSON.parse(view.querySelector(".moments").textContent);
    let timer = null;
    const show = () => {
      const row = Number(slider.value);
      said.textContent = rows.said[row];
      for (const box of view.querySelectorAll(".drawing.over-time")) {
        const marker = box.figure && topicloom.part(box.figure, "now");
        if (marker) marker.location = rows.at[row];
      }
    };
    const halt = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
    button.addEventListener("click", () => {
      if (timer) { halt(); return; }
      if (slider.value === slider.max) slider.value = 0;
      button.textContent = "Pause";
      timer = setInterval(() => { slider.value = Number(slider.value) + Math.max(1, Math.round(rows.at.length / 200)); show(); if (slider.value === slider.max) halt(); }, 80);
    });
    slider.addEventListener("input", show);
    document.addEventListener("drawn", show);
  }

  // What goes on now is asked for again and again; pictures stay as long as only numbers change.
  async function renew(box) {
    const told = await topicloom.get(box.dataset.live, { known: box.dataset.known || "" });
    if (told.html !== undefined) {
      topicloom.forget(box);
      box.innerHTML = told.html;
      await topicloom.drawAll(box);
    }
    if (told.problem) box.textContent = told.problem;
    box.dataset.known = told.known || "";
    const facts = box.querySelector("[data-part=facts]");
    if (facts && told.facts) facts.innerHTML = told.facts;
    for (const drawing of box.querySelectorAll(".drawing"))
      for (const [name, data] of Object.entries(told.data || {})) {
        const source = drawing.figure && topicloom.part(drawing.figure, name);
        if (source) source.data = data;
      }
  }
  for (const box of document.querySelectorAll("[data-live]"))
    (async () => { for (;;) { await renew(box).catch(() => { box.textContent = "Nobody answers any more."; box.dataset.known = ""; }); await pause(2000); } })();
})();
