import Events

/// Collects transactions: of two identical entries of one transaction, the first counts.
///
/// What Apple looked up takes precedence over what was sent, unless only the latter shows a
/// cancellation.
struct EntryReader {
    private(set) var entries: [UnsignedBody.Entry] = []
    private(set) var unusable: [UnusableRow] = []
    private var hints = ReceiptEntry.Hints()
    // The first entry of each transaction in what Apple looked up, and the others if they differ,
    // which is rare. Ids are held as field values, which compare by bytes.
    private var latest: [FieldValue: Int] = [:]
    private var others: [FieldValue: [ReceiptEntry.Summary]] = [:]

    /// Takes an array of entries, or the one object of iOS 6; nothing if it is empty.
    ///
    /// Throws if the value is anything else, which would otherwise be lost silently. An entry that
    /// cannot be read is left out and recorded with its place.
    mutating func take(
        _ value: JSON.Value?,
        _ place: UnsignedBody.Place,
        _ name: String
    ) throws(Rejection) {
        guard let value, !value.isBlank else { return }
        switch value.kind {
        case .array:
            let elements = value.elements
            entries.reserveCapacity(entries.count + elements.count)
            if place == .latest { latest.reserveCapacity(latest.count + elements.count) }
            for (index, element) in elements.enumerated() {
                take(element, .responseTransaction, place, name, index)
            }
        case .object where value.members.isEmpty: break
        case .object:
            let isSingle = value["expires_date_ms"] == nil
            take(value, isSingle ? .singleTransaction : .responseTransaction, place, name, nil)
        default:
            throw Rejection(
                .claimMalformed,
                "The transactions of a receipt must be an array or an object; found \(value.kind)."
            )
        }
    }

    private mutating func take(
        _ element: JSON.Value,
        _ format: Format,
        _ place: UnsignedBody.Place,
        _ name: String,
        _ index: Int?
    ) {
        do throws(Rejection) {
            let entry = try ReceiptEntry(element, format: format, hints: &hints)
            try entry.checkUsable()
            take(entry, place)
        } catch {
            let place = index.map { "\(name)[\($0)]" } ?? name
            unusable.append(UnusableRow(place: place, rejection: error))
        }
    }

    private mutating func take(_ entry: ReceiptEntry, _ place: UnsignedBody.Place) {
        var place = place
        if let id = entry.transactionId.map(FieldValue.text) {
            if place == .latest {
                guard isNew(entry, of: id) else { return }
            } else if let index = latest[id] {
                let isKnown =
                    entries[index].entry.isCancelled
                    || others[id]?.contains(where: \.isCancelled) == true
                guard entry.isCancelled, !isKnown else { return }
                // It came together with what Apple looked up, so it was known by then.
                place = .latest
            }
        }
        entries.append(UnsignedBody.Entry(entry: entry, place: place))
    }

    private mutating func isNew(_ entry: ReceiptEntry, of id: FieldValue) -> Bool {
        guard let first = latest[id] else {
            latest[id] = entries.count
            return true
        }
        let summary = entry.summary
        guard entries[first].entry.summary != summary, others[id]?.contains(summary) != true else {
            return false
        }
        others[id, default: []].append(summary)
        return true
    }
}

/// The elements of `pending_renewal_info` that can be read, and the others with their place.
struct UsableRenewals {
    private(set) var elements: [JSON.Value]?
    private(set) var unusable: [UnusableRow] = []

    init(_ array: [JSON.Value]?) {
        guard let array else { return }
        var usable: [JSON.Value] = []
        for (index, element) in array.enumerated() {
            do throws(Rejection) {
                try PendingRenewal.check(element)
                usable.append(element)
            } catch {
                let place = "pending_renewal_info[\(index)]"
                unusable.append(UnusableRow(place: place, rejection: error))
            }
        }
        elements = usable
    }
}
