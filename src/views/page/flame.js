// A flame graph of any tree of boxes (tree.js) on a canvas, zoomed to one box.

import {fitCanvas, fittingText, hideTip, kBoxFont, onceAFrame, showTip} from './canvas.js';
import {changeColour, focusColour, ink, isDark, kindColour, matchColour, paper} from './colours.js';
import {grouped, percent, seconds, signedPercent} from './numbers.js';
import {kEverything} from './tree.js';

const kLevel = 18, kLeastWidth = 0.4, kCharacter = 6.65;

export class FlameView {
  // `host`: the element that the view fills. `options`: {label, isInverted(), onZoom(box),
  // onOpen(box), say(text)}
  constructor(host, data, options) {
    this.host = host;
    this.data = data;
    this.options = options;
    this.root = null;
    this.zoomed = null;
    this.focused = null;
    this.matches = null;
    this.widthSide = 0;
    this.levels = [];  // levels[n]: the boxes of level n as [{box, x, width}], from left to right
    this.draw = onceAFrame(() => this.drawNow());
    this.makeElements();
    this.listen();
  }

  makeElements() {
    this.stage = document.createElement('div');
    this.stage.className = 'stage';
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('aria-hidden', 'true');
    this.stage.append(this.canvas);
    this.host.append(this.stage);
    this.host.tabIndex = 0;
    this.host.setAttribute('role', 'application');
    this.host.setAttribute('aria-roledescription', 'flame graph');
    this.host.setAttribute('aria-label', `${this.options.label}: arrow keys walk, Enter zooms, ` +
        'Backspace goes back, c shows callers and callees; the table has the same figures');
  }

  listen() {
    this.host.addEventListener('scroll', this.draw);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => {
      this.pointed = null;
      hideTip();
      this.draw();
    });
    this.canvas.addEventListener('click', (event) => {
      const box = this.boxAt(event);
      if (box) this.zoom(box);
    });
    this.canvas.addEventListener('dblclick', (event) => {
      const box = this.boxAt(event);
      if (box) this.options.onOpen(box);
    });
    this.host.addEventListener('keydown', (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.host);
  }

  show(root, zoomed, widthSide) {
    this.root = root;
    this.zoomed = zoomed ?? root;
    this.focused = null;
    this.pointed = null;
    this.widthSide = widthSide;
    this.scrollsToRoot = true;
    this.draw();
  }

  zoom(box) {
    this.zoomed = box;
    this.focused = box;
    this.scrollsToRoot = true;
    this.draw();
    this.options.onZoom(box);
    this.options.say(this.textOf(box));
  }

  // Computes the position of each visible box. Children lie within their box, in order; the rest of
  // the box's width is its self part.
  layOut(width) {
    const side = this.widthSide;
    const path = this.zoomed.path;
    this.levels = path.map((box) => [{box, x: 0, width}]);
    const whole = this.zoomed.weights[side];
    if (whole === 0) return;
    const scale = width / whole;
    let level = [{box: this.zoomed, x: 0, width}];
    while (level.length > 0) {
      const next = [];
      for (const {box, x} of level) {
        let start = x;
        for (const child of box.children) {
          const childWidth = child.weights[side] * scale;
          if (childWidth >= kLeastWidth) next.push({box: child, x: start, width: childWidth});
          start += childWidth;
        }
      }
      if (next.length > 0) this.levels.push(next);
      level = next;
    }
  }

  topOf(level) {
    return (this.options.isInverted() ? level : this.levels.length - 1 - level) * kLevel;
  }

  drawNow() {
    const width = this.host.clientWidth;
    if (this.root === null || width === 0) return;
    this.layOut(width);
    const height = this.levels.length * kLevel;
    this.stage.style.height = `${height}px`;
    if (this.scrollsToRoot) {
      this.scrollsToRoot = false;
      this.host.scrollTop = this.options.isInverted() ? 0 : height;
    }
    const shown = Math.min(height, this.host.clientHeight);
    const context = fitCanvas(this.canvas, width, shown);
    context.font = kBoxFont;
    context.textBaseline = 'middle';
    if (this.isDarkNow !== isDark()) {
      this.isDarkNow = isDark();
      this.colours = new Array(this.data.labels.size);
    }
    this.ink = ink();
    const top = this.host.scrollTop;
    this.levels.forEach((boxes, level) => {
      const y = this.topOf(level) - top;
      if (y <= -kLevel || y >= shown) return;
      for (const place of boxes) this.drawBox(context, place, y);
    });
  }

  drawBox(context, {box, x, width}, y) {
    const isMatch = this.matches !== null && this.isMatch(box);
    const isAncestor = box.depth < this.zoomed.depth;
    context.globalAlpha = isAncestor ? 0.55 : this.matches !== null && !isMatch ? 0.4 : 1;
    context.fillStyle = isMatch ? matchColour() : this.colourOf(box);
    context.fillRect(x, y, width > 2 ? width - 0.5 : Math.max(width, 0.3), kLevel - 1);
    context.globalAlpha = 1;
    if (box === this.focused || box === this.pointed) {
      context.strokeStyle = focusColour();
      context.lineWidth = box === this.focused ? 2 : 1;
      context.strokeRect(x + 1, y + 1, Math.max(1, width - 2.5), kLevel - 3);
    }
    const text = fittingText(this.nameOf(box), width - 7, kCharacter);
    if (text === '') return;
    context.fillStyle = this.ink;
    context.fillText(text, x + 3, y + kLevel / 2);
  }

