@testable import Events
import Postgres
import TestSupport
import Testing

/// A look-up of receipts is left out where no event has a format of receipts.
@Suite(.enabled { await TestServer.isAvailable })
struct ReceiptFormatTests {
    @Test func `an event has a format of receipts exactly if a receipt brought it`() async throws {
        try await withLedger { command, settings in
            let folder = try TestFolder()
            for format in ["v2", "history", "app-receipt", "verify-receipt", "v1"] {
                let out = folder.path(of: format)
                let lives = "--subscriptions 6 --seed 9 --format \(format) --quiet --out"
                let simulate = ["simulate"] + lives.split(separator: " ").map(String.init) + [out]
                try await command.expect(0, simulate)
                let trusted = ["--root-certificate", out + "/root.der", "--vouch"]
                try await command.expect(0, ["ingest", "--quiet", out] + trusted)
            }
            let session = try await PostgresSession.connect(settings)
            let formats = try await session.query(
                """
                SELECT get_byte(e.content, 1), bool_and(v.kind IN \(Self.receipts)),
                    bool_or(v.kind IN \(Self.receipts))
                FROM ledger.event e JOIN ledger.evidence v USING (lane, evidence_no)
                WHERE e.original_transaction_id <> '' GROUP BY 1
                """
            )
            var seen: Set<Bool> = []
            for row in formats {
                let format = try #require(Format(rawValue: UInt8(try row.int4(0))))
                #expect(try row.bool(1) == format.isOfReceipt, "\(format)")
                #expect(try row.bool(2) == format.isOfReceipt, "\(format)")
                seen.insert(format.isOfReceipt)
            }
            #expect(seen == [true, false])
            await session.close()
        }
    }

    private static let receipts =
        "('app-receipt', 'verify-receipt-response', 'status-update-notification')"
}
