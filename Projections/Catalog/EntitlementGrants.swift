/// What grants an entitlement: any of some products, or any product of some subscription groups.
package struct EntitlementGrants: Hashable, Sendable {
    /// Products, in order of UTF-8 bytes, each once.
    package let products: [String]
    /// Apple's identifiers of subscription groups, in order of UTF-8 bytes, each once.
    package let groups: [String]

    /// The longest name of an entitlement, in bytes.
    package static let nameByteCountMax = 64

    /// What is granted by these products and groups, given in any order.
    package init(products: [String] = [], groups: [String] = []) {
        self.products = EntitlementGrants.ordered(products)
        self.groups = EntitlementGrants.ordered(groups)
    }

    /// Whether an entitlement may have the name: ASCII letters, digits, `.`, `-` and `_`.
    package static func isName(_ text: String) -> Bool {
        (1...nameByteCountMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { letter in
                switch letter {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
                default: false
                }
            }
    }

    /// A short text: `com.example.pro, group 21000001`.
    package var summary: String {
        (products + groups.map { "group \($0)" }).joined(separator: ", ")
    }

    private static func ordered(_ ids: [String]) -> [String] {
        ids.sorted { byBytes($0, $1) ?? false }.reduce(into: []) { unique, id in
            if unique.last.map({ byBytes($0, id) != nil }) ?? true { unique.append(id) }
        }
    }
}

extension EntitlementGrants: Codable {
    private enum CodingKeys: String, CodingKey {
        case products, groups
    }

    /// Reads both lists; either may be missing.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            products: try container.decodeIfPresent([String].self, forKey: .products) ?? [],
            groups: try container.decodeIfPresent([String].self, forKey: .groups) ?? []
        )
    }
}
