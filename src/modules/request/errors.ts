/** The problems of the request workflow. */
import { defineErrors } from '../../kernel/errors.ts';

export const requestErrors = defineErrors('REQ', {
  unexpected: ['001', 500, 'Unexpected Error'],
  invalid: ['002', 400, 'Invalid Request'],
  notFound: ['003', 404, 'Request not found'],
  status: ['004', 400, 'Invalid Request status'],
  expired: ['005', 400, 'Expired Request'],
  workflow: ['007', 403, 'Unauthorized Workflow'],
  profile: ['010', 404, 'Profile does not exist or is disabled'],
});

export const enrollErrors = defineErrors('WEBRA-ENROLL', {
  mode: ['001', 400, 'Invalid enrollment mode'],
  keyType: ['002', 400, 'Invalid key type'],
  csr: ['003', 400, 'Invalid certificate request'],
  subject: ['004', 400, 'Invalid subject parameter(s)'],
  san: ['005', 400, 'Invalid subject alternate name parameter(s)'],
  label: ['006', 400, 'Invalid label parameter(s)'],
  profileTemplate: ['007', 500, 'Missing Web Registration Authority Enrollment Request Template on profile'],
  pendingTemplate: ['008', 500, 'Missing Web Registration Authority Enrollment Request Template on pending request'],
  approvedTemplate: ['009', 400, 'Missing Web Registration Authority Enrollment Request Template on approved request'],
  profileChanged: [
    '010',
    500,
    'Unable to validate pending enroll request. The Web Registration Authority profile was modified and the request can only be canceled or denied',
  ],
  failed: ['011', 500, 'Web Registration Authority enrollment failed'],
  invalid: ['012', 400, 'Invalid Web Registration Authority Enroll Request'],
  profile: ['013', 500, 'Invalid Web Registration Authority Profile'],
  authority: ['014', 500, 'Invalid Web Registration Authority'],
});

export const elementErrors = {
  element: defineErrors('CERT-ELEM', { invalid: ['001', 400, 'Invalid Certificate Element'] }).invalid,
  team: defineErrors('CERT-TEAM', { invalid: ['001', 400, 'Invalid Team Element'] }).invalid,
};
