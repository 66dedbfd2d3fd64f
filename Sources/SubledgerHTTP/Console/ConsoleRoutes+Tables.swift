internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Projections
internal import Projector
internal import Subledger
internal import Synchronization

extension ConsoleRoutes {
    /// The page of the tables of projections.
    func tables(_ call: Call) async throws -> HTML {
        try await routes.audit(call, "tables", about: "")
        let page = try await page()
        let check = await DatabaseChecks.tables(of: routes.ledger)
        let refusal = page.ready.isEmpty ? nil : try await refusal()
        return framed("Tables", page.list(check, refusal: refusal))
    }

    private func page() async throws -> TablesPage {
        do throws(ProjectorError) {
            let tables = try await routes.ledger.projector.tables()
            return TablesPage(tables: tables, log: routes.ledger.log)
        } catch {
            throw Problem(listing: error)
        }
    }

    /// The page of what a promotion would change; customers are named only to tokens that may see them.
    func tableDifference(_ call: Call) async throws -> HTML {
        try await routes.audit(call, "table-difference", about: "")
        let ledger = routes.ledger
        let roles = await roles(of: call)
        let isShown = !roles.isDisjoint(with: [.support, .admin])
        let comparison: Projector.Comparison
        do throws(ProjectorError) {
            comparison = try await ledger.projector.compareWaiting(
                samplesMax: isShown ? ProjectionDifference.samplesDefault : 0
            )
        } catch {
            throw Problem(comparing: error)
        }
        let builds = try await ComparedBuilds(
            comparison,
            .diff,
            keptIn: nil,
            newCatalog: nil,
            of: ledger.projector,
            in: ledger.log,
            madeAt: routes.clock()
        )
        let report = try await DifferenceReport(comparison, builds, under: .current, in: ledger)
        for sample in report.samples {
            let id = sample.difference.stream.originalTransactionId
            try await routes.audit(call, "table-difference", about: id)
        }
        let hidden: HTML =
            isShown
            ? ""
            : """
            <p class="quiet">Subscriptions are shown to a token that also has the role support.</p>
            """
        return framed(
            "Difference",
            """
            \(DifferencePage(report).content)
            \(hidden)
            <p class="quiet"><code>subledger tables diff</code> also compares refused \
            subscriptions, columns and views.</p>
            <p><a href="\(ConsoleAddress.promotion)">Promote…</a> \
            <a href="\(ConsoleAddress.tables)">All tables</a></p>
            """
        )
    }

    /// The page that asks once before the waiting tables are promoted.
    func promotionQuestion(_ call: Call) async throws -> HTML {
        try await routes.audit(call, "promotion-question", about: "")
        let page = try await page()
        guard !page.ready.isEmpty else { throw Problem.nothingWaits }
        return framed("Promote tables", page.question)
    }

    /// Promotes the waiting tables, if they are still those that the form names.
    func promote(_ call: Call) async throws -> HTML {
        let shown = try await fields(of: call)["tables"] ?? ""
        try await routes.audit(call, "promotion", about: shown)
        let page = try await page()
        guard !page.ready.isEmpty else { throw Problem.nothingWaits }
        guard page.readyNames == shown else {
            throw Problem(
                .conflict,
                "tables-changed",
                "Other tables are waiting now than those that were shown, and nothing was "
                    + "promoted. Look at the page of the tables again."
            )
        }
        let projector = routes.ledger.projector
        let notices = Notices()
        let promoting: @Sendable () async throws -> (Projector.Promotion, [String]) = {
            var options = Projector.RebuildOptions()
            options.notice = { text in notices.texts.withLock { $0.append(text) } }
            do throws(ProjectorError) {
                let chosen = try projector.projections(named: page.ready.map(\.name))
                let schemas = Set(page.ready.map(\.schema))
                let promotion = try await projector.promote(chosen, from: schemas, options)
                return (promotion, notices.texts.withLock { $0 })
            } catch {
                throw Problem(promoting: error)
            }
        }
        let (promotion, texts): (Projector.Promotion, [String])
        do {
            (promotion, texts) = try await routes.reading(promoting)
        } catch let problem as Problem where problem.code == "answer-timeout" {
            throw Problem(
                .serviceUnavailable,
                "promotion-unfinished",
                "The promotion did not end within the time limit of this service. Some tables may "
                    + "be live already: look at the page of the tables. `subledger tables promote` "
                    + "has no such limit."
            )
        }
        call.logger.notice(
            "promoted tables",
            metadata: ["token": "\(call.caller ?? "")", "tables": "\(shown)"]
        )
        return framed("Promoted", TablesPage.promoted(promotion, notices: texts))
    }

    // Why this service may not change tables; nil if it may.
    private func refusal() async throws -> String? {
        do throws(ProjectorError) {
            try await routes.ledger.projector.checkMayFollow()
            return nil
        } catch {
            guard error.code == .permissionDenied else { throw Problem(listing: error) }
            return error.message
        }
    }

    /// A page of operations in the frame of all pages.
    func framed(
        _ title: String,
        in section: ConsoleSection = .tables,
        _ content: HTML
    ) -> HTML {
        ConsolePage.page(title, search: nil, note: note, in: section, content)
    }
}

/// What a promotion reported while it ran.
private final class Notices: Sendable {
    let texts = Mutex<[String]>([])
}

extension Problem {
    fileprivate static var nothingWaits: Problem {
        Problem(
            .conflict,
            "nothing-ready",
            "No rebuilt table is waiting to be promoted. `subledger tables diff` builds one and "
                + "shows what would change."
        )
    }

    /// The problem of a promotion that was refused.
    fileprivate init(promoting error: ProjectorError) {
        self.init(error, "promote tables", "tables promote")
    }

    /// The problem of a list of tables.
    fileprivate init(listing error: ProjectorError) {
        self.init(error, "list tables", "tables list")
    }

    /// The problem of a comparison of waiting tables.
    fileprivate init(comparing error: ProjectorError) {
        self.init(error, "compare tables", "tables diff")
    }

    private init(_ error: ProjectorError, _ action: String, _ command: String) {
        switch error.code {
        case .permissionDenied:
            self.init(
                .forbidden,
                "permission-denied",
                "The database does not let this service \(action): \(error.message). Or run "
                    + "`subledger \(command)` as a user that may."
            )
        case .nothingReady, .unknownProjection, .schemaTaken, .logForked, .viewsInUse, .nothingLive:
            self.init(.conflict, "tables-refused", error.message + ".")
        case .log(let code):
            self.init(.serviceUnavailable, code.rawValue, error.message + ".")
        case .databaseUnavailable:
            self.init(.serviceUnavailable, "database-unavailable", error.message + ".")
        case .unreadableCatalog, .database:
            self.init(.internalServerError, "tables-failed", error.message + ".")
        }
    }
}
