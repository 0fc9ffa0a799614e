/** Certificate requests by the hundred: P-256 keys, one name each, DER in base64 as the API takes it. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { bitString, contextExplicit, integer, sequence } from '../../src/lib/der/write.ts';
import { signatureAlgorithmFor } from '../../src/lib/x509/algorithm.ts';
import { encodeName } from '../../src/lib/x509/name.ts';

export function makeCsrs(count: number): readonly string[] {
  const algorithm = signatureAlgorithmFor('ec-secp256r1')!;
  return Array.from({ length: count }, (_, i) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const name = encodeName([{ type: 'cn', value: `host${i}.bench.test` }]);
    const info = sequence(integer(0n), name, publicKey.export({ format: 'der', type: 'spki' }), contextExplicit(0));
    const signature = sign(algorithm.digest, info, privateKey);
    return Buffer.from(sequence(info, algorithm.der, bitString(signature))).toString('base64');
  });
}
