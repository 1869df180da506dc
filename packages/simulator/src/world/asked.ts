import type { EngineApi } from '@idunn/authority';
import { StoreFault } from '@idunn/kernel';
import type { World } from './world.ts';

/** The same engine; every command and its answer become a part of the ledger (I12). */
export const answering = (world: World, engine: EngineApi): EngineApi => ({
  ...engine,
  submit: async (command) => {
    const answer = await engine.submit(command);
    world.ledger.note({
      kind: 'answered',
      command,
      transaction: answer.ok ? answer.value.transaction : null,
      code: answer.ok ? null : answer.refusal.code,
      repeated: answer.ok && answer.value.repeated,
    });
    return answer;
  },
});

/** When all is over everybody asks once more, and somebody asks for something else under the same id. */
export async function askAgain(world: World, engine: EngineApi | null): Promise<void> {
  const accepted = world.ledger.of('answered').filter(({ transaction }) => transaction !== null);
  const commands = new Map(accepted.map(({ command }) => [command.operationId, command]));
  for (const command of commands.values()) {
    for (const asked of [command, { ...command, actor: 'eve' }]) {
      try {
        await engine?.submit(asked);
      } catch (fault) {
        if (!(fault instanceof StoreFault)) throw fault;
      }
    }
  }
}
