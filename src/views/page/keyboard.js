// Handles the keys that work everywhere on the page, except in input fields.

const kKeys = [
  ['/', 'search', (actions) => actions.search()],
  ['1 … 5', 'flame graph, functions, callers and callees, heat map, code', null],
  ['r', 'merge from the leaf, or from the root', (actions) => actions.reverse()],
  ['i', 'root on top, or at the bottom', (actions) => actions.invert()],
  ['[', 'an earlier part of the time', (actions) => actions.moveTime(-1)],
  [']', 'a later part of the time', (actions) => actions.moveTime(1)],
  ['a', 'all time and all threads', (actions) => actions.all()],
  ['0', 'reset the zoom', (actions) => actions.resetZoom()],
  ['t', 'light, dark, or as the system has it', (actions) => actions.theme()],
  ['?', 'this list', (actions) => actions.help()],
];
const kElsewhere = [
  ['arrow keys', 'walk: in the flame graph, the threads, the heat map'],
  ['Enter', 'zoom, choose a thread, or show callers and callees'],
  ['Backspace', 'in the flame graph, back to the caller'],
  ['c', 'in the flame graph, callers and callees of the box'],
  ['Escape', 'leave the search, or the zoom'],
];

export function listenForKeys(actions) {
  const list = document.getElementById('keys');
  for (const [key, text] of [...kKeys, ...kElsewhere]) {
    const name = list.appendChild(document.createElement('dt'));
    name.appendChild(document.createElement('kbd')).textContent = key;
    list.appendChild(document.createElement('dd')).textContent = text;
  }
  document.addEventListener('keydown', (event) => {
    if (event.key === 'f' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      actions.search();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isField = event.target.matches('input:not([type=checkbox]):not([type=range]), select, dialog[open], dialog[open] *');
    if (isField) return;
    const number = Number(event.key);
    const known = kKeys.find(([key]) => key === event.key);
    if (number >= 1 && number <= 5) actions.view(number - 1);
    else if (known?.[2]) known[2](actions);
    else return;
    event.preventDefault();
  });
}
