/** The parts list: every module, protocol and connector, once, in order. Names and no logic. */
import { pkiConnectorTypes } from './connectors/pki/index.ts';
import { describeApi, openApiOperation } from './http/openapi.ts';
import { type Action, anyAction, type Operation } from './kernel/action.ts';
import type { Commit } from './kernel/change.ts';
import type { Sources } from './kernel/context.ts';
import type { Job } from './kernel/job.ts';
import type { Trail } from './kernel/perform.ts';
import { certificateOperations, labels, profiles } from './modules/certificate/index.ts';
import { eventModule } from './modules/event/index.ts';
import { bootstrapAction, identityOperations } from './modules/identity/index.ts';
import { authorities, pkiModule, queues } from './modules/pki/index.ts';
import { requestModule } from './modules/request/index.ts';
import { checkVault } from './modules/system/index.ts';
import { version } from './version.ts';

export interface Parts {
  readonly trail: Trail;
  /** Actions with an address. */
  readonly operations: readonly Operation[];
  /** Actions without one: reached from other actions, from jobs and from the start. */
  readonly actions: readonly Action[];
  readonly jobs: readonly Job[];
}

export interface PartsInput {
  readonly sealSecret: Uint8Array;
  readonly commit: Commit;
  readonly sources: Sources;
}

export function assemble({ sealSecret, commit, sources }: PartsInput): Parts {
  const events = eventModule({ sealSecret, commit });
  const pki = pkiModule({ types: pkiConnectorTypes, now: sources.now });
  const requests = requestModule(pki);
  const operations: Operation[] = [
    openApiOperation(() => describeApi(operations, { version })),
    ...identityOperations,
    ...events.operations,
    ...queues.operations,
    ...pki.connectors.operations,
    ...authorities.operations,
    ...labels.operations,
    ...profiles.operations,
    ...certificateOperations,
    ...requests.operations,
  ];
  return {
    trail: events.trail,
    operations,
    actions: [checkVault, anyAction(bootstrapAction), ...requests.actions],
    jobs: [...events.jobs, ...requests.jobs],
  };
}

/** The parts as `api/` and the house tests list them: nothing of it is carried out. */
export const describeApp = (): Pick<Parts, 'operations' | 'actions'> =>
  assemble({ sealSecret: new Uint8Array(32), commit: async () => {}, sources: { now: () => 0, random: (bytes) => new Uint8Array(bytes) } });
