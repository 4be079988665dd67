import { twoOnPostgres } from '../harness/two-stores.ts';
import { testSharing } from './sharing-conformance.ts';

testSharing('postgres', twoOnPostgres);
