// The time strip: all threads together on top, and a row per thread. Dragging selects an interval,
// a click selects a thread; all other views follow.
//
// A cell shows a thread's amount in a time slice. Off-CPU time is recorded at its end, so the part
// that exceeds its slice is moved to the slices before.

import {fitCanvas, fittingText, hideTip, kSmallFont, onceAFrame, showTip} from './canvas.js';
import {faint, focusColour, ink, kStates, line, paper, stateColour} from './colours.js';
import {grouped, percent, seconds} from './numbers.js';
import {isWholeTime} from './selection.js';
import {change, state} from './state.js';

const kGutter = 190, kRow = 16, kOverview = 46, kAxis = 14;

function stateOf(event) {
  if (!event.isOffCpu) return 0;
  return event.name.startsWith('offcpu-time') ? 1 : 2;
}

// Returns {order, weights, cells, overview}. `order` has the threads, the heaviest first.
// weights[t] is the weight of thread t. cells[state][t * slices + slice] is the amount of thread t
// in a slice, and overview[state][slice] is the amount of all threads.
export function threadCells(data, choice) {
  const {rows, threads, slices} = data;
  const stateOfEvent = new Int8Array(data.about.events.length).fill(-1);
  for (const event of choice.members) stateOfEvent[event.number] = choice.hasStates ? stateOf(event) : 0;
  const cells = (choice.hasStates ? kStates : ['']).map(() => new Float64Array(threads.length * slices));
  const weights = new Float64Array(threads.length);
  for (let i = 0; i < rows.size; ++i) {
    const state = stateOfEvent[rows.event[i]];
    if (state < 0) continue;
    cells[state][rows.thread[i] * slices + rows.slice[i]] += rows.period[i];
    weights[rows.thread[i]] += rows.period[i];
  }
  if (choice.hasStates) {
    for (let thread = 0; thread < threads.length; ++thread) {
      if (weights[thread] > 0) spreadBack(cells, thread * slices, slices, data.sliceLength);
    }
  }
  const overview = cells.map((values) => {
    const sums = new Float64Array(slices);
    for (let i = 0; i < values.length; ++i) sums[i % slices] += values[i];
    return sums;
  });
  const order = threads.map((thread) => thread.number).filter((thread) => weights[thread] > 0)
      .sort((a, b) => weights[b] - weights[a]);
  return {order, weights, cells, overview};
}

// Moves time that a slice cannot hold to the slices before. A thread spends at most the length of a
// slice in it, so the off-CPU time beyond that began in an earlier slice.
function spreadBack(cells, first, slices, length) {
  for (let slice = slices - 1; slice > 0; --slice) {
    let room = Math.max(0, length - cells[0][first + slice]);
    for (let state = 1; state < cells.length; ++state) {
      const beyond = Math.max(0, cells[state][first + slice] - room);
      cells[state][first + slice] -= beyond;
      cells[state][first + slice - 1] += beyond;
      room -= cells[state][first + slice];
    }
  }
}

export class Timeline {
  constructor(data, say) {
    this.data = data;
    this.say = say;
    this.overview = document.getElementById('overview');
    this.host = document.getElementById('threads');
    this.stage = this.host.querySelector('.stage');
    this.canvas = document.getElementById('threads-canvas');
    this.active = 0;  // index of the row with the keyboard's focus
    this.draw = onceAFrame(() => this.drawNow());
    this.listen();
    new ResizeObserver(this.draw).observe(this.host.parentElement);
  }

  show(choice) {
    this.choice = choice;
    this.cells = threadCells(this.data, choice);
    this.stage.style.height = `${this.cells.order.length * kRow}px`;
    document.getElementById('states').replaceChildren(...(choice.hasStates ? kStates : []).map((name, i) => {
      const item = document.createElement('span');
      const mark = document.createElement('i');
      mark.style.background = stateColour(i);
      item.append(mark, name);
      return item;
    }));
    this.draw();
  }

  get width() {
    return this.host.clientWidth;
  }
  get plotWidth() {
    return Math.max(1, this.width - kGutter);
  }
  xOf(slice) {
    return kGutter + (slice * this.plotWidth) / this.data.slices;
  }
  sliceAt(event) {
    const x = event.clientX - this.host.getBoundingClientRect().left - kGutter;
    return Math.max(0, Math.min(this.data.slices - 1, Math.floor((x * this.data.slices) / this.plotWidth)));
  }
  rowAt(event) {
    return Math.floor((event.clientY - this.stage.getBoundingClientRect().top) / kRow);
  }

  drawNow() {
    if (!this.cells || this.width === 0) return;
    this.drawOverview();
    this.drawThreads();
  }

