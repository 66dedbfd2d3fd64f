import AppStore
import EventLog
import Events
import Foundation
import HTTPTypes
import Subledger
import TestSupport
import Testing

/// Payloads that Apple signed, and the invalid ones next to them, over HTTP.
@Suite(.enabled { await TestServer.isAvailable && RealData.isPresent })
struct RealDataTests {
    @Test func `real payloads over HTTP give the same events and refusals as ingest`()
        async throws
    {
        let verifier = AppStoreVerifier(policy: VerificationPolicy())
        let folder = try RealData.path("")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
            .compactMap { FileManager.default.contents(atPath: folder + $0).map { [UInt8]($0) } }
            .filter { !$0.isEmpty }
        #expect(files.count > 80)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let ingested = Ledger(log: try await EventLog.open(settings), verifier: verifier)
            try await TestServer.shared.withDatabase(from: .served) { settings in
                try await TestService.run(on: settings, verifier: verifier) { service in
                    var others = 0
                    for file in files {
                        let answer = try await service.post("/v1/appstore/notifications", file)
                        if try answer.json["code"] as? String == "not-a-notification" {
                            others += 1
                            // The routes with tokens would give the same result.
                            await Self.ingest(file, service.ledger)
                            await Self.ingest(file, ingested)
                            continue
                        }
                        do {
                            let taken = try await ingested.ingest(file, source: "notification")
                            let appended = taken.outcomes.count(where: \.isNew)
                            #expect(answer.status == 200)
                            #expect(try answer.json["appended"] as? Int == appended)
                        } catch let rejection as Rejection {
                            #expect(answer.status == 400, "\(rejection)")
                            #expect(try answer.json["code"] as? String == rejection.code.rawValue)
                        }
                    }
                    #expect(others <= files.count - 10, "\(others) of \(files.count)")
                    let (here, there) = (service.ledger.log, ingested.log)
                    let streams = try await here.streams(limit: 1000).map(\.stream)
                    #expect(streams.count > 30)
                    #expect(try await there.streams(limit: 1000).map(\.stream) == streams)
                    for stream in streams {
                        let facts = try await here.history(of: stream).events.map(\.fact)
                        #expect(try await there.history(of: stream).events.map(\.fact) == facts)
                    }
                    #expect(try await here.verify().isOK)
                }
            }
            await ingested.close()
        }
    }

    private static func ingest(_ payload: [UInt8], _ ledger: Ledger) async {
        do {
            _ = try await ledger.ingest(payload, source: "notification")
        } catch {
            // Both refuse it, which is the comparison.
        }
    }
}
