public import Events

/// The operator's statement that a subscription belongs to one of the app's customers, or to none.
///
/// Only the operator can make this statement: binding an original id to an account of the app is
/// the operator's decision and responsibility (Apple's data: trap 37). It is a payload like any
/// other, kept as evidence, and counts only if the operator vouches for it.
public struct CustomerLink: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The app's own name for the customer; nil for an unlink: the subscription has no owner.
    public let customer: String?
    /// Who makes the statement.
    public let statedBy: String
    /// The reason; empty if none was given.
    public let reason: String
    /// When it takes effect, on the operator's clock: the as-of of the event.
    ///
    /// The epoch for a link that applies from the first purchase on, whenever that was.
    public let statedAt: Instant

    /// Longest customer name, in UTF-8 bytes: room for an address or a URN, and small enough for an
    /// index.
    public static let customerByteCountMax = 256
    /// Longest name of the author, in UTF-8 bytes.
    public static let statedByByteCountMax = 256
    /// Longest reason, in UTF-8 bytes: a paragraph, not a correspondence.
    public static let reasonByteCountMax = 1024
    /// The name and version of the form, as `subledger` in the payload.
    public static let form = "customer-link/1"

    /// A statement whose limits are not checked yet: the verifier checks them.
    public init(
        stream: StreamID,
        customer: String?,
        statedBy: String,
        reason: String,
        statedAt: Instant
    ) {
        self.stream = stream
        self.customer = customer
        self.statedBy = statedBy
        self.reason = reason
        self.statedAt = statedAt
    }

    /// The statement as a payload for `AppStoreVerifier`: one JSON object, names sorted, so the
    /// same statement always has the same bytes.
    public var payload: [UInt8] {
        JSON.CanonicalObject([
            "subledger": .text(CustomerLink.form),
            "environment": .text(stream.environment.word),
            "originalTransactionId": .text(stream.originalTransactionId),
            "customer": customer.map { .text($0) },
            "by": .text(statedBy),
            "reason": .text(reason),
            "statedAt": .number(statedAt.milliseconds),
        ]).canonicalText
    }
}

extension CustomerLink {
    private static let names: [StaticString] = [
        "subledger", "environment", "originalTransactionId", "customer", "by", "reason", "statedAt",
    ]

    /// Reads a statement and checks every member, because nothing else proves it.
    ///
    /// `customer` must be present, if only as null: a forgotten member must not unlink a customer.
    init(_ body: JSON.Value) throws(Rejection) {
        guard body["subledger"]?.equals("customer-link/1") == true else {
            throw Rejection(
                .unsupportedFormat,
                "The payload is an operator's statement of an unknown form; expected"
                    + " \"subledger\":\"\(CustomerLink.form)\"."
            )
        }
        for (name, _) in body.members {
            guard CustomerLink.names.contains(where: { name.equals($0) }) else {
                throw Rejection(
                    .claimMalformed,
                    "The customer link has a member that this form does not have; it has"
                        + " \(CustomerLink.names.map(\.description).joined(separator: ", "))."
                )
            }
        }

        guard let environment = try Claims.environment(body) else {
            throw CustomerLink.missing("environment", "the environment of the purchase")
        }
        guard let id = try Claims.id(body, "originalTransactionId") else {
            throw Rejection(.idMissing, "The customer link names no originalTransactionId.")
        }
        let statedAt: Instant
        if body["statedAt"]?.integer == 0 {
            statedAt = Instant(milliseconds: 0)
        } else if let named = try AppleClock.instant(body, "statedAt") {
            statedAt = named
        } else {
            throw CustomerLink.missing(
                "statedAt",
                "milliseconds since 1970, or 0 for a link from the first purchase on"
            )
        }
        guard let customer = body["customer"] else {
            throw CustomerLink.missing("customer", "a name, or null for no customer")
        }

        self.init(
            stream: StreamID(environment: environment, originalTransactionId: id),
            customer: customer.kind == .null
                ? nil
                : try CustomerLink.text(customer, "customer", CustomerLink.customerByteCountMax),
            statedBy: try CustomerLink.text(
                body["by"],
                "by",
                CustomerLink.statedByByteCountMax
            ),
            reason: try CustomerLink.text(
                body["reason"],
                "reason",
                CustomerLink.reasonByteCountMax,
                mayBeEmpty: true
            ),
            statedAt: statedAt
        )
    }

