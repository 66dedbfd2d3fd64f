import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// Ids as people paste them into a question.
@Suite(.enabled { await TestServer.isAvailable })
struct PastedIDTests {
    @Test func `an id is found in what surrounds it`() async throws {
        try await withLedger { ledger in
            for pasted in [" 1000 ", "#1000", "\"1000\"", "{1000}", "(1000).", "“1000”,\n"] {
                let found = try await ledger.asked(pasted)
                #expect(found.id == "1000", "\(pasted)")
                #expect(found.readAs == "1000", "\(pasted)")
            }
            let plain = try await ledger.asked("1000")
            #expect(plain.readAs == nil)
        }
    }

    @Test func `a token is found without hyphens and in any case`() async throws {
        try await withLedger { ledger in
            let bare = ChargedFact.token.filter { $0 != "-" }
            for pasted in [bare, bare.uppercased(), "{\(ChargedFact.token.uppercased())}"] {
                let found = try await ledger.asked(pasted)
                #expect(found.count == 1, "\(pasted)")
            }
        }
    }

    @Test func `a customer's name counts as written first, then in any case`() async throws {
        try await withLedger { ledger in
            try await ledger.linkPasted("1000", "Anna-7")
            let other = try await ledger.asked("anna-7")
            #expect(other.readAs == "Anna-7")
            try await ledger.linkPasted("2000", "anna-7")
            let exact = try await ledger.asked("anna-7")
            #expect(exact.readAs == nil)
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.asked("ANNA-7")
            }
            #expect(error?.code == .ambiguousId)
            #expect(error?.message.contains("Anna-7, anna-7") == true)
        }
    }

    @Test func `letters beyond ASCII have a case, too, whatever the database takes for one`()
        async throws
    {
        try await withLedger { ledger in
            for (id, name) in [("1000", "Élodie Müller"), ("2000", "Юлия")] {
                try await ledger.linkPasted(id, name)
                for pasted in [name.lowercased(), name.uppercased(), " \(name.uppercased()),"] {
                    #expect(try await ledger.asked(pasted).readAs == name, "\(pasted)")
                }
            }
            let other = await #expect(throws: QuestionError.self) {
                try await ledger.asked("Elodie Müller")
            }
            #expect(other?.code == .unknownId, "an accent is not a case")
        }
    }

    @Test func `an id that nothing has stays unknown as it was written`() async throws {
        try await withLedger { ledger in
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.asked(" #4711 ")
            }
            #expect(error?.code == .unknownId)
            #expect(error?.message.contains(" #4711 ") == true)
        }
    }

    private func withLedger(_ body: (Ledger) async throws -> Void) async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            let token = ChargedFact.token
            for fact in [
                ChargedFact.purchase("2026-01-01", to: "2026-02-01", token: token),
                .purchase("2026-01-01", to: "2026-02-01", of: "2000"),
            ] {
                _ = try await log.append([try fact.verified()])
            }
            let ledger = Ledger(log: log, verifier: try FilledLedger.simulator.verifier())
            try await body(ledger)
            await ledger.close()
        }
    }
}

extension Ledger {
    fileprivate func asked(_ id: String) async throws -> (id: String, count: Int, readAs: String?) {
        let subject = try await recognised(SubjectID(id))
        let answer = try await charges(of: subject, now: .systemClock())
        return (answer.id, answer.charges.count, subject.id == id ? nil : subject.id)
    }

    fileprivate func linkPasted(_ id: String, _ customer: String) async throws {
        let stream = StreamID(environment: .production, originalTransactionId: id)
        let outcome = try await add(
            CustomerLink(
                stream: stream,
                customer: customer,
                statedBy: "test",
                reason: "",
                statedAt: Instant(milliseconds: 1_770_000_000_000)
            ),
            receivedAt: .systemClock()
        )
        guard case .appended = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }
}
