// SPDX-License-Identifier: Apache-2.0

"use strict";
// Draws the page from the JSON of package page. Figures are SVG: they print, and can be saved.
(() => {
const page = JSON.parse(document.getElementById("data").textContent);
page.sections ||= [];
for (const x of page.sections) for (const f of x.figures ||= []) for (const r of f.series ||= []) { r.x ||= []; r.y ||= []; }
const ns = "http://www.w3.org/2000/svg";
const flags = {ack: 1, nack: 2, ce: 4, trimmed: 8, retx: 16, lost: 32};

function element(make, name, attributes, children) {
  const e = make(name);
  for (const k in attributes) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), attributes[k]);
    else if (attributes[k] !== undefined) e.setAttribute(k, attributes[k]);
  }
  e.append(...children.flat());
  return e;
}
const h = (name, attributes, ...children) => element((n) => document.createElement(n), name, attributes, children);
const s = (name, attributes, ...children) => element((n) => document.createElementNS(ns, n), name, attributes, children);

// Numbers. A scale has short ones, and what the pointer asks for is exact.
const exact = (v) => v === null || v === undefined ? "-" : v.toLocaleString("en-US", {maximumSignificantDigits: Number.isInteger(v) ? 21 : 5});
function short(v) {
  const a = Math.abs(v);
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (a >= unit) return +(v / (name === "k" ? 1e3 : unit)).toPrecision(4) + " " + name;
  }
  return exact(+v.toPrecision(6));
}
function ticks(lo, hi, most, log) {
  const all = [];
  if (log) {
    const decades = Math.log10(hi / lo), few = decades > most ? Math.ceil(decades / most) : 1;
    for (let d = Math.floor(Math.log10(lo)); d <= Math.log10(hi) + 1e-9; d += few) {
      for (const m of decades < 1.5 ? [1, 2, 5] : [1]) {
        const v = m * 10 ** d;
        if (v >= lo * 0.999 && v <= hi * 1.001) all.push(v);
      }
    }
    if (all.length > 1) return all;
    all.length = 0;
  }
  const raw = (hi - lo) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999) * power;
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) all.push(+(i * step).toPrecision(12));
  return all;
}
const log10 = (v) => Math.log10(Math.max(v, Number.MIN_VALUE));
function scale(axis, lo, hi, from, to) {
  const f = axis.log ? log10 : (v) => v;
  const a = f(lo), b = f(hi) - a || 1;
  const at = (v) => from + (to - from) * (f(v) - a) / b;
  at.back = (p) => { const v = a + b * (p - from) / (to - from); return axis.log ? 10 ** v : v; };
  return at;
}

// coarse makes one value of a few, none if there is none.
function coarse(v, few, pick) {
  const all = [];
  for (let i = 0; i < v.length; i += few) {
    const some = v.slice(i, i + few).filter((n) => n !== null);
    all.push(some.length ? pick(...some) : null);
  }
  return all;
}

// Styles: seven colors that differ also for the color-blind, each with three kinds of dashes.
const dashes = ["", "6 3", "1.5 2.5"];
const color = (i) => i < 0 ? "var(--gray)" : `var(--c${i % 7})`;
const dash = (i) => i < 0 ? undefined : dashes[Math.floor(i / 7) % 3] || undefined;

const zooms = new Map(), figures = [], hidden = new Set();
const tip = h("div", {id: "tip"});

