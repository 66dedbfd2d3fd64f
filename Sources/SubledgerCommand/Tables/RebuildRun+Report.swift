import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Projector
import Subledger

// Reports of a run about tables that were compared or promoted.
extension RebuildRun {
    /// The report of a comparison; writes its HTML page if requested.
    func report(_ comparison: Projector.Comparison) async throws -> DifferenceReport {
        let subject = try await ComparedBuilds(
            comparison,
            whatIf.map { .policy($0.text) } ?? (work.action == .check ? .check : .diff),
            keptIn: work.schema,
            newCatalog: whatIf?.context.catalogs.newestVersion,
            of: projector,
            in: log,
            madeAt: .systemClock()
        )
        let report = try await DifferenceReport(
            comparison,
            subject,
            under: whatIf?.context.policy ?? .current,
            in: Ledger(log: log, verifier: AppStoreVerifier(policy: VerificationPolicy()))
        )
        if let path = work.comparison?.html {
            try OutputFile(path).write(DifferencePage(report).text)
        }
        return report
    }

    /// Prints a report; as JSON, together with what was promoted after it.
    func show(_ report: DifferenceReport, promotion: Projector.Promotion?) throws {
        guard work.output.json else {
            let text = DifferenceText(
                report,
                style: Terminal.pictureStyle(isASCII: false),
                width: Terminal.width
            )
            return Terminal.print(text.text)
        }
        var report = report
        report.promotion = promotion.map(PromotionDocument.init)
        try Terminal.print(json: report)
    }

    /// Reports on stderr what a comparison found apart from the rows.
    func printFindings(of comparison: Projector.Comparison) {
        for alteration in comparison.alterations {
            Terminal.write("\(work.name): \(alteration.message)")
        }
        for name in comparison.digestMismatches {
            Terminal.write(
                "\(work.name): \(name) has the rows of a rebuild, but ledger_projection contains "
                    + "another digest; `subledger rebuild \(name)` corrects it"
            )
        }
        for name in comparison.citationMismatches {
            Terminal.write(
                "\(work.name): \(name) has the rows of a rebuild, but cites other events for some "
                    + "rows; `subledger rebuild \(name)` corrects it"
            )
        }
        for line in RefusalWording.lines(comparison.refusals) {
            Terminal.write("\(work.name): \(line)")
        }

        guard !work.output.quiet else { return }
        let erased = comparison.pendingErasures.count
        if erased > 0 {
            Terminal.write(
                "\(work.name): \(counted(erased, "subscription")) left out: something of "
                    + "\(erased == 1 ? "it" : "them") was erased, and the live tables do not "
                    + "contain that yet; `subledger follow --once` applies it"
            )
        }
        if comparison.lag > 0 {
            Terminal.write(
                "\(work.name): compared up to the position of the live tables, "
                    + "\(counted(comparison.lag, "event")) before the end of the log"
            )
        }
        if afterwards == .wait, work.action != .diff(isPromoted: true) {
            Terminal.write(
                "\(work.name): the new tables are waiting: `subledger tables promote` makes them "
                    + "live, `subledger tables discard` drops them"
            )
        }
    }

    /// Promotes the tables that are ready, and prints the result; with a report, as one document
    /// with it.
    ///
    /// If nothing could be promoted, the report is still printed, because it is true.
    func promote(
        with report: DifferenceReport? = nil,
        after compared: [Projector.Rebuilt] = []
    ) async throws -> ExitCode {
        let promotion: Projector.Promotion
        do throws(ProjectorError) {
            promotion = try await projector.promote(chosen, options)
        } catch {
            if let report {
                progress.finish()
                try show(report, promotion: nil)
            }
            throw error
        }
        progress.finish()
        if let report {
            try show(report, promotion: promotion)
        } else if work.output.json {
            try Terminal.print(json: PromotionDocument(promotion))
        } else {
            for table in promotion.tables {
                let rows = counted(table.rows, "row")
                Terminal.print("\(table.name): live, \(rows), digest \(table.digest)")
            }
            let milliseconds = Int(promotion.lockMilliseconds.rounded(.up))
            Terminal.print("locks were held for \(milliseconds) ms")
        }
        return end(promotion.tables, reported: compared)
    }
}
