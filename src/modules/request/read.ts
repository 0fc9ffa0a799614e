/** Reading: a request, and the profiles on which one can be made. */
import { operation } from '../../kernel/action.ts';
import { permissionErrors } from '../../kernel/errors.ts';
import { findProfile, listProfiles, type WebraProfile } from '../certificate/index.ts';
import { requestErrors } from './errors.ts';
import { presentRequest } from './present.ts';
import { findRequest } from './requests.store.ts';
import { mayCancel, mayEnroll, maySee } from './rights.ts';
import * as schemas from './schemas.ts';
import { common } from './workflow.ts';

export const get = operation({
  ...common,
  id: 'request.get',
  class: 'open',
  method: 'GET',
  path: '/api/v1/requests/:id',
  match: { id: 'id' },
  audit: 'not-audited',
  answers: { 200: schemas.requestAnswer },
  errors: [requestErrors.profile.at(400), requestErrors.notFound, requestErrors.unexpected],
  async run({ params }, context) {
    const row = await findRequest(params['id']!.toLowerCase(), context);
    if (!row) throw requestErrors.notFound(`'${params['id']}'`);
    const profile = await findProfile(row.profile, context.configuration);
    if (!maySee(context.principal, row, profile?.body)) throw permissionErrors.denied('the request is not visible to the caller');
    return {
      answer: await presentRequest(
        row,
        { profile: profile?.body, by: mayCancel(context.principal, row) ? 'requester' : 'approver' },
        context,
      ),
    };
  },
});

export const profiles = operation({
  ...common,
  id: 'request.certificate.profile',
  class: 'open',
  method: 'GET',
  path: '/api/v1/requests/profiles',
  audit: 'not-audited',
  query: schemas.profilesQuery,
  answers: { 200: schemas.profilesAnswer, 204: null },
  errors: [requestErrors.unexpected],
  async run({ query }, context) {
    const shown = (await listProfiles(context.configuration)).flatMap(({ body: profile }) => {
      const rights = mayEnroll(context.principal, profile);
      const asked = (query['module'] ?? profile.module) === profile.module && (query['workflow'] ?? 'enroll') === 'enroll';
      return asked && profile.enabled && (rights.perform || rights.request) ? [requestable(profile, rights)] : [];
    });
    return shown.length === 0 ? {} : { answer: shown };
  },
});

function requestable(
  { name, module, displayName, description, cryptoPolicy }: WebraProfile,
  rights: { readonly perform: boolean; readonly request: boolean },
) {
  const { defaultKeyType, authorizedKeyTypes, preferredEnrollmentMode } = cryptoPolicy;
  const capabilities = {
    centralized: false,
    decentralized: cryptoPolicy.decentralized === true,
    defaultKeyType,
    authorizedKeyTypes,
    preferredEnrollmentMode,
  };
  return { name, module, displayName, description, workflows: [{ workflow: 'enroll', ...rights }], capabilities };
}
