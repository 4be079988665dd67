import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { followConformance } from './follow-conformance.ts';

followConformance('postgres', postgresGrounds());
