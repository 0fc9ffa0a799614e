/** The integrated authority: certificates signed here, with a key that stays in the vault. Publishes no CRLs. */
import { z } from 'zod';
import { type DraftOf, type DraftTools, InvalidField, type Tools } from '../../kernel/connector.ts';
import { duration, secretInput, text } from '../../kernel/schema.ts';
import { parseDuration } from '../../lib/duration.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import { pkiConnector } from '../../modules/pki/pki-connector.port.ts';
import { isSameKey, makeRoot, readAuthority, requireCurrent } from './authority.ts';
import { issuance, type Validity } from './issuance.ts';

const asyncParams = z
  .object({ responseDelay: duration, certificateCacheDuration: duration })
  .meta({ id: 'IntegratedCAConnectorResponseAsyncParams' });

const fields = {
  /** PEM. Without it the vault makes a key. */
  caKey: secretInput.optional(),
  /** PEM. Without it a root is made for the key. */
  caCert: text.optional(),
  crlPath: text.optional(),
  crlLifetime: duration.optional(),
  /** Kept for whoever sent it. */
  certType: text.optional(),
  signAlg: text.optional(),
  crtLifetime: duration.optional(),
  crtBackDate: duration.optional(),
  /** Kept for whoever sent it: possession is proven in the request workflow, always. */
  checkPop: z.boolean().optional(),
  asyncParams: asyncParams.optional(),
  retryInterval: duration.optional(),
  cryptoType: z.enum(['legacy', 'hybrid', 'pqc']),
};

type Draft = DraftOf<'integrated', typeof fields>;
type Stored = Omit<Draft, 'caKey' | 'caCert'> & { readonly caKey: { readonly sealed: string }; readonly caCert: string };

export const integrated = pkiConnector({
  type: 'integrated',
  schemaName: 'IntegratedCAConnector',
  fields,
  secrets: ['caKey'],
  notYet: ['crlPath', 'crlLifetime', 'asyncParams', 'retryInterval'],
  accept,
  open: (stored: Stored, tools) =>
    issuance(readAuthority(stored.caCert, stored.signAlg), tools.signer(stored.caKey.sealed, purposeOf(tools)), validityOf(stored), tools),
});

const validityOf = ({ crtLifetime = '365 days', crtBackDate = '5 minutes' }: Pick<Draft, 'crtLifetime' | 'crtBackDate'>): Validity => ({
  lifetimeMs: parseDuration(crtLifetime)!,
  backDateMs: parseDuration(crtBackDate)!,
});

const purposeOf = ({ purpose }: Pick<Tools, 'purpose'>): string => `${purpose}/caKey`;

async function accept({ caKey, caCert, ...draft }: Draft, tools: DraftTools<Stored>): Promise<Stored> {
  const { stored } = tools;
  if (draft.cryptoType !== 'legacy') throw new InvalidField('cryptoType', `'${draft.cryptoType}' is not available yet`);
  if (validityOf(draft).lifetimeMs < 1000) throw new InvalidField('crtLifetime', 'is shorter than a second');
  const sealed = await sealedKey(caKey?.value, caCert, tools);
  const signer = tools.signer(sealed, purposeOf(tools));
  const kept = caKey?.value === undefined ? stored?.caCert : undefined;
  const authority = readAuthority(caCert ?? kept ?? (await makeRoot(draft.name, signer, draft.signAlg, tools)), draft.signAlg);
  if (!isSameKey(authority.publicKey, signer.publicKey)) throw new InvalidField('caCert', 'is the certificate of another key than caKey');
  const pem = encodePem('CERTIFICATE', authority.certificate.der);
  // One that was good when it came may grow old: its connector can still be changed in other respects.
  if (pem !== stored?.caCert) requireCurrent(authority, tools.now(), (reason) => new InvalidField('caCert', reason));
  return { ...draft, caKey: { sealed }, caCert: pem };
}

/** The key that was sent, the one that is kept, or a new one. */
async function sealedKey(pem: string | undefined, caCert: string | undefined, tools: DraftTools<Stored>): Promise<string> {
  if (pem !== undefined) return tools.vault.sealPrivateKey(pem, purposeOf(tools)).sealed;
  if (tools.stored) return tools.stored.caKey.sealed;
  if (caCert !== undefined) throw new InvalidField('caKey', 'is missing: it is the private key of caCert');
  return (await tools.vault.generateKey('ec-secp256r1', purposeOf(tools))).sealed;
}
