import Events

/// A verifyReceipt response or version 1 notification, decoded but not trusted yet.
///
/// Only the receipt that it may embed is signed; `UnsignedReading` decides whether the rest counts
/// (Concepts: trust).
struct UnsignedBody {
    /// What the payload is.
    let kind: PayloadKind
    /// The app it names; nil if it names none.
    let bundleId: String?
    /// The environment it names; nil if it names none.
    let environment: StoreEnvironment?
    /// The embedded receipt, as base64; nil if there is none.
    let latestReceipt: ArraySlice<UInt8>?
    /// The transactions, each once, the richer entry first.
    let entries: [Entry]
    /// The rows that cannot be read, in their order.
    let unusable: [UnusableRow]

    private let body: JSON.Value
    // Nil if the format has no such array; then an element's absence says nothing.
    private let pendingRenewals: [JSON.Value]?
    // An unreadable one may be about any subscription.
    private let hasUnusableRenewals: Bool
    private var requestDate: Instant?
    private var creationDate: Instant?

    /// A transaction with the place it was found at.
    struct Entry {
        let entry: ReceiptEntry
        let place: Place
    }

    /// Where a transaction was found, which decides its as-of.
    enum Place {
        /// In what Apple looked up at the time of the request.
        case latest
        /// In the receipt that was sent in, as it was when the device obtained it.
        case sent
    }

    /// Decodes a verifyReceipt response of either generation.
    ///
    /// Throws according to its `status` if Apple sent no data, and if dates or ids are impossible.
    init(response body: JSON.Value) throws(Rejection) {
        try ReceiptStatus.check(body)
        let receipt = body["receipt"]
        var reader = EntryReader()
        // Apple adds fields to `latest_receipt_info` that the receipt cannot carry.
        try reader.take(body["latest_receipt_info"], .latest, "latest_receipt_info")
        try reader.take(body["latest_expired_receipt_info"], .latest, "latest_expired_receipt_info")
        if let sent = receipt?["in_app"], !sent.isBlank {
            try reader.take(sent, .sent, "in_app")
        } else if let receipt,
            ["transaction_id", "original_transaction_id", "product_id"]
                .contains(where: { receipt[$0] != nil })
        {
            try reader.take(receipt, .sent, "receipt")
        }
        guard receipt != nil || !reader.entries.isEmpty || body["latest_receipt"] != nil else {
            throw Rejection(
                .claimMalformed,
                "The verifyReceipt response contains neither a receipt nor a transaction."
            )
        }

        try self.init(
            .verifyReceiptResponse,
            body,
            reader,
            bundleId: receipt?["bundle_id"],
            environment: UnsignedBody.environment(body["environment"], receipt?["receipt_type"]),
            latestReceipt: body["latest_receipt"] ?? receipt?["latest_receipt"],
            pendingRenewals: body["pending_renewal_info"]
        )
        requestDate = try UnsignedBody.date(receipt, "request_date_ms", "request_date")
        creationDate = try UnsignedBody.date(
            receipt,
            "receipt_creation_date_ms",
            "receipt_creation_date"
        )
    }

    /// Decodes a version 1 notification in any of its shapes (Apple's data: version 1 body).
    init(statusUpdate body: JSON.Value) throws(Rejection) {
        let unified = body["unified_receipt"]
        if let unified { try ReceiptStatus.check(unified) }
        var reader = EntryReader()
        try reader.take(unified?["latest_receipt_info"], .latest, "latest_receipt_info")
        try reader.take(body["latest_receipt_info"], .latest, "latest_receipt_info")
        try reader.take(body["latest_expired_receipt_info"], .latest, "latest_expired_receipt_info")
        try self.init(
            .statusUpdateNotification,
            body,
            reader,
            bundleId: body["bid"],
            environment: UnsignedBody.environment(body["environment"], unified?["environment"]),
            latestReceipt: unified?["latest_receipt"] ?? body["latest_receipt"]
                ?? body["latest_expired_receipt"],
            pendingRenewals: unified?["pending_renewal_info"]
        )
    }