    private static func missing(_ name: String, _ expected: String) -> Rejection {
        Rejection(.claimMalformed, "The customer link lacks \(name); expected \(expected).")
    }

    private static func text(
        _ value: JSON.Value?,
        _ name: String,
        _ byteCountMax: Int,
        mayBeEmpty: Bool = false
    ) throws(Rejection) -> String {
        guard let value, value.kind != .null else {
            if mayBeEmpty { return "" }
            throw missing(name, "text of 1 to \(byteCountMax) bytes")
        }
        guard let text = value.text else {
            throw Rejection(
                .claimMalformed,
                "\(name) of a customer link must be text; found \(value.kind)."
            )
        }
        try check(text, name, byteCountMax, mayBeEmpty: mayBeEmpty)
        return text
    }

    /// Refuses a customer name that no link may have, before it is used for anything else.
    ///
    /// - Parameter customer: The app's own name for the customer.
    /// - Throws: `claimMalformed`.
    public static func check(customer: String) throws(Rejection) {
        try check(customer, "customer", customerByteCountMax, mayBeEmpty: false)
        guard !customer.isPlaceholder else {
            throw Rejection(
                .claimMalformed,
                "The customer's name is blank, zero or a placeholder such as null, which programs"
                    + " write for every customer without a name. Give the customer's own name."
            )
        }
        let scalars = customer.unicodeScalars
        if let unseen = scalars.first(where: { isUnseen($0) }) {
            throw Rejection(
                .claimMalformed,
                "The name of a customer contains the character U+"
                    + String(unseen.value, radix: 16, uppercase: true)
                    + ", which is invisible, so two names could look the same; leave it out."
            )
        }
        guard let first = scalars.first, let last = scalars.last,
            !first.properties.isWhitespace, !last.properties.isWhitespace
        else {
            throw Rejection(
                .claimMalformed,
                "The name of a customer begins or ends with white space; leave it out."
            )
        }
    }

    // Characters that only control the direction or joining of text; those that scripts need for
    // their letters (U+200C, U+200D) are allowed.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }

    private static func check(
        _ text: String,
        _ name: String,
        _ byteCountMax: Int,
        mayBeEmpty: Bool
    ) throws(Rejection) {
        guard text.utf8.count <= byteCountMax, mayBeEmpty || !text.isEmpty else {
            throw Rejection(
                .claimMalformed,
                "\(name) of a customer link has \(text.utf8.count) bytes; accepted are"
                    + " \(mayBeEmpty ? 0 : 1) to \(byteCountMax)."
            )
        }
        guard !Claims.hasControlCharacters(text) else {
            throw Rejection(
                .claimMalformed,
                "\(name) of a customer link contains control characters; use plain text on one "
                    + "line."
            )
        }
    }
}

extension CustomerLink {
    /// The fact that it states.
    var fact: Fact {
        var content = Content(format: .customerLink)
        content[.customerId] = customer.map(FieldValue.text)
        content[.linkReason] = reason.isEmpty ? nil : .text(reason)
        content[.linkedBy] = .text(statedBy)
        let origin = Provenance(environment: stream.environment, bundleId: "", asOf: statedAt)
        return origin.fact(.link, about: stream.originalTransactionId, content)
    }

    /// The fact with the statement as its evidence; refused unless the operator vouches for it.
    ///
    /// A link names no app, so only its environment is checked against the policy.
    func verified(_ payload: [UInt8], _ intake: Intake) throws(Rejection) -> Verified<[Fact]> {
        guard case .operator = intake.voucher else {
            throw Rejection(
                .unproven,
                "The payload is a customer link, which counts only with the operator's voucher:"
                    + " vouch for it, or state it with `subledger customers link`."
            )
        }
        let secrets = intake.policy.sharedSecrets
        guard SecretFreeBody.redactedAccepted(payload, secrets: secrets) == payload else {
            throw Rejection(
                .secretMisplaced,
                "The customer link contains a shared secret, which is never stored; remove "
                    + "it and state the link again."
            )
        }
        try intake.policy.checkAccepted(stream.environment)
        let verification = Verification(trust: .vouched, root: nil)
        return intake.verified([fact], by: payload, .customerLink, verification)
    }
}
