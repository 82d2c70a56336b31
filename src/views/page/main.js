// Connects the modules: passes each change of the state to the views that depend on it, and
// computes nothing twice. A change of event, time or threads makes a new selection. A hidden view
// is updated when it is opened.

import {hideTip} from './canvas.js';
import {CodeView} from './code.js';
import {kindColour, onDarkness, onPaper} from './colours.js';
import {kKinds, readData} from './data.js';
import {FlameView} from './flame.js';
import {HeatView} from './heat.js';
import {listenForKeys} from './keyboard.js';
import {grouped, percent, seconds} from './numbers.js';
import {SandwichView} from './sandwich.js';
import {findMatches, matchedShare} from './search.js';
import {eventChoices, select} from './selection.js';
import {change, fragment, onChange, readFragment, startState, state} from './state.js';
import {kSorts, TableView} from './table.js';
import {Timeline} from './timeline.js';
import {callTree, leafTree} from './tree.js';

const kViews = ['flame', 'table', 'sandwich', 'heat', 'code'];
const element = (id) => document.getElementById(id);

// Returns the time that is selected first: the second before and after the moment for which a flight
// recorder wrote the recording, or all time.
function timeAround({moment, slices, sliceLength}) {
  if (moment === null) return {};
  const second = Math.ceil(1e9 / sliceLength);
  return {from: Math.max(0, moment.slice - second), to: Math.min(slices - 1, moment.slice + second)};
}

class Page {
  constructor(data) {
    this.data = data;
    this.choices = eventChoices(data.about);
    this.isStale = new Set(kViews);
    const say = (text) => (element('details').textContent = text);
    const open = (func) => change({func, view: 'sandwich'}, true);
    const options = {
      say,
      kindName: (kind) => kKinds[kind],
      isTime: () => this.choice.isTime,
      onOpen: (box) => {
        const func = box.label >= 0 ? data.labels.functionOf[box.label] : box.func ?? -1;
        if (func >= 0) open(func);
      },
      onOpenFunction: open,
    };
    this.timeline = new Timeline(data, say);
    this.flame = new FlameView(element('flame'), data, {
      ...options,
      label: 'Flame graph',
      isInverted: () => state.inverted,
      onZoom: (box) => {
        change({zoom: box.path.slice(1).map((at) => at.label)}, true);
        this.showPath(box);
      },
    });
    this.sandwich = new SandwichView(data, options);
    this.table = new TableView(element('table'), data, open);
    this.heat = new HeatView(data, options);
    this.code = new CodeView(data);
    this.start();
  }

  get choice() {
    return this.choices[state.event];
  }

  start() {
    const {about} = this.data;
    this.fillHeader();
    const wanted = this.choices.findIndex((choice) => choice.members.some((event) => event.number === about.event));
    const func = about.function === '' ? -1 : this.data.functions.findIndex((known) => known.name === about.function);
    startState({
      view: about.view, reverse: about.reverse, inverted: about.inverted, func,
      event: about.event === undefined ? 0 : Math.max(0, wanted),
      sort: this.data.isDiff ? 'change' : 'self', ...timeAround(this.data),
    }, this.data.slices);
    onChange((names) => this.update(names));
    this.listen();
    readFragment(this.limits());
    this.update(new Set(Object.keys(state)));
  }
  limits() {
    return {
      threads: this.data.threads.length, events: this.choices.length, functions: this.data.functions.length,
      sorts: kSorts,
    };
  }

  fillHeader() {
    const {about} = this.data;
    const title = about.title || about.sides.map((side) => side.name).join(' → ');
    document.title = title;
    element('title').textContent = title;
    element('event').replaceChildren(...this.choices.map((choice, i) => {
      const option = document.createElement('option');
      option.value = i;
      option.textContent = choice.name;
      return option;
    }));
    element('notes').replaceChildren(...[...about.notes, about.program && `made by ${about.program}`]
        .filter(Boolean).map((note) => {
          const text = document.createElement('p');
          text.textContent = note;
          return text;
        }));
    element('width-of-label').hidden = !this.data.isDiff;
  }

