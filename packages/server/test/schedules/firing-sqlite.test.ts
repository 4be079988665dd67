import { twoOnSqlite } from '../harness/two-stores.ts';
import { testFiring } from './firing-conformance.ts';

testFiring('sqlite', twoOnSqlite);