// The extent of one axis over all figures of a section.
function extent(section, which) {
  let lo = Infinity, hi = -Infinity;
  const see = (v) => { if (v !== null && v !== undefined && (v > 0 || !section.figures[0][which].log)) { lo = Math.min(lo, v); hi = Math.max(hi, v); } };
  for (const f of section.figures) {
    if (f[which].max) see(f[which].max);
    if (which === "y") (f.mark || []).forEach((m) => see(m.at));
    if (f.kind === "bars") {
      f.rows.forEach((_, i) => {
        let sum = 0;
        for (const r of f.series) { sum += r.y[i] || 0; if (r.lo) { see(r.lo[i]); see(r.hi[i]); } }
        if (sum) see(sum);
      });
      continue;
    }
    for (const r of f.series) {
      if (f.kind === "lines" || f.kind === "heat") {
        if (which === "x") { see(r.begin || 0); see((r.begin || 0) + (r.step || 0) * (r.lo || r.y || []).length); }
        else { (r.lo || []).forEach(see); (r.hi || []).forEach(see); }
      } else {
        (r[which] || []).forEach(see);
        if (f.kind === "packets" && which === "x") (r.hi || []).forEach(see);
      }
    }
  }
  const axis = section.figures[0][which];
  if (lo > hi) return axis.log ? [1, 10] : [0, 1];
  if (axis.log) return section.figures[0].kind === "bars" ? [10 ** Math.floor(log10(lo)), hi * 1.6] : lo === hi ? [lo / 2, hi * 2] : [lo / 1.15, hi * 1.15];
  return [Math.min(lo, 0), which === "y" && !axis.max ? hi * 1.06 || 1 : hi || 1];
}

class Figure {
  constructor(def, section) {
    Object.assign(this, {def, section, zoom: def.x.zoom || Symbol()});
    const rows = def.kind === "heat" ? def.series.length : def.kind === "bars" ? def.rows.length : 0;
    this.left = rows ? Math.min(210, 20 + 6.3 * Math.max(...(def.kind === "heat" ? def.series.map((r) => r.name) : def.rows).map((n) => n.length))) : 62;
    this.height = rows ? 54 + rows * (def.kind === "heat" ? 13 : 18) : 230;
    this.holder = h("div", {});
    this.root = h("figure", {}, def.title ? h("h3", {}, def.title) : [], this.holder);
  }

  range() { return zooms.get(this.zoom) || this.section.x; }

  // The scale upwards: that of the section, but packets in a part of the time fill the figure.
  upRange() {
    if (this.def.kind !== "packets" || !zooms.has(this.zoom)) return this.section.y;
    const [from, to] = this.range();
    let lo = Infinity, hi = -Infinity;
    for (const r of this.def.series) r.y.forEach((v, i) => { if (r.x[i] <= to && Math.max(r.hi[i], r.x[i]) >= from) { lo = Math.min(lo, v); hi = Math.max(hi, v); } });
    return lo > hi ? this.section.y : [lo - 1, hi + 1];
  }

  draw(width) {
    const {def, left} = this, right = 14, top = 18, bottom = 34;
    this.width = width;
    const w = this.w = Math.max(width - left - right, 80), hh = this.h = this.height - top - bottom;
    const [x0, x1] = this.range(), [y0, y1] = this.up = this.upRange();
    this.x = scale(def.x, x0, x1, 0, w);
    this.y = scale(def.y, y0, y1, hh, 0);
    const id = "clip" + figures.indexOf(this);
    const plot = this.plot = s("g", {"clip-path": `url(#${id})`, class: "plot"});
    const axes = s("g", {"font-size": 11, fill: "var(--muted)"});
    this.labels = s("g", {"font-size": 10, fill: "var(--muted)", "text-anchor": "end", stroke: "var(--bg)", "stroke-width": 3, "paint-order": "stroke"});
    this.line = s("line", {y1: 0, y2: hh, stroke: "var(--muted)", "stroke-dasharray": "2 2", visibility: "hidden"});
    const body = s("g", {transform: `translate(${left} ${top})`, "data-x0": x0, "data-x1": x1, "data-y0": y0, "data-y1": y1, "data-w": w, "data-h": hh},
      s("clipPath", {id}, s("rect", {x: 0, y: -2, width: w, height: hh + 4})), axes, plot, this.labels, this.line);
    this.svg = s("svg", {xmlns: ns, viewBox: `0 0 ${width} ${this.height}`, width, height: this.height, role: "img",
      "aria-label": `${this.section.title}: ${def.title || def.kind}`, "font-family": "system-ui, sans-serif"}, body);
    for (const v of ticks(x0, x1, Math.max(2, w / 80), def.x.log)) {
      axes.append(s("line", {x1: this.x(v), x2: this.x(v), y1: 0, y2: hh, stroke: "var(--grid)"}), s("text", {x: this.x(v), y: hh + 15, "text-anchor": "middle"}, short(v)));
    }
    axes.append(s("text", {x: w, y: hh + 29, "text-anchor": "end"}, name(def.x)));
    this[def.kind](plot, axes);
    axes.append(s("line", {x1: 0, x2: w, y1: hh, y2: hh, stroke: "var(--line)"}));
    this.drag(body);
    this.holder.replaceChildren(this.svg);
  }

