// The state of the page, as one value that the fragment of its address can hold:
//
//   #v=flame&e=0&t=10-49&h=1,2&q=parse&z=3.17.4&r=1&i=1&f=12&s=total&c=dark
//
//   v  view      e  choice of events    t  time slices, first and last    h  threads
//   q  search    z  zoom: labels from the root down    r  merged from the leaf    i  root on top
//   f  function  s  sort key, after "-" in ascending order    w  boxes as wide as before
//   n  rows of the heat map    m  heat map of totals    c  theme
//
// Initial values are left out. Numbers are those of this file's data.

export const state = {
  view: 'flame', event: 0, from: 0, to: 0, threads: null, query: '', zoom: [], reverse: false,
  inverted: false, func: -1, sort: 'self', ascending: false, widthOf: 'after', heatRows: 40,
  heatOf: 'self', theme: 'auto',
};

const kViews = ['flame', 'table', 'sandwich', 'heat', 'code'];
const kThemes = ['auto', 'light', 'dark'];
const listeners = [];
let atFirst = null;
let lastSlice = 0;

// Registers `changed`, which is called with the names of changed members.
export function onChange(changed) {
  listeners.push(changed);
}

export function startState(first, slices) {
  lastSlice = slices - 1;
  Object.assign(state, {to: lastSlice}, first);
  atFirst = {...state};
}

export function change(what, isStep = false) {
  const names = new Set(Object.keys(what).filter((name) => state[name] !== what[name]));
  if (names.size === 0) return;
  Object.assign(state, what);
  for (const listener of listeners) listener(names);
  writeFragment(isStep);
}

export function fragment() {
  const parts = [];
  const put = (key, name, value) => {
    if (state[name] !== atFirst[name]) parts.push(`${key}=${encodeURIComponent(value)}`);
  };
  put('v', 'view', state.view);
  put('e', 'event', state.event);
  if (state.from !== atFirst.from || state.to !== atFirst.to) parts.push(`t=${state.from}-${state.to}`);
  if (state.threads !== null) parts.push(`h=${[...state.threads].join(',')}`);
  put('q', 'query', state.query);
  if (state.zoom.length > 0) parts.push(`z=${state.zoom.join('.')}`);
  put('r', 'reverse', state.reverse ? 1 : 0);
  put('i', 'inverted', state.inverted ? 1 : 0);
  put('f', 'func', state.func);
  if (state.sort !== atFirst.sort || state.ascending) {
    parts.push(`s=${state.ascending ? '-' : ''}${state.sort}`);
  }
  put('w', 'widthOf', state.widthOf);
  put('n', 'heatRows', state.heatRows);
  put('m', 'heatOf', state.heatOf);
  put('c', 'theme', state.theme);
  return parts.join('&');
}

let written = null;

// Writes the fragment. A step adds an entry to the browser's history.
function writeFragment(isStep) {
  written = '#' + fragment();
  if (isStep) {
    history.pushState(null, '', written);
  } else {
    history.replaceState(null, '', written);
  }
}

const numberOf = (text, least, most, otherwise) => {
  const number = Number(text);
  return text !== null && Number.isInteger(number) && number >= least && number <= most ? number : otherwise;
};
const oneOf = (text, known, otherwise) => (known.includes(text) ? text : otherwise);

// Reads the fragment. It is untrusted, because anybody may have written the address.
export function readFragment(limits) {
  if (location.hash === written) return;
  const parts = new URLSearchParams(location.hash.slice(1));
  const get = (key) => parts.get(key);
  const [from, to] = (get('t') ?? `${atFirst.from}-${atFirst.to}`).split('-');
  const first = numberOf(from ?? null, 0, lastSlice, 0);
  const sort = get('s') ?? atFirst.sort;
  const threads = (get('h') ?? '').split(',').map(Number)
      .filter((thread) => Number.isInteger(thread) && thread >= 0 && thread < limits.threads);
  const what = {
    view: oneOf(get('v'), kViews, atFirst.view),
    event: numberOf(get('e'), 0, limits.events - 1, atFirst.event),
    from: from === '' ? 0 : first,
    to: numberOf(to ?? null, first, lastSlice, lastSlice),
    threads: get('h') ? new Set(threads) : null,
    query: get('q') ?? atFirst.query,
    zoom: (get('z') ?? '').split('.').filter((part) => part !== '').map(Number),
    reverse: get('r') === null ? atFirst.reverse : get('r') === '1',
    inverted: get('i') === null ? atFirst.inverted : get('i') === '1',
    func: numberOf(get('f'), -1, limits.functions - 1, atFirst.func),
    sort: oneOf(sort.replace(/^-/, ''), limits.sorts, atFirst.sort),
    ascending: sort.startsWith('-'),
    widthOf: oneOf(get('w'), ['after', 'before'], atFirst.widthOf),
    heatRows: numberOf(get('n'), 1, 1000, atFirst.heatRows),
    heatOf: oneOf(get('m'), ['self', 'total'], atFirst.heatOf),
    theme: oneOf(get('c'), kThemes, atFirst.theme),
  };
  Object.assign(state, what);
  written = location.hash;
  for (const listener of listeners) listener(new Set(Object.keys(what)));
}
