import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import Projector
import Subledger
import TestSupport
import Testing

/// The service tested against its own description by a tool that generates requests.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: Acceptance.isRunning, "make acceptance runs it")
)
struct SchemathesisTests {
    /// Requests for each operation and phase: more requests take longer and find nothing more.
    private static let examples = 8

    @Test func `schemathesis finds no answer that violates the description`() async throws {
        let tool = try #require(Self.tool(), "schemathesis is missing")
        try await TestService.run { service in
            for payload in TestService.notifications(3) {
                _ = try await service.post("/v1/appstore/notifications", payload)
            }
            // Reports are read from the tables.
            _ = try await service.ledger.projector.rebuild()
            let token = try await service.token(.admin)
            let port = try #require(service.client.port)
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first?.stream)
            // Known ids, so that not every answer is 404.
            let folder = try TestFolder()
            _ = try folder.write(
                "schemathesis.toml",
                Data(
                    """
                    [parameters]
                    "path.id" = "\(stream.originalTransactionId)"
                    "path.originalTransactionId" = "\(stream.originalTransactionId)"
                    "path.position" = "1"
                    "path.name" = "active"
                    "query.environment" = "\(stream.environment.word)"
                    """.utf8
                )
            )
            let ending = try await Program(path: tool).run(
                [
                    "run", "http://127.0.0.1:\(port)/openapi.json",
                    "--header", "Authorization: Bearer \(token)",
                    "--phases", "examples,coverage,fuzzing", "--max-examples", "\(Self.examples)",
                    "--seed", "18", "--no-shrink", "--continue-on-failure",
                    "--exclude-checks", Self.excluded.joined(separator: ","),
                ],
                folder: folder.path(of: "")
            )
            #expect(ending.code == 0, "\(ending.output.suffix(6000))\(ending.errors)")
            #expect(!ending.output.contains("Missing test data"), "\(ending.output)")
        }
    }

    // A schema cannot express which ids are known, or which texts are times or signed by Apple.
    private static let excluded = ["positive_data_acceptance", "negative_data_rejection"]

    // CI installs it next to the build.
    private static func tool() -> String? {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let variable = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places =
            [root.appendingPathComponent(".build/engines/bin").path]
            + variable.split(separator: ":").map(String.init)
        return places.map { $0 + "/schemathesis" }
            .first(where: FileManager.default.isExecutableFile)
    }
}
