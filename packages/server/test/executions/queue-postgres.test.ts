import { twoOnPostgres } from '../harness/two-stores.ts';
import { testQueue } from './queue-conformance.ts';

testQueue('postgres', twoOnPostgres);
