// node page_timing.mjs CHROMIUM PAGE…: measures how long a page takes to appear and to react.
//
// Each figure is the minimum (and the median) of several runs, in milliseconds. It includes the
// script and its drawing on canvases, but not the browser's compositing or start.
import {pathToFileURL} from 'node:url';
import {resolve} from 'node:path';
import {launch} from './tests.mjs';

const [executablePath, ...pages] = process.argv.slice(2);
const browser = await launch(executablePath);

const leastAndMedian = (values) => {
  values.sort((a, b) => a - b);
  return [values[0], values[values.length >> 1]];
};

async function openingTimes(file) {
  const times = [];
  for (let i = 0; i < 5; ++i) {
    const page = await browser.newPage({viewport: {width: 1280, height: 800}});
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.waitForFunction(() => window.profilePage);
    times.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() =>
      setTimeout(() => done({
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now(),
        shown: performance.now(),
      }))))));
    await page.close();
  }
  return {
    paint: leastAndMedian(times.map((time) => time.paint)),
    shown: leastAndMedian(times.map((time) => time.shown)),
  };
}

async function actionTimes(file) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}});
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForFunction(() => window.profilePage);
  const times = await page.evaluate(async () => {
    const result = {};
    const {profilePage: shown} = window;
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const timed = async (name, what, draw) => {
      const values = [];
      for (let i = 0; i < 15; ++i) {
        await drawn();
        const start = performance.now();
        what(i);
        draw();
        values.push(performance.now() - start);
      }
      result[name] = values;
    };
    const flame = () => shown.flame.drawNow();
    const both = () => {
      shown.timeline.drawNow();
      shown.flame.drawNow();
    };
    document.getElementById('tab-flame').click();
    await drawn();
    const slider = document.getElementById('from');
    const brush = (i) => {
      slider.value = 20 + i;
      slider.dispatchEvent(new Event('input'));
    };
    await timed('brush', brush, both);
    document.getElementById('all-time').click();
    const boxes = shown.flame.levels[Math.min(4, shown.flame.levels.length - 1)];
    await timed('zoom', (i) => shown.flame.zoom(i % 2 === 0 ? boxes[0].box : shown.flame.root), flame);
    shown.flame.zoom(shown.flame.root);
    const search = document.getElementById('search');
    await timed('search', (i) => {
      search.value = 'f' + (i + 1);
      search.dispatchEvent(new Event('input'));
    }, flame);
    search.value = '';
    search.dispatchEvent(new Event('input'));
    const reverse = document.getElementById('reverse');
    await timed('reverse', () => reverse.click(), flame);
    if (reverse.checked) reverse.click();
    for (const view of ['table', 'sandwich', 'heat']) {
      await timed(view, () => {
        document.getElementById('tab-flame').click();
        shown.isStale.add(view);
        document.getElementById(`tab-${view}`).click();
      }, () => (view === 'heat' ? shown.heat.drawNow() : view === 'sandwich' ? shown.sandwich.callees.drawNow() : 0));
    }
    document.getElementById('tab-table').click();
    await timed('brush with table', brush, () => {});
    return result;
  });
  await page.close();
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, leastAndMedian(values)]));
}

for (const file of pages) {
  const times = {...await openingTimes(file), ...await actionTimes(file)};
  console.log(file + ': ' + Object.entries(times).map(
    ([name, [least, median]]) => `${name} ${least.toFixed(1)} (${median.toFixed(1)})`).join(', '));
}
await browser.close();
