import { part } from '../../data/report.ts';
import { seal, verify } from '../bundle.ts';

// Seals and verifies a directory in a process of its own, and tells how much its peak memory grew.
const [staging = '', bundle = ''] = process.argv.slice(2);
const beforeKib = process.resourceUsage().maxRSS;
const report = { parts: [part.complete('files', 1)], watermark: null, appMeta: {} };
const sealed = await seal({ staging, bundle, sourceSlot: 'qa', takenAtMs: 0, app: 'test', report });
const verified = await verify(bundle);
const grownBytes = (process.resourceUsage().maxRSS - beforeKib) * 1024;
process.stdout.write(JSON.stringify({ usable: sealed.ok && verified.ok && verified.value.usable, grownBytes }));
