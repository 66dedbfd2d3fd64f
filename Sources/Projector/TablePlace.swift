/// The schema and name of a table.
struct TablePlace: Hashable {
    let schema: String
    let name: String
}
