import { openDockerSubject } from '../harness/docker-subject.ts';
import { engineEndurance } from './conformance.ts';

engineEndurance('Docker', openDockerSubject, { runs: 150, megabytes: 200 });
