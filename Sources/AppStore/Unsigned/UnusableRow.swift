/// A row of a response or receipt that cannot be read, although the others can.
///
/// Only rows of verified or vouched data are handled like this: a signature that does not verify
/// refuses everything it should have proven.
struct UnusableRow: Equatable {
    /// Its place: `latest_receipt_info[3]`.
    let place: String
    /// Why it cannot be read; also the refusal of a payload in which nothing else is left.
    let rejection: Rejection

    /// The refusal of a payload in which nothing else is left; names the row.
    var refusal: Rejection { Rejection(rejection.code, "\(place): \(rejection.message)") }

    /// Most rows that a notice lists one by one; all are counted.
    static let namedMax = 20

    /// What the operator should know about these rows; empty without rows.
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

extension UnusableRow {
    /// A purchase of an app receipt, by its index.
    ///
    /// The payload has no meaningful order: the number only distinguishes rows.
    init(purchase index: Int, _ rejection: Rejection) {
        self.init(place: "purchase \(index + 1) of the receipt", rejection: rejection)
    }
}