  yAxis(axes) {
    const [y0, y1] = this.up;
    for (const v of ticks(y0, y1, 5, this.def.y.log)) {
      axes.append(s("line", {x1: 0, x2: this.w, y1: this.y(v), y2: this.y(v), stroke: "var(--grid)"}), s("text", {x: -7, y: this.y(v) + 4, "text-anchor": "end"}, short(v)));
    }
    axes.append(s("text", {x: -this.left + 2, y: -7}, name(this.def.y)));
    (this.def.mark || []).forEach((m, i, all) => {
      const y = this.y(m.at), below = all.some((o) => o.at > m.at && y - this.y(o.at) < 14);
      axes.append(s("line", {x1: 0, x2: this.w, y1: y, y2: y, stroke: "var(--muted)", "stroke-dasharray": "4 4"}));
      this.labels.append(s("text", {x: this.w, y: below ? y + 10 : y - 4}, m.name));
    });
  }

  shown() { return this.def.series.filter((r) => !hidden.has(r.name)); }

  lines(plot, axes) {
    this.yAxis(axes);
    const {x, y} = this;
    for (const r of this.shown()) {
      if (!r.lo) continue;
      const few = Math.max(1, Math.ceil(1.2 / (x(r.step) - x(0)))); // steps of about a pixel
      const [lo, hi] = few > 1 && !r.band ? [coarse(r.lo, few, Math.min), coarse(r.hi || r.lo, few, Math.max)] : [r.lo, r.hi || r.lo];
      const step = r.band ? r.step : r.step * few;
      const at = (i) => +x((r.begin || 0) + step * (i + 0.5)).toFixed(1), v = (n) => +y(n).toFixed(1);
      let d = "", last = null;
      if (r.band) {
        r.lo.forEach((n, i) => { if (n !== null) d += `${d ? "L" : "M"}${at(i)} ${v(n)}`; });
        for (let i = hi.length - 1; i >= 0; i--) if (hi[i] !== null) d += `L${at(i)} ${v(hi[i])}`;
        plot.append(s("path", {d: d + "Z", fill: "var(--band)", stroke: "none", "data-series": r.name}));
        continue;
      }
      for (let i = 0; i < lo.length; i++) {
        if (lo[i] === null) { last = null; continue; }
        if (lo[i] === last && hi[i] === last && lo[i + 1] === last && hi[i + 1] === last) continue; // still the same
        let ends = [lo[i], hi[i]];
        if (last !== null && Math.abs(ends[1] - last) < Math.abs(ends[0] - last)) ends.reverse();
        d += `${last === null ? "M" : "L"}${at(i)} ${v(ends[0])}`;
        if (ends[0] !== ends[1]) d += `V${v(ends[1])}`;
        last = ends[1];
      }
      plot.append(s("path", {d, fill: "none", stroke: color(r.style), "stroke-width": 1.4, "stroke-dasharray": dash(r.style), "stroke-linejoin": "round", "data-series": r.name}));
    }
  }

  stairs(plot, axes) {
    this.yAxis(axes);
    for (const r of this.shown()) {
      let d = "";
      (r.x || []).forEach((v, i) => { d += d ? `H${this.x(v).toFixed(1)}V${this.y(r.y[i]).toFixed(1)}` : `M${this.x(v).toFixed(1)} ${this.y(r.y[i]).toFixed(1)}`; });
      plot.append(s("path", {d, fill: "none", stroke: color(r.style), "stroke-width": 1.8, "stroke-dasharray": dash(r.style), "data-series": r.name}));
    }
  }

