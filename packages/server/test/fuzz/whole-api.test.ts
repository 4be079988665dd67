import { fuzzWholeApi } from './whole-api.ts';

// With fewer, one of the operations might never be met.
fuzzWholeApi(1800, 90_000);