  // Updates the parts of the page that depend on the changed names.
  update(names) {
    const any = (...wanted) => wanted.some((name) => names.has(name));
    if (any('theme')) document.documentElement.dataset.theme = state.theme;
    if (any('event')) this.timeline.show(this.choice);
    if (any('event', 'from', 'to', 'threads')) {
      this.selection = select(this.data, this.choice);
      this.isStale = new Set(kViews);
      this.tree = null;
    }
    if (any('query', 'event')) {
      const found = findMatches(this.data, state.query);
      this.matches = found.matches;
      element('search').classList.toggle('wrong', found.isWrong);
    }
    if (any('reverse', 'widthOf')) this.tree = null;
    if (any('reverse', 'inverted', 'widthOf', 'query', 'theme')) this.isStale.add('flame');
    if (any('zoom') && this.flame.root !== null && !this.isZoomed()) this.isStale.add('flame');
    if (any('func', 'query', 'widthOf', 'theme')) this.isStale.add('sandwich');
    if (any('query', 'sort', 'ascending')) this.isStale.add('table');
    if (any('query', 'heatRows', 'heatOf', 'theme')) this.isStale.add('heat');
    if (any('func')) this.isStale.add('code');
    this.showControls();
    this.showView();
    if (any('event', 'from', 'to', 'threads', 'theme')) this.timeline.showChosen();
  }

  showControls() {
    const {sides, choice} = this.selection;
    element('event').value = state.event;
    if (element('search').value !== state.query) element('search').value = state.query;
    element('theme').textContent = `Theme: ${state.theme}`;
    element('reverse').checked = state.reverse;
    element('inverted').checked = state.inverted;
    element('width-of').value = state.widthOf;
    element('heat-rows').value = state.heatRows;
    element('heat-of').value = state.heatOf;
    const amount = (side) => `${grouped(side.count)} samples` + (choice.isTime ? `, ${seconds(side.period)}` : '');
    element('subtitle').textContent = this.data.isDiff
      ? `${choice.name} · before ${amount(sides[0])} · after ${amount(sides[1])}`
      : `${choice.name} · ${amount(sides[0])}${this.unnamedText(sides[0])}`;
    element('matched').textContent = this.matches === null ? ''
      : `matched ${sides.map((side) => percent(matchedShare(this.data, side, this.matches))).join(' → ')}`;
  }
  unnamedText(side) {
    if (side.period === 0) return '';
    const unnamed = this.choice.members.reduce((sum, event) => sum + event.unnamed, 0);
    const whole = this.choice.members.reduce((sum, event) => sum + event.period, 0);
    return ` · ${percent(whole === 0 ? 0 : unnamed / whole)} of the recording in code without a name`;
  }

  showView() {
    for (const view of kViews) {
      const isShown = view === state.view;
      element(`view-${view}`).hidden = !isShown;
      const tab = element(`tab-${view}`);
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    hideTip();
    if (!this.isStale.delete(state.view)) return;
    if (state.view === 'flame') this.showFlame();
    else if (state.view === 'table') this.table.show(this.selection, this.matches);
    else if (state.view === 'sandwich') this.sandwich.show(this.selection, this.matches);
    else if (state.view === 'heat') this.heat.show(this.selection, this.matches);
    else this.code.show();
  }

  showFlame() {
    const {sides} = this.selection;
    this.tree ??= (state.reverse ? leafTree : callTree)(this.data, sides);
    this.flame.matches = this.matches;
    const zoomed = this.zoomedIn(this.tree);
    this.flame.show(this.tree, zoomed, this.data.isDiff && state.widthOf === 'before' ? 0 : sides.length - 1);
    this.showPath(zoomed);
    this.showLegend();
  }
  // Returns the box to which the zoom's labels lead from the root, or the last box on the way that
  // exists.
  zoomedIn(root) {
    let box = root;
    for (const label of state.zoom) {
      const next = box.children.find((child) => child.label === label);
      if (next === undefined) break;
      box = next;
    }
    return box;
  }
  isZoomed() {
    const labels = this.flame.zoomed.path.slice(1).map((box) => box.label);
    return labels.join('.') === state.zoom.join('.');
  }
  showPath(zoomed) {
    element('reset').disabled = zoomed === this.tree;
    const shown = zoomed.path.slice(-4);
    element('path').replaceChildren(...(zoomed === this.tree ? [] : shown).map((box) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = this.flame.nameOf(box);
      button.addEventListener('click', () => this.flame.zoom(box));
      return button;
    }));
  }
  showLegend() {
    const marks = this.data.isDiff
      ? [['less', 'less than before'], ['more', 'more than before']]
      : [...new Set(this.data.labels.kind)].sort((a, b) => a - b).map((kind) => [kind, kKinds[kind]]);
    element('legend').replaceChildren(...marks.map(([kind, name]) => {
      const item = document.createElement('span');
      const mark = document.createElement('i');
      if (typeof kind === 'string') mark.className = kind;
      else mark.style.background = kindColour(kind, '');
      item.append(mark, name);
      return item;
    }));
  }

