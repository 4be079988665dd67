/** What the service needs of a container engine. Docker's is the first driver. */
export interface Engine {
  /** Resolves with a line such as "Docker 20.10.24 at unix:///var/run/docker.sock"; rejects with EngineUnavailable. */
  ping(): Promise<string>;
}

/** The engine is missing or does not answer; the sentence says which, and what to do. */
export class EngineUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EngineUnavailable';
  }
}