  drawOverview() {
    const context = fitCanvas(this.overview, this.width, kOverview + kAxis);
    const {overview} = this.cells;
    const sums = Array.from({length: this.data.slices}, (_, slice) =>
      overview.reduce((sum, values) => sum + values[slice], 0));
    const most = Math.max(...sums, 1);
    for (let slice = 0; slice < this.data.slices; ++slice) {
      let y = kOverview;
      overview.forEach((values, state) => {
        const height = (values[slice] / most) * (kOverview - 2);
        context.fillStyle = stateColour(state);
        context.fillRect(this.xOf(slice), y - height, this.xOf(slice + 1) - this.xOf(slice) + 0.3, height);
        y -= height;
      });
    }
    this.drawBrush(context, kOverview);
    this.drawAxis(context);
    this.drawMoment(context);
    context.font = kSmallFont;
    context.textBaseline = 'middle';
    context.fillStyle = ink();
    context.fillText(fittingText(this.cells.order.length === 1 ? '1 thread' : `${grouped(this.cells.order.length)} threads`, kGutter - 8, 6), 4, kOverview / 2);
  }

  // Draws marks at round seconds since the first sample.
  drawAxis(context) {
    const whole = (this.data.slices * this.data.sliceLength) / 1e9;
    context.font = kSmallFont;
    context.textBaseline = 'top';
    context.fillStyle = faint();
    if (!(whole > 0)) return;
    const rough = whole / Math.max(2, this.plotWidth / 90);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    for (let at = 0; at <= whole; at += step) {
      const x = kGutter + (at / whole) * this.plotWidth;
      context.fillRect(x, kOverview, 1, 3);
      if (x < this.width - 40) context.fillText(`${at.toFixed(digits)} s`, x + 3, kOverview + 2);
    }
  }

  // Marks the moment for which a flight recorder wrote the recording, with its reason.
  drawMoment(context) {
    const {moment} = this.data;
    if (moment === null) return;
    const x = (this.xOf(moment.slice) + this.xOf(moment.slice + 1)) / 2, isLeft = x > kGutter + this.plotWidth / 2;
    context.fillStyle = ink();
    context.fillRect(x, 0, 1, kOverview);
    context.font = kSmallFont;
    context.textBaseline = 'top';
    context.textAlign = isLeft ? 'right' : 'left';
    context.fillText(fittingText(moment.reason, this.plotWidth / 2 - 8, 6), isLeft ? x - 4 : x + 4, 2);
    context.textAlign = 'left';
  }

  drawBrush(context, height) {
    if (isWholeTime(this.data)) return;
    const left = this.xOf(state.from), right = this.xOf(state.to + 1);
    context.save();
    context.globalAlpha = 0.72;
    context.fillStyle = paper();
    context.fillRect(kGutter, 0, left - kGutter, height);
    context.fillRect(right, 0, this.width - right, height);
    context.restore();
    context.fillStyle = focusColour();
    context.fillRect(left, 0, 1, height);
    context.fillRect(right - 1, 0, 1, height);
  }

  drawThreads() {
    const height = Math.min(this.cells.order.length * kRow, this.host.clientHeight);
    const context = fitCanvas(this.canvas, this.width, height);
    const first = Math.floor(this.host.scrollTop / kRow);
    const last = Math.min(this.cells.order.length, Math.ceil((this.host.scrollTop + height) / kRow));
    const capacity = this.capacity();
    context.font = kSmallFont;
    context.textBaseline = 'middle';
    for (let row = first; row < last; ++row) {
      this.drawThread(context, row, row * kRow - this.host.scrollTop, capacity);
    }
    this.drawBrush(context, height);
  }

  // Returns the amount of a full cell: a slice's whole time, or without times the heaviest cell's
  // amount.
  capacity() {
    if (this.choice.hasStates && this.data.sliceLength > 0) return this.data.sliceLength;
    return this.cells.cells[0].reduce((most, value) => Math.max(most, value), 1);
  }

  drawThread(context, row, y, capacity) {
    const {slices} = this.data;
    const thread = this.cells.order[row];
    const isChosen = state.threads === null || state.threads.has(thread);
    const colours = this.cells.cells.map((_, number) => stateColour(number));
    context.globalAlpha = isChosen ? 1 : 0.35;
    context.fillStyle = ink();
    context.fillText(fittingText(this.nameOf(thread), kGutter - 10, 5.8), 4, y + kRow / 2);
    for (let slice = 0; slice < slices; ++slice) {
      const top = y + 1;
      let bottom = y + kRow - 2;
      this.cells.cells.forEach((values, number) => {
        const part = Math.min(1, values[thread * slices + slice] / capacity);
        if (part === 0) return;
        const left = this.xOf(slice), height = Math.min(bottom - top, Math.max(1, part * (kRow - 3)));
        context.fillStyle = colours[number];
        context.fillRect(left, bottom - height, this.xOf(slice + 1) - left + 0.3, height);
        bottom -= height;
      });
    }
    context.globalAlpha = 1;
    if (row === this.active && document.activeElement === this.host) {
      context.strokeStyle = focusColour();
      context.strokeRect(0.5, y + 0.5, this.width - 1, kRow - 2);
    }
    context.fillStyle = line();
    context.fillRect(0, y + kRow - 1, this.width, 0.5);
  }