  listen() {
    window.addEventListener('hashchange', () => readFragment(this.limits()));
    element('event').addEventListener('change', (event) => change({event: Number(event.target.value)}, true));
    element('search').addEventListener('input', (event) => change({query: event.target.value}));
    element('search').addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      change({query: ''});
      event.target.blur();
    });
    element('theme').addEventListener('click', () => this.nextTheme());
    element('link').addEventListener('click', () => this.copyLink());
    element('reverse').addEventListener('change', (event) => change({reverse: event.target.checked, zoom: []}));
    element('inverted').addEventListener('change', (event) => change({inverted: event.target.checked}));
    element('width-of').addEventListener('change', (event) => change({widthOf: event.target.value}));
    element('heat-rows').addEventListener('change', (event) => change({heatRows: Number(event.target.value)}));
    element('heat-of').addEventListener('change', (event) => change({heatOf: event.target.value}));
    element('reset').addEventListener('click', () => this.flame.zoom(this.tree));
    element('help-button').addEventListener('click', () => element('help').showModal());
    this.listenForTabs();
    onPaper(() => this.drawNow());
    onDarkness(() => this.redraw());
    listenForKeys({
      search: () => element('search').focus(),
      view: (number) => change({view: kViews[number]}, true),
      reverse: () => change({reverse: !state.reverse, zoom: []}),
      invert: () => change({inverted: !state.inverted}),
      moveTime: (step) => this.moveTime(step),
      all: () => change({from: 0, to: this.data.slices - 1, threads: null}),
      resetZoom: () => this.tree && this.flame.zoom(this.tree),
      theme: () => this.nextTheme(),
      help: () => element('help').showModal(),
    });
  }
  listenForTabs() {
    kViews.forEach((view, i) => {
      const tab = element(`tab-${view}`);
      tab.addEventListener('click', () => change({view}, true));
      tab.addEventListener('keydown', (event) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (step === undefined) return;
        const next = kViews[(i + step + kViews.length) % kViews.length];
        change({view: next}, true);
        element(`tab-${next}`).focus();
      });
    });
  }
  // Draws everything at once, in full height, for printing.
  drawNow() {
    this.flame.drawNow();
    this.timeline.drawNow();
    this.heat.drawNow();
    for (const view of [this.sandwich.callers, this.sandwich.callees]) view.drawNow();
    this.showLegend();
  }

  nextTheme() {
    change({theme: {auto: 'light', light: 'dark', dark: 'auto'}[state.theme]});
    this.redraw();
  }
  redraw() {
    this.isStale.add(state.view);
    this.showView();
    this.timeline.draw();
    this.showLegend();
  }
  moveTime(step) {
    const length = state.to - state.from + 1, {slices} = this.data;
    const from = Math.max(0, Math.min(slices - length, state.from + step * Math.max(1, Math.floor(length / 2))));
    change({from, to: from + length - 1});
  }
  async copyLink() {
    const address = `${location.href.split('#')[0]}#${fragment()}`;
    try {
      await navigator.clipboard.writeText(address);
      element('details').textContent = 'The link to this view is copied.';
    } catch {
      element('details').textContent = `The link to this view: ${address}`;
    }
  }
}

async function start() {
  const text = element('data');
  const data = await readData(text.textContent);
  text.remove();
  window.profilePage = new Page(data);
}

start().catch((error) => {
  element('details').textContent = `This page cannot be shown: ${error.message}. ` +
      'It takes a browser of 2023 or later (DecompressionStream with deflate-raw).';
  throw error;
});
