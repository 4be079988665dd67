import { fuzzWholeApi } from './whole-api.ts';

fuzzWholeApi(1500, 60_000);
