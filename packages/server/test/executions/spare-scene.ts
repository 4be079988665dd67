import { after, before } from 'node:test';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import type { ContainerSummary } from '../../src/engines/engine.ts';
import { instanceOf } from '../../src/executions/instance.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { engineAddress } from '../harness/images.ts';
import { openTestEngine } from '../harness/run-image.ts';
import { withSpares } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** Says whether it runs in a spare, and whether somebody was there before it. */
export const tellsWhere =
  'grep -qs reactord-wait /proc/1/cmdline && echo spare || echo new; [ -e /tmp/used ] && echo used; touch /tmp/used; ';

/** A service whose containers wait for messages, for all tests of a file. */
export class SpareScene {
  readonly client = new DockerClient(engineAddress, process.env);
  #scene: Scene | undefined;
  #engine: ReturnType<typeof openTestEngine> | undefined;

  constructor(idleLimit: string) {
    before(async () => {
      this.#scene = await openScene({
        environment: {
          ...withSpares,
          REACTORD_SPARE_IDLE_LIMIT: idleLimit,
          REACTORD_STOP_GRACE: '1s',
        },
      });
      this.#engine = openTestEngine(this.#scene.service.data);
    });
    after(async () => {
      await this.#scene?.dispose();
      await this.#engine?.close();
      this.client.close();
    });
  }

  get scene(): Scene {
    if (this.#scene === undefined) throw new Error('the service has not been started');
    return this.#scene;
  }

  get admin(): Scene['admin'] {
    return this.scene.admin;
  }

  get engine(): ReturnType<typeof openTestEngine> {
    if (this.#engine === undefined) throw new Error('the engine has not been opened');
    return this.#engine;
  }

  /** Registers a reactor that says where it runs, and then runs this. */
  runs(program: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return this.admin.register({
      image: this.scene.image.reference,
      default_environment: { RUN: tellsWhere + program },
      ...fields,
    });
  }

  /** All containers of the service. */
  own(): Promise<readonly ContainerSummary[]> {
    return this.engine.list({ 'reactord.instance': instanceOf(this.scene.service.data) });
  }

  async sparesOf(reactor: string): Promise<readonly ContainerSummary[]> {
    const all = await this.engine.list({ 'reactord.reactor': reactor });
    return all.filter(
      ({ name, state }) => name.startsWith('reactord-spare-') && state === 'running',
    );
  }

  /** As the service knows them: ready. */
  ready(reactor: string, count: number): Promise<readonly string[]> {
    return until(`${count} spares to be ready`, async () => {
      const found = await this.sparesOf(reactor);
      return found.length === count ? found.map(({ id }) => id) : undefined;
    });
  }
}
