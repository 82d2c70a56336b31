// Shared code of the browser tests: Chromium, and a runner of tests by name.
import assert from 'node:assert/strict';
import {chromium} from 'playwright-core';

export const launch = (executablePath) => chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});

// Runs tests. Each test returns the page that it used; the page's list of complaints must be empty.
// Ends the program, with status 1 if a test failed.
export async function runTests(suite, tests, browser) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      const page = await test();
      assert.deepEqual(page.complaints, []);
      await page.close();
      console.log('passed  ' + name);
    } catch (error) {
      ++failed;
      console.log('FAILED  ' + name + '\n' + error.message);
    }
  }
  await browser.close();
  console.log(`${suite}: ${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
