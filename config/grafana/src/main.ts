// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Writes the dashboards next to the README, after checking each against the schema of Grafana.

import { writeFileSync } from 'node:fs';
import { Ajv, type AnySchema } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { oneJVM } from './jvm.js';
import { oneLock } from './lock.js';
import { overview } from './overview.js';

const schema = createGenerator({
  path: 'node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts',
  type: 'Dashboard',
  skipTypeCheck: true,
  additionalProperties: false,
}).createSchema('Dashboard');
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema as AnySchema);

for (const builder of [overview(), oneLock(), oneJVM()]) {
  // The builder sets these fields on every variable, but the schema allows them only on interval variables.
  const intervalOnly = ['auto', 'auto_min', 'auto_count'];
  const text = JSON.stringify(builder.build(), (key, value: unknown) => (intervalOnly.includes(key) ? undefined : value));
  const dashboard = JSON.parse(text) as { uid: string };
  if (!validate(dashboard)) {
    for (const error of validate.errors ?? []) {
      console.error(`${dashboard.uid}${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`);
    }
    process.exit(1);
  }
  writeFileSync(`${dashboard.uid}.json`, JSON.stringify(dashboard, null, 2) + '\n');
}
