/** The errors of events. */
import { defineErrors } from '../../kernel/errors.ts';

export const eventErrors = defineErrors('EVT', {
  internal: ['001', 500, 'Unexpected Error'],
  query: ['002', 400, 'Invalid Event Search Query'],
  notFound: ['003', 404, 'Event not found'],
  invalid: ['004', 400, 'Invalid Event'],
});
