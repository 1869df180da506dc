import { canonicalHost, canonicalHostOfUrl, withoutCredentials } from '../ladder/host.ts';

/** A slot as somebody referred to it. A bare text is not enough: whoever asks says what kind of text it is. */
export type TargetRef =
  | { readonly slot: string }
  | { readonly namespace: string }
  | { readonly host: string }
  | { readonly url: string };

export type ReferenceKind = 'slot' | 'namespace' | 'host' | 'url';

export function textOf(ref: TargetRef): { readonly kind: ReferenceKind; readonly text: string } {
  if ('slot' in ref) return { kind: 'slot', text: ref.slot };
  if ('namespace' in ref) return { kind: 'namespace', text: ref.namespace };
  if ('host' in ref) return { kind: 'host', text: ref.host };
  return { kind: 'url', text: ref.url };
}

/** The text of a reference as its own kind says, and every other way in which it could be read. */
export interface Readings {
  readonly own: string | null;
  readonly any: readonly string[];
}

export function readingsOf(ref: TargetRef): Readings {
  const { kind, text } = textOf(ref);
  const plain = text.trim().toLowerCase();
  const host = canonicalHost(text);
  const ofUrl = canonicalHostOfUrl(text.trim());
  const own = { slot: plain, namespace: plain, host, url: ofUrl }[kind];
  return { own, any: [...new Set([plain, host, ofUrl])].filter((one) => one !== null) };
}

/** The reference for people and logs: whatever in it may be a credential is gone. */
export function shown(ref: TargetRef): { readonly kind: ReferenceKind; readonly text: string } {
  const { kind, text } = textOf(ref);
  if (kind === 'url' || /:\/\//.test(text)) return { kind, text: withoutCredentials(text) };
  return {
    kind,
    text: text
      .slice(text.lastIndexOf('@') + 1)
      .replaceAll(/\p{Cc}/gu, '·')
      .slice(0, SHOWN_LIMIT),
  };
}

const SHOWN_LIMIT = 300;
