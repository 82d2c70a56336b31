// Runs the profiler's statements on the newest ClickHouse, in this process: the npm package chdb.
//
//   node newest.mjs STATEMENTS    statements separated by lines with --; prints the answer of each
import {readFileSync} from 'node:fs';
import {Session} from 'chdb';

const session = new Session();
let failed = 0;
for (const statement of readFileSync(process.argv[2], 'utf8').split('\n--\n')) {
  if (!statement.trim()) continue;
  try {
    process.stdout.write(session.query(statement, 'TSV'));
  } catch (error) {
    failed = 1;
    console.log(`FAILED: ${error.message}\n${statement}`);
  }
}
process.exitCode = failed;
