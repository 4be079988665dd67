/** The addresses that records of this area point to; always in the first of its two spellings. */

export const reactorAddress = (baseUrl: string, reactorId: string): string =>
  `${baseUrl}/actors/v2/${reactorId}`;

export const executionAddress = (baseUrl: string, reactorId: string, executionId: string): string =>
  `${reactorAddress(baseUrl, reactorId)}/executions/${executionId}`;

export const ownerAddress = (baseUrl: string, owner: string): string =>
  `${baseUrl}/profiles/v2/${encodeURIComponent(owner)}`;
