import { twoOnPostgres } from '../harness/two-stores.ts';
import { testOutbox } from './outbox-conformance.ts';

testOutbox('postgres', twoOnPostgres);
