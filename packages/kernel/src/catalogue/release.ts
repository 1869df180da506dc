import { buildErrors } from './release/build.ts';
import { configurationErrors } from './release/configuration.ts';
import { sourceErrors } from './release/source.ts';

/** In the order in which a deployment meets them. */
export const releaseErrors = { ...configurationErrors, ...sourceErrors, ...buildErrors };
