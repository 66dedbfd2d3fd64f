package import Events
package import Projections

/// One expected row of `active_periods`, for a purchase or a grace period.
package struct SimulatedPeriod: Hashable, Encodable, Sendable {
    /// The basis of the access.
    package typealias Kind = ActivePeriod.Kind

    /// Why the access ended.
    package typealias EndReason = ActivePeriod.EndReason

    /// The product.
    package let productId: String
    /// When the period was bought, or began if it was charged early.
    package let purchaseDate: Instant
    /// When it ends by itself.
    package let expiresDate: Instant
    /// When access begins.
    package let validFrom: Instant
    /// When access ends; never before it begins, and equal to it in an empty row.
    package internal(set) var validTo: Instant
    /// The basis of the access.
    package let kind: Kind
    /// Why it ended.
    package internal(set) var endReason: EndReason

    /// A row.
    package init(
        productId: String,
        purchaseDate: Instant,
        expiresDate: Instant,
        validFrom: Instant,
        validTo: Instant,
        kind: Kind,
        endReason: EndReason
    ) {
        self.productId = productId
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.validFrom = validFrom
        self.validTo = validTo
        self.kind = kind
        self.endReason = endReason
    }
}

extension SimulatedPeriod: Comparable {
    /// By start, end, kind and product: the order of every listing.
    package static func < (left: Self, right: Self) -> Bool {
        (left.validFrom, left.validTo, left.kind.rawValue, left.productId)
            < (right.validFrom, right.validTo, right.kind.rawValue, right.productId)
    }
}

extension SimulatedPeriod: CustomStringConvertible {
    /// One line: from, to, kind, product, reason.
    package var description: String {
        "\(validFrom) … \(validTo) \(kind.rawValue) \(productId) \(endReason.rawValue)"
    }
}

/// A span of time with access, half open: it begins at `from` and ends before `to`.
package struct AccessInterval: Hashable, Sendable {
    /// The first instant with access.
    package let from: Instant
    /// The first instant without access.
    package let to: Instant

    /// A span.
    package init(from: Instant, to: Instant) {
        self.from = from
        self.to = to
    }

    /// The spans covered by any of the rows, in order; touching ones are merged, empty ones
    /// dropped.
    static func union(of periods: [SimulatedPeriod]) -> [AccessInterval] {
        var result: [AccessInterval] = []
        for period in periods.sorted() where period.validFrom < period.validTo {
            if let last = result.last, period.validFrom <= last.to {
                result[result.count - 1] = AccessInterval(
                    from: last.from,
                    to: max(last.to, period.validTo)
                )
            } else {
                result.append(AccessInterval(from: period.validFrom, to: period.validTo))
            }
        }
        return result
    }
}
