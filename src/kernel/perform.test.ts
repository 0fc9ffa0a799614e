import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { type Action, type Outcome, step } from './action.ts';
import { type Change, Conflict, defineTable, insert } from './change.ts';
import type { Context } from './context.ts';
import { authErrors, defineErrors, permissionErrors, routeErrors } from './errors.ts';
import { type EventDraft, pendingEventTable } from './event.ts';
import { createPerformer, problem, statusOf, type Trail, withoutNulls } from './perform.ts';
import { compilePermissions } from './permission.ts';
import { nobody, type Principal } from './principal.ts';

const errors = defineErrors('TEST', { internal: ['001', 500, 'Unexpected'], invalid: ['002', 400, 'Invalid'], gone: ['003', 404, 'Gone'] });
const table = defineTable('thing', { name: 'text' }, ['name']);
const made = insert(table, { name: 'one' });

const holding = (...values: readonly string[]): Principal => {
  const permissions = values.map((value) => ({ value }));
  return { identifier: 'ada', roles: [], teams: [], permissions, grant: compilePermissions(permissions) };
};

/** A performer whose commits are kept, or fail as told. */
function setUp({ principal = holding('configuration:*'), failures = [] as unknown[], admits = true } = {}) {
  const commits: (readonly Change[])[] = [];
  const logged: unknown[] = [];
  const runs = { renewed: 0 };
  const trail: Trail = {
    append: ({ code, module, status, details }) => insert(pendingEventTable, { code, module, status, details }),
    admits: () => admits,
  };
  const { perform, note } = createPerformer(async (changes) => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    commits.push(changes);
  }, trail);
  const context = {
    principal,
    log: { info: () => {}, warn: () => {}, error: (fields: object) => void logged.push(fields) },
    renewed: async () => {
      runs.renewed += 1;
      return context;
    },
  } as unknown as Context;
  const call = <B>(action: Action<B>, body?: unknown) => perform(action, { params: {}, query: {}, body }, context);
  /** Each commit as the names of what it writes: tables, and events as `CODE status`. */
  const written = () =>
    commits.map((changes) =>
      changes.map((change) =>
        change.op === 'insert' && change.table.name === pendingEventTable.name
          ? `${change.row['code']} ${change.row['status']}`
          : change.table.name,
      ),
    );
  return { call, note, written, commits, logged, context, runs };
}

const action = <B = unknown>(run: Action<B>['run'], more: Partial<Action<B>> = {}): Action<B> => ({
  id: 'test.do',
  permission: ['configuration:ca:manage'],
  class: 'configuration',
  audit: { code: 'CONF-ADD', module: 'configuration' },
  invalid: errors.invalid,
  unexpected: errors.internal,
  errors: [],
  run,
  ...more,
});
const doing = (outcome: Outcome, more: Partial<Action> = {}) => action<never>(async () => outcome, more);
const errorOf = ({ body }: { body?: unknown }) => (body as { error: string }).error;

describe('who may', () => {
  for (const [permission, principal, expected] of [
    ['public', nobody, 'yes'],
    ['by-object', nobody, 'yes'],
    ['internal', nobody, 'yes'],
    ['authenticated', nobody, 'SEC-AUTH-006'],
    ['authenticated', holding(), 'yes'],
    [['configuration:ca:manage'], nobody, 'SEC-AUTH-006'],
    [['configuration:ca:manage'], holding('configuration:ca:audit'), 'SEC-PERM-001'],
    [['configuration:pki:audit', 'configuration:ca:audit'], holding('configuration:ca:audit'), 'yes'],
    [[], holding('configuration:*'), 'SEC-PERM-001'],
  ] as const) {
    it(`${permission}: ${principal.permissions.map(({ value }) => value).join() || principal.identifier || 'nobody'}: ${expected}`, async () => {
      const { call, written } = setUp({ principal });
      const reply = await call(doing({}, { permission }));
      assert.equal(reply.status === 204 ? 'yes' : errorOf(reply), expected);
      assert.deepEqual(written(), [[`CONF-ADD ${expected === 'yes' ? 'success' : 'failure'}`]]);
    });
  }

  it('is asked before the body is read', async () => {
    const { call } = setUp({ principal: nobody });
    assert.equal(
      errorOf(
        await call(
          action(async () => ({}), { body: z.object({}) }),
          'nonsense',
        ),
      ),
      'SEC-AUTH-006',
    );
  });

  it('is told what is missing', async () => {
    const reply = await setUp({ principal: holding() }).call(doing({}));
    assert.match((reply.body as { detail: string }).detail, /configuration:ca:manage/);
  });
});

