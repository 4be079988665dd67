import { fuzzWholeApi } from './whole-api.ts';

fuzzWholeApi(700, 90_000);
