import { openDockerSubject } from '../harness/docker-subject.ts';
import { engineConformance } from './conformance.ts';

engineConformance('Docker', openDockerSubject);