  points(plot, axes) {
    this.yAxis(axes);
    const shapes = [(a, b) => `M${a - 3} ${b}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`, (a, b) => `M${a - 3} ${b - 3}h6v6h-6Z`, (a, b) => `M${a} ${b - 4}l4 7h-8Z`, (a, b) => `M${a} ${b - 4}l4 4l-4 4l-4 -4Z`];
    for (const r of this.shown()) {
      const shape = shapes[Math.max(r.style, 0) % shapes.length];
      const d = (r.x || []).map((v, i) => shape(+this.x(v).toFixed(1), +this.y(r.y[i]).toFixed(1))).join("");
      plot.append(s("path", {d, fill: color(r.style), "fill-opacity": 0.45, stroke: color(r.style), "stroke-width": 0.8, "data-series": r.name}));
    }
  }

  bars(plot, axes) {
    const {def, x} = this, least = this.range()[0];
    def.rows.forEach((label, i) => {
      const y = i * 18 + 2, values = this.shown().filter((r) => r.y[i] !== null && r.y[i] !== undefined);
      const heading = def.series.length > 0 && def.series.every((r) => r.y[i] === null);
      axes.append(s("text", {x: heading ? -this.left + 2 : -7, y: y + 12, "text-anchor": heading ? "start" : "end", fill: "var(--fg)", "font-weight": heading ? 600 : undefined}, label));
      let sum = 0, end = 0;
      for (const r of values) {
        const from = sum ? x(sum) : x(def.x.log ? least : 0);
        sum += r.y[i];
        end = x(sum);
        plot.append(s("rect", {x: from, y, width: Math.max(end - from, 0), height: 14, fill: color(r.style), "data-series": r.name, "data-row": label}));
        if (r.lo && r.hi) {
          plot.append(s("line", {x1: x(r.lo[i]), x2: x(r.hi[i]), y1: y + 7, y2: y + 7, stroke: "var(--fg)"}));
          end = Math.max(end, x(r.hi[i]));
        }
      }
      if (values.length === 1 && values[0].lo) plot.append(s("text", {x: end + 5, y: y + 11, "font-size": 11, fill: "var(--fg)"}, exact(+sum.toPrecision(3))));
    });
  }

  heat(plot, axes) {
    const {x} = this;
    this.def.series.forEach((r, i) => {
      const y = i * 13;
      axes.append(s("text", {x: -7, y: y + 10, "text-anchor": "end", fill: "var(--fg)", "font-size": 10.5}, r.name));
      const v = r.y || [];
      for (let from = 0, to = 1; from < v.length; from = to++) {
        while (to < v.length && v[to] === v[from]) to++;
        if (!v[from]) continue;
        const a = x((r.begin || 0) + from * r.step), b = x((r.begin || 0) + to * r.step);
        plot.append(s("rect", {x: a.toFixed(1), y: y + 1, width: (b - a + 0.3).toFixed(1), height: 11, fill: "var(--heat)", "fill-opacity": (0.06 + 0.94 * v[from] / 100).toFixed(2)}));
      }
      plot.append(s("line", {x1: 0, x2: this.w, y1: y + 13, y2: y + 13, stroke: "var(--grid)", "stroke-width": 0.5}));
    });
  }

