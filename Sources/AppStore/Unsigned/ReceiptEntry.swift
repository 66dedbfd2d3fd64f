import Events

/// One entry of `in_app` or `latest_receipt_info`, or the transaction of an iOS 6 response: read in
/// one pass over its members (Apple's data: verifyReceipt response, iOS 6 response).
struct ReceiptEntry {
    private(set) var originalTransactionId: String?
    private(set) var transactionId: String?
    private(set) var bundleId: String?
    private(set) var purchaseDate: Instant?
    private(set) var expiresDate: Instant?

    private let byteCount: Int
    private var content: ContentBuilder
    private var offer = ReceiptOffer()
    private var cancellationDate: Instant?
    private var originalPurchaseDate: Instant?
    // Dates as text count only if there are no milliseconds.
    private var purchaseText: JSON.Value?
    private var expiresText: JSON.Value?
    private var cancellationText: JSON.Value?

    /// Reads an entry; `hints` remembers from entry to entry which member is at which place.
    init(
        _ entry: JSON.Value,
        format: Format,
        hints: inout Hints
    ) throws(Rejection) {
        guard entry.kind == .object else {
            throw Rejection(
                .claimMalformed,
                "An entry of a receipt's transactions must be an object; found \(entry.kind)."
            )
        }
        byteCount = entry.bytes.count
        content = ContentBuilder(format: format)
        for member in hints.members(of: entry) {
            let name = JSON.Value(storage: entry.storage, index: member.node)
            let value = JSON.Value(storage: entry.storage, index: member.node + 1)
            guard let role = member.role, try take(value, as: role, name) else {
                content.keep(name, value)
                continue
            }
        }
        try resolveDates()
        try checkComplete(entry)
        content.take(offer)
    }

    /// Whether it shows a cancellation.
    var isCancelled: Bool { cancellationDate != nil }

    /// What two entries of one transaction must have in common to count as one statement.
    var summary: Summary {
        Summary(
            purchaseDate: purchaseDate?.flooredToSecond,
            expiresDate: expiresDate?.flooredToSecond,
            cancellationDate: cancellationDate?.flooredToSecond,
            productId: content.content[.productId]
        )
    }

    struct Summary: Equatable {
        let purchaseDate: Instant?
        let expiresDate: Instant?
        let cancellationDate: Instant?
        let productId: FieldValue?

        var isCancelled: Bool { cancellationDate != nil }
    }

    /// The latest date of something that had happened when the entry was written: a lower bound
    /// for its as-of.
    var latestPastDate: Instant? {
        [purchaseDate, originalPurchaseDate, cancellationDate].compactMap { $0 }.max()
    }

    /// The subscription it belongs to.
    var streamId: String { originalTransactionId ?? transactionId ?? "" }

    /// When the period was over: its expiry, or an earlier cancellation; nil if it does not expire
    /// or another purchase replaced it.
    var naturalEnd: Instant? {
        guard content.content[.isUpgraded] == nil else { return nil }
        return expiresDate.map { min($0, cancellationDate ?? $0) }
    }

    /// Whether it is for that product.
    func isOf(product: String?) -> Bool {
        product.map { content.content[.productId] == .text($0) } ?? false
    }

    /// Whether its period began earlier or, with the same start, ends earlier.
    func isBefore(_ other: ReceiptEntry) -> Bool {
        guard let purchaseDate, let start = other.purchaseDate else { return false }
        if purchaseDate != start { return purchaseDate < start }
        guard let expiresDate, let end = other.expiresDate else { return false }
        return expiresDate < end
    }

    /// Throws whatever `fact` would throw.
    func checkUsable() throws(Rejection) {
        _ = try checkedPurchaseDate()
        // Only a long entry can have too much content.
        if byteCount > Content.byteCountMax / 4 { _ = try content.finished(byteCount: byteCount) }
    }

    private func checkedPurchaseDate() throws(Rejection) -> Instant {
        guard let purchaseDate else {
            throw Rejection(
                .dateMissing,
                "The transaction \(transactionId ?? "without id") of a receipt has no purchase"
                    + " date, so its period is unknown."
            )
        }
        return purchaseDate
    }