    /// Decodes a single transaction that was extracted from a response.
    init(entry body: JSON.Value) throws(Rejection) {
        var reader = EntryReader()
        try reader.take(body, .latest, "the transaction")
        try self.init(.verifyReceiptResponse, body, reader)
    }

    private init(
        _ kind: PayloadKind,
        _ body: JSON.Value,
        _ reader: EntryReader,
        bundleId: JSON.Value? = nil,
        environment: StoreEnvironment? = nil,
        latestReceipt: JSON.Value? = nil,
        pendingRenewals: JSON.Value? = nil
    ) throws(Rejection) {
        self.kind = kind
        self.body = body
        entries = reader.entries
        self.bundleId = try UnsignedBody.bundleId(bundleId, reader.entries)
        self.environment = environment
        self.latestReceipt = UnsignedBody.receipt(latestReceipt)
        let renewals = UsableRenewals(UnsignedBody.array(pendingRenewals))
        self.pendingRenewals = renewals.elements
        hasUnusableRenewals = !renewals.unusable.isEmpty
        unusable = reader.unusable + renewals.unusable
    }
}

extension UnsignedBody {
    /// The secret of a version 1 notification; nil if it carries none.
    var password: ArraySlice<UInt8>? { body["password"]?.utf8 }

    /// Whether it contains nothing but rows that cannot be read.
    var isUnusable: Bool { statementCount == 0 && latestReceipt == nil && !unusable.isEmpty }

    /// The number of statements that only the body itself supports.
    var statementCount: Int {
        entries.count + (pendingRenewals?.count ?? 0)
            + (kind == .statusUpdateNotification ? 1 : 0)
    }

    /// The facts, for a known environment.
    ///
    /// `receiptDate` is when the embedded receipt was made, if that was proven.
    func facts(
        environment: StoreEnvironment,
        receiptDate: Instant?
    ) throws(Rejection) -> [Fact] {
        guard statementCount > 0 else { return [] }
        let asOf = try asOf(receiptDate: receiptDate)
        func origin(_ asOf: Instant) -> Provenance {
            Provenance(environment: environment, bundleId: bundleId ?? "", asOf: asOf)
        }
        let (provenance, earlier) = (origin(asOf), origin(creationDate ?? asOf))

        var facts: [Fact] = []
        facts.reserveCapacity(statementCount)
        for entry in entries {
            facts.append(try entry.entry.fact(entry.place == .sent ? earlier : provenance))
        }
        facts = Continuations.stated(in: facts)
        let renewals = try renewals(among: facts, provenance)
        let transactions = facts
        facts += renewals
        if kind == .statusUpdateNotification {
            facts.append(
                try StatusUpdate.fact(body, provenance, among: transactions, renewals)
            )
        }
        return facts
    }

    // The as-of where the format has none: the latest date of something that had happened when it
    // was written, which is a lower bound. Status 21006 means that the subscription was over; and
    // Apple reports a billing retry, a grace period or why a subscription ended only after its
    // period
    // (https://developer.apple.com/documentation/appstorereceipts/responsebody/pending_renewal_info).
    private func asOf(receiptDate: Instant?) throws(Rejection) -> Instant {
        if let requestDate { return requestDate }
        var dates = [creationDate, receiptDate].compactMap { $0 }
        dates += try StatusUpdate.pastDates(body)
        if receiptDate == nil { dates += entries.compactMap(\.entry.latestPastDate) }
        dates += impliedExpiries
        if body["status"]?.looseInteger == ReceiptStatus.expired {
            dates += entries.compactMap(\.entry.expiresDate)
        }
        guard let latest = dates.max() else {
            throw Rejection(
                .dateMissing,
                "The payload contains no date in the past, so it cannot be placed on Apple's "
                    + "clock."
            )
        }
        return latest
    }

