import { twoOnPostgres } from '../harness/two-stores.ts';
import { testIdleRemoval } from './idle-conformance.ts';

testIdleRemoval('postgres', twoOnPostgres);
