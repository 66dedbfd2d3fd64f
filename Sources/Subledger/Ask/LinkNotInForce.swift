public import Events
package import Projections

/// A link that gives a customer a subscription, but not at the instant that was asked about.
public struct LinkNotInForce: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The app's own id for the customer.
    public let customer: String
    /// The instant that was asked about.
    public let at: Instant
    /// The first instant of the link.
    public let from: Instant
    /// Its end, exclusive; nil if it has none.
    public let to: Instant?
    /// Whether a link to another customer blocks a link that begins at the instant.
    public let isBlocked: Bool
}

extension LinkNotInForce {
    /// All of a customer's links that name a subscription but are not in force at an instant.
    package static func all(of customer: Customer, at instant: Instant) -> [LinkNotInForce] {
        customer.linksNotInForce(at: instant).map { stream, link in
            let all = customer.streams + customer.related
            let claims = all.first { $0.stream == stream }?.claims
            return LinkNotInForce(
                originalTransactionId: stream.originalTransactionId,
                environment: stream.environment,
                customer: link.customer,
                at: instant,
                from: link.from,
                to: link.to,
                isBlocked: claims?.hold(against: link.customer, from: instant) != nil
            )
        }
    }

    /// Whether it begins after the instant.
    package var isLater: Bool { at < from }

    /// The link as a line of text.
    package var line: String {
        guard isLater else {
            return "\(originalTransactionId): linked to \(customer) until "
                + "\(to?.clock ?? "further notice"), not at the requested instant"
        }
        let start = "\(originalTransactionId): not linked to \(customer) before \(from.clock); "
        guard !isBlocked else {
            return start + "an earlier link is not possible, because it would overlap a link to "
                + "another customer"
        }
        return
            start + "if it belonged to them earlier: subledger customers link "
            + "\(customer.shellWord) \(originalTransactionId) --environment \(environment.word) "
            + "--at \(at)"
    }
}

extension String {
    /// The text quoted as one word of a shell command.
    package var shellWord: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "/"),
                UInt8(ascii: "+"):
                true
            default: false
            }
        }
        guard !plain || isEmpty else { return self }
        return "'"
            + split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}
