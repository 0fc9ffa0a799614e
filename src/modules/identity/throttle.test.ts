import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createThrottle, networkOf } from './throttle.ts';

const minute = 60_000;

describe('the throttle', () => {
  it('slows an address down that tries many accounts, then refuses it', () => {
    const throttle = createThrottle();
    const ip = '192.0.2.1';
    const attempts = Array.from({ length: 101 }, (_, i) => throttle.begin({ account: `a${i}`, ip }, 0));
    assert.deepEqual(
      [attempts[0], attempts[10], attempts[100]],
      [
        { refused: false, delayMs: 100 },
        { refused: false, delayMs: 200 },
        { refused: true, delayMs: 5000 },
      ],
    );
    assert.equal(throttle.begin({ account: 'a', ip: '192.0.2.2' }, 0).refused, false);
  });

  it('does not prolong a refusal by what it refuses', () => {
    const throttle = createThrottle();
    for (let i = 0; i < 10; i++) throttle.begin({ account: 'a' }, 0);
    assert.equal(throttle.begin({ account: 'a' }, 14 * minute).refused, true);
    assert.equal(throttle.begin({ account: 'a' }, 15 * minute).refused, false);
  });

  it('starts anew after a success, which is no failure of the address either', () => {
    const throttle = createThrottle();
    const origin = { account: 'a', ip: '192.0.2.1' };
    for (let i = 0; i < 500; i++) {
      assert.deepEqual(throttle.begin(origin, 0), { refused: false, delayMs: 100 });
      throttle.succeeded(origin);
    }
  });

  it('takes back what came to no verdict', () => {
    const throttle = createThrottle();
    const origin = { account: 'a', ip: '192.0.2.1' };
    throttle.begin(origin, 0);
    throttle.begin(origin, 0);
    throttle.withdrawn(origin);
    assert.equal(throttle.begin(origin, 0).delayMs, 200);
  });

  it('stays bounded: who came longest ago is forgotten', () => {
    const throttle = createThrottle();
    for (let i = 0; i < 10; i++) throttle.begin({ account: 'first' }, 0);
    for (let i = 0; i < 10_000; i++) throttle.begin({ account: `a${i}` }, 0);
    assert.equal(throttle.begin({ account: 'first' }, 0).refused, false);
  });

  for (const [ip, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const) {
    it(`counts ${ip} as ${network}`, () => assert.equal(networkOf(ip), network));
  }
});