  packets(plot, axes) {
    this.yAxis(axes);
    const {x, y, w} = this, paths = new Map();
    const add = (kind, d) => paths.set(kind, (paths.get(kind) || "") + d);
    for (const r of this.def.series) {
      r.x.forEach((from, i) => {
        const f = r.flags[i], a = x(from), b = x(r.hi[i] === null ? from : r.hi[i]);
        if (b < -5 || a > w + 5) return;
        const p = `${a.toFixed(1)} ${y(r.y[i]).toFixed(1)}`, q = `${b.toFixed(1)} ${y(r.y[i]).toFixed(1)}`;
        if (f & flags.ack) return add("ack", `M${q}m0 2.5v-5`);
        if (f & flags.nack) return add("nack", `M${q}m-2.5 -4l2.5 4l2.5 -4Z`);
        add(f & flags.lost ? "lost" : f & flags.trimmed ? "trimmed" : f & flags.retx ? "retx" : f & flags.ce ? "ce" : "data", `M${p}L${q}`);
        if (f & flags.lost) add("x", `M${p}m-3 -3l6 6m0 -6l-6 6`);
        if (f & flags.trimmed) add("cross", `M${q}m-2 -2l4 4m0 -4l-4 4`);
      });
    }
    for (const [kind, , style] of fates) if (paths.has(kind)) plot.append(s("path", {d: paths.get(kind), "stroke-linecap": "round", fill: "none", ...style, "data-series": kind}));
  }

  // What is below the pointer: lines of [style, name, value] with a title.
  below(px, py) {
    const {def, x, y} = this, t = x.back(px);
    const out = [];
    if (def.kind === "bars") {
      const i = Math.floor(py / 18);
      if (!(i >= 0 && i < def.rows.length)) return null;
      for (const r of this.shown()) {
        const v = r.y[i];
        if (v !== null && v !== undefined && v !== 0) out.push([r.style, r.name, exact(v) + (r.lo ? ` [${exact(r.lo[i])} .. ${exact(r.hi[i])}]` : "") + unit(def.x)]);
      }
      return out.length ? [def.rows[i], out] : null;
    }
    if (def.kind === "heat") {
      const r = def.series[Math.floor(py / 13)];
      const v = r && r.y && r.y[Math.floor((t - (r.begin || 0)) / r.step)];
      return r ? [`${exact(+t.toPrecision(5))} ${def.x.unit || ""}`, [[0, r.name, exact(v === undefined ? 0 : v) + unit(def.y)]]] : null;
    }
    if (def.kind === "points" || def.kind === "packets") {
      let best = 400, found = null;
      for (const r of this.shown()) r.x.forEach((v, i) => {
        const end = r.hi ? r.hi[i] : null, d = (Math.min(Math.abs(x(v) - px), end === null ? Infinity : Math.abs(x(end) - px))) ** 2 + (y(r.y[i]) - py) ** 2;
        if (d < best) { best = d; found = [r, i]; }
      });
      if (!found) return null;
      const [r, i] = found;
      if (def.kind === "points") return [r.name, [[r.style, name(def.x), exact(r.x[i])], [r.style, name(def.y), exact(r.y[i])]]];
      const f = r.flags[i], kind = f & flags.ack ? "acknowledged up to" : f & flags.nack ? "refused" : "data";
      const fate = Object.keys(flags).filter((k) => f & flags[k] && k !== "ack" && k !== "nack").join(", ");
      return [`${kind} ${exact(r.y[i])}${fate ? ": " + fate : ""}`, [[-1, "sent", exact(r.x[i]) + unit(def.x)], [-1, "there", r.hi[i] === null ? "never" : exact(r.hi[i]) + unit(def.x)]]];
    }
    for (const r of this.shown()) {
      if (def.kind === "lines") {
        const i = Math.floor((t - (r.begin || 0)) / r.step), lo = r.lo && r.lo[i];
        if (lo === null || lo === undefined) continue;
        const hi = r.hi ? r.hi[i] : lo;
        out.push([r.style, r.name, (lo === hi ? exact(lo) : `${exact(lo)} .. ${exact(hi)}`) + unit(def.y), hi]);
      } else {
        let i = -1;
        while (i + 1 < r.x.length && r.x[i + 1] <= t) i++;
        out.push([r.style, r.name, (i < 0 ? "0" : exact(r.y[i])) + unit(def.y), i < 0 ? 0 : r.y[i]]);
      }
    }
    out.sort((a, b) => b[3] - a[3]);
    return out.length ? [`${exact(+t.toPrecision(5))} ${def.x.unit || ""}`, out] : null;
  }

