import { after, before, describe } from 'node:test';
import { testAbsence } from './conformance/absence.ts';
import { testDatagrams } from './conformance/datagrams.ts';
import { type Effort, testEndurance } from './conformance/endurance.ts';
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
  onSubject(name, open, (get) => {
    testRunning(get);
    testSpares(get);
    testOutput(get);
    testDatagrams(get);
    testLimits(get);
    testNetwork(get);
    testImages(get);
    testAbsence(get);
    testLeftovers(get);
    testEndurance(get, { runs: 8, megabytes: 50 });
  });
}

/** The part of it that takes as long as one likes. */
export function engineEndurance(name: string, open: () => Promise<Subject>, effort: Effort): void {
  onSubject(name, open, (get) => testEndurance(get, effort));
}

function onSubject(
  name: string,
  open: () => Promise<Subject>,
  tests: (get: () => Subject) => void,
): void {
  describe(name, () => {
    let subject: Subject | undefined;
    before(async () => {
      subject = await open();
    });
    after(() => subject?.dispose());
    tests(() => {
      if (subject === undefined) throw new Error('the engine under test was not opened');
      return subject;
    });
  });
}
