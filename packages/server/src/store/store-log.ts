/** What the store needs of a log; pino's fits. */
export interface StoreLog {
  warn(message: string): void;
}
