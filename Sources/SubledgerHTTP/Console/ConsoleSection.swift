internal import EventLog

/// A part of the console, to which the header of each page leads.
struct ConsoleSection: Sendable {
    /// The address of its first page.
    let address: String
    /// Its name.
    let words: String
    /// A role that may see it.
    let role: TokenRole
    /// Another one; nil for none.
    let otherRole: TokenRole?

    static let customers = ConsoleSection(
        address: ConsoleAddress.home,
        words: "Customers",
        role: .support,
        otherRole: nil
    )
    static let reports = ConsoleSection(
        address: ConsoleAddress.reports,
        words: "Reports",
        role: .finance,
        otherRole: .analyst
    )

    static let operations = ConsoleSection(
        address: ConsoleAddress.operations,
        words: "Operations",
        role: .operator,
        otherRole: nil
    )
    static let tables = ConsoleSection(
        address: ConsoleAddress.tables,
        words: "Tables",
        role: .operator,
        otherRole: nil
    )

    /// All parts, in the order of the header.
    static let all = [customers, reports, operations, tables]

    /// The roles any of which may see it, next to `admin`.
    var roles: [TokenRole] { [role, otherRole].compactMap(\.self) }

    /// Which role shows what, for the page that signs in.
    static var rolesInWords: String {
        var parts: [(roles: String, sections: [String])] = []
        for section in all {
            let roles = section.roles.map(\.rawValue).joined(separator: " or ")
            if parts.last?.roles != roles { parts.append((roles, [])) }
            parts[parts.count - 1].sections.append(section.words.lowercased())
        }
        return parts.map { "\($0.roles) for \($0.sections.joined(separator: " and "))" }
            .joined(separator: ", ")
    }

    /// The first part that some roles may see; nil for none.
    static func first(for roles: Set<TokenRole>) -> ConsoleSection? {
        all.first { $0.isSeen(by: roles) }
    }

    /// Whether some roles may see it.
    func isSeen(by roles: Set<TokenRole>) -> Bool { !roles.isDisjoint(with: self.roles + [.admin]) }
}
