/// What an event is about: a purchase, a renewal preference, something Apple said happened; or what
/// the operator states, whose subscription it is or what the app sells.
public enum Kind: String, CaseIterable, Sendable {
    /// One transaction: a period, or a purchase that is no subscription.
    case transaction
    /// A snapshot of what will happen at the next renewal.
    case renewal
    /// A notification: that Apple said something, when, and with which status.
    case notification
    /// The operator's statement that a subscription belongs to one of the app's customers, or to
    /// none.
    case link
    /// A version of the product catalog, which the operator imported: in a stream of its own.
    case catalog
    /// The operator's erasure of what the log held of a subscription: what was taken from which
    /// rows, never what it was.
    case erasure
    /// An event whose content was erased: it says nothing, and folds pass it over.
    case erased
}

/// The identity of a subscription: an `originalTransactionId` in one environment.
///
/// Equal ids of two environments are different streams.
public struct StreamID: Hashable, Sendable {
    /// Where the purchase was made.
    public let environment: Environment
    /// Apple's id, as text.
    ///
    /// Empty for statements that concern no transaction (a TEST notification). At most
    /// `idByteCountMax` bytes.
    public let originalTransactionId: String

    /// Longest id accepted, in UTF-8 bytes; Apple's have at most twenty digits.
    public static let idByteCountMax = 128

    /// Where the versions of the product catalog stand: a stream without environment, which is no
    /// subscription.
    public static let catalog = StreamID(
        environment: Environment(""),
        originalTransactionId: "catalog"
    )

    /// The stream of that id in that environment.
    public init(environment: Environment, originalTransactionId: String) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
    }
}

extension StreamID: Comparable {
    /// By environment's word, then by the id's UTF-8 bytes: the order of every listing.
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

/// One thing a verified payload says, before the log has judged whether it is news.
public struct Fact: Hashable, Sendable {
    /// The subscription it belongs to.
    public let stream: StreamID
    /// The app it was bought in; empty where the format does not say.
    public let bundleId: String
    /// What it is about.
    public let kind: Kind
    /// Start of the period it is about, in whole seconds; the epoch where it is about none, as of
    /// links.
    public let purchaseDate: Instant
    /// End of the period, in whole seconds; the epoch for what never expires (promise of the key:
    /// no NULL).
    public let expiresDate: Instant
    /// When Apple asserted it, on Apple's clock; of a link the instant that the operator's
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

    /// The same without what identifies a person.
    package var withoutPerson: Fact {
        Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content.withoutPerson
        )
    }

    /// What facts must share to speak of the same thing.
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
}

/// What a fact speaks of: the key of a period and, where a second may hold two of them, a name.
///
/// The name is the product of a transaction (an upgrade can be bought in the second of a renewal,
/// Apple's data: trap 40) and the UUID of a notification; version 1 has none, there it is the type.
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
}