    /// The fact; throws `date-missing` without a purchase date, because there is no key then.
    func fact(_ provenance: Provenance) throws(Rejection) -> Fact {
        provenance.fact(
            .transaction,
            about: streamId,
            from: try checkedPurchaseDate(),
            to: expiresDate,
            try content.finished(byteCount: byteCount)
        )
    }

    // An unreadable value must not be dropped silently: a period would become a purchase without an
    // end, a refund would vanish.
    private func checkComplete(_ entry: JSON.Value) throws(Rejection) {
        guard originalTransactionId != nil || transactionId != nil else {
            throw Rejection(
                .idMissing,
                "A transaction of a receipt has neither original_transaction_id nor transaction_id,"
                    + " so it belongs to no subscription."
            )
        }
        func isOnlyPacific(_ date: Instant?, _ name: StaticString) -> Bool {
            date == nil && entry[name].map { !$0.isBlank } == true
        }
        let isCancelled = content.content[.revocationReason] != nil
        guard !isOnlyPacific(expiresDate, "expires_date_pst"),
            !isOnlyPacific(purchaseDate, "purchase_date_pst"),
            !isCancelled || !isOnlyPacific(cancellationDate, "cancellation_date_pst")
        else {
            throw Rejection(
                .dateMissing,
                "The transaction \(transactionId ?? "without id") of a receipt has a date only in"
                    + " Pacific time; add it in milliseconds or in GMT."
            )
        }
    }

    private mutating func resolveDates() throws(Rejection) {
        if purchaseDate == nil, let purchaseText {
            purchaseDate = try AppleClock.looseInstant(purchaseText, named: "purchase_date")
        }
        if expiresDate == nil, let expiresText {
            expiresDate = try AppleClock.looseInstant(expiresText, named: "expires_date")
        }
        if cancellationDate == nil, let cancellationText {
            cancellationDate = try AppleClock.looseInstant(
                cancellationText,
                named: "cancellation_date"
            )
        }
        content.set(.revocationDate, cancellationDate.map(FieldValue.instant))
    }
}

extension ReceiptEntry {
    /// What a member of an entry is.
    enum Role: Equatable {
        case originalTransactionId, transactionId, bundleId
        case purchaseDate, expiresDate, originalPurchaseDate, cancellationDate
        case purchaseText, expiresText, cancellationText
        case text(Field)
        case integer(Field)
        case mark(Field)
        case isTrial, isIntroductory, promotionalOfferId, offerCodeName
        case leftOut
    }

    /// Remembers the role of the member at each place in the previous entry: entries of one
    /// response have the same members in the same order, so most names are compared once.
    struct Hints {
        private let roles = ReceiptEntry.roles
        private var indices: [Int] = []
        private var found: [Member] = []

        /// A member with a value: the node of its name, and its role; nil for a name not known
        /// here.
        struct Member {
            let node: Int
            let role: Role?
        }

        /// The members of an entry, except those that are left out or blank.
        ///
        /// Creates no value for a skipped member: these are most of the members of most entries.
        mutating func members(of entry: JSON.Value) -> [Member] {
            found.removeAll(keepingCapacity: true)
            entry.storage.withUnsafeBuffers { bytes, nodes in
                let end = Int(nodes[entry.index].next)
                var node = entry.index + 1
                var place = 0
                while node < end {
                    let role = role(of: nodes[node], in: bytes, at: place)
                    if role != .leftOut, !nodes[node + 1].isBlank {
                        found.append(Member(node: node, role: role))
                    }
                    node = Int(nodes[node + 1].next)
                    place += 1
                }
            }
            return found
        }

        private mutating func role(
            of name: JSON.Node,
            in bytes: UnsafeRawBufferPointer,
            at place: Int
        ) -> Role? {
            if place < indices.count, indices[place] >= 0,
                name.isString(roles[indices[place]].name, in: bytes)
            {
                return roles[indices[place]].role
            }
            let index = roles.firstIndex { name.isString($0.name, in: bytes) }
            while indices.count <= place { indices.append(-1) }
            indices[place] = index ?? -1
            return index.map { roles[$0].role }
        }
    }

