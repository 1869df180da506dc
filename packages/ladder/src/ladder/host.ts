/**
 * The one form in which hosts are compared: IDNA to ASCII, lower case, without credentials, port or trailing dot.
 * `null` for a text that names no host. The URL standard's own parser does the folding, so that a host is read here
 * as every browser and HTTP client reads it.
 */
export function canonicalHost(text: string): string | null {
  const host = hostOfUrl(`https://${text.trim()}`);
  return host === null || host === '' ? null : host;
}

/** The host of a URL of any scheme, in the same form. */
export function canonicalHostOfUrl(url: string): string | null {
  const parsed = parsedUrl(url);
  // A scheme that the standard does not know keeps its host as it was written.
  return parsed === null || parsed.hostname === '' ? null : canonicalHost(parsed.hostname);
}

/** A URL that can be shown: without user, password, query and fragment, each of which may carry a secret. */
export function withoutCredentials(url: string): string {
  const parsed = parsedUrl(url);
  if (parsed === null || parsed.hostname === '') return 'a URL that cannot be read';
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** The other of `example.test` and `www.example.test`. */
export const wwwTwin = (host: string): string => (host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`);

function hostOfUrl(url: string): string | null {
  return parsedUrl(url)?.hostname.replace(/\.+$/, '') ?? null;
}

function parsedUrl(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}