describe('the body', () => {
  const body = z.object({ name: z.string(), inner: z.object({ size: z.int().optional() }).optional() });
  const echo = action<z.infer<typeof body>>(async (input) => ({ answer: input.body }), { body });

  it('becomes the fields of its schema, nulls left out at every depth', async () => {
    const sent = JSON.parse('{"name": "x", "inner": {"size": null}, "extra": 1, "__proto__": {"name": "y"}}');
    const reply = await setUp().call(echo, sent);
    assert.deepEqual(reply, { status: 200, body: { name: 'x', inner: {} } });
    assert.deepEqual(withoutNulls([{ a: null, b: [null, { c: null }] }]), [{ b: [null, {}] }]);
  });

  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  for (const [what, sent, detail] of [
    ['nothing', undefined, /expected object/],
    ['null', null, /expected object/],
    ['a wrong type, deep inside', { name: 'x', inner: { size: 'big' } }, /^inner\.size: /],
    ['NUL', { name: 'x\0' }, /NUL/],
    ['half a surrogate pair in an ignored key', { name: 'x', '\ud800': 1 }, /surrogate/],
    ['endless nesting', { name: 'x', extra: deep }, /nesting/],
  ] as const) {
    it(`is refused with the action's own error for ${what}`, async () => {
      const { call, logged, written } = setUp();
      const reply = await call(echo, sent);
      assert.deepEqual([reply.status, errorOf(reply)], [400, 'TEST-002']);
      assert.match((reply.body as { detail: string }).detail, detail);
      assert.deepEqual([logged, written()], [[], [['CONF-ADD failure']]]);
    });
  }

  it('is left alone where none is expected', async () => assert.equal((await setUp().call(doing({}), '""')).status, 204));
});

describe('without a schema the body', () => {
  const echo = (permission: 'public' | 'internal') =>
    action<unknown>(async ({ body }) => ({ answer: body === undefined ? 'none' : body }), { permission });
  it('of a caller is not there', async () => assert.equal((await setUp().call(echo('public'), { a: null })).body, 'none'));
  it('of an internal action is what it is given', async () => {
    const given = { a: null, inner: new Uint8Array(3) };
    assert.equal((await setUp().call(echo('internal'), given)).body, given);
  });
});

describe('what is written', () => {
  it('is the changes and their event, in one commit, before the answer', async () => {
    const { call, written } = setUp();
    assert.deepEqual(await call(doing({ status: 201, answer: { a: 1 }, changes: [made] })), { status: 201, body: { a: 1 } });
    assert.deepEqual(written(), [['thing', 'CONF-ADD success']]);
  });

  it('is nothing when an action is not audited and changes nothing', async () => {
    const { call, written } = setUp();
    const reply = await call(doing({ answer: 'a;b', mediaType: 'text/csv' }, { audit: 'not-audited' }));
    assert.deepEqual([reply, written()], [{ status: 200, body: 'a;b', mediaType: 'text/csv' }, []]);
  });

  it('is nothing in a dry run, and nothing follows', async () => {
    const { call, written } = setUp();
    const next = step(doing({ answer: 'never' }), undefined as never);
    assert.deepEqual(await call(doing({ answer: 'as if', changes: [made], dryRun: true, next })), { status: 200, body: 'as if' });
    assert.deepEqual(written(), []);
  });

  it('is a failure when the action says so, with its changes', async () => {
    const { call, written, commits } = setUp();
    const reply = await call(doing({ changes: [made], failure: errors.gone('it was there') }));
    assert.deepEqual([reply.status, errorOf(reply)], [404, 'TEST-003']);
    assert.deepEqual(written(), [['thing', 'CONF-ADD failure']]);
    assert.match(JSON.stringify(commits), /it was there/);
  });

  it('makes the action fail when it cannot be written', async () => {
    const { call, written } = setUp({ failures: [new Error('disk full')] });
    const reply = await call(doing({ changes: [made] }));
    assert.equal(errorOf(reply), 'TEST-001');
    assert.deepEqual(written(), [['CONF-ADD failure']]);
  });
});

describe('an action that loses a condition', () => {
  const lost = () => new Conflict('condition');

  it('is run again on what is true by then', async () => {
    const { call, runs, written } = setUp({ failures: [lost(), lost()] });
    let count = 0;
    const reply = await call(action(async () => ({ answer: ++count, changes: [made] })));
    assert.deepEqual([reply.body, runs.renewed, written().length], [3, 2, 1]);
  });

  it('may refuse the second time', async () => {
    const { call } = setUp({ failures: [lost()] });
    let count = 0;
    const once = action(async () => {
      count += 1;
      if (count > 1) throw errors.gone();
      return { changes: [made] };
    });
    assert.equal(errorOf(await call(once)), 'TEST-003');
  });

  it('is not run again when it called out', async () => {
    const { call, runs, written } = setUp({ failures: [lost()] });
    let count = 0;
    const calling = (overtaken: () => Promise<Outcome>) =>
      action(
        async () => {
          count += 1;
          return { answer: 'mine', changes: [made] };
        },
        { overtaken },
      );
    assert.deepEqual(await call(calling(async () => ({ status: 201, answer: 'theirs', changes: [made] }))), {
      status: 201,
      body: 'theirs',
    });
    assert.deepEqual([count, runs.renewed, written()], [1, 1, []]);
  });

  it('answers the failure that somebody else has met, or what is thrown when there is no telling', async () => {
    for (const [overtaken, code, left] of [
      [async () => ({ failure: errors.gone() }), 'TEST-003', []],
      [() => Promise.reject(new Error('not told')), 'TEST-001', [['CONF-ADD failure']]],
    ] as const) {
      const { call, written } = setUp({ failures: [lost()] });
      assert.equal(errorOf(await call(doing({ changes: [made] }, { overtaken }))), code);
      assert.deepEqual(written(), left);
    }
  });

  it('is given up after five times', async () => {
    const { call, runs } = setUp({ failures: [1, 2, 3, 4, 5].map(lost) });
    assert.equal(errorOf(await call(doing({ changes: [made] }))), 'TEST-001');
    assert.equal(runs.renewed, 4);
  });
});

