import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { installDebianPackages, SetupError } from '../debian.ts';

describe('installing Debian packages', () => {
  const before = process.env['REACTORD_SETUP'];
  afterEach(() => {
    if (before === undefined) delete process.env['REACTORD_SETUP'];
    else process.env['REACTORD_SETUP'] = before;
  });

  it('says in one sentence what to install by hand where REACTORD_SETUP is never', async () => {
    process.env['REACTORD_SETUP'] = 'never';
    await assert.rejects(installDebianPackages(['reactord-no-such-package'], 'for a test'), {
      name: SetupError.name,
      message:
        'reactord-no-such-package is missing for a test, and REACTORD_SETUP is never; ' +
        'install by hand: apt-get install reactord-no-such-package',
    });
  });
});
