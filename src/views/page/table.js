// The functions of the selection as a table: the self and total part of each.
//
// The intervals assume independent samples. They are too wide for functions that run long at a
// time; a page cannot know that, because it has sums and not the samples' order (docs/page.md).

import {changeInterval, grouped, interval, percent, signedPercent} from './numbers.js';
import {change, state} from './state.js';

const kRowsAtFirst = 100, kMoreRows = 1000;

// The columns, keyed by the sort key in the page's address. `of` returns the value to sort by.
const kColumns = {
  self: {heading: 'Self', of: (row) => row.self, isNumber: true},
  total: {heading: 'Total', of: (row) => row.total, isNumber: true},
  samples: {heading: 'Samples', of: (row) => row.samples, isNumber: true},
  before: {heading: 'Self before', of: (row) => row.before, isNumber: true},
  change: {heading: 'Change', of: (row) => row.self - row.before, isNumber: true},
  name: {heading: 'Function', of: (row) => row.name},
  image: {heading: 'Image', of: (row) => row.image},
};
export const kSorts = Object.keys(kColumns);

function columnsOf(data) {
  return data.isDiff ? ['change', 'before', 'self', 'total', 'name', 'image']
                     : ['self', 'total', 'samples', 'name', 'image'];
}

// Returns all functions with samples, unsorted.
export function tableRows(data, {sides, choice}) {
  const shown = sides.at(-1);
  const share = (value, side) => (side.period === 0 ? 0 : value / side.period);
  const rows = [];
  for (const {number, name, image} of data.functions) {
    if (sides.every((side) => side.functions.total[number] === 0)) continue;
    const row = {
      number, name, image,
      self: share(shown.functions.self[number], shown),
      total: share(shown.functions.total[number], shown),
      samples: shown.functions.samples[number],
    };
    const chance = (value, side) =>
      (choice.hasChance ? interval(value, side.count, side.inequality) : {low: value, high: value});
    row.selfInterval = chance(row.self, shown);
    row.totalInterval = chance(row.total, shown);
    if (data.isDiff) {
      row.before = share(sides[0].functions.self[number], sides[0]);
      row.changeInterval = changeInterval(row.before, chance(row.before, sides[0]), row.self, row.selfInterval);
    }
    rows.push(row);
  }
  return rows;
}

export function sortRows(rows, key, isAscending) {
  const {of} = kColumns[key];
  const sign = isAscending ? 1 : -1;
  const size = key === 'change' ? (row) => Math.abs(of(row)) : of;
  return rows.sort((a, b) => {
    const x = size(a), y = size(b);
    if (x !== y) return x < y ? -sign : sign;
    return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  });
}

const plusMinus = ({low, high}) => (high > low ? ` ±${(50 * (high - low)).toFixed(2)}` : '');
const kCells = {
  self: (row) => percent(row.self) + (row.self > 0 ? plusMinus(row.selfInterval) : ''),
  total: (row) => percent(row.total) + plusMinus(row.totalInterval),
  samples: (row) => grouped(row.samples),
  before: (row) => percent(row.before),
  change: (row) => signedPercent(row.self - row.before) +
      (row.self > 0 || row.before > 0 ? plusMinus(row.changeInterval) : ''),
  name: (row) => row.name,
  image: (row) => row.image,
};

function makeElement(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

export class TableView {
  constructor(host, data, onOpen) {
    this.host = host;
    this.data = data;
    this.onOpen = onOpen;
    this.shown = kRowsAtFirst;
  }

  show(selection, matches) {
    const rows = tableRows(this.data, selection).filter((row) =>
      matches === null || this.data.functions[row.number].labels.some((label) => matches[label] === 1));
    sortRows(rows, state.sort, state.ascending);
    this.rows = rows;
    this.hasChance = selection.choice.hasChance;
    this.shown = kRowsAtFirst;
    this.draw();
  }

  draw() {
    const table = makeElement('table');
    table.append(makeElement('caption', `${grouped(this.rows.length)} functions` + (this.hasChance
      ? '; ± is half the 95 % interval, as if samples fell as dice do'
      : '; no intervals: each occurrence was counted, or several events are shown as one')));
    table.append(this.head(), this.body());
    this.host.replaceChildren(table);
    if (this.shown >= this.rows.length) return;
    const more = makeElement('button', `Show ${grouped(Math.min(kMoreRows, this.rows.length - this.shown))} more`);
    more.type = 'button';
    more.id = 'more';
    more.addEventListener('click', () => {
      this.shown += kMoreRows;
      this.draw();
    });
    this.host.append(more);
  }

  head() {
    const head = makeElement('thead');
    const line = head.appendChild(makeElement('tr'));
    for (const key of columnsOf(this.data)) {
      const {heading, isNumber} = kColumns[key];
      const cell = line.appendChild(makeElement('th', undefined, isNumber ? 'number' : ''));
      cell.scope = 'col';
      const isSorted = state.sort === key;
      if (isSorted) cell.setAttribute('aria-sort', state.ascending ? 'ascending' : 'descending');
      const button = cell.appendChild(makeElement('button', heading + (isSorted ? (state.ascending ? ' ▲' : ' ▼') : '')));
      button.type = 'button';
      button.dataset.sort = key;
      button.addEventListener('click', () => {
        change({sort: key, ascending: isSorted ? !state.ascending : !isNumber});
        this.host.querySelector(`[data-sort="${key}"]`).focus();
      });
    }
    return head;
  }

  body() {
    const body = makeElement('tbody');
    for (const row of this.rows.slice(0, this.shown)) {
      const line = body.appendChild(makeElement('tr'));
      for (const key of columnsOf(this.data)) {
        const cell = line.appendChild(makeElement('td', undefined, kColumns[key].isNumber ? 'number' : key));
        if (key !== 'name') {
          cell.textContent = kCells[key](row);
          if (key === 'self' || key === 'total') cell.style.setProperty('--part', `${100 * row[key]}%`);
          if (key === 'change') {
            const {low, high} = row.changeInterval;
            cell.classList.add(low > 0 ? 'more' : high < 0 ? 'less' : 'unsure');
          }
          continue;
        }
        const button = cell.appendChild(makeElement('button', row.name, 'name'));
        button.type = 'button';
        button.addEventListener('click', () => this.onOpen(row.number));
      }
    }
    return body;
  }
}
