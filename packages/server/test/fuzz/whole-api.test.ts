import { fuzzWholeApi } from './whole-api.ts';

fuzzWholeApi(400, 60_000);
