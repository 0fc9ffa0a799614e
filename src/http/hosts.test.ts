import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capabilities } from '../kernel/action.ts';
import { createHosts, type Endpoint, type HostHeader, hostName } from './hosts.ts';

const closed = Object.fromEntries(capabilities.map((capability) => [capability, false])) as Omit<Endpoint, 'host'>;
const publicUrl = 'https://pki.example.com';

const basic = createHosts({ allowedHosts: ['Ra.Example.com', '2001:DB8:0::7'], publicUrl });
const advanced = createHosts({
  allowedHosts: ['ra.example.com'],
  endpoints: [
    { ...closed, host: 'acme.example.com', acme: true },
    { ...closed, host: 'Admin.example.com', configuration: true, events: true },
    { ...closed, host: 'none.example.com' },
  ],
  publicUrl,
});

test('without endpoints the local names, the public one and the allowed hosts reach everything', () => {
  const hosts = [
    'localhost',
    'LOCALHOST:9000',
    '127.0.0.1',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:9000',
    '[0:0:0:0:0:0:0:1]',
    'localhost:',
    'pki.example.com',
  ];
  for (const host of [...hosts, 'RA.example.COM:443', '[2001:db8::7]']) assert.deepEqual([...basic(host)!], [...capabilities], host);
});

test('any other host reaches nothing', () => {
  const hosts = [
    'example.com',
    'evil.pki.example.com',
    'pki.example.com.evil.com',
    '10.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '[::]',
    '[::ffff:127.0.0.1]',
  ];
  for (const host of hosts) assert.equal(basic(host), undefined, host);
});

test('a malformed, missing or duplicated header reaches nothing', () => {
  const malformed = [
    '',
    ' ',
    ':80',
    '::1',
    'localhost:x',
    'localhost:99999',
    'localhost:1:2',
    'localhost,localhost',
    'localhost, evil.com',
    ' localhost',
  ];
  const worse = [
    'localhost ',
    'localhost.',
    'user@localhost',
    'http://localhost',
    'localhost/',
    'localhost\0',
    'localhost\n',
    '[::1',
    '::1]',
    '[::1]x',
    '[[::1]]',
  ];
  const headers: readonly HostHeader[] = [
    undefined,
    [],
    ['localhost', 'localhost'],
    ['localhost', 'evil.com'],
    '[fe80::1%eth0]',
    '[::1%25lo]',
  ];
  for (const header of [...malformed, ...worse, '[localhost]', '[127.0.0.1]', ...headers])
    assert.equal(basic(header), undefined, String(header));
  assert.ok(basic(['localhost']));
});

test('with endpoints each host reaches its flags and no other host anything', () => {
  assert.deepEqual([...advanced('ACME.example.com:443')!], ['acme']);
  assert.deepEqual([...advanced('admin.example.com')!], ['configuration', 'events']);
  assert.deepEqual([...advanced('none.example.com')!], []);
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'ra.example.com', 'pki.example.com'])
    assert.equal(advanced(host), undefined, host);
});

test('a canonical name is its own canonical form', () => {
  const hosts = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(hosts, (host) => {
      const name = hostName(host);
      if (name !== undefined) assert.equal(hostName(name), name);
    }),
  );
});

test('any header is answered, never thrown at', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void basic(header)));
  assert.equal(basic('a.'.repeat(200_000)), undefined);
  assert.equal(basic(`[${':'.repeat(200_000)}]`), undefined);
});
