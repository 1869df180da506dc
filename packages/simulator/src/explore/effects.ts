import type { Memory } from '@idunn/authority';
import type { State } from './state.ts';

/** An effect that a lane, or continuity, has under way. */
export interface UnderWay {
  readonly lane: string | null;
  readonly key: string;
}
/** Effects that nothing else looks at or changes: they come before all others, and nothing is lost by it. */
const ALONE =
  /^(?:plan|materialize|seal|rehearse|mint|(?:stage|hold|release)-route|retire|autopsy|publish-expected)(?: |$)/;

/** Effects on a program that nobody else has to do with yet: only what it does itself comes between. */
const OWN = /^(?:start|publish-activation|observe-process|demote|withdraw-expected|open-requests) /;

export const isAlone = ({ key }: UnderWay): boolean => ALONE.test(key);
export const isOwn = ({ key }: UnderWay): boolean => OWN.test(key);

/** What may be answered now. A lease connection is waited for while the program starts. */
export function underWay({ world }: State, { lanes, vigil }: Memory): readonly UnderWay[] {
  const all = [
    ...Object.entries(lanes).flatMap(([lane, { running }]) => running.map(([key]) => ({ lane, key }))),
    ...vigil.running.map(([key]) => ({ lane: null, key })),
  ];
  return all.filter(({ key }) => {
    const program = key.startsWith('open-channel ') ? world.programs[key.slice('open-channel '.length)] : undefined;
    return program === undefined || !program.alive || program.said !== null;
  });
}

/** What an effect looks at or changes. */
export function aboutOf({ world }: State, key: string): readonly string[] {
  const ids: string[] = [...(key.match(/act-\d+|app@\S+/g) ?? [])];
  if (key.startsWith('observe-route')) ids.push(...(world.route?.members ?? []).map(({ activation }) => activation));
  const incarnations = ids.map((id) => world.minted[id]?.incarnation ?? id);
  const authorities = ['rows', 'route'].filter((name) => (name === 'rows' ? ROWS : ROUTE).test(key));
  return [...new Set([...ids, ...incarnations, ...authorities])].sort();
}

const ROWS = /^(?:swap|write-nonce|write-claim|prepare-lease|confirm|echo|grant|relinquish|withdraw )/;
const ROUTE = /^(?:publish-route|observe-route|confirm)/;
