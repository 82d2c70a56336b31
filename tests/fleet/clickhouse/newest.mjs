// Runs the statements that the profiler sends on a ClickHouse of today, in this process: the npm package chdb.
//
//   node newest.mjs STATEMENTS    a file of statements, a line with -- between them; prints what each answers
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
