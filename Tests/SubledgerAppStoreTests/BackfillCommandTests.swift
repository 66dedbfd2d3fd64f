import Foundation
import SubledgerAppStore
import TestSupport
import Testing

/// `subledger backfill` and `report gaps` as an operator runs them.
@Suite struct BackfillCommandTests {
    @Test func `an estimate without a key, then a backfill, then nothing new`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start([
                "--subscriptions", "12", "--month", "3d", "--elapsed", "90d",
            ])
            func backfill(_ arguments: String...) async throws -> Program.Ending {
                try await subledger(["backfill", "--quiet"] + arguments, settings)
            }
            let empty = try await backfill("--all", "--dry-run")
            #expect(empty.code == 0, "\(empty.errors)")
            #expect(empty.output.contains("by Apple's limits"))
            #expect(try store.requests() == 0)
            let first = try await subledger(
                ["backfill", "--all", "--json", "--quiet"] + store.flags,
                settings
            )
            #expect(first.code == 0, "\(first.errors)")
            let report = try JSONDecoder().decode(
                BackfillReport.self,
                from: Data(first.output.utf8)
            )
            #expect(report.isComplete && report.asked.answered >= 12)
            #expect(report.asked.newNotifications > 50)
            let again = try await subledger(
                ["backfill", "--since", "30 days ago", "--quiet"] + store.flags,
                settings
            )
            #expect(again.code == 0, "\(again.errors)")
            #expect(again.output.contains(#/new events +0/#), "\(again.output)")
            // All of them came by a question, long after they were signed.
            let gaps = try await subledger(["report", "gaps"], settings)
            #expect(gaps.output.contains("\(report.asked.newNotifications) notification_missed"))
            let csv = try await subledger(["report", "gaps", "--csv", "--limit", "3"], settings)
            #expect(csv.output.hasPrefix("original_transaction_id,environment,kind,since,"))
            #expect(csv.output.split(separator: "\r\n").count == 4, "\(csv.output)")
            await store.end()
        }
    }

    @Test(arguments: [
        ([], "found 0"), (["--all", "1"], "found 2"), (["--since", "later"], "invalid time"),
        (["--all", "--since", "1 day ago"], "found 2"),
    ]) func `what is to be completed must be said once`(
        _ arguments: [String],
        _ words: String
    ) async throws {
        let ending = try await Program("subledger").run(["backfill"] + arguments)
        #expect(ending.code == 64 && ending.errors.contains(words), "\(ending.errors)")
    }
}
