import { twoOnPostgres } from '../harness/two-stores.ts';
import { testDelivery } from './delivery-conformance.ts';

testDelivery('postgres', twoOnPostgres);