describe('what follows', () => {
  const parent = (child: Action<string>) => {
    const then = step(child, 'handed over');
    return doing({ status: 202, answer: 'first', changes: [made], next: then });
  };
  const audit = { code: 'PKI-CONNECTOR', module: 'request' } as const;

  it('is performed after the commit, without asking for rights, and is the answer', async () => {
    const { call, written } = setUp({ principal: holding('configuration:ca') });
    const then = action<string>(async ({ body }) => ({ status: 201, answer: body }), { permission: 'internal', audit });
    assert.deepEqual(await call(parent(then)), { status: 201, body: 'handed over' });
    assert.deepEqual(written(), [['thing', 'CONF-ADD success'], ['PKI-CONNECTOR success']]);
  });

  it('does not undo what came before when it fails', async () => {
    const { call, written } = setUp();
    const then = action<string>(
      async () => {
        throw errors.gone();
      },
      { permission: 'internal', audit },
    );
    assert.equal(errorOf(await call(parent(then))), 'TEST-003');
    assert.deepEqual(written(), [['thing', 'CONF-ADD success'], ['PKI-CONNECTOR failure']]);
  });

  it('does not happen when the commit fails', async () => {
    const { call } = setUp({ failures: [new Error('no')] });
    let ran = false;
    const then = action<string>(
      async () => {
        ran = true;
        return {};
      },
      { permission: 'internal' },
    );
    await call(parent(then));
    assert.equal(ran, false);
  });
});

describe('an error', () => {
  const throwing = (error: unknown) => action(async () => Promise.reject(error));

  it('that nobody foresaw reaches the log and not the caller', async () => {
    const { call, logged, commits } = setUp();
    const reply = await call(throwing(new Error('secret detail')));
    assert.deepEqual(reply, {
      status: 500,
      body: { error: 'TEST-001', message: 'Unexpected', title: 'Unexpected', status: 500 },
      mediaType: 'application/problem+json',
    });
    assert.doesNotMatch(JSON.stringify(commits), /secret/);
    assert.match(String((logged[0] as { err: unknown }).err), /secret detail/);
  });

  it('of an absent database is an outage', async () => {
    const { call } = setUp();
    assert.equal(errorOf(await call(throwing(Object.assign(new Error('down'), { code: 'database-unavailable' })))), 'ROUTE-006');
  });

  it('stays what it is when it cannot be recorded', async () => {
    const { call, logged } = setUp({ failures: [new Error('no room')] });
    assert.equal(errorOf(await call(throwing(errors.gone()))), 'TEST-003');
    assert.equal(logged.length, 1);
  });

  it('is not recorded past the cap, nor where nothing is audited', async () => {
    const capped = setUp({ admits: false });
    await capped.call(throwing(errors.gone()));
    assert.deepEqual(capped.written(), []);
    const { call, written } = setUp();
    await call(action(async () => Promise.reject(errors.gone()), { audit: 'not-audited' }));
    assert.deepEqual(written(), []);
  });

  it('of authentication has the status of its class', () => {
    assert.deepEqual([statusOf(authErrors.nobody, 'configuration'), statusOf(authErrors.nobody, 'lifecycle')], [401, 403]);
    assert.deepEqual([statusOf(authErrors.provider, 'lifecycle'), statusOf(permissionErrors.denied, 'lifecycle')], [400, 403]);
    assert.equal(statusOf(routeErrors.tooMany, 'open'), 429);
    assert.deepEqual(problem(authErrors.nobody('who?'), 'lifecycle').body, {
      error: 'SEC-AUTH-006',
      message: 'Principal not authenticated',
      title: 'Principal not authenticated',
      status: 403,
      detail: 'who?',
    });
  });
});

describe('a note', () => {
  const event = (status: EventDraft['status']): EventDraft => ({ code: 'SEC-AUTHENTICATION', module: 'security', status, details: {} });

  it('is written, and fails when it cannot be', async () => {
    const { note, context, written } = setUp({ failures: [undefined, new Error('no')] });
    await note(event('success'), context);
    await assert.rejects(note(event('success'), context), /no/);
    assert.deepEqual(written(), [['SEC-AUTHENTICATION success']]);
  });

  it('of a failure is counted past the cap, of a success never', async () => {
    const { note, context, written } = setUp({ admits: false });
    await note(event('failure'), context);
    await note(event('success'), context);
    assert.deepEqual(written(), [['SEC-AUTHENTICATION success']]);
  });
});