  drag(body) {
    const {w} = this;
    const shade = s("rect", {y: 0, height: this.h, fill: "var(--c0)", "fill-opacity": 0.15, visibility: "hidden"});
    const catcher = s("rect", {x: 0, y: 0, width: w, height: this.h, fill: "transparent"});
    const at = (e) => { const b = catcher.getBoundingClientRect(); return [(e.clientX - b.left) * w / b.width, (e.clientY - b.top) * this.h / b.height]; };
    let from = null;
    const move = (e) => {
      const px = at(e)[0], a = Math.max(Math.min(from, px), 0), b = Math.min(Math.max(from, px), w);
      shade.setAttribute("x", a); shade.setAttribute("width", b - a); shade.setAttribute("visibility", "visible");
    };
    const end = (e) => {
      const px = Math.min(Math.max(at(e)[0], 0), w), a = Math.min(from, px), b = Math.max(from, px);
      stop();
      if (e.type === "pointerup" && b - a > 5) { zooms.set(this.zoom, [this.x.back(a), this.x.back(b)]); redraw(this.zoom); }
    };
    const stop = () => {
      from = null;
      shade.setAttribute("visibility", "hidden");
      removeEventListener("pointermove", move); removeEventListener("pointerup", end); removeEventListener("pointercancel", end);
    };
    catcher.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || from !== null) return;
      from = at(e)[0];
      e.preventDefault();
      addEventListener("pointermove", move); addEventListener("pointerup", end); addEventListener("pointercancel", end);
    });
    catcher.addEventListener("pointermove", (e) => point(this, ...at(e), e));
    catcher.addEventListener("pointerleave", () => point(null));
    catcher.addEventListener("dblclick", () => { zooms.delete(this.zoom); redraw(this.zoom); });
    body.append(shade, catcher);
  }
}
const fates = [
  ["ack", "acknowledged up to here", {stroke: "var(--c2)", "stroke-width": 1}],
  ["data", "data", {stroke: "var(--c0)", "stroke-width": 1.6}],
  ["ce", "marked", {stroke: "var(--c4)", "stroke-width": 1.8}],
  ["trimmed", "trimmed", {stroke: "var(--c1)", "stroke-width": 1.2}],
  ["cross", "", {stroke: "var(--c1)", "stroke-width": 1.4}],
  ["retx", "sent again", {stroke: "var(--c3)", "stroke-width": 2.4}],
  ["nack", "refused", {stroke: "var(--c1)", fill: "var(--c1)", "stroke-width": 1}],
  ["lost", "lost", {stroke: "var(--fg)", "stroke-width": 1}],
  ["x", "", {stroke: "var(--fg)", "stroke-width": 1.6}],
];
const unit = (axis) => axis.unit ? " " + axis.unit : "";
const name = (axis) => axis.label + (axis.unit ? ", " + axis.unit : "");

// Shows what is below the pointer, and the same time in all pictures of it.
function point(figure, px, py, e) {
  for (const f of figures) {
    const same = figure && f.zoom === figure.zoom && f.def.kind !== "bars";
    f.line.setAttribute("visibility", same ? "visible" : "hidden");
    if (same) { const p = f.x(figure.x.back(px)); f.line.setAttribute("x1", p); f.line.setAttribute("x2", p); }
  }
  const found = figure && figure.below(px, py);
  tip.style.display = found ? "block" : "none";
  if (!found) return;
  const most = 14;
  tip.replaceChildren(h("b", {}, found[0]), ...found[1].slice(0, most).map(([style, n, v]) =>
    h("div", {}, h("span", {}, h("i", {style: `background:${color(style)}`}), n), h("span", {}, v))),
    ...(found[1].length > most ? [h("div", {}, `and ${found[1].length - most} more`)] : []));
  const b = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, e.clientX + 16 + b.width > innerWidth ? e.clientX - b.width - 16 : e.clientX + 16) + "px";
  tip.style.top = Math.max(4, Math.min(e.clientY + 12, innerHeight - b.height - 4)) + "px";
}

