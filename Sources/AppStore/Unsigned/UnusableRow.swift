/// A row of a response or receipt that cannot be taken, while the others can.
///
/// Only rows of what was verified or vouched for come to this: a signature that does not verify
/// refuses everything it should have proven.
struct UnusableRow {
    /// Where it stands: `latest_receipt_info[3]`.
    let place: String
    /// Why it cannot be taken; a payload of which nothing else is left is refused with it.
    let rejection: Rejection

    /// The refusal of a payload of which nothing else is left, which names the row.
    var refusal: Rejection { Rejection(rejection.code, "\(place): \(rejection.message)") }

    /// Most rows that a notice names one by one; all are counted.
    static let namedMax = 20

    /// What a person should know of these rows; none where there are none.
    static func notices(_ rows: [UnusableRow]) -> [VerifiedPayload.Notice] {
        guard !rows.isEmpty else { return [] }
        let named = rows.prefix(namedMax).map { row in
            "\(row.place): \(row.rejection.message) [\(row.rejection.code.rawValue)]"
        }
        let more = rows.count - named.count
        return [
            VerifiedPayload.Notice(
                code: .rowsLeftOut,
                message: (rows.count == 1 ? "1 row was" : "\(rows.count) rows were")
                    + " left out, because \(rows.count == 1 ? "it" : "they") cannot be read;"
                    + " the others were accepted. "
                    + named.joined(separator: " ")
                    + (more > 0 ? " … and \(more) more." : ""),
                leftOut: rows.count
            )
        ]
    }
}
