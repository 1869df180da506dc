import { createHash } from 'node:crypto';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { z } from 'zod';
import type { HostRoute } from '../operations/port.ts';
import { ask } from './answer.ts';
import type { KubeApi } from './api.ts';
import { accepted, applyFields, type FieldConflicts, MANAGERS } from './change.ts';
import { listAll } from './list.ts';

/** Marks the ingresses that were made here. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'idunn-ladder' } as const;

const ingressSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ rules: z.array(z.object({ host: z.string().optional() })).default([]) }).default({ rules: [] }),
});
type Ingress = z.infer<typeof ingressSchema>;

const INGRESSES = '/apis/networking.k8s.io/v1';
const ingressPath = (namespace: string, name: string): string =>
  `${INGRESSES}/namespaces/${encodeURIComponent(namespace)}/ingresses/${encodeURIComponent(name)}`;

const namesHost = ({ spec }: Ingress, host: string): boolean =>
  spec.rules.some((rule) => rule.host?.toLowerCase() === host.toLowerCase());

/**
 * The namespace whose ingress names the host. Two that do are no answer: which of them the controller follows is not
 * to be read from the API (I10).
 */
export async function hostOwner(api: KubeApi, host: string): Promise<Evidence<string>> {
  const listed = await listAll(api, `${INGRESSES}/ingresses`, ingressSchema);
  if (!listed.ok) return unknown(listed.refusal.reason);
  const owners = [
    ...new Set(listed.value.items.filter((one) => namesHost(one, host)).map(({ metadata }) => metadata.namespace)),
  ];
  const [owner] = owners;
  if (owner === undefined) return absent;
  return owners.length === 1 ? seen(owner) : unknown(`${owners.join(' and ')} both have an ingress for ${host}`);
}

/** One ingress for one host, under a name that the host gives. */
export async function routeHost(
  api: KubeApi,
  { namespace, host, service, port, tls }: HostRoute & { readonly namespace: string },
  options: { readonly conflicts: FieldConflicts; readonly ingressClass: string | null },
): Promise<Outcome<void>> {
  const name = ingressName(host);
  const fields = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, namespace, labels: MANAGED_BY },
    spec: {
      ...(options.ingressClass === null ? {} : { ingressClassName: options.ingressClass }),
      ...(tls === null ? {} : { tls: [{ hosts: [host], secretName: tls }] }),
      rules: [
        {
          host,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number: port } } } }],
          },
        },
      ],
    },
  };
  return accepted(
    await applyFields(api, ingressPath(namespace, name), fields, { ...options, manager: MANAGERS.route }),
    `ingress ${name}`,
  );
}

/**
 * Deletes the namespace's ingresses for the host that were made here. One that somebody else made is left, and refused
 * by name: it may carry more than this host.
 */
export async function dropRoute(api: KubeApi, namespace: string, host: string): Promise<Outcome<void>> {
  const path = `${INGRESSES}/namespaces/${encodeURIComponent(namespace)}/ingresses`;
  const listed = await listAll(api, path, ingressSchema);
  if (!listed.ok) return listed;
  const naming = listed.value.items.filter((one) => namesHost(one, host));
  const isOurs = ({ metadata }: Ingress): boolean =>
    metadata.labels['app.kubernetes.io/managed-by'] === MANAGED_BY['app.kubernetes.io/managed-by'];
  const foreign = naming.filter((one) => !isOurs(one)).map(({ metadata }) => metadata.name);
  if (foreign.length > 0) {
    return refused(
      refusal(
        'field-owned-elsewhere',
        `${host} is routed in ${namespace} by ${foreign.join(', ')}, which is not ours.`,
      ),
    );
  }
  for (const { metadata } of naming) {
    const { uid, resourceVersion } = metadata;
    const value = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
    const body = { type: 'application/json' as const, value };
    const asked = await ask(api, { method: 'DELETE', path: ingressPath(namespace, metadata.name), body });
    if (asked.kind === 'absent') continue;
    const outcome = accepted(asked, `ingress ${metadata.name}`);
    if (!outcome.ok) return outcome;
  }
  return ok(undefined);
}

/** A name of at most 63 characters that two hosts never share. */
function ingressName(host: string): string {
  const readable = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 40);
  return `idunn-${readable}-${createHash('sha256').update(host.toLowerCase()).digest('hex').slice(0, 8)}`;
}
