/** Certificates, their labels and their profiles: what other modules and `app.ts` may use. */

export {
  type CertificateFacts,
  type CertificateRow,
  certificateRow,
  certificateTable,
  findCertificate,
  findCertificateByDer,
  holderId,
} from './certificates.store.ts';
export { certificateErrors, certificateOf, certificateOperations } from './certificates.ts';
export { labels } from './labels.ts';
export { permissionsOn, presentCertificate } from './present.ts';
export { cryptoPolicy, keyTypeSchema } from './profiles/crypto-policy.ts';
export { describe } from './profiles/describe.ts';
export { dnIndex, extensionTypes, metadataKeys, sanTypes } from './profiles/elements.ts';
export { type Right, rightName } from './profiles/levels.ts';
export { findProfile, listProfiles, profiles } from './profiles/profiles.ts';
export { decide, holds } from './profiles/rights.ts';
export { type Editor, openTemplate, type Template } from './profiles/slots.ts';
export { ElementError, type ElementPart, type Evaluated, evaluate, type Proposed, prefill, type Submitted } from './profiles/template.ts';
export { requestLifeMs, type WebraProfile, type Workflow } from './profiles/webra.ts';
export { certificatePermissions, certificateResponse, passwordPolicy, triggerResult } from './schemas.ts';
export { sees, visibilityOf } from './visibility.ts';
