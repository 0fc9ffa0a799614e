/** The request workflow: every enrollment passes here. */
import { type Action, anyAction, type Operation } from '../../kernel/action.ts';
import type { Job } from '../../kernel/job.ts';
import type { PkiModule } from '../pki/index.ts';
import { approve, cancel, deny } from './decide.ts';
import { createIssuer } from './issue.ts';
import { get, profiles } from './read.ts';
import { reconcileRequests } from './reconcile.jobs.ts';
import { submit, template } from './submit.ts';

export interface RequestModule {
  readonly operations: readonly Operation[];
  /** What others perform, and what `api/` lists beside the operations. */
  readonly actions: readonly Action[];
  readonly jobs: readonly Job[];
}

export function requestModule(pki: Pick<PkiModule, 'openConnector'>): RequestModule {
  const issuer = createIssuer(pki);
  return {
    operations: [template, submit(issuer), approve(issuer), deny, cancel, get, profiles],
    actions: [anyAction(issuer.action)],
    jobs: [reconcileRequests(issuer)],
  };
}
