import { twoOnSqlite } from '../harness/two-stores.ts';
import { testDelivery } from './delivery-conformance.ts';

testDelivery('sqlite', twoOnSqlite);
