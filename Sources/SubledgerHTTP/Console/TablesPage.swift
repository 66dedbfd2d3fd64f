internal import EventLog
internal import Events
internal import Projector
internal import Subledger

/// The content of the pages about the tables of projections.
struct TablesPage {
    /// All tables.
    let tables: [Projector.Table]
    /// The ledger's log, whose positions they have.
    let log: EventLog

    /// The tables that a promotion would make live.
    var ready: [Projector.Table] { tables.filter { $0.state == .ready } }

    /// The waiting tables as a form names them, so that no others are promoted than were shown.
    var readyNames: String {
        ready.map { "\($0.schema).\($0.name)" }.sorted().joined(separator: " ")
    }

    /// The page with all tables.
    ///
    /// - Parameters:
    ///   - check: What `doctor` finds about them.
    ///   - refusal: Why this service may not promote; nil if it may.
    /// - Returns: The markup.
    func list(_ check: DoctorCheck, refusal: String?) -> HTML {
        let action = [check.action].compactMap(\.self).map { action -> HTML in
            "<p class=\"action\">→ \(action)</p>"
        }
        let notices = tables.notices.map { notice -> HTML in "<p>\(notice)</p>" }
        return """
            <h1>Tables</h1>
            <p class="summary check \(check.result.rawValue)">\(check.message)</p>
            \(action)
            \(behind)
            \(table)
            \(notices)
            <p class="quiet">Readers see the live tables. Ready ones wait for a promotion, kept and \
            pinned ones stay next to the live ones, and filling ones are being built.</p>
            <h2>Tables that wait</h2>
            \(waiting(refusal))
            """
    }

    private var behind: [HTML] {
        let names = tables.filter { $0.state == .live && $0.lag > 0 }
            .map { "\($0.name) by \(counted($0.lag, "event"))" }
        return names.isEmpty ? [] : ["<p>Behind the log: \(names.joined(separator: ", ")).</p>"]
    }

    private var table: HTML {
        guard !tables.isEmpty else {
            return "<p>No tables exist yet; <code>subledger rebuild</code> creates them.</p>"
        }
        let rows = tables.map { table -> HTML in
            """
            <tr><th scope="row">\(table.name)</th><td>\(table.state.rawValue)</td>\
            <td>\(table.schema)</td><td>\("\(table.version)\(table.remark)")</td>\
            <td>\(log.text(.offsets(table.positions)))</td>\
            <td class="number">\(Int(table.lag))</td><td class="number">\(table.rows)</td>\
            <td class="number">\(table.refused)</td>\
            <td><code>\(String(table.digest.hex.prefix(12)))</code></td></tr>
            """
        }
        return OperationsPage.table(
            [
                "projection", "state", "schema", "version", "position", "lag", "rows", "refused",
                "digest",
            ],
            numbers: [5, 6, 7],
            rows
        )
    }

    private func waiting(_ refusal: String?) -> HTML {
        guard !ready.isEmpty else {
            return """
                <p>No rebuilt table is waiting to be promoted; <code>subledger tables diff</code> \
                builds one and shows what would change.</p>
                """
        }
        let names = ready.map { "\($0.name) in schema \($0.schema)" }.joined(separator: ", ")
        let next: HTML =
            if let refusal {
                """
                <p>This service may not promote them: \(refusal). Or run <code>subledger tables \
                promote</code> as a user that may.</p>
                """
            } else {
                """
                <form method="get" action="\(ConsoleAddress.promotion)"><button class="go">\
                Promote…</button></form>
                """
            }
        return """
            <p>\(names). <a href="\(ConsoleAddress.difference)">What they would change</a></p>
            \(next)
            """
    }

    /// The page that asks once before a promotion.
    var question: HTML {
        let rows = ready.map { new -> HTML in
            let old = tables.first { $0.state == .live && $0.name == new.name }
            let versions = [old.map { "\($0.version)\($0.remark)" } ?? "none", "\(new.version)"]
            return """
                <tr><th scope="row">\(new.name)</th>\
                <td>\(versions.joined(separator: " → "))</td>\
                <td>\([old.map { "\($0.rows)" } ?? "none", "\(new.rows)"]
                    .joined(separator: " → "))</td>\
                <td class="number">\(Int(new.lag))</td><td>\(new.schema)</td></tr>
                """
        }
        let views = ready.map { "projection.\($0.name)" }.joined(separator: ", ")
        return """
            <h1>Promote \(counted(ready.count, "table"))?</h1>
            \(OperationsPage.table(["projection", "version", "rows", "lag", "schema"], numbers: [3], rows))
            <p>They are first brought up to date. Then one short transaction for each schema takes an \
            exclusive lock on the views \(views), and on views in schema analytics whose columns change: \
            their readers wait for a moment. While a report reads them, the promotion waits for \
            its end, up to the time limit of this service. The live tables that they replace \
            are dropped.</p>
            <form method="post" action="\(ConsoleAddress.promotion)">
            <input type="hidden" name="tables" value="\(readyNames)"/>
            <button class="go">Promote</button>
            <a href="\(ConsoleAddress.tables)">Not now</a>
            </form>
            """
    }

    /// The page after a promotion.
    static func promoted(_ promotion: Projector.Promotion, notices: [String]) -> HTML {
        let lines = promotion.tables.map { table -> HTML in
            "<li>\(table.name): live, \(counted(table.rows, "row")), digest \(table.digest.hex)</li>"
        }
        let remarks = notices.map { notice -> HTML in "<li>\(notice)</li>" }
        return """
            <h1>\(counted(promotion.tables.count, "table")) promoted</h1>
            <ul>\(lines)\(remarks)</ul>
            <p>Locks were held for \(Int(promotion.lockMilliseconds.rounded(.up))) ms.</p>
            <p><a href="\(ConsoleAddress.tables)">All tables</a></p>
            """
    }
}
