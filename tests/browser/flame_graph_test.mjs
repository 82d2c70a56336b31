// node flame_graph_test.mjs CHROMIUM PAGES [SCREENSHOTS]
import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {launch, runTests} from './tests.mjs';

const [executablePath, pages, screenshots] = process.argv.slice(2);
if (screenshots) mkdirSync(screenshots, {recursive: true});
const browser = await launch(executablePath);

// Opens a page that notes errors and requests to other hosts; a test must cause none.
async function open(file) {
  const page = await browser.newPage({viewport: {width: 1280, height: 560}});
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push('error: ' + error));
  page.on('console', (message) => page.complaints.push('console: ' + message.text()));
  page.on('requestfailed', (request) => page.complaints.push('failed: ' + request.url()));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) page.complaints.push('asked for ' + request.url());
  });
  await page.goto(pathToFileURL(join(pages, file)).href);
  return page;
}
async function picture(page, name) {
  if (screenshots) await page.screenshot({path: join(screenshots, name + '.png')});
}
const text = (page, id) => page.locator('#' + id).textContent();
// Returns the position in the window of the first box with that name: {x, y, width, height}.
// Returns null if the box is hidden.
const place = (page, name) => page.evaluate((wanted) => {
  const rect = [...document.querySelectorAll('#boxes rect')].find((r) => r.box.name === wanted);
  if (!rect || rect.getAttribute('display') === 'none') return null;
  const {x, y, width, height} = rect.getBoundingClientRect();
  return {x, y, width, height};
}, name);
async function click(page, name) {
  const {x, y, width, height} = await place(page, name);
  await page.mouse.click(x + width / 2, y + height / 2);
}

