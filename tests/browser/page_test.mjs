// node page_test.mjs CHROMIUM PAGES [SCREENSHOTS]: uses pages as a user would. PAGES is the output of
// //src/views/page:draw_example.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {launch, runTests} from './tests.mjs';

const [executablePath, pages, screenshots] = process.argv.slice(2);
if (screenshots) mkdirSync(screenshots, {recursive: true});
const browser = await launch(executablePath);
const axe = readFileSync(fileURLToPath(new URL('node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8');

// Opens a page that notes errors and requests to other hosts; a test must cause none.
async function open(file, fragment = '', options = {}) {
  const page = await browser.newPage({viewport: {width: 1280, height: 860}, ...options});
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push('error: ' + error));
  page.on('console', (message) => page.complaints.push('console: ' + message.text()));
  page.on('dialog', (dialog) => page.complaints.push('dialog: ' + dialog.message()));
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== address) page.complaints.push('asked for ' + request.url());
  });
  const address = pathToFileURL(join(pages, file)).href;
  await page.goto(address + fragment);
  await page.waitForFunction(() => window.profilePage, null, {timeout: 20_000});
  await settled(page);
  return page;
}
const settled = (page) => page.evaluate(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done))));
async function picture(page, name) {
  await settled(page);
  if (screenshots) await page.screenshot({path: join(screenshots, 'page-' + name + '.png')});
}
const text = (page, id) => page.locator('#' + id).textContent();
const fragmentOf = (page) => page.evaluate(() => location.hash);
// Returns the middle of the first box of that name in the window, or null if there is none.
const middleOf = (page, host, name) => page.evaluate(([wanted, id]) => {
  const {profilePage: shown} = window;
  const view = id === 'flame' ? shown.flame : shown.sandwich[id];
  for (let level = 0; level < view.levels.length; ++level) {
    for (const place of view.levels[level]) {
      if (view.nameOf(place.box) !== wanted) continue;
      const {left, top} = view.stage.getBoundingClientRect();
      return {x: left + place.x + place.width / 2, y: top + view.topOf(level) + 8, width: place.width};
    }
  }
  return null;
}, [name, host]);
async function clickBox(page, name, host = 'flame') {
  const {x, y} = await middleOf(page, host, name);
  await page.mouse.click(x, y);
  await settled(page);
}
// Returns the rows of the visible table, as {name: [cells]}.
const tableOf = (page) => page.evaluate(() => Object.fromEntries(
  [...document.querySelectorAll('#table tbody tr')].map((row) => {
    const cells = [...row.cells].map((cell) => cell.textContent);
    return [row.querySelector('button').textContent, cells];
  })));

// Returns the sums that C++ computed stack by stack: {name: [self, total]}.
function figuresOf(file) {
  return new Map(readFileSync(join(pages, file), 'utf8').trim().split('\n').map((line) => {
    const [name, self, total] = line.split('\t');
    return [name, [Number(self), Number(total)]];
  }));
}
async function compareWithFigures(page, file) {
  const found = await page.evaluate(() => {
    const {profilePage: shown} = window;
    const {self, total} = shown.selection.sides[0].functions;
    return shown.data.functions.map(({name}, i) => [name, [self[i], total[i]]]).filter(([, [, sum]]) => sum > 0);
  });
  const byName = (a, b) => (a[0] < b[0] ? -1 : 1);
  assert.deepEqual(found.sort(byName), [...figuresOf(file)].sort(byName));
}
const chooseEvent = (page, name) => page.locator('#event').selectOption({label: name});

async function checkAccessibility(page, what) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await window.axe.run(document)).violations.map(
    ({id, impact, nodes}) => `${impact} ${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`));
  const serious = violations.filter((line) => /^(serious|critical)/.test(line));
  assert.deepEqual(serious, [], what);
}

