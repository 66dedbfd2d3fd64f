/// What an event is about: a purchase, a renewal preference, something that Apple reported, or a
/// statement of the operator: who owns a subscription, or what the app sells.
public enum Kind: String, CaseIterable, Sendable {
    /// One transaction: a period, or a purchase that is not a subscription.
    case transaction
    /// A snapshot of what will happen at the next renewal.
    case renewal
    /// A notification: that Apple sent it, when, and with which status.
    case notification
    /// The operator's statement that a subscription belongs to one of the app's customers, or to
    /// none.
    case link
    /// A version of the product catalog, imported by the operator; in a stream of its own.
    case catalog
    /// The operator's erasure of log content about a subscription: what was removed from which
    /// rows, never the removed data.
    case erasure
    /// An event whose content was erased: it says nothing, and folds skip it.
    case erased
}

/// The identity of a subscription: an `originalTransactionId` in one environment.
///
/// The same id in two environments names two streams.
public struct StreamID: Hashable, Sendable {
    /// Where the purchase was made.
    public let environment: StoreEnvironment
    /// Apple's id, as text.
    ///
    /// Empty for statements that concern no transaction (a TEST notification). At most
    /// `idByteCountMax` bytes.
    public let originalTransactionId: String

    /// Longest id accepted, in UTF-8 bytes; Apple's have at most twenty digits.
    public static let idByteCountMax = 128

    /// The stream of the product catalog's versions: it has no environment and is not a
    /// subscription.
    public static let catalog = StreamID(
        environment: StoreEnvironment(""),
        originalTransactionId: "catalog"
    )

    /// The stream of a row that was read from JSON, where the document names it.
    package static let ofDocument = StreamID(
        environment: StoreEnvironment(""),
        originalTransactionId: ""
    )

    /// The stream of that id in that environment.
    public init(environment: StoreEnvironment, originalTransactionId: String) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
    }
}

extension StreamID: Comparable {
    /// By the environment's word, then by the id's UTF-8 bytes: the order of every listing.
    public static func < (left: StreamID, right: StreamID) -> Bool {
        if left.environment != right.environment {
            return left.environment.word.utf8.lexicographicallyPrecedes(
                right.environment.word.utf8
            )
        }
        return left.originalTransactionId.utf8.lexicographicallyPrecedes(
            right.originalTransactionId.utf8
        )
    }
}

/// One statement in a verified payload, before the log has judged whether it is news.
public struct Fact: Hashable, Sendable {
    /// The subscription it belongs to.
    public let stream: StreamID
    /// The app it was bought in; empty if the format does not name one.
    public let bundleId: String
    /// What it is about.
    public let kind: Kind
    /// Start of the period it is about, in whole seconds; the epoch if it is about none, as links
    /// are.
    public let purchaseDate: Instant
    /// End of the period, in whole seconds; the epoch for what never expires, because key columns
    /// are never NULL.
    public let expiresDate: Instant
    /// When Apple asserted it, on Apple's clock; for a link, the instant that the operator's
    /// statement names, on the operator's clock.
    public let asOf: Instant
    /// What it says.
    public let content: Content

    /// A fact; the dates of the key are floored to whole seconds (Apple's data: iOS 6 response).
    public init(
        stream: StreamID,
        bundleId: String,
        kind: Kind,
        purchaseDate: Instant?,
        expiresDate: Instant?,
        asOf: Instant,
        content: Content
    ) {
        self.stream = stream
        self.bundleId = bundleId
        self.kind = kind
        self.purchaseDate = (purchaseDate ?? Instant(milliseconds: 0)).flooredToSecond
        self.expiresDate = (expiresDate ?? Instant(milliseconds: 0)).flooredToSecond
        self.asOf = asOf
        self.content = content
    }

    /// The fact without what identifies a person.
    package var withoutPerson: Fact {
        with(content.withoutPerson)
    }

    /// What facts have in common if they are about the same thing.
    public var subject: Subject {
        let name =
            switch kind {
            case .transaction: content.text(.productId) ?? ""
            case .renewal, .link, .erasure, .erased: ""
            case .catalog: content.integer(.catalogVersion).map { String($0) } ?? ""
            case .notification:
                content.text(.notificationUUID) ?? content.text(.notificationType) ?? ""
            }
        return Subject(
            stream: stream,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            name: name
        )
    }

    /// Whether all its instants are of the calendar (`Instant.calendar`), so that a fold can add and
    /// subtract them.
    package var hasInstantsOfCalendar: Bool {
        Instant.calendar.contains(purchaseDate) && Instant.calendar.contains(expiresDate)
            && Instant.calendar.contains(asOf) && content.hasInstantsOfCalendar
    }
}

/// What a fact is about: the key of a period and, if two subjects can share that key, a name.
///
/// For a transaction the name is the product (an upgrade can be bought in the second of a renewal,
/// Apple's data: trap 40); for a notification it is the UUID or, in version 1, which has none, the
/// type.
public struct Subject: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// What kind of statement.
    public let kind: Kind
    /// Start of the period.
    public let purchaseDate: Instant
    /// End of the period.
    public let expiresDate: Instant
    /// Product or notification; empty for renewal snapshots and links.
    public let name: String

    package init(
        stream: StreamID,
        kind: Kind,
        purchaseDate: Instant,
        expiresDate: Instant,
        name: String
    ) {
        self.stream = stream
        self.kind = kind
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.name = name
    }
}