const tests = {
  async 'a picture fills the window and fits its names into the boxes'() {
    const page = await open('flame.svg');
    await picture(page, 'flame');
    const all = await place(page, 'all');
    assert.ok(all.width > 1240, `all is ${all.width} wide`);
    const tooWide = await page.evaluate(() => [...document.querySelectorAll('#names text')].filter((t) => {
      const end = t.getBBox().x + t.getBBox().width;
      return ![...document.querySelectorAll('#boxes rect')].some((r) => {
        const box = r.getBBox();
        return box.y < t.getBBox().y + 9 && box.y + box.height > t.getBBox().y + 9 &&
            box.x <= t.getBBox().x && box.x + box.width >= end;
      });
    }).map((t) => t.textContent));
    assert.deepEqual(tooWide, []);
    return page;
  },
  async 'children are within their parent'() {
    const page = await open('flame.svg');
    const wrong = await page.evaluate(() => [...document.querySelectorAll('#boxes rect')].filter((r) => {
      const {box} = r;
      return box.children.reduce((sum, child) => sum + child.width, 0) + box.self > box.width ||
          box.children.some((child) => child.start < box.start);
    }).map((r) => r.box.name));
    assert.deepEqual(wrong, []);
    return page;
  },
  async 'a click zooms, and reset goes back'() {
    const page = await open('flame.svg');
    const before = await place(page, 'Compress');
    await click(page, 'Compress');
    const after = await place(page, 'Compress');
    assert.ok(after.width > 1240 && before.width < 600);
    assert.equal(await place(page, 'ParseHeaders'), null);
    assert.ok((await place(page, 'ServeForever')).width > 1240, 'callers stay in sight');
    assert.match(await text(page, 'details'), /^Compress \(app\) — 700 samples, \d+\.\d\d %/);
    await page.mouse.move(400, after.y + 8);
    await picture(page, 'zoomed');
    await page.locator('#reset').click();
    assert.equal((await place(page, 'Compress')).width, before.width);
    assert.ok(await place(page, 'ParseHeaders'));
    return page;
  },
  async 'hovering tells name, samples and percentage'() {
    const page = await open('flame.svg');
    const {x, y} = await place(page, 'longest_match');
    await page.mouse.move(x + 20, y + 5);
    assert.match(await text(page, 'details'), /^longest_match \(app\) — 620 samples, 25\.\d\d %$/);
    assert.match(await text(page, 'tip'), /longest_match.*user · app.*620 samples/);
    await picture(page, 'tip');
    await page.mouse.move(5, 5);
    assert.equal(await page.locator('#tip').getAttribute('display'), 'none');
    return page;
  },
  async 'a search marks what matches and counts nested matches once'() {
    const page = await open('flame.svg');
    await page.keyboard.press('Control+f');
    await page.keyboard.type('^(deflate|longest_match)$');
    assert.equal(await page.locator('#boxes .match').count(), 2);
    const matched = await text(page, 'matched');
    const share = await page.evaluate(() => {
      const deflate = [...document.querySelectorAll('#boxes rect')].find((r) => r.box.name === 'deflate').box;
      return (100 * deflate.width / 1e8).toFixed(2);
    });
    assert.equal(matched, `Matched: ${share} %`);
    await picture(page, 'search');
    await page.locator('input').fill('(');
    assert.ok(await page.locator('input.wrong').count() === 1, 'a wrong expression is shown as such');
    await page.keyboard.press('Escape');
    assert.equal(await text(page, 'matched'), '');
    assert.equal(await page.locator('#boxes .match').count(), 0);
    return page;
  },
  async 'case matters once the pattern has upper case'() {
    const page = await open('flame.svg');
    await page.keyboard.press('/');
    await page.keyboard.type('handlerequest');
    assert.ok(await page.locator('#boxes .match').count() >= 2);
    await page.locator('input').fill('Handlerequest');
    assert.equal(await page.locator('#boxes .match').count(), 0);
    return page;
  },
  async 'arrow keys walk, Enter zooms and Escape goes back'() {
    const page = await open('flame.svg');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
    assert.match(await text(page, 'details'), /^ServeForever/);
    await page.keyboard.press('Enter');
    assert.ok((await place(page, 'ServeForever')).width > 1240);
    await page.keyboard.press('ArrowDown');
    assert.match(await text(page, 'details'), /^main/);
    await page.keyboard.press('Escape');
    assert.ok((await place(page, 'ServeForever')).width < 1240);
    return page;
  },
  async 'nasty names are shown as they are'() {
    const page = await open('flame.svg');
    assert.ok(await place(page, 'evil<&>"\'];]]></script>\ufffd\ufffd'));
    return page;
  },
  async 'title and search stay in sight in a low window'() {
    const page = await open('flame.svg');
    await page.setViewportSize({width: 900, height: 240});
    // The browser tells the page its new size with the next frame, after setViewportSize has
    // returned.
    await page.waitForFunction(() => document.getElementById('title').getBoundingClientRect().top >= 0 &&
        document.getElementById('details').getBoundingClientRect().bottom <= 240);
    await picture(page, 'low');
    return page;
  },
  async 'reversed and inverted, leaves are on top of their callers'() {
    const page = await open('reverse.svg');
    await picture(page, 'reverse');
    const leaf = await place(page, 'longest_match'), caller = await place(page, 'Compress');
    assert.ok(leaf && caller && leaf.y < caller.y);
    return page;
  },
  async 'as many boxes as are ever drawn are zoomed and searched as well'() {
    const page = await open('large.svg');
    assert.ok(await page.locator('#boxes rect').count() > 12000);
    await page.waitForFunction(() => window.scrollY > 0);  // The root scrolls into view.
    await picture(page, 'large');
    const times = await page.evaluate(() => {
      const timed = (what) => {
        const start = performance.now();
        what();
        document.documentElement.getBoundingClientRect();
        return Math.round(performance.now() - start);
      };
      const field = document.querySelector('input');
      const box = [...document.querySelectorAll('#boxes rect')].find((r) => r.box.name === 'function1');
      const zoom = timed(() => box.dispatchEvent(new MouseEvent('click', {bubbles: true})));
      field.value = 'level7_1_';
      return {zoom, search: timed(() => field.dispatchEvent(new Event('input')))};
    });
    console.log(`        zoom ${times.zoom} ms, search ${times.search} ms`);
    assert.equal(await page.locator('#boxes .match').count(), 100);
    assert.match(await text(page, 'matched'), /^Matched: 100\.00 %$/);
    await picture(page, 'large-zoomed');
    return page;
  },
  async 'an image shows it without scripts'() {
    const page = await open('image.html');
    const size = await page.evaluate(() => [document.images[0].naturalWidth, document.images[0].naturalHeight]);
    assert.equal(size[0], 1200);
    assert.ok(size[1] > 200);
    await picture(page, 'image');
    return page;
  },
};

await runTests('tests/browser', tests, browser);
