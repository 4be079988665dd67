import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { retentionConformance } from './retention-conformance.ts';

retentionConformance('postgres', postgresGrounds());
