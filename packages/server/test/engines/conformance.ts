import { after, before, describe } from 'node:test';
import { testAbsence } from './conformance/absence.ts';
import { testDatagrams } from './conformance/datagrams.ts';
import { testImages } from './conformance/images.ts';
import { testLeftovers } from './conformance/leftovers.ts';
import { testLimits } from './conformance/limits.ts';
import { testNetwork } from './conformance/network.ts';
import { testOutput } from './conformance/output.ts';
import { testRunning } from './conformance/running.ts';
import { testSpares } from './conformance/spares.ts';
import type { Subject } from './conformance/subject.ts';

/** What every engine driver has to pass. */
export function engineConformance(name: string, open: () => Promise<Subject>): void {
  describe(name, () => {
    let subject: Subject | undefined;
    before(async () => {
      subject = await open();
    });
    after(() => subject?.dispose());
    const get = (): Subject => {
      if (subject === undefined) throw new Error('the engine under test was not opened');
      return subject;
    };
    testRunning(get);
    testSpares(get);
    testOutput(get);
    testDatagrams(get);
    testLimits(get);
    testNetwork(get);
    testImages(get);
    testAbsence(get);
    testLeftovers(get);
  });
}
