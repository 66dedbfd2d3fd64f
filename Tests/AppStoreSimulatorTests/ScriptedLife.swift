import AppStoreSimulator
import Events
import Projections
import Testing

/// A hand-written life, and its rows as text, one per line.
struct ScriptedLife {
    static let monthly = SimulatedCatalog.lumen[2]
    static let students = SimulatedCatalog.lumen[3]
    static let proMonthly = SimulatedCatalog.lumen[0]
    static let yearly = SimulatedCatalog.lumen[4]
    static let weekly = SimulatedCatalog.lumen[5]

    let life: SubscriptionLife

    init(ownership: LifeIdentity.Ownership = .purchased, _ script: [LifeStep]) throws {
        life = try SubscriptionLife(
            identity: LifeIdentity(
                seed: 42,
                index: 1,
                ownership: ownership,
                storefront: SimulatedStorefront.all[0]
            ),
            store: Self.store,
            script: script
        )
    }

    private static let store = SimulatedStore(pki: SimulatedPKI(seed: 42))

    /// The rows; midnight is left out, and so are values that all products share.
    var rows: [String] {
        life.periods.map { period in
            [
                short(period.validFrom), short(period.validTo), period.kind.rawValue,
                String(period.productId.dropFirst("example.subledger.lumen.".count)),
                period.endReason.rawValue,
            ].joined(separator: " ")
        }
    }

    /// The types and subtypes of the notifications, in order.
    func notifications() throws -> [String] {
        try life.notifications().map { delivery in
            let outer = try ReadNotification(delivery).outer
            let name = outer.notificationType + (outer.subtype.map { "/" + $0 } ?? "")
            return name + (outer.data.status.map { " \($0)" } ?? "")
        }
    }

    var access: [String] { life.active.map { short($0.from) + " " + short($0.to) } }

    private func short(_ instant: Instant) -> String {
        instant.description.replacing("T00:00:00Z", with: "")
    }
}

/// The instant of an RFC 3339 text or of a date.
func at(_ text: String) throws -> Instant { try #require(Instant(text), "\(text)") }
