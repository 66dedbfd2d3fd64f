/// Where a table is.
struct TablePlace: Hashable {
    let schema: String
    let name: String
}
