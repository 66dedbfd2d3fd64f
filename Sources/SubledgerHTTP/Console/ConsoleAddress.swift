internal import EventLog
internal import Events
internal import Foundation
internal import Hummingbird
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
    static let refusals = "/console/operations/refusals"
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
        instant.milliseconds >= instantMin ? "\(instant.milliseconds)" : "\(instant)"
    }

    /// A time of an address as a form shows it: milliseconds in the ISO form, everything else, such
    /// as a position, as it is.
    static func shown(_ text: String?) -> String {
        guard let text, let milliseconds = Int64(text), milliseconds >= instantMin else {
            return text ?? ""
        }
        return "\(Instant(milliseconds: milliseconds))"
    }

    // Fewer digits are read as a position or a year.
    private static let instantMin: Int64 = 100_000_000_000

    /// The page that a request asked for; nil if it is not a page of the console that is read.
    static func page(of request: Request) -> String? {
        request.method == .get ? page(request.uri.description) : nil
    }

    /// The address, if it is a page of the console that leads nowhere else.
    static func page(_ address: String) -> String? {
        let isPlain = address.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x5C }
        let path = address.prefix { $0 != "?" }
        let isPage = path == home || path.hasPrefix(home + "/")
        let isOther = [signIn, signOut, live].contains(String(path)) || path.contains("//")
        return isPlain && isPage && !isOther && address.utf8.count <= byteCountMax ? address : nil
    }

    /// The longest address that is kept while somebody signs in, in bytes; the form that signs in
    /// has room for it.
    private static let byteCountMax = 1024

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

extension ConsoleAddress {
    /// What was typed for a page that was not shown; empty if it cannot be read.
    init(typedFor request: Request) {
        self.init(id: "")
        do {
            let fields = try FormFields(request.uri.query ?? "")
            (id, environment) = (fields["id"] ?? "", fields["environment"])
            (at, knownAt, tz) = (fields["at"], fields["known-at"], fields["tz"])
        } catch {
            // The page says what is wrong with it.
        }
    }
}