  isMatch(box) {
    if (box.label >= 0) return this.matches[box.label] === 1;
    return box.label !== kEverything && this.data.functions[box.func].labels.some((label) => this.matches[label] === 1);
  }
  nameOf(box) {
    if (box.label >= 0) return this.data.labels.name[box.label];
    return box.func === undefined ? 'all' : this.data.functions[box.func].name;
  }
  kindOf(box) {
    if (box.label >= 0) return this.data.labels.kind[box.label];
    return box.func === undefined ? 0 : this.data.labels.kind[this.data.functions[box.func].labels[0]];
  }
  shareOf(box, side) {
    const whole = box.tree.sides[side].period;
    return whole === 0 ? 0 : box.weights[side] / whole;
  }
  colourOf(box) {
    if (!this.data.isDiff) {
      if (box.label < 0) return kindColour(this.kindOf(box), this.nameOf(box));
      return (this.colours[box.label] ??= kindColour(this.kindOf(box), this.nameOf(box)));
    }
    const before = this.shareOf(box, 0), after = this.shareOf(box, 1);
    const most = Math.max(before, after);
    return most === 0 ? paper() : changeColour((after - before) / most);
  }

  // Returns the lines that describe a box.
  linesOf(box) {
    const {data} = this;
    const image = box.label >= 0 ? data.labels.image[box.label] : '';
    const kind = box.label >= 0 && data.labels.kind[box.label] !== 0 ? this.options.kindName(this.kindOf(box)) : '';
    const lines = [this.nameOf(box), [kind, image].filter((text) => text !== '').join(' · ')];
    if (data.isDiff) {
      const before = this.shareOf(box, 0), after = this.shareOf(box, 1);
      lines.push(`before ${percent(before)}, after ${percent(after)}: ${signedPercent(after - before)}`);
    } else {
      const samples = box.tree.samplesOf(box, 0), self = box.tree.selfOf(box, 0);
      const time = this.options.isTime() ? `, ${seconds(box.weights[0])}` : '';
      lines.push(`${grouped(samples)} samples, ${percent(this.shareOf(box, 0))}${time}`);
      if (this.zoomed !== this.root && this.zoomed.weights[0] > 0) {
        lines.push(`${percent(box.weights[0] / this.zoomed.weights[0])} of ${this.nameOf(this.zoomed)}`);
      }
      lines.push(`itself ${percent(self / Math.max(1, box.tree.sides[0].period))}`);
    }
    return lines.filter((text) => text !== '');
  }
  textOf(box) {
    return this.linesOf(box).join(' — ');
  }

  boxAt(event) {
    const {left, top} = this.stage.getBoundingClientRect();
    const x = event.clientX - left;
    const row = Math.floor((event.clientY - top) / kLevel);
    const level = this.options.isInverted() ? row : this.levels.length - 1 - row;
    const place = (this.levels[level] ?? []).find((other) => x >= other.x && x < other.x + Math.max(other.width, 1));
    return place?.box ?? null;
  }

  point(event) {
    const box = this.boxAt(event);
    if (box === null) {
      hideTip();
    } else {
      showTip(event, this.linesOf(box));
    }
    if (box === this.pointed) return;
    this.pointed = box;
    this.draw();
  }

  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.focused ?? this.zoomed;
    const away = this.options.isInverted() ? 'ArrowDown' : 'ArrowUp';
    const back = this.options.isInverted() ? 'ArrowUp' : 'ArrowDown';
    let next = null;
    if (event.key === away) {
      next = this.heaviestChildOf(at);
    } else if (event.key === back) {
      next = at.parent;
    } else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      next = this.neighbourOf(at, event.key === 'ArrowRight' ? 1 : -1);
    } else if (event.key === 'Enter') {
      this.zoom(at);
    } else if (event.key === 'Backspace' || event.key === 'Escape') {
      if (this.zoomed === this.root) return;
      this.zoom(event.key === 'Escape' ? this.root : this.zoomed.parent);
    } else if (event.key === 'c') {
      this.options.onOpen(at);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (next !== null) this.focus(next);
  }
  heaviestChildOf(box) {
    const side = this.widthSide;
    return box.children.reduce((best, child) =>
      (best === null || child.weights[side] > best.weights[side] ? child : best), null);
  }
  neighbourOf(box, step) {
    const places = this.levels[box.depth] ?? [];
    const at = places.findIndex((place) => place.box === box);
    return places[at + step]?.box ?? null;
  }
  focus(box) {
    this.focused = box;
    if (box.depth < this.zoomed.depth) this.zoomed = box;
    this.bringIntoSight(box);
    this.options.say(this.textOf(box));
    this.draw();
  }
  bringIntoSight(box) {
    const top = this.topOf(box.depth);
    if (top < this.host.scrollTop) this.host.scrollTop = top;
    const bottom = top + kLevel - this.host.clientHeight;
    if (bottom > this.host.scrollTop) this.host.scrollTop = bottom;
  }
}