    // The expiries that must have passed, given what the body states.
    private var impliedExpiries: [Instant] {
        let periods = entries.map(\.entry).filter { $0.naturalEnd != nil }
        let ids = Set(periods.map { FieldValue.text($0.streamId) })
        let own = pendingRenewals ?? []
        let listed = own.filter(PendingRenewal.isAfterExpiry).map { element in
            (id: element["original_transaction_id"]?.looseText, product: element["product_id"])
        }
        let isTopLevelAfterExpiry = PendingRenewal.isAfterExpiry(body)
        let subjects =
            listed
            + (isTopLevelAfterExpiry ? [(body["original_transaction_id"]?.looseText, nil)] : [])
        return subjects.compactMap { id, product in
            guard id != nil || ids.count == 1 else { return nil }
            let own = periods.filter { period in
                id.map { period.streamId.utf8.elementsEqual($0.utf8) } ?? true
            }
            let named = own.filter { $0.isOf(product: product?.looseText) }
            return (named.isEmpty ? own : named).max { $0.isBefore($1) }?.naturalEnd
        }
    }

    private func renewals(
        among transactions: [Fact],
        _ provenance: Provenance
    ) throws(Rejection) -> [Fact] {
        var renewals: [Fact] = []
        for element in pendingRenewals ?? [] {
            renewals.append(try PendingRenewal.fact(element, provenance))
        }
        // As field values, which compare by bytes.
        var stated = Set(renewals.map { FieldValue.text($0.stream.originalTransactionId) })
        if let subject = try StatusUpdate.subject(of: body, among: transactions, renewals),
            !stated.contains(.text(subject)),
            let fact = try PendingRenewal.topLevel(of: body, about: subject, provenance)
        {
            renewals.append(fact)
            stated.insert(.text(subject))
        }
        guard pendingRenewals != nil, !hasUnusableRenewals else { return renewals }
        // Most bodies are about one subscription, whose periods follow each other.
        var last: StreamID?
        for fact in transactions where fact.expiresDate != Instant(milliseconds: 0) {
            guard fact.stream != last else { continue }
            last = fact.stream
            let id = fact.stream.originalTransactionId
            guard stated.insert(.text(id)).inserted else { continue }
            renewals.append(PendingRenewal.absence(of: id, provenance))
        }
        return renewals
    }
}

extension UnsignedBody {
    private static func bundleId(
        _ value: JSON.Value?,
        _ entries: [Entry]
    ) throws(Rejection) -> String? {
        if let value, !value.isBlank { return try Claims.looseId(value, named: "bundle_id") }
        return entries.lazy.compactMap(\.entry.bundleId).first
    }

    // Receipts use ProductionVPP and ProductionSandbox, version 1 uses PROD.
    private static func environment(_ values: JSON.Value?...) throws(Rejection) -> StoreEnvironment?
    {
        var named: StoreEnvironment?
        for value in values {
            guard let word = value?.looseText else { continue }
            let environment: StoreEnvironment =
                switch word.uppercased() {
                case "PROD", "PRODUCTION", "PRODUCTIONVPP": .production
                case "SANDBOX", "PRODUCTIONSANDBOX", "PRODUCTIONVPPSANDBOX": .sandbox
                default: StoreEnvironment(word)
                }
            // One of two contradicting values must not turn a test purchase into a real one.
            if let named, named != environment {
                throw Rejection(
                    .nestedMismatch,
                    "The payload names two different environments, so it is refused."
                )
            }
            named = environment
        }
        return named
    }

    private static func receipt(_ value: JSON.Value?) -> ArraySlice<UInt8>? {
        guard let text = value?.utf8, !text.isEmpty else { return nil }
        return text
    }

    private static func array(_ value: JSON.Value?) -> [JSON.Value]? {
        switch value?.kind {
        case .array: value?.elements
        // An array that lost its brackets in transit is still accepted.
        case .object: value.map { [$0] }
        default: nil
        }
    }

    private static func date(
        _ receipt: JSON.Value?,
        _ names: StaticString...
    ) throws(Rejection) -> Instant? {
        for name in names {
            guard let value = receipt?[name], !value.isBlank else { continue }
            return try AppleClock.looseInstant(value, named: name.description)
        }
        return nil
    }
}
