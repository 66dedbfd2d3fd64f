/// The tables of one schema that belong together.
struct ShadowTables: Sendable {
    let schema: String
    let names: [String]
}
