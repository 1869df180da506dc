import { entries } from './entry.ts';

export const ladderErrors = entries({
  'ladder-syntax': {
    reason: 'A ladder file is not valid YAML, or uses a part of YAML that ladders do not.',
    remedy: 'Correct the shown line; idunn ladder check reads the file again.',
    blame: 'user',
    retry: 'final',
  },
  'ladder-version-unknown': {
    reason: 'A ladder file is of a version that this program does not read.',
    remedy: 'Say apiVersion: idunn.ladder/v1, or read the file with the version of Idunn that it is for.',
    blame: 'user',
    retry: 'final',
  },
  'production-unguarded': {
    reason: 'A slot has the role production and is not guarded.',
    remedy: 'Say guarded: true, or give the slot the role that it really has.',
    blame: 'user',
    retry: 'final',
  },
  'slot-ambiguous': {
    reason: 'A name, namespace or host means more than one slot.',
    remedy: 'Give each slot names, namespaces and hosts of its own.',
    blame: 'user',
    retry: 'final',
  },
  'ladder-cycle': {
    reason: 'The promotes_to edges of a ladder lead back to where they began.',
    remedy: 'Remove one of the shown edges.',
    blame: 'user',
    retry: 'final',
  },
  'slot-unknown': {
    reason: 'No slot of the ladder is meant by the given reference.',
    remedy: 'Run idunn ladder show to see every slot with its namespace and hosts.',
    blame: 'user',
    retry: 'final',
  },
  'hop-skips-rungs': {
    reason: 'The move leaves out rungs of the ladder.',
    remedy: 'Move one rung at a time, or repeat the command with --allow-skip to leave the named rungs out.',
    blame: 'user',
    retry: 'final',
  },
  'hop-wrong-direction': {
    reason: 'The move goes against the ladder: code moves up, data moves down.',
    remedy: 'Run idunn ladder graph to see the directions, and swap the two slots if that is what was meant.',
    blame: 'user',
    retry: 'final',
  },
  'hop-not-on-ladder': {
    reason: 'No way of the ladder joins the two slots.',
    remedy: 'Run idunn ladder graph to see the ways, or add the edge to promotes_to if it is wanted.',
    blame: 'user',
    retry: 'final',
  },
  'hop-same-slot': {
    reason: 'A move names the same slot twice.',
    remedy: 'Name two different slots; idunn ladder show lists them.',
    blame: 'user',
    retry: 'final',
  },
});