const tests = {
  async 'a page shows the flame graph of everything first'() {
    const page = await open('server.html');
    await picture(page, 'flame');
    assert.equal(await page.title(), 'A made-up server <&> its </title>worker');
    assert.match(await text(page, 'subtitle'), /^on and off the CPU · 2,287 samples, 3\.477 s · /);
    assert.ok((await middleOf(page, 'flame', 'all')).width > 1240);
    assert.ok(await middleOf(page, 'flame', '[blocked]'));
    assert.match(await text(page, 'notes'), /12 samples lost/);
    return page;
  },
  async 'figures are those that are added up stack by stack'() {
    const page = await open('server.html');
    await chooseEvent(page, 'cpu-clock');
    await compareWithFigures(page, 'all.txt');
    return page;
  },
  async 'figures follow the time and the thread that are chosen'() {
    const page = await open('server.html');
    await chooseEvent(page, 'cpu-clock');
    await page.evaluate(() => {
      for (const [id, value] of [['to', 119], ['from', 30]]) {
        document.getElementById(id).value = value;
        document.getElementById(id).dispatchEvent(new Event('input'));
      }
    });
    const row = await page.evaluate(() => {
      const {timeline} = window.profilePage;
      return timeline.cells.order.findIndex((thread) => timeline.data.threads[thread].tid === 101);
    });
    const threads = await page.locator('#threads-canvas').boundingBox();
    await page.mouse.click(threads.x + 400, threads.y + row * 16 + 8);
    await settled(page);
    await compareWithFigures(page, 'part.txt');
    await picture(page, 'part');
    await page.locator('#all-time').click();
    await page.locator('#all-threads').click();
    await compareWithFigures(page, 'all.txt');
    return page;
  },
  async 'the page of a flight recorder begins at its moment'() {
    const page = await open('flight.html');
    const timeOf = () => page.evaluate(() => {
      const {data} = window.profilePage;
      return {second: Math.ceil(1e9 / data.sliceLength), last: data.slices - 1, moment: data.moment,
        from: Number(document.getElementById('from').value), to: Number(document.getElementById('to').value)};
    });
    const {second, last, moment, from, to} = await timeOf();
    assert.deepEqual(moment, {slice: 150, reason: 'the signal </script>9'});
    assert.deepEqual([from, to], [Math.max(0, 150 - second), Math.min(last, 150 + second)]);
    assert.equal(await fragmentOf(page), '');
    await picture(page, 'flight');
    await page.locator('#all-time').click();
    assert.equal(await fragmentOf(page), `#t=0-${last}`);
    await page.reload();
    await page.waitForFunction(() => window.profilePage);
    const again = await timeOf();
    assert.deepEqual([again.from, again.to], [0, last]);
    return page;
  },
  async 'dragging chooses a part of the time, and a double click all'() {
    const page = await open('server.html');
    const box = await page.locator('#overview').boundingBox();
    await page.mouse.move(box.x + 400, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 20, {steps: 4});
    await page.mouse.move(box.x + 700, box.y + 20, {steps: 4});
    await page.mouse.up();
    await settled(page);
    const [, from, to] = /t=(\d+)-(\d+)/.exec(await fragmentOf(page));
    assert.ok(Number(from) > 30 && Number(to) > Number(from) + 40 && Number(to) < 120, `${from}-${to}`);
    await page.mouse.dblclick(box.x + 600, box.y + 20);
    await settled(page);
    assert.doesNotMatch(await fragmentOf(page), /t=/);
    return page;
  },
  async 'a click zooms, and the path and the button go back'() {
    const page = await open('server.html');
    const before = (await middleOf(page, 'flame', 'HandleRequest')).width;
    await clickBox(page, 'HandleRequest');
    assert.ok((await middleOf(page, 'flame', 'HandleRequest')).width > 1240 && before < 600);
    assert.equal(await middleOf(page, 'flame', 'uv_run'), null);
    assert.match(await text(page, 'details'), /^HandleRequest — user · app — /);
    await page.locator('#path button', {hasText: 'ServeForever'}).click();
    await settled(page);
    assert.ok((await middleOf(page, 'flame', 'ServeForever')).width > 1240);
    assert.ok(await middleOf(page, 'flame', 'read'));
    await page.locator('#reset').click();
    await settled(page);
    assert.equal((await middleOf(page, 'flame', 'HandleRequest')).width, before);
    await page.goBack();
    await settled(page);
    assert.ok((await middleOf(page, 'flame', 'ServeForever')).width > 1240, 'the browser goes back as well');
    return page;
  },
  async 'merged from the leaf, interrupted functions are next to the root'() {
    const page = await open('server.html');
    await page.locator('#reverse').check();
    await page.locator('#inverted').check();
    await settled(page);
    await picture(page, 'leaf');
    const root = await middleOf(page, 'flame', 'all'), leaf = await middleOf(page, 'flame', '[blocked]');
    const caller = await middleOf(page, 'flame', 'epoll_wait');
    assert.ok(root.y < leaf.y && leaf.y < caller.y);
    assert.equal(Math.round(leaf.width), Math.round(caller.width));
    return page;
  },
  async 'a search marks what matches and counts each sample once'() {
    const page = await open('server.html', '#e=1');
    await page.keyboard.press('/');
    await page.keyboard.type('^(Recurse|longest_match)$');
    await settled(page);
    await picture(page, 'search');
    const figures = figuresOf('all.txt');
    const whole = figures.get('main')[1];
    const part = figures.get('Recurse')[1] + figures.get('longest_match')[1];
    assert.equal(await text(page, 'matched'), `matched ${(100 * part / whole).toFixed(2)} %`);
    await page.locator('#search').fill('(');
    assert.equal(await page.locator('#search.wrong').count(), 1);
    await page.locator('#search').press('Escape');
    assert.equal(await text(page, 'matched'), '');
    return page;
  },
  async 'the table sorts by each column, and a name opens its callers and callees'() {
    const page = await open('server.html', '#v=table&e=1');
    await picture(page, 'table');
    const figures = figuresOf('all.txt');
    const rows = await tableOf(page);
    const whole = figures.get('main')[1];
    for (const [name, [self, total]] of figures) {
      const shown = rows[name] ?? assert.fail(name);
      assert.ok(shown[0].startsWith(`${(100 * self / whole).toFixed(2)} %`), `${name}: ${shown[0]}`);
      assert.ok(shown[1].startsWith(`${(100 * total / whole).toFixed(2)} %`), `${name}: ${shown[1]}`);
    }
    for (const key of ['total', 'samples', 'name', 'image', 'self']) {
      const button = page.locator(`[data-sort=${key}]`);
      await button.click();
      const column = await page.evaluate(() => document.querySelector('th[aria-sort]').cellIndex);
      const cells = () => page.evaluate((at) => [...document.querySelectorAll('#table tbody tr')].map(
        (row) => row.cells[at].textContent), column);
      const once = await cells();
      await button.click();
      assert.notDeepEqual(await cells(), once, `${key}: the other way round`);
    }
    await page.locator('button.name', {hasText: /^deflate$/}).click();
    await settled(page);
    await picture(page, 'sandwich');
    assert.equal(await page.locator('#function').inputValue(), 'deflate');
    assert.ok(await middleOf(page, 'callers', 'Compress') && await middleOf(page, 'callees', 'longest_match'));
    assert.equal(await middleOf(page, 'callees', 'Compress'), null);
    return page;
  },
  async 'a recursive function is one caller of what it calls, with all its time once'() {
    const page = await open('server.html', '#v=sandwich&e=1');
    await page.locator('#function').fill('Recurse');
    await page.locator('#function').press('Enter');
    await settled(page);
    const figures = figuresOf('all.txt');
    const share = (100 * figures.get('Recurse')[1] / figures.get('main')[1]).toFixed(2);
    assert.ok((await text(page, 'function-facts')).includes(`total ${share} %`));
    assert.ok((await middleOf(page, 'callees', '[libstripped.so.6]')).width > 1240);
    await page.locator('#function').fill('no such function');
    await page.locator('#function').press('Enter');
    assert.match(await text(page, 'function-facts'), /no function is called no such function/);
    return page;
  },
  async 'the heat map has functions over time, and opens them'() {
    const page = await open('server.html', '#v=heat&e=1');
    await page.locator('#heat-rows').selectOption('20');
    await page.locator('#heat-of').selectOption('total');
    await settled(page);
    await picture(page, 'heat');
    const sums = await page.evaluate(() => {
      const {heat, data} = window.profilePage.heat;
      const all = window.profilePage.data;
      return heat.order.map((func, row) => [all.functions[func].name, heat.cells[row].reduce((a, b) => a + b, 0)]);
    });
    const figures = figuresOf('all.txt');
    for (const [name, sum] of sums) assert.equal(sum, figures.get(name)[1], name);
    const box = await page.locator('#heat').boundingBox();
    await page.mouse.move(box.x + 500, box.y + 20);
    assert.match(await text(page, 'tip'), /of what was there/);
    await page.mouse.click(box.x + 500, box.y + 20);
    assert.match(await fragmentOf(page), /v=sandwich/);
    return page;
  },
  async 'the code of a function has its instructions with their shares and source lines'() {
    const page = await open('server.html', '#v=code');
    await picture(page, 'code');
    assert.match(await text(page, 'code-facts'), /^\/usr\/bin\/app, cpu-clock, 700 samples$/);
    const rows = () => page.evaluate(() => [...document.querySelectorAll('#code tbody tr')].map(
      (row) => [...row.cells].map((cell) => cell.textContent.trim()).join(' | ')));
    assert.deepEqual(await rows(), [
      ' |  | deflate.c:12  while (*a < *b && a++);</script>',
      ' | 11a0 | mov %rdi, %rax',
      '75.00 % | 11a3 | cmp %rdx, (%rax)',
      ' |  | deflate.h:7 min (inlined)',
      '25.00 % | 11a6 | cmovb %rdx, %rax',
      ' | 11aa | ret',
    ]);
    await page.locator('#code-function').selectOption({index: 1});
    assert.deepEqual(await rows(), ['100.00 % | 1000 | push %rbp']);
    assert.match(await text(page, 'code-facts'), /, cut$/);
    return page;
  },
  async 'times off the CPU reach back to where they began'() {
    const page = await open('server.html');
    const blocked = await page.evaluate(() => {
      const {cells, data} = window.profilePage.timeline;
      const thread = data.threads.find((other) => other.tid === 103).number;
      return Array.from(cells.cells[1].slice(thread * data.slices, thread * data.slices + 20), (ns) => Math.round(ns / 1e6));
    });
    assert.equal(blocked.reduce((a, b) => a + b), 120);
    assert.ok(blocked.slice(10, 19).every((ms) => ms > 3), String(blocked));
    assert.equal(blocked[0], 0);
    return page;
  },
  async 'a link brings back the view'() {
    const first = await open('server.html', '#e=1');
    await first.locator('#inverted').check();
    await first.locator('#search').fill('Parse');
    await clickBox(first, 'HandleRequest');
    const fragment = await fragmentOf(first);
    await first.close();
    const page = await open('server.html', fragment);
    assert.ok((await middleOf(page, 'flame', 'HandleRequest')).width > 1240);
    assert.equal(await page.locator('#search').inputValue(), 'Parse');
    assert.equal(await page.locator('#inverted').isChecked(), true);
    assert.equal(await page.locator('#event option:checked').textContent(), 'cpu-clock');
    await page.locator('#link').click();
    await page.locator('#details', {hasText: 'link to this view'}).waitFor();
    return page;
  },
  async 'whatever is in the address, there is a page'() {
    const page = await open('server.html', '#v=%3Cscript%3E&e=99&t=9999-1&h=7,x,-1,1e9&z=x.7.99999&q=(&f=77777&s=-no&c=red&n=-1');
    assert.match(await text(page, 'subtitle'), /samples/);
    return page;
  },
  async 'keys do what the list of keys says'() {
    const page = await open('server.html');
    for (const [key, view] of [['2', 'table'], ['3', 'sandwich'], ['4', 'heat'], ['5', 'code'], ['1', 'flame']]) {
      await page.keyboard.press(key);
      await page.locator(`#view-${view}`).waitFor();
    }
    await page.keyboard.press('?');
    await page.locator('#help').waitFor();
    await picture(page, 'help');
    await page.locator('#help-close').click();
    await page.locator('#help').waitFor({state: 'hidden'});
    await page.keyboard.press('r');
    await page.locator('#reverse:checked').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.press('i');
    await page.locator('#inverted:checked').waitFor();
    await page.keyboard.press('i');
    await page.locator('#flame').focus();
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
    await settled(page);
    assert.match(await text(page, 'details'), /^_start — /);
    assert.ok((await middleOf(page, 'flame', '_start')).width > 1240);
    await page.keyboard.press('Escape');
    await settled(page);
    assert.ok(await middleOf(page, 'flame', 'uv_run'));
    await page.locator('#threads').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.match(await fragmentOf(page), /h=\d/);
    await page.keyboard.press('a');
    assert.doesNotMatch(await fragmentOf(page), /h=/);
    await page.locator('#to').fill('19');
    await page.locator('#tab-flame').focus();
    await page.keyboard.press(']');
    assert.match(await fragmentOf(page), /t=10-29/);
    await page.keyboard.press('0');
    return page;
  },
  async 'nasty names stay text'() {
    const page = await open('server.html', '#v=table&e=1');
    const names = Object.keys(await tableOf(page));
    assert.ok(names.includes('evil</script><img src=x onerror=alert(1)>&amp;"\'\\];]]>\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd'), names.join('\n'));
    assert.equal(await page.locator('img').count(), 0);
    return page;
  },
  async 'two recordings are compared'() {
    const page = await open('diff.html', '#e=1');
    await picture(page, 'diff-table');
    const [change, before] = (await tableOf(page)).longest_match;
    assert.match(change, /^−\d+\.\d\d pt ±/);
    assert.match(before, /^\d+\.\d\d %$/);
    const least = await page.evaluate(() => document.querySelector('#table tbody button').textContent);
    assert.equal(least, 'longest_match', 'what changed most comes first');
    await page.locator('#tab-flame').click();
    const after = (await middleOf(page, 'flame', 'longest_match')).width;
    await picture(page, 'diff-flame');
    await page.locator('#width-of').selectOption('before');
    await settled(page);
    assert.ok((await middleOf(page, 'flame', 'longest_match')).width > after);
    return page;
  },
  async 'light and dark are the system\'s, or chosen'() {
    const page = await open('server.html', '', {colorScheme: 'dark'});
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await paper(), 'rgb(20, 23, 26)');
    await picture(page, 'dark');
    await page.locator('#theme').click();
    assert.equal(await paper(), 'rgb(255, 255, 255)');
    await page.locator('#theme').click();
    assert.equal(await paper(), 'rgb(20, 23, 26)');
    return page;
  },
  async 'nothing serious stands in the way of who cannot see, or use a mouse'() {
    const page = await open('server.html', '#e=1');
    for (const theme of ['light', 'dark']) {
      await page.evaluate((wanted) => (document.documentElement.dataset.theme = wanted), theme);
      for (const view of ['flame', 'table', 'sandwich', 'heat', 'code']) {
        await page.locator(`#tab-${view}`).click();
        await checkAccessibility(page, `${view}, ${theme}`);
      }
    }
    await page.locator('#help-button').click();
    await checkAccessibility(page, 'keys');
    return page;
  },
  async 'on paper it is black on white, without controls'() {
    const page = await open('server.html', '', {colorScheme: 'dark'});
    const pdf = await page.pdf();
    assert.ok(pdf.length > 5000);
    await page.emulateMedia({media: 'print'});
    assert.equal(await page.locator('#tabs').isVisible(), false);
    assert.ok(await page.locator('#flame').isVisible());
    await picture(page, 'print');
    return page;
  },
  async 'a million samples, twenty thousand functions and five thousand threads are used as well'() {
    for (const kind of ['large', 'functions', 'threads']) {
      const page = await open(`${kind}.html`);
      const samples = {large: 1_000_000, functions: 200_000, threads: 200_000}[kind];
      assert.equal(await page.evaluate(() => window.profilePage.selection.sides[0].count), samples);
      await page.locator('#search').fill('f1');
      assert.match(await text(page, 'matched'), /^matched \d+\.\d\d %$/);
      for (const view of ['table', 'sandwich', 'heat', 'flame']) {
        await page.locator(`#tab-${view}`).click();
        await settled(page);
      }
      await page.locator('#threads').hover();
      await page.mouse.wheel(0, 60_000);
      await picture(page, kind);
      assert.deepEqual(page.complaints, []);
      await page.close();
    }
    const page = await open('functions.html', '#v=table');
    const rows = () => page.locator('#table tbody tr').count();
    assert.equal(await rows(), 100);
    await page.locator('#more').click();
    assert.equal(await rows(), 1100);
    return page;
  },
};

await runTests('tests/browser/page_test', tests, browser);
