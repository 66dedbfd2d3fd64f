import AppStoreSimulator
import ArgumentParser

/// A format in which `simulate` can write the same lives.
enum SimulationFormat: String, CaseIterable {
    case v2
    case history
    case verifyReceipt = "verify-receipt"
    case appReceipt = "app-receipt"
    case v1

    /// All of Apple's statements about a life in this format, by Apple's clock.
    func deliveries(of life: SubscriptionLife, sharedSecret: String) -> [Delivery] {
        switch self {
        case .v2: life.deliveries()
        case .history: life.polls()
        case .verifyReceipt: life.verifyReceiptPolls()
        case .appReceipt: life.appReceipts()
        case .v1: life.statusUpdateNotifications(password: sharedSecret)
        }
    }

    /// The requested formats without duplicates, in listing order; Apple's current one by default.
    static func chosen(_ lists: [SimulationFormats]) -> [SimulationFormat] {
        let asked = Set(lists.flatMap(\.formats))
        return asked.isEmpty ? [.v2] : allCases.filter { asked.contains($0) }
    }
}

/// One argument of `--format`: a format, several with commas between them, or `all`.
struct SimulationFormats: ExpressibleByArgument {
    let formats: [SimulationFormat]

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        let lists = words.map { word in
            word == "all"
                ? SimulationFormat.allCases : SimulationFormat(rawValue: String(word)).map { [$0] }
        }
        guard !lists.contains(nil) else { return nil }
        formats = lists.flatMap { $0 ?? [] }
    }

    static var allValueStrings: [String] { SimulationFormat.allCases.map(\.rawValue) + ["all"] }
}

/// One argument of `--extras`: what the app sells since 2026, several with commas between them, or
/// `all`.
struct SimulationExtras: ExpressibleByArgument {
    let extras: AppStoreSimulator.Extras

    /// The words, in listing order.
    private static let words: KeyValuePairs<String, AppStoreSimulator.Extras> = [
        "seats": .seats, "bundles": .bundles, "retention": .retentionOffers, "all": .all,
    ]

    init?(argument: String) {
        var extras: AppStoreSimulator.Extras = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let named = Self.words.first(where: { $0.key == word }) else { return nil }
            extras.formUnion(named.value)
        }
        self.extras = extras
    }

    static var allValueStrings: [String] { words.map { $0.key } }
}
