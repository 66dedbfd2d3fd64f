import CommandSupport
import Projections

/// The catalog as text.
enum CatalogWording {
    /// The most products of a group whose changes are shown as a table: more do not fit a terminal.
    static let matrixProductsMax = 12

    /// Products added, removed and changed, one per line; each `old → new` on a line below.
    static func print(_ difference: CatalogDifference) {
        for productId in difference.added { Terminal.print("+ \(productId)") }
        for productId in difference.removed { Terminal.print("- \(productId)") }
        for product in difference.changed {
            Terminal.print("~ \(product.productId)")
            for field in product.fields {
                Terminal.print(
                    "    \(field.name): \(field.old ?? "nothing") → \(field.new ?? "nothing")"
                )
            }
        }
        for entitlement in difference.entitlements {
            Terminal.print(
                "~ entitlement \(entitlement.name): \(entitlement.old ?? "nothing") → "
                    + (entitlement.new ?? "nothing")
            )
        }
    }

    /// The class of each change within a group: from the row's product to the column's.
    static func print(_ matrix: PlanChangeMatrix) {
        let groups = matrix.groups.filter { $0.subscriptions.count > 1 }
        guard !groups.isEmpty else { return }
        for group in groups { print(group) }
        Terminal.print(
            "an upgrade takes effect now, a downgrade at the next renewal, a crossgrade now if the "
                + "periods have the same length (=), otherwise at the next renewal (≠)"
        )
    }

    private static func print(_ group: PlanChangeMatrix.Group) {
        let products = group.subscriptions
        Terminal.print(
            "changes in group \(group.subscriptionGroupIdentifier)"
                + (group.name.map { " (\($0))" } ?? "")
        )
        guard products.count <= matrixProductsMax else {
            Terminal.print(
                " \(products.count) products, too many for a table; --json lists them all"
            )
            return
        }
        var table = TextTable(
            ["", "level", "from / to"] + products.indices.map { "\($0 + 1)" }
        )
        for (index, from) in products.enumerated() {
            table.add(
                ["\(index + 1)", "\(from.level)", from.productId]
                    + products.enumerated().map { column, to in
                        column == index ? "–" : word(group.change(from: from, to: to))
                    }
            )
        }
        Terminal.print(table.text)
    }

    private static func word(_ change: PlanChangeMatrix.Change) -> String {
        switch change.kind {
        case .crossgrade: "crossgrade " + (change.sameDuration ? "=" : "≠")
        case .upgrade, .downgrade, .planChange: change.kind.rawValue
        }
    }
}
