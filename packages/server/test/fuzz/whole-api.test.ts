import { fuzzWholeApi } from './whole-api.ts';

fuzzWholeApi(800, 60_000);