function redraw(zoom) {
  for (const f of figures) if (zoom === undefined || f.zoom === zoom) f.draw(f.width);
  for (const x of page.sections) x.reset.style.visibility = x.figures.some((f) => f.x.zoom && zooms.has(f.x.zoom)) || x.drawn.some((f) => zooms.has(f.zoom)) ? "visible" : "hidden";
}

// The key of a style: a short line, or a filled square.
function key(kind, style, own) {
  const line = kind === "lines" || kind === "stairs" || kind === "packets";
  return s("svg", {width: 18, height: 10, "aria-hidden": "true"}, line
    ? s("line", {x1: 0, x2: 18, y1: 5, y2: 5, stroke: color(style), "stroke-dasharray": dash(style), ...own, "stroke-width": 2.2})
    : s("rect", {x: 3, y: 0, width: 11, height: 10, fill: color(style)}));
}

function entries(section) {
  const seen = new Map();
  for (const f of section.figures) {
    if (f.kind === "heat") continue;
    if (f.kind === "packets") {
      const used = new Set(section.figures.flatMap((g) => g.series.flatMap((r) => r.flags)));
      for (const [kind, label, own] of fates) {
        const bit = {ce: flags.ce, trimmed: flags.trimmed, retx: flags.retx, lost: flags.lost, ack: flags.ack, nack: flags.nack}[kind];
        if (label && (bit === undefined || [...used].some((u) => u & bit))) seen.set(label, key("packets", 0, own));
      }
      continue;
    }
    for (const r of f.series) if (r.name && !seen.has(r.name)) seen.set(r.name, r.band ? s("svg", {width: 18, height: 10}, s("rect", {width: 18, height: 10, fill: "var(--band)"})) : key(f.kind, r.style));
  }
  return seen;
}

function legend(section) {
  const all = entries(section), fixed = section.figures[0].kind === "packets";
  if (all.size < 2 && section.figures[0].kind !== "bars") return [];
  return h("div", {class: "legend"}, ...[...all].map(([label, mark]) => {
    const b = h("button", {type: "button", title: fixed ? undefined : "hide or show", "aria-pressed": "true"}, mark, label);
    if (!fixed) b.addEventListener("click", () => {
      if (!hidden.delete(label)) hidden.add(label);
      for (const other of document.querySelectorAll(".legend button")) if (other.textContent === label) {
        other.classList.toggle("off", hidden.has(label));
        other.setAttribute("aria-pressed", String(!hidden.has(label)));
      }
      redraw();
    });
    return b;
  }));
}

// A section as one SVG with its own colors, for light and dark.
function picture(section, width) {
  const columns = Math.ceil(Math.sqrt(section.drawn.length));
  const rules = [...document.styleSheets[0].cssRules].slice(0, 2).map((r) => r.cssText.replaceAll(":root", "svg")).join("\n");
  const all = s("svg", {xmlns: ns, "font-family": "system-ui, sans-serif"}, s("style", {}, rules));
  const gap = 16, each = (width - gap * (columns - 1)) / columns;
  const body = s("g", {});
  body.append(s("text", {x: 0, y: 16, "font-size": 15, "font-weight": 600, fill: "var(--fg)"}, section.title));
  let x = 0, y = 34;
  for (const [label, mark] of entries(section)) {
    if (section.figures[0].kind !== "bars" && entries(section).size < 2) break;
    if (x + 30 + 6.2 * label.length > width) { x = 0; y += 17; }
    const m = mark.cloneNode(true);
    m.setAttribute("x", x); m.setAttribute("y", y - 9);
    body.append(m, s("text", {x: x + 23, y, "font-size": 11.5, fill: "var(--fg)"}, label));
    x += 38 + 6.2 * label.length;
  }
  y += 12;
  section.drawn.forEach((f, i) => {
    const old = f.width;
    f.draw(each);
    const g = f.svg.cloneNode(true);
    g.querySelectorAll("[visibility=hidden],rect[fill=transparent]").forEach((n) => n.remove());
    g.setAttribute("x", (i % columns) * (each + gap)); g.setAttribute("y", y + 16);
    body.append(s("text", {x: (i % columns) * (each + gap), y: y + 8, "font-size": 12.5, "font-weight": 600, fill: "var(--fg)"}, f.def.title || ""), g);
    if (i % columns === columns - 1 || i === section.drawn.length - 1) y += f.height + 26;
    f.draw(old);
  });
  body.setAttribute("transform", "translate(12 8)");
  all.setAttribute("viewBox", `0 0 ${width + 24} ${y + 8}`);
  all.append(s("rect", {width: width + 24, height: y + 8, fill: "var(--bg)"}), body);
  return all;
}

