// The instructions of the functions whose code the page contains, and their source lines if they
// were included. Their numbers cover the whole recording, whatever is selected in other views.

import {grouped, percent} from './numbers.js';
import {change, state} from './state.js';

function cellOf(line, name, text, className) {
  const element = line.appendChild(document.createElement(name));
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

export class CodeView {
  constructor(data) {
    this.data = data;
    this.host = document.getElementById('code');
    this.facts = document.getElementById('code-facts');
    this.select = document.getElementById('code-function');
    const byName = new Map(data.functions.map((known) => [known.name + '\0' + known.image, known.number]));
    this.functions = data.code.map((code) => ({...code, func: byName.get(code.name + '\0' + code.image) ?? -1}));
    this.select.replaceChildren(...this.functions.map(({name, samples}, i) => {
      const option = document.createElement('option');
      option.value = i;
      option.textContent = `${name} (${grouped(samples)} samples)`;
      return option;
    }));
    this.select.disabled = this.functions.length === 0;
    this.select.addEventListener('change', () => {
      this.chosen = Number(this.select.value);
      change({func: this.functions[this.chosen].func}, true);
      this.draw();
    });
    this.chosen = 0;
  }

  show() {
    const found = this.functions.findIndex((code) => code.func === state.func && state.func >= 0);
    const wanted = state.func >= 0 ? this.data.functions[state.func].name : '';
    if (found >= 0) this.chosen = found;
    this.missing = found < 0 && wanted !== '' ? wanted : '';
    this.draw();
  }

  draw() {
    const code = this.functions[this.chosen];
    if (code === undefined) {
      this.facts.textContent = '';
      const text = document.createElement('p');
      text.textContent = 'This page has no code: the recording carries none. ' +
          'To get code, make the page with --source where the program\'s files are, or record with --embed code.';
      this.host.replaceChildren(text);
      return;
    }
    this.select.value = this.chosen;
    this.facts.textContent = (this.missing === '' ? '' : `no code of ${this.missing} is here — `) +
        `${code.path}, ${code.event}, ${grouped(code.samples)} samples` + (code.isCut ? ', cut' : '');
    this.host.replaceChildren(this.tableOf(code));
  }

  tableOf(code) {
    const table = document.createElement('table');
    const head = table.appendChild(document.createElement('thead')).appendChild(document.createElement('tr'));
    for (const heading of ['Share', 'Address', 'Instruction']) {
      cellOf(head, 'th', heading, heading === 'Instruction' ? '' : 'number').scope = 'col';
    }
    const body = table.appendChild(document.createElement('tbody'));
    let last = '';
    for (const [address, text, period, place] of code.instructions) {
      const source = place < 0 ? '' : this.placeText(code.places[place]);
      if (source !== last && source !== '') this.addPlace(body, code.places[place], source);
      last = source;
      const line = body.appendChild(document.createElement('tr'));
      const share = code.period === 0 ? 0 : period / code.period;
      const cell = cellOf(line, 'td', share === 0 ? '' : percent(share), 'number');
      cell.style.setProperty('--part', `${100 * share}%`);
      cellOf(line, 'td', address, 'number');
      cellOf(line, 'td', text, 'instruction');
    }
    return table;
  }
  placeText([file, number, inlined]) {
    return `${file}:${number}${inlined === '' ? '' : ` ${inlined} (inlined)`}`;
  }
  addPlace(body, place, text) {
    const line = body.appendChild(document.createElement('tr'));
    line.className = 'source';
    cellOf(line, 'td', '');
    cellOf(line, 'td', '');
    const cell = cellOf(line, 'td', text);
    if (place[3] !== undefined) cellOf(cell, 'pre', place[3]);
  }
}
