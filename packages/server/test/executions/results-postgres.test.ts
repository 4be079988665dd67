import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { resultsConformance } from './results-conformance.ts';

resultsConformance('postgres', postgresGrounds());
