internal import EventLog
internal import Events
internal import Foundation
internal import Subledger

/// The addresses of the console's pages: that of a customer holds everything that its page depends
/// on, so a ticket can cite it.
struct ConsoleAddress {
    static let home = "/console"
    static let signIn = "/console/sign-in"
    static let signOut = "/console/sign-out"
    static let style = "/console/style.css"
    static let script = "/console/console.js"
    static let live = "/console/live"
    static let customer = "/console/customer"
    static let events = "/console/events"
    static let reports = "/console/reports"
    static let operations = "/console/operations"
    static let tables = "/console/tables"
    static let difference = "/console/tables/difference"
    static let promotion = "/console/tables/promotion"

    /// The page of an event.
    static func event(_ position: Position) -> String { "\(events)/\(position)" }

    private static let names = ["id", "environment", "at", "known-at", "tz"]

    /// The id that was entered.
    var id: String
    /// The word of the environment; nil for the one in which the id is known.
    var environment: String?
    /// The instant asked about; nil for now.
    var at: String?
    /// How much of the log is used; nil for all.
    var knownAt: String?
    /// The time zone; nil for UTC.
    var tz: String?

    /// An instant as a field: milliseconds from 1973 on; before, the ISO form, because fewer digits
    /// would not be read as milliseconds.
    static func field(_ instant: Instant) -> String {
        instant.milliseconds >= 100_000_000_000 ? "\(instant.milliseconds)" : "\(instant)"
    }

    /// The path and its query.
    var text: String {
        let fields = [
            ("id", id), ("environment", environment), ("at", at), ("known-at", knownAt), ("tz", tz),
        ]
        return ConsoleAddress.customer + "?" + ConsoleAddress.query(fields)
    }

    /// The query with these fields; those without a value are left out.
    static func query(_ fields: [(String, String?)]) -> String {
        fields.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
            .joined(separator: "&")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:"
    )

    private static func encoded(_ value: String) -> String {
        value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

extension ConsoleAddress {
    /// The address of a request.
    ///
    /// - Throws: `Problem` 400 for a parameter that no page of a customer has: with a misspelt bound,
    ///   the page would be taken for the bounded one.
    init(_ fields: FormFields) throws {
        for name in fields.names where !ConsoleAddress.names.contains(name) {
            throw Problem(
                query: "This page has no parameter \"\(name.prefix(64))\"; expected "
                    + ConsoleAddress.names.joined(separator: ", ") + "."
            )
        }
        id = fields["id"] ?? ""
        environment = fields["environment"]
        at = fields["at"]
        knownAt = fields["known-at"]
        tz = fields["tz"]
    }
}
