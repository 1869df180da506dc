// Ghostlight: a small world server. `idunn up` runs it; `npm start` runs it alone, for development.
import { readFileSync } from 'node:fs';
import { Idunn, NotWriter } from '#workload';
import about from '../package.json' with { type: 'json' };
import { Journal } from './journal.js';
import { rehearse } from './rehearse.js';
import { createWorld } from './server.js';

const contract = {
  stateSchema: 'ghostlight/1',
  capabilities: [{ name: 'ghostlight.world', schema: 'ghostlight.world/1' }],
};

const idunn = Idunn.isManaged()
  ? await Idunn.connect(contract)
  : await Idunn.standalone({
      ...contract,
      stores: { journal: process.env.GHOSTLIGHT_JOURNAL ?? 'journal.db' },
      endpoint: { port: Number(process.env.PORT ?? 8080) },
    });

const journal = new Journal(idunn.store('journal'));
const { server, stop } = createWorld(journal, {
  epoch: () => idunn.epoch,
  page: readFileSync(new URL('page.html', import.meta.url), 'utf8'),
  isNotWriter: (error) => error instanceof NotWriter,
  version: () => ({
    version: about.version,
    revision: idunn.revision,
    incarnation: idunn.incarnation,
    activation: idunn.activation,
    epoch: idunn.epoch,
    pid: process.pid,
  }),
});

idunn.onGrant(() => journal.create());
idunn.onStop(stop);
const { host, port } = await idunn.listen(server);
await rehearse({ host, port });
idunn.warm();
console.log(`ghostlight ${about.version} listens on http://${host}:${port}`);