function save(section) {
  const text = new XMLSerializer().serializeToString(picture(section, 1000));
  h("a", {href: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text), download: section.title.toLowerCase().replace(/[^a-z0-9]+/g, "-") + ".svg"}).click();
}

const table = (t) => h("div", {}, t.title ? h("h2", {}, t.title) : [], h("div", {class: "scroll"}, h("table", {},
  h("thead", {}, h("tr", {}, ...t.columns.map((c) => h("th", {}, c)))),
  h("tbody", {}, ...t.rows.map((r) => h("tr", {}, ...r.map((c) => h("td", {}, c))))))));

function sectionOf(x) {
  x.x = extent(x, "x");
  x.y = extent(x, "y");
  x.drawn = x.figures.map((f) => new Figure(f, x));
  figures.push(...x.drawn);
  x.reset = h("button", {type: "button", style: "visibility:hidden", onclick: () => { x.drawn.forEach((f) => zooms.delete(f.zoom)); redraw(); }}, "show all");
  const wide = x.figures.length === 1;
  const grid = h("div", {class: "figures", style: wide ? "grid-template-columns:minmax(0,1fr)" : undefined}, ...x.drawn.map((f) => f.root));
  return h("section", x.half ? {class: "half"} : {}, h("div", {class: "head"}, h("h2", {}, x.title), x.reset, h("button", {type: "button", style: "margin-left:0", onclick: () => save(x)}, "save SVG")),
    x.note ? h("p", {class: "muted"}, x.note) : [], legend(x), grid);
}

const claims = page.claims && h("div", {}, h("h2", {}, `Claims: ${page.claims.filter((c) => c.ok).length} of ${page.claims.length} hold`),
  h("ul", {class: "claims"}, ...page.claims.map((c) => h("li", {class: c.ok ? "ok" : "no"}, c.text, h("small", {}, `want ${c.want}; got ${c.got}`)))));
document.body.append(
  h("header", {}, h("h1", {}, page.title), h("p", {class: "about"}, page.about),
    page.partial ? h("p", {class: "partial"}, "Only a part: " + page.partial) : [],
    page.command ? h("p", {class: "command"}, page.command + (page.version ? "  (" + page.version + ")" : "")) : []),
  ...(page.tables || []).map(table),
  h("div", {class: "columns"},
    h("main", {}, ...page.sections.map(sectionOf)),
    h("aside", {}, claims || [], page.notes ? h("div", {}, h("h2", {}, "Notes"), ...page.notes.map((n) => h("p", {}, n))) : [], ...(page.beside || []).map(table))),
  ...(page.below || []).map(table), tip);

function layout() {
  const sizes = figures.map((f) => Math.floor(f.root.clientWidth));
  figures.forEach((f, i) => { if (sizes[i] && sizes[i] !== f.width) f.draw(sizes[i]); });
}
layout();
let pending = 0;
addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(layout); });
addEventListener("keydown", (e) => { if (e.key === "Escape") { zooms.clear(); redraw(); } });
matchMedia("print").addEventListener("change", layout);

// #picture=N leaves section N alone on the page, as the SVG that is saved.
const only = /^#picture=(\d+)$/.exec(location.hash);
if (only && page.sections[only[1]]) document.body.replaceChildren(picture(page.sections[only[1]], 1000));
})();
