/** What PostgreSQL says when it cannot start, as a sentence that says what to do. */

const advice: readonly (readonly [RegExp, string])[] = [
  [
    /No space left on device|Disk quota exceeded|Check free disk space/i,
    'the disk is full: free some space (a new database takes 50 MB) and start again',
  ],
  [/Read-only file system/i, 'the file system is read-only: give the service another directory'],
  [
    /error while loading shared libraries: (\S+?):/,
    'a library of the installed PostgreSQL is missing: install the packages again with npm ci',
  ],
  [
    /database files are incompatible with server/,
    'the data is of another version of PostgreSQL: start the version of the service that made it, and export',
  ],
  [/could not map anonymous shared memory|Cannot allocate memory/, 'there is too little memory: it needs 512 MB'],
  [
    /Permission denied|Operation not permitted/i,
    'a right on that folder, or on one above it, is missing: give it to the user that the service runs as',
  ],
];

/** `what` happened, advice where the cause is known, and the words of PostgreSQL. */
export function startError(what: string, stderr: string): Error {
  const known = advice.find(([pattern]) => pattern.test(stderr))?.[1];
  const lines = stderr.trim().split('\n');
  const said = lines.find((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? '';
  return new Error([what, known, said].filter(Boolean).join(': '));
}
