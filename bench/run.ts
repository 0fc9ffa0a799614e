/** `npm run bench -- <name>`: runs one benchmark. Each prints one JSON object as its last line. */
import { readdirSync } from 'node:fs';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length));
const [name] = process.argv.slice(2);
if (!name || !names.includes(name)) {
  console.error(`usage: npm run bench -- <${names.join(' | ')}>`);
  process.exit(2);
}
const { run } = (await import(`./${name}.bench.ts`)) as { run(): Promise<object> };
console.log(JSON.stringify({ bench: name, ...(await run()) }));
process.exit(0);
