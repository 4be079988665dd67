import { twoOnPostgres } from '../harness/two-stores.ts';
import { testFiring } from './firing-conformance.ts';

testFiring('postgres', twoOnPostgres);
