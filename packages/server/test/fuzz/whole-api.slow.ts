import { fuzzWholeApi } from './whole-api.ts';

fuzzWholeApi(20_000, 400_000);
