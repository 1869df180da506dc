/** Sets a value as the newest of a map that keeps `limit` of them: beyond it the oldest goes. */
export function keepNewest<V>(map: Map<string, V>, key: string, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}
