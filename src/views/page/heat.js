// The heat map: a row per function, a column per time slice; darker cells have more samples.

import {fitCanvas, fittingText, hideTip, kBoxFont, onceAFrame, showTip} from './canvas.js';
import {focusColour, heatColour, ink} from './colours.js';
import {percent, seconds} from './numbers.js';
import {state} from './state.js';

const kGutter = 300, kRow = 16;

// Returns the heaviest functions of the selection, and their amounts by time slice.
export function heatCells(data, {sides, choice}, count, isTotal) {
  const side = sides.at(-1);
  const {rows, nodes, labels} = data;
  const values = isTotal ? side.functions.total : side.functions.self;
  const order = data.functions.map((known) => known.number).filter((number) => values[number] > 0)
      .sort((a, b) => values[b] - values[a]).slice(0, count);
  const rowOf = new Int32Array(data.functions.length).fill(-1);
  order.forEach((number, row) => (rowOf[number] = row));
  const columns = state.to - state.from + 1;
  const cells = order.map(() => new Float64Array(columns));
  const sums = new Float64Array(columns);
  const isEventChosen = new Uint8Array(data.about.events.length);
  for (const event of choice.events.at(-1)) isEventChosen[event] = 1;
  // heatRow[node]: row of its function, or −1. above[node]: its nearest caller with a row.
  const heatRow = new Int32Array(nodes.size).fill(-1), above = new Uint32Array(nodes.size);
  for (let node = 1; node < nodes.size; ++node) {
    const func = labels.functionOf[nodes.label[node]];
    if (func >= 0 && !(isTotal && nodes.nested[node] === 1)) heatRow[node] = rowOf[func];
    const parent = nodes.parent[node];
    above[node] = heatRow[parent] >= 0 ? parent : above[parent];
  }
  for (let i = rows.begin[state.from]; i < rows.begin[state.to + 1]; ++i) {
    if (isEventChosen[rows.event[i]] === 0) continue;
    if (state.threads !== null && !state.threads.has(rows.thread[i])) continue;
    const column = rows.slice[i] - state.from;
    sums[column] += rows.period[i];
    let node = rows.path[i];
    if (isTotal && heatRow[node] < 0) node = above[node];
    for (; node !== 0; node = above[node]) {
      if (heatRow[node] >= 0) cells[heatRow[node]][column] += rows.period[i];
      if (!isTotal) break;
    }
  }
  return {order, cells, sums};
}

export class HeatView {
  constructor(data, options) {
    this.data = data;
    this.options = options;
    this.canvas = document.getElementById('heat');
    this.active = -1;
    this.draw = onceAFrame(() => this.drawNow());
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', hideTip);
    this.canvas.addEventListener('click', (event) => this.open(this.rowAt(event)));
    this.canvas.addEventListener('keydown', (event) => this.press(event));
    new ResizeObserver(this.draw).observe(this.canvas.parentElement);
  }

  show(selection, matches) {
    this.matches = matches;
    this.heat = heatCells(this.data, selection, state.heatRows, state.heatOf === 'total');
    // Off-CPU time is recorded at its end, so it may be longer than its slice.
    this.most = selection.choice.hasStates && this.data.sliceLength > 0 ? this.data.sliceLength
      : this.heat.cells.reduce((most, cells) => cells.reduce((a, b) => Math.max(a, b), most), 1);
    this.draw();
  }

  get width() {
    return this.canvas.parentElement.clientWidth;
  }
  get columns() {
    return state.to - state.from + 1;
  }

  drawNow() {
    if (!this.heat || this.width === 0) return;
    const context = fitCanvas(this.canvas, this.width, Math.max(1, this.heat.order.length) * kRow);
    context.font = kBoxFont;
    context.textBaseline = 'middle';
    const columnWidth = (this.width - kGutter) / this.columns;
    this.heat.order.forEach((func, row) => {
      const y = row * kRow;
      const {name, labels} = this.data.functions[func];
      context.globalAlpha = this.matches === null || labels.some((label) => this.matches[label] === 1) ? 1 : 0.4;
      context.fillStyle = ink();
      context.fillText(fittingText(name, kGutter - 12, 6.65), 4, y + kRow / 2);
      this.heat.cells[row].forEach((value, column) => {
        context.fillStyle = heatColour(value / this.most);
        context.fillRect(kGutter + column * columnWidth, y, columnWidth + 0.3, kRow - 1);
      });
      context.globalAlpha = 1;
      if (row !== this.active) return;
      context.strokeStyle = focusColour();
      context.strokeRect(0.5, y + 0.5, this.width - 1, kRow - 2);
    });
  }

  rowAt(event) {
    return Math.floor((event.clientY - this.canvas.getBoundingClientRect().top) / kRow);
  }
  open(row) {
    const func = this.heat.order[row];
    if (func !== undefined) this.options.onOpenFunction(func);
  }
  shareOf(row, column) {
    return this.heat.sums[column] === 0 ? 0 : this.heat.cells[row][column] / this.heat.sums[column];
  }

  point(event) {
    const row = this.rowAt(event);
    const func = this.heat.order[row];
    if (func === undefined) return hideTip();
    const lines = [this.data.functions[func].name];
    const x = event.clientX - this.canvas.getBoundingClientRect().left - kGutter;
    const column = Math.floor((x * this.columns) / (this.width - kGutter));
    if (column >= 0 && column < this.columns) {
      lines.push(`${percent(this.shareOf(row, column))} of what was there ` +
          `${seconds((state.from + column) * this.data.sliceLength)} from the start`);
    }
    return showTip(event, lines);
  }

  press(event) {
    if (event.key === 'ArrowDown') this.active = Math.min(this.heat.order.length - 1, this.active + 1);
    else if (event.key === 'ArrowUp') this.active = Math.max(0, this.active - 1);
    else if (event.key === 'Enter') return this.open(this.active);
    else return undefined;
    event.preventDefault();
    const func = this.heat.order[this.active];
    const sum = this.heat.cells[this.active].reduce((a, b) => a + b, 0);
    const whole = this.heat.sums.reduce((a, b) => a + b, 0);
    this.options.say(`${this.data.functions[func].name} — ${percent(sum / Math.max(whole, 1))}`);
    this.draw();
    return undefined;
  }
}