    // Left out: identity, dates repeated in another zone, and what describes the device or the
    // app's build. They remain in the evidence.
    private static let roles: [(name: StaticString, role: Role)] = [
        ("quantity", .integer(.quantity)),
        ("product_id", .text(.productId)),
        ("transaction_id", .transactionId),
        ("original_transaction_id", .originalTransactionId),
        ("purchase_date", .purchaseText),
        ("purchase_date_ms", .purchaseDate),
        ("purchase_date_pst", .leftOut),
        ("original_purchase_date", .leftOut),
        ("original_purchase_date_ms", .originalPurchaseDate),
        ("original_purchase_date_pst", .leftOut),
        ("expires_date", .expiresText),
        ("expires_date_ms", .expiresDate),
        ("expires_date_pst", .leftOut),
        ("expires_date_formatted", .expiresText),
        ("expires_date_formatted_pst", .leftOut),
        ("web_order_line_item_id", .text(.webOrderLineItemId)),
        ("is_trial_period", .isTrial),
        ("is_in_intro_offer_period", .isIntroductory),
        ("subscription_group_identifier", .text(.subscriptionGroupIdentifier)),
        ("in_app_ownership_type", .text(.inAppOwnershipType)),
        ("is_upgraded", .mark(.isUpgraded)),
        ("cancellation_date", .cancellationText),
        ("cancellation_date_ms", .cancellationDate),
        ("cancellation_date_pst", .leftOut),
        ("cancellation_reason", .integer(.revocationReason)),
        ("promotional_offer_id", .promotionalOfferId),
        ("offer_code_ref_name", .offerCodeName),
        ("app_account_token", .text(.appAccountToken)),
        ("bid", .bundleId),
        ("bundle_id", .bundleId),
        ("bvrs", .leftOut),
        ("item_id", .leftOut),
        ("app_item_id", .leftOut),
        ("version_external_identifier", .leftOut),
        ("unique_identifier", .leftOut),
        ("unique_vendor_identifier", .leftOut),
    ]

    // False if the value is not of the expected form: it is then kept unchanged.
    private mutating func take(
        _ value: JSON.Value,
        as role: Role,
        _ name: JSON.Value
    ) throws(Rejection) -> Bool {
        switch role {
        case .leftOut: break
        case .originalTransactionId:
            originalTransactionId = try Claims.transactionId(
                value,
                named: "original_transaction_id"
            )
        case .transactionId:
            let id = try Claims.transactionId(value, named: "transaction_id")
            transactionId = id
            content.set(.transactionId, .text(id))
        case .bundleId: bundleId = try id(value, name)
        case .purchaseDate: purchaseDate = try date(value, name)
        case .purchaseText: purchaseText = value
        case .expiresDate: expiresDate = try date(value, name)
        case .expiresText: if expiresText == nil { expiresText = value }
        case .originalPurchaseDate:
            // Decides nothing, and edited samples contain impossible ones (Apple's data: trap 12,
            // odd values).
            if let milliseconds = value.looseInteger,
                Instant(milliseconds: milliseconds).isPlausible
            {
                originalPurchaseDate = Instant(milliseconds: milliseconds)
            }
        case .cancellationDate: cancellationDate = try date(value, name)
        case .cancellationText: cancellationText = value
        case .text(let field):
            content.set(
                field,
                utf8: try Claims.looseIdBytes(value, named: name.text ?? "an id")
            )
        case .integer(let field):
            guard let number = value.looseInteger else { return false }
            content.set(field, .integer(number))
        case .mark(let field):
            guard let flag = value.looseFlag else { return false }
            if flag { content.set(field, .boolean(true)) }
        case .isTrial:
            guard let flag = value.looseFlag else { return false }
            offer.isTrial = flag
        case .isIntroductory:
            guard let flag = value.looseFlag else { return false }
            offer.isIntroductory = flag
        case .promotionalOfferId: offer.promotionalOfferId = try id(value, name)
        case .offerCodeName: offer.offerCodeName = try id(value, name)
        }
        return true
    }

    private func date(_ value: JSON.Value, _ name: JSON.Value) throws(Rejection) -> Instant {
        try AppleClock.looseInstant(value, named: name.text ?? "a date")
    }

    private func id(_ value: JSON.Value, _ name: JSON.Value) throws(Rejection) -> String {
        try Claims.looseId(value, named: name.text ?? "an id")
    }
}