  nameOf(number) {
    const thread = this.data.threads[number];
    const side = this.data.isDiff ? `${thread.side === 0 ? 'before' : 'after'} ` : '';
    if (thread.threads > 1) return `${side}${thread.comm} (${grouped(thread.threads)} threads)`;
    return thread.tid === 0 && thread.pid === 0 ? `${side}${thread.comm}` : `${side}${thread.comm} ${thread.tid}`;
  }
  textOf(number) {
    const whole = this.cells.weights.reduce((sum, weight) => sum + weight, 0);
    const thread = this.data.threads[number];
    const process = thread.pid !== 0 ? `, process ${thread.pid}` : '';
    return `${this.nameOf(number)}${process} — ${percent(this.cells.weights[number] / Math.max(whole, 1))}`;
  }

  listen() {
    this.host.addEventListener('scroll', this.draw);
    for (const canvas of [this.overview, this.canvas]) this.listenForBrush(canvas);
    this.host.addEventListener('keydown', (event) => this.press(event));
    for (const name of ['focus', 'blur']) this.host.addEventListener(name, () => this.tellOption());
    const from = document.getElementById('from'), to = document.getElementById('to');
    for (const slider of [from, to]) slider.max = this.data.slices - 1;
    from.addEventListener('input', () => this.choose(Number(from.value), Math.max(state.to, Number(from.value))));
    to.addEventListener('input', () => this.choose(Math.min(state.from, Number(to.value)), Number(to.value)));
    document.getElementById('all-time').addEventListener('click', () => this.choose(0, this.data.slices - 1));
    document.getElementById('all-threads').addEventListener('click', () => change({threads: null}));
  }

  listenForBrush(canvas) {
    let start = null, isDragged = false;
    canvas.addEventListener('pointerdown', (event) => {
      start = {x: event.clientX, slice: this.sliceAt(event)};
      isDragged = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (start === null) return this.point(canvas, event);
      if (Math.abs(event.clientX - start.x) > 3) isDragged = true;
      if (isDragged) this.brushTo(start.slice, this.sliceAt(event));
      return undefined;
    });
    canvas.addEventListener('pointerup', (event) => {
      const wasClick = start !== null && !isDragged;
      start = null;
      if (wasClick && canvas === this.canvas) this.toggle(this.rowAt(event), event.ctrlKey || event.shiftKey);
    });
    canvas.addEventListener('pointerleave', hideTip);
    canvas.addEventListener('dblclick', () => this.choose(0, this.data.slices - 1));
  }
  brushTo(first, second) {
    this.wanted = [Math.min(first, second), Math.max(first, second)];
    this.follow ??= onceAFrame(() => this.choose(...this.wanted));
    this.follow();
  }
  choose(from, to) {
    change({from, to});
  }

  point(canvas, event) {
    if (canvas !== this.canvas) return;
    const thread = this.cells.order[this.rowAt(event)];
    if (thread === undefined) return hideTip();
    const slice = this.sliceAt(event);
    const lines = [this.textOf(thread)];
    if (this.data.sliceLength > 0) lines.push(`${seconds(slice * this.data.sliceLength)} from the start`);
    showTip(event, lines);
    return undefined;
  }

  // Selects only the thread of this row. With `isAdded`, adds the thread to the selection instead,
  // or removes it if it is selected.
  toggle(row, isAdded) {
    const thread = this.cells.order[row];
    if (thread === undefined) return;
    this.active = row;
    const chosen = state.threads;
    let threads = new Set([thread]);
    if (isAdded) {
      threads = new Set(chosen ?? []);
      if (!threads.delete(thread)) threads.add(thread);
    } else if (chosen !== null && chosen.size === 1 && chosen.has(thread)) {
      threads = new Set();
    }
    change({threads: threads.size === 0 ? null : threads});
    this.tellOption();
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.host.clientHeight / kRow));
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in steps) {
      this.active = Math.max(0, Math.min(this.cells.order.length - 1, this.active + steps[event.key]));
      const top = this.active * kRow;
      if (top < this.host.scrollTop) this.host.scrollTop = top;
      if (top + kRow > this.host.scrollTop + this.host.clientHeight) {
        this.host.scrollTop = top + kRow - this.host.clientHeight;
      }
      this.tellOption();
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.toggle(this.active, event.key === ' ');
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }
  // Describes the active thread to screen readers.
  tellOption() {
    const option = document.getElementById('thread-option');
    const thread = this.cells?.order[this.active];
    if (thread === undefined) return;
    option.textContent = this.textOf(thread);
    option.setAttribute('aria-selected', String(state.threads?.has(thread) ?? true));
    this.host.setAttribute('aria-activedescendant', 'thread-option');
    this.say(this.textOf(thread));
    this.draw();
  }

  showChosen() {
    document.getElementById('from').value = state.from;
    document.getElementById('to').value = state.to;
    const length = this.data.sliceLength;
    document.getElementById('range').textContent = length > 0
      ? `${seconds(state.from * length)} – ${seconds((state.to + 1) * length)}` : 'no times recorded';
    document.getElementById('all-time').disabled = isWholeTime(this.data);
    document.getElementById('all-threads').disabled = state.threads === null;
    this.draw();
  }
}
