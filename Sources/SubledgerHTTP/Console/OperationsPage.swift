internal import AppStore
internal import EventLog
internal import Events
internal import Subledger

/// The content of the operations page; nothing on it is about a customer.
struct OperationsPage {
    /// What the service knows of itself.
    var service: [DoctorCheck] = []
    /// What `doctor` finds in the database.
    var database: [DoctorCheck] = []
    /// Each further part, or why it could not be read.
    var parts: [HTML] = []

    private var report: DoctorReport { DoctorReport(service + database) }

    /// The markup.
    var html: HTML {
        """
        <h1>Operations</h1>
        <p class="summary">\(report.ok ? "Nothing is wrong" : "Something is wrong"): \
        \(report.summary).</p>
        <h2>This service</h2>
        \(OperationsPage.table(service))
        <h2>What doctor finds in the database</h2>
        \(OperationsPage.table(database))
        <p class="quiet"><code>subledger doctor</code> also checks files, the key and Apple. \
        <a href="\(ConsoleAddress.tables)">Each table</a></p>
        \(HTML.joined(parts))
        """
    }

    /// Checks as a table, each with what to do.
    static func table(_ checks: [DoctorCheck]) -> HTML {
        let rows = checks.map { check -> HTML in
            let action = [check.action].compactMap(\.self).map { action -> HTML in
                "<br/><span class=\"action\">→ \(action)</span>"
            }
            return """
                <tr class="check \(check.result.rawValue)"><th scope="row">\(check.check)</th>\
                <td>\(check.result.words)</td><td>\(check.message)\(action)</td></tr>
                """
        }
        return table(["check", "result", "found"], rows)
    }

    /// The traffic by type, and hour by hour.
    static func notifications(_ traffic: NotificationTraffic) -> HTML {
        let lines = { (name: String, lines: [NotificationTraffic.Line]) -> HTML in
            table([name, "last 24 hours", "usual"], numbers: [1, 2], lines.map(row))
        }
        guard !traffic.isPartial else {
            return "<h2>Notifications</h2><p>\(traffic.check.message).</p>"
        }
        return """
            <h2>Notifications</h2>
            <p>\(traffic.check.message).</p>
            \(lines("type", traffic.types + [traffic.all]))
            <details><summary>Hour by hour</summary>\(lines("hour, UTC", traffic.hours))
            </details>
            <p class="quiet">The last 24 hours are the current one and the 23 before it. Usual is \
            the mean of a day, or of the same hour, over \(counted(traffic.days, "day")) before. \
            Only what arrived live counts.</p>
            """
    }

    private static func row(_ line: NotificationTraffic.Line) -> HTML {
        """
        <tr><th scope="row">\(line.name)</th><td class="number">\(Int(line.count))</td>\
        <td class="number">\(line.usual.map(NotificationTraffic.words) ?? "–")</td></tr>
        """
    }

    /// Refusals by reason, with what would accept them.
    static func refusals(_ counts: [RejectionCount]) -> HTML {
        guard !counts.isEmpty else {
            return "<h2>Refused payloads</h2><p>No payload was refused.</p>"
        }
        let rows = counts.map { count -> HTML in
            let isWaiting = count.open > 0 && count.standing != .unproven
            let advice = isWaiting ? Rejection.Code(rawValue: count.reason)?.advice : nil
            let retry: HTML =
                isWaiting
                ? """
                <form method="post" action="\(ConsoleAddress.refusals)">\
                <input type="hidden" name="reason" value="\(count.reason)"/>\
                <button>Try again</button></form>
                """ : ""
            let words = [advice].compactMap(\.self).map { advice -> HTML in
                "<br/><span class=\"action\">→ \(advice)</span>"
            }
            return """
                <tr><th scope="row">\(count.reason)</th><td>\(count.standing.rawValue)</td>\
                <td class="number">\(Int(count.open))</td>\
                <td class="number">\(Int(count.taken))</td><td>\(count.newestAt.clock)</td>\
                <td>\(retry)\(words)</td>\
                </tr>
                """
        }
        let header = ["reason", "origin", "open", "accepted later", "newest, UTC", "try again"]
        return """
            <h2>Refused payloads</h2>
            \(table(header, numbers: [2, 3], rows))
            <p class="quiet">Anyone can send a payload with the origin unproven: these refusals are \
            deleted after 30 days, and need nothing to be done. \
            <code>subledger rejections --open</code> lists the payloads.</p>
            """
    }

    /// What arrived since the start of this process, and how much of it was known.
    static func facts(_ facts: [(source: String, appended: Int64, duplicates: Int64)]) -> HTML {
        let rows = facts.map { line -> HTML in
            """
            <tr><th scope="row">\(line.source)</th><td class="number">\(Int(line.appended))</td>\
            <td class="number">\(Int(line.duplicates))</td></tr>
            """
        }
        return """
            <h2>What arrived since the start of this process</h2>
            \(table(["source", "new facts", "known already"], numbers: [1, 2], rows))
            """
    }

    /// A table that scrolls inside its box; the columns `numbers` stand at their right edge.
    static func table(_ header: [String], numbers: Set<Int> = [], _ rows: [HTML]) -> HTML {
        let head = header.enumerated().map { index, name -> HTML in
            numbers.contains(index)
                ? "<th scope=\"col\" class=\"number\">\(name)</th>"
                : "<th scope=\"col\">\(name)</th>"
        }
        return """
            <div class="scroll" tabindex="0"><table class="report"><thead><tr>\(head)</tr></thead>
            <tbody>\(HTML.joined(rows))</tbody></table></div>
            """
    }
}
