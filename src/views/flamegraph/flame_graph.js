'use strict';
// The page of a flame graph. Its data is JSON:
//   {whole, levels, inverted, fluid, compared, countName, total: samples,
//    labels: [[name, image, kind]…],
//    boxes: [level, label, start, width, self, samples, …]}   six numbers per box, in preorder;
//                                                             with `compared` two more: width and
//                                                             self in the baseline
// The rectangles in #boxes have the same order.
(function () {
  const svg = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  const HEIGHT = 18, MARGIN = 10, TEXT_MIN = 3;
  const names = byId('names'), boxLayer = byId('boxes'), details = byId('details');
  const rects = boxLayer.children;
  const idle = 'Click a box to zoom, Escape to go back, Ctrl-F to search, arrow keys to walk.';
  details.textContent = idle;

  const boxes = [];
  const lastOfLevel = [];
  const numbers = data.compared ? 8 : 6;
  for (let i = 0; i < data.boxes.length; i += numbers) {
    const [level, label, start, width, self, samples, widthBefore, selfBefore] = data.boxes.slice(i, i + numbers);
    const [name, image, kind] = label < 0 ? ['all', '', 'everything'] : data.labels[label];
    const parent = level === 0 ? null : lastOfLevel[level - 1];
    const box = {level, start, width, self, samples, widthBefore, selfBefore, name, image, kind, parent, children: [],
                 rect: rects[boxes.length], y: +rects[boxes.length].getAttribute('y')};
    if (parent) parent.children.push(box);
    lastOfLevel[level] = box;
    box.rect.box = box;
    boxes.push(box);
  }
  const all = boxes[0];
  let zoomed = all, selected = null, pattern = null;
  let width = +svg.getAttribute('width');

  function make(tag, attributes, parent) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (parent) parent.appendChild(element);
    return element;
  }
  // Returns the width of a character of the names' font, which is monospaced.
  function measure() {
    const probe = make('text', {visibility: 'hidden'}, names);
    probe.textContent = 'M'.repeat(50);
    const size = probe.getComputedTextLength() / 50;
    probe.remove();
    return size > 1 ? size : 6.7;
  }
  const charWidth = measure();

  function percent(part, whole) {
    return (whole === 0 ? 0 : 100 * part / whole).toFixed(2) + ' %';
  }
  function count(n) {
    return n.toLocaleString('en-US') + ' ' + data.countName;
  }
  function describe(box) {
    let line = box.name + (box.image && box.kind !== 'unnamed' ? ' (' + box.image + ')' : '') + ' \u2014 ' +
        count(box.samples) + ', ' + percent(box.width, data.whole);
    if (zoomed !== all) line += ', ' + percent(box.width, zoomed.width) + ' of the view';
    if (data.compared) line += ', was ' + percent(box.widthBefore, data.whole);
    return line;
  }
  function fit(text, room) {
    const characters = Array.from(text);
    return characters.length <= room ? text : characters.slice(0, Math.max(room - 1, 0)).join('') + '\u2026';
  }

  // Draws the visible boxes: the zoomed box, its callers at full width, and its callees.
  function draw() {
    const scale = (width - 2 * MARGIN) / Math.max(zoomed.width, 1);
    const ancestors = new Set();
    for (let box = zoomed.parent; box; box = box.parent) ancestors.add(box);
    const texts = document.createDocumentFragment();
    for (const box of boxes) {
      const above = ancestors.has(box);
      const inside = box.start >= zoomed.start && box.start + box.width <= zoomed.start + zoomed.width &&
          box.level >= zoomed.level && (box.level > zoomed.level || box === zoomed);
      const w = above ? width - 2 * MARGIN : box.width * scale;
      if (!(above || inside) || w < 0.05) {
        box.rect.setAttribute('display', 'none');
        box.shown = false;
        continue;
      }
      const x = above ? MARGIN : MARGIN + (box.start - zoomed.start) * scale;
      box.shown = true;
      box.rect.removeAttribute('display');
      box.rect.setAttribute('x', x.toFixed(2));
      box.rect.setAttribute('width', Math.max(w - (w > 2 ? 0.5 : 0), 0.05).toFixed(2));
      box.rect.classList.toggle('ancestor', above);
      const room = Math.floor((w - 7) / charWidth);
      if (room >= TEXT_MIN) {
        const text = make('text', {x: (x + 3).toFixed(2), y: box.y + 12.5}, texts);
        text.textContent = fit(box.name, room);
      }
    }
    names.replaceChildren(texts);
    byId('reset').setAttribute('display', zoomed === all ? 'none' : 'inline');
    showMatched();
  }
  function zoom(box) {
    zoomed = box;
    hideTip();
    draw();
    details.textContent = describe(box);
  }

  // --- search -------------------------------------------------------------------------------
  const field = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
  const fieldBox = make('foreignObject', {id: 'field', y: 12, width: 240, height: 28}, byId('header'));
  field.setAttribute('class', 'search');
  field.setAttribute('placeholder', 'Search: regular expression (Ctrl-F)');
  field.setAttribute('aria-label', 'Search');
  field.setAttribute('spellcheck', 'false');
  fieldBox.appendChild(field);

  // Searches; an upper-case letter in the pattern makes the search case-sensitive.
  function search(text) {
    pattern = null;
    field.classList.remove('wrong');
    if (text !== '') {
      try {
        pattern = new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i');
      } catch (error) {
        field.classList.add('wrong');
        field.title = error.message;
      }
    }
    svg.classList.toggle('searching', pattern !== null);
    for (const box of boxes) {
      box.match = pattern !== null && box !== all && pattern.test(box.name);
      box.rect.classList.toggle('match', box.match);
    }
    showMatched();
  }
  // Shows the part of the view in matching boxes; a match within a match counts once.
  function showMatched() {
    const matched = byId('matched');
    if (pattern === null) {
      matched.textContent = '';
      return;
    }
    let sum = 0, end = -1;
    for (const box of boxes) {
      if (!box.match || !box.shown || box.level < zoomed.level || box.start < end) continue;
      sum += box.width;
      end = box.start + box.width;
    }
    for (let box = zoomed.parent; box; box = box.parent) {
      if (box.match) sum = zoomed.width;
    }
    matched.textContent = 'Matched: ' + percent(sum, zoomed.width);
  }
  field.addEventListener('input', () => search(field.value));
  function openSearch() {
    field.focus();
    field.select();
  }

  // --- tooltip ----------------------------------------------------------------------------------
  const tip = make('g', {id: 'tip', display: 'none'}, svg);
  function wrap(text, room, most) {
    const characters = Array.from(text), lines = [];
    for (let at = 0; at < characters.length && lines.length < most; at += room) {
      lines.push(characters.slice(at, at + room).join(''));
    }
    if (characters.length > room * most) lines[most - 1] = fit(lines[most - 1] + '..', room);
    return lines;
  }
  function tipLines(box) {
    const lines = wrap(box.name, 90, 6).map((text) => ['', text]);
    lines.push(['minor', box.image && box.kind !== 'unnamed' ? box.kind + ' \u00b7 ' + box.image : box.kind]);
    lines.push(['', count(box.samples) + ' \u00b7 ' + percent(box.width, data.whole) +
        (zoomed === all ? '' : ' \u00b7 ' + percent(box.width, zoomed.width) + ' of the view')]);
    lines.push(['minor', 'itself ' + percent(box.self, data.whole)]);
    if (data.compared) {
      const points = 100 * (box.self - box.selfBefore) / data.whole;
      lines.push(['minor', 'before ' + percent(box.widthBefore, data.whole) + ', itself ' +
          percent(box.selfBefore, data.whole) + ': ' + (points > 0 ? '+' : '') + points.toFixed(2) + ' points']);
    }
    return lines;
  }
  function showTip(box, x, y) {
    tip.replaceChildren();
    tip.setAttribute('display', 'inline');
    const back = make('rect', {rx: 6}, tip);
    let wide = 0, line = 0;
    for (const [style, content] of tipLines(box)) {
      const text = make('text', {x: 10, y: 19 + 16 * line++, class: style}, tip);
      text.textContent = content;
      wide = Math.max(wide, text.getComputedTextLength());
    }
    const high = 12 + 16 * line;
    back.setAttribute('width', wide + 20);
    back.setAttribute('height', high);
    const left = Math.max(2, Math.min(x + 14, width - wide - 24));
    const below = y + 18 + high < window.scrollY + window.innerHeight;
    tip.setAttribute('transform', 'translate(' + left + ',' + (below ? y + 18 : y - high - 10) + ')');
  }
  function hideTip() {
    tip.setAttribute('display', 'none');
  }
  boxLayer.addEventListener('mousemove', (event) => {
    const box = event.target.box;
    if (!box) return;
    details.textContent = describe(box);
    showTip(box, event.pageX, event.pageY);
  });
  boxLayer.addEventListener('mouseleave', () => {
    hideTip();
    details.textContent = zoomed === all ? idle : describe(zoomed);
  });
  boxLayer.addEventListener('click', (event) => {
    if (event.target.box) {
      select(event.target.box);
      zoom(event.target.box);
    }
  });

  // --- keyboard ------------------------------------------------------------------------------
  function select(box) {
    if (selected) selected.rect.classList.remove('selected');
    selected = box;
    if (!box) return;
    box.rect.classList.add('selected');
    details.textContent = describe(box);
  }
  function widest(list) {
    return list.filter((box) => box.shown).reduce((a, b) => (!a || b.width > a.width ? b : a), null);
  }
  function neighbour(box, step) {
    if (!box.parent) return null;
    const siblings = box.parent.children.filter((other) => other.shown);
    return siblings[siblings.indexOf(box) + step];
  }
  function walk(key) {
    if (!selected || !selected.shown) return zoomed;
    const outward = data.inverted ? 'ArrowDown' : 'ArrowUp';
    if (key === 'ArrowLeft') return neighbour(selected, -1);
    if (key === 'ArrowRight') return neighbour(selected, 1);
    return key === outward ? widest(selected.children) : selected.parent;
  }
  function reset() {
    field.value = '';
    search('');
    select(null);
    zoom(all);
    details.textContent = idle;
  }
  document.addEventListener('keydown', (event) => {
    const typing = document.activeElement === field;
    if ((event.key === 'f' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !typing)) {
      event.preventDefault();
      openSearch();
    } else if (event.key === 'Escape') {
      field.blur();
      reset();
    } else if (event.key.startsWith('Arrow') && !typing) {
      event.preventDefault();
      const next = walk(event.key);
      if (next) select(next);
    } else if (event.key === 'Enter' && !typing && document.activeElement !== byId('reset') && selected) {
      zoom(selected);
    }
  });
  byId('reset').addEventListener('click', reset);
  byId('reset').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      reset();
    }
  });

  // --- the window ----------------------------------------------------------------------------
  // Keeps title and search at the top of the window, and the details at its bottom.
  function stick() {
    const high = +svg.getAttribute('height'), footer = byId('footer');
    const shown = window.innerHeight;
    const top = Math.max(0, Math.min(window.scrollY, high - shown));
    byId('header').setAttribute('transform', 'translate(0,' + top + ')');
    const lift = Math.max(0, high - (top + shown));
    footer.setAttribute('transform', 'translate(0,' + (+footer.dataset.y - lift) + ')');
  }
  function resize() {
    if (data.fluid) width = Math.max(600, document.documentElement.clientWidth || window.innerWidth);
    svg.setAttribute('width', width);
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + svg.getAttribute('height'));
    for (const page of document.querySelectorAll('.page')) page.setAttribute('width', width);
    fieldBox.setAttribute('x', width - MARGIN - 240);
    byId('reset').setAttribute('transform', 'translate(' + (width - MARGIN - 340) + ',12)');
    byId('matched').setAttribute('x', width - MARGIN);
    draw();
    stick();
  }
  window.addEventListener('resize', resize);
  window.addEventListener('scroll', stick, {passive: true});
  resize();
  if (!data.inverted) window.scrollTo(0, +svg.getAttribute('height'));
  stick();
})();
