import { twoOnSqlite } from '../harness/two-stores.ts';
import { testSharing } from './sharing-conformance.ts';

testSharing('sqlite', twoOnSqlite);
