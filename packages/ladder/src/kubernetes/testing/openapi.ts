import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

interface Schema {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'query' | 'path' | 'body';
  readonly type?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly consumes?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly schema?: Schema }>>;
  readonly 'x-kubernetes-group-version-kind'?: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  };
}

type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };

interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

const FILE = new URL('./kubernetes-openapi.json.gz', import.meta.url);

export interface Matched {
  readonly template: string;
  readonly item: PathItem;
  readonly values: Readonly<Record<string, string>>;
}

/** Kubernetes' own published description of its API, and what a request or an answer does against it. */
export class OpenApi {
  readonly #document: Document = JSON.parse(gunzipSync(readFileSync(FILE)).toString('utf8'));

  /** Templates of the paths under which objects of one kind are, with their kind and definition. */
  resources(): readonly { template: string; group: string; version: string; kind: string; definition: Schema }[] {
    return Object.entries(this.#document.paths).flatMap(([template, item]) => {
      const operation = item['get'];
      const kind = operation?.['x-kubernetes-group-version-kind'];
      const definition = operation?.responses['200']?.schema;
      const isObject = template.endsWith('/{name}') && !template.includes('/watch/');
      return isObject && kind !== undefined && definition !== undefined ? [{ template, ...kind, definition }] : [];
    });
  }

  match(path: string): Matched | null {
    const wanted = path.replace(/\/$/, '').split('/');
    for (const [template, item] of Object.entries(this.#document.paths)) {
      const parts = template.replace(/\/$/, '').split('/');
      if (parts.length !== wanted.length) continue;
      const values: Record<string, string> = {};
      const fits = parts.every((part, index) => {
        const word = wanted[index] ?? '';
        const slot = /^\{(.+)\}$/.exec(part)?.[1];
        if (slot === undefined) return part === word;
        values[slot] = decodeURIComponent(word);
        return word !== '';
      });
      if (fits) return { template, item, values };
    }
    return null;
  }

  /** What is wrong with a request, in words; empty when the description allows it. */
  requestFaults(
    matched: Matched,
    request: {
      readonly method: string;
      readonly query: URLSearchParams;
      readonly type: string | undefined;
      readonly body: unknown;
    },
  ): string[] {
    const operation = matched.item[request.method.toLowerCase()];
    if (operation === undefined) return [`${request.method} ${matched.template} is not there`];
    const parameters = [...(matched.item.parameters ?? []), ...(operation.parameters ?? [])].map((one) =>
      this.#parameter(one),
    );
    const faults: string[] = [];
    for (const [name, value] of request.query) {
      const parameter = parameters.find((one) => one.in === 'query' && one.name === name);
      if (parameter === undefined) faults.push(`query ${name} is not there`);
      else if (parameter.type === 'integer' && !/^[0-9]+$/.test(value))
        faults.push(`query ${name} is no number: ${value}`);
      else if (parameter.type === 'boolean' && !['true', 'false'].includes(value))
        faults.push(`query ${name}: ${value}`);
    }
    if (request.body === undefined) return faults;
    const consumes = operation.consumes ?? [];
    const accepted = request.method === 'DELETE' ? ['application/json', ...consumes] : consumes;
    if (!accepted.includes(request.type ?? '') && !consumes.includes('*/*'))
      faults.push(`content type ${request.type} is not taken`);
    const body = parameters.find((one) => one.in === 'body');
    if (body?.schema === undefined) faults.push('no body is taken');
    else if (request.method !== 'PATCH') faults.push(...this.faults(body.schema, request.body, true));
    return faults;
  }

  /** What is wrong with an answer. */
  answerFaults(matched: Matched, method: string, status: number, body: unknown): string[] {
    const responses = matched.item[method.toLowerCase()]?.responses ?? {};
    const schema = responses[String(status)]?.schema ?? (status >= 400 ? STATUS : undefined);
    return schema === undefined ? [`status ${status} has no description`] : this.faults(schema, body, true);
  }

  /** Holds a value against a definition: its types, its unknown fields, and, when `whole`, its required ones. */
  faults(schema: Schema, value: unknown, whole: boolean, at = ''): string[] {
    const { $ref } = schema;
    if ($ref !== undefined) {
      const name = $ref.slice('#/definitions/'.length);
      return this.faults(this.#document.definitions[name] ?? {}, value, whole, at);
    }
    const wrong = [`${at || 'the body'} is no ${schema.type ?? 'value'}: ${JSON.stringify(value)}`];
    switch (schema.type) {
      case 'string':
        if (schema.format === 'int-or-string') return typeof value === 'string' || Number.isInteger(value) ? [] : wrong;
        return typeof value === 'string' && (schema.enum?.includes(value) ?? true) ? [] : wrong;
      case 'integer':
        return Number.isInteger(value) ? [] : wrong;
      case 'number':
        return typeof value === 'number' ? [] : wrong;
      case 'boolean':
        return typeof value === 'boolean' ? [] : wrong;
      case 'array':
        if (!Array.isArray(value)) return wrong;
        return value.flatMap((item, index) => this.faults(schema.items ?? {}, item, whole, `${at}[${index}]`));
      default:
        return this.#objectFaults(schema, value, whole, at);
    }
  }

  #objectFaults(schema: Schema, value: unknown, whole: boolean, at: string): string[] {
    const { properties, additionalProperties, required = [] } = schema;
    if (properties === undefined && additionalProperties === undefined) return [];
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${at || 'the body'} is no object`];
    const missing = whole ? required.filter((name) => !Object.hasOwn(value, name)) : [];
    const found = Object.entries(value).flatMap(([name, item]) => {
      const property =
        properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
      if (property === undefined) return [`${at}.${name} is not there`];
      return this.faults(property, item, whole, `${at}.${name}`);
    });
    return [...missing.map((name) => `${at}.${name} is required`), ...found];
  }

  #parameter(parameter: Parameter): Parameter {
    if (parameter.$ref === undefined) return parameter;
    const found = this.#document.parameters[parameter.$ref.slice('#/parameters/'.length)];
    if (found === undefined) throw new Error(`no parameter ${parameter.$ref}`);
    return found;
  }
}

const STATUS: Schema = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status' };
