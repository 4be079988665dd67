import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { conformance } from './conformance.ts';

conformance('postgres', postgresGrounds());
