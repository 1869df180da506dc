/** A ladder of nobody's environments, which shows every field. A test reads it, so it cannot drift from the parser. */
export const EXAMPLE_LADDER = `apiVersion: idunn.ladder/v1
meta:                          # facts of your own: carried, never read
  customer: Example Orchards
  owner: platform-team@example.test
slots:
  - name: dev                  # unique; at most 49 characters
    namespace: orchard-dev     # unique: where the slot lives
    hosts: [dev.orchard.example.test]
    role: development          # what it is for, never inferred from the name
    guarded: false             # whether the guard protects it, never derived
    promotes_to: [qa-a, qa-b]  # where code may move next; data moves the other way
  - name: qa-a
    namespace: orchard-qa-a
    hosts: [qa-a.orchard.example.test]
    role: qa                   # a spelling of: test
    guarded: false
    promotes_to: [preprod]
  - name: qa-b
    namespace: orchard-qa-b
    hosts: [qa-b.orchard.example.test]
    role: test
    guarded: false
    promotes_to: [preprod]
    meta: {note: the load tests run here}
  - name: preprod
    namespace: orchard-preprod
    hosts: [preprod.orchard.example.test]
    role: staging
    guarded: true              # any role may be guarded
    promotes_to: [production]
  - name: production
    namespace: orchard-production
    hosts: [orchard.example.test, shop.orchard.example.test]
    role: production
    guarded: true              # production must be
`;
