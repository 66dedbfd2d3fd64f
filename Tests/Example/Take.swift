import Foundation
import Subledger

func receive(_ body: [UInt8], _ ledger: Ledger) async throws -> Set<String> {
    let taken = try await ledger.ingest(body, source: "notification")  // durable when it returns
    return Set(taken.facts.map(\.stream.originalTransactionId))
}

/// Takes a folder of payloads in with the README's example, and asks every question.
func take(payloads: String, root: String) async throws {
    var policy = VerificationPolicy()
    policy.roots += try RootCertificate.read([UInt8](Data(contentsOf: URL(fileURLWithPath: root))))
    try await Ledger.migrate(.environment)
    let ledger = try await Ledger.open(.environment, policy: policy)
    var ids: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: payloads).sorted()
    where name.hasSuffix(".ndjson") {
        let file = try Data(contentsOf: URL(fileURLWithPath: payloads + "/" + name))
        for line in file.split(separator: 10) {
            ids.formUnion(try await receive([UInt8](line), ledger))
        }
    }
    for id in ids.sorted() { try await ask(ledger, about: id) }
    _ = try await ledger.projector.rebuild(nil)
    if try await ledger.projector.compare(then: .drop, catalog: .ofLive).isClean {
        print("the tables are what a rebuild makes")
    }
    if try await ledger.log.verify().isOK { print("the log is whole") }
    await ledger.close()
}

private func ask(_ ledger: Ledger, about id: String) async throws {
    let access = try await ledger.access(of: SubjectID(id), at: .systemClock())
    let why = try await ledger.explain(SubjectID(id), at: .systemClock())
    precondition(access.access == why.entitled.access)
    print(id, access.access ? "has access" : "had none: \(why.entitled.reason ?? "")")
    let periods = try await ledger.periods(of: SubjectID(id))
    let history = try await ledger.history(of: SubjectID(id))
    precondition(periods.originalTransactionId == id && !history.events.isEmpty)
    _ = try await ledger.refunds(of: SubjectID(id))
    _ = try await ledger.changes(of: SubjectID(id))
    _ = try await ledger.state(of: SubjectID(id))
    _ = try await ledger.eligibility(of: SubjectID(id), at: .systemClock())
    let json = try JSONEncoder().encode(why)
    let decoded = try JSONDecoder().decode(ExplanationDocument.self, from: json)
    precondition(decoded == why)
}
