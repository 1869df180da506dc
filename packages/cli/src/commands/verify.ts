import { type CommonOptions, openContext, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { renderVerify } from '../render/verify.ts';

export interface VerifyOptions extends CommonOptions {
  readonly source?: boolean;
}

/** `idunn verify TARGET`: checks what is admitted again, from its bytes. Only all of them ok is exit code 0. */
export async function verify(environment: Environment, target: string, options: VerifyOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  const answer = await client.verify(target, { source: options.source ?? false });
  const code = await show(opened.value, Promise.resolve(answer), (value) => renderVerify(value, style));
  return answer.ok && answer.value.verdict !== 'ok' ? EXIT.failed : code;
}
