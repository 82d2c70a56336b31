// One function, between its callers and its callees.

import {FlameView} from './flame.js';
import {grouped, percent} from './numbers.js';
import {calleeTree, callerTree} from './tree.js';
import {change, state} from './state.js';

const kMostNames = 2000;

export class SandwichView {
  constructor(data, options) {
    this.data = data;
    this.input = document.getElementById('function');
    this.facts = document.getElementById('function-facts');
    const flame = (id, label, isInverted) => new FlameView(document.getElementById(id), data, {
      ...options, label, isInverted: () => isInverted, onZoom: () => {},
    });
    this.callers = flame('callers', 'Callers', false);
    this.callees = flame('callees', 'Callees', true);
    this.input.addEventListener('change', () => this.choose(this.input.value));
    this.fillNames();
  }

  // Offers names to choose from. If there are too many names, offers only the first ones.
  fillNames() {
    const names = [...new Set(this.data.functions.map((known) => known.name))].slice(0, kMostNames);
    document.getElementById('function-names').replaceChildren(...names.map((name) => {
      const option = document.createElement('option');
      option.value = name;
      return option;
    }));
  }

  choose(name) {
    const found = this.data.functions.find((known) => known.name === name) ??
        this.data.functions.find((known) => known.name.includes(name));
    if (found && name !== '') change({func: found.number}, true);
    else this.facts.textContent = `no function is called ${name}`;
  }

  // Returns the chosen function, or the heaviest one if none is chosen.
  funcOf({sides}) {
    if (state.func >= 0) return state.func;
    const {self} = sides.at(-1).functions;
    let best = -1;
    self.forEach((value, func) => {
      if (best < 0 || value > self[best]) best = func;
    });
    return best;
  }

  show(selection, matches) {
    const func = this.funcOf(selection);
    if (func < 0) return;
    const {sides} = selection;
    const {name, image} = this.data.functions[func];
    this.input.value = name;
    const side = sides.at(-1);
    const part = (values) => percent(side.period === 0 ? 0 : values[func] / side.period);
    this.facts.textContent = `${image} — self ${part(side.functions.self)}, total ` +
        `${part(side.functions.total)}, ${grouped(side.functions.samples[func])} samples of its own`;
    for (const [view, tree] of [[this.callers, callerTree], [this.callees, calleeTree]]) {
      const root = tree(this.data, sides, func);
      root.func = func;
      view.matches = matches;
      view.show(root, null, this.data.isDiff && state.widthOf === 'before' ? 0 : sides.length - 1);
    }
  }
}
