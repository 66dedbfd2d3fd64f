import Events
import Testing

/// The text of a context, which is stored and hashed: one text for each context.
struct EvidenceContextTests {
    @Test func `a context has one canonical text`() {
        #expect(
            EvidenceContext(environment: .sandbox, trust: .unproven).canonicalText
                == "{\"environment\":\"Sandbox\",\"trust\":\"unproven\"}"
        )
        #expect(
            EvidenceContext(environment: nil, trust: .fetched).canonicalText
                == "{\"trust\":\"fetched\"}"
        )
    }

    @Test func `every context is restored from its text`() {
        let words = ["Odd \"word\" \\ \u{1} \n \t\r\u{8}\u{c}", "Grün", "e\u{301}", "", "\u{7f}"]
        let environments =
            [nil, StoreEnvironment.production, .sandbox, .xcode, .localTesting]
            + words.map(StoreEnvironment.init)
        for environment in environments {
            for trust in EvidenceContext.Trust.allCases {
                let context = EvidenceContext(environment: environment, trust: trust)
                #expect(EvidenceContext(canonicalText: context.canonicalText) == context)
            }
        }
    }

    @Test(arguments: [
        "", "{}", "null", "{\"trust\":\"signed\"}", "{\"trust\":\"unproven\"} ",
        " {\"trust\":\"unproven\"}", "{\"trust\": \"unproven\"}", "{\"trust\":\"Unproven\"}",
        "{\"trust\":\"unproven\",\"environment\":\"Sandbox\"}",
        "{\"environment\":null,\"trust\":\"unproven\"}",
        "{\"environment\":\"\\u0053andbox\",\"trust\":\"unproven\"}",
        "{\"environment\":\"Sand\\/box\",\"trust\":\"unproven\"}",
        "{\"environment\":\"a\"b\",\"trust\":\"unproven\"}",
        "{\"environment\":\"Sandbox\",\"status\":1,\"trust\":\"unproven\"}",
        "{\"environment\":\"Sandbox\",\"trust\":\"unproven\",\"trust\":\"vouched\"}",
        "{\"environment\":\"\\u00\",\"trust\":\"vouched\"}",
        "{\"environment\":\"\\u+01f\",\"trust\":\"vouched\"}",
        "{\"environment\":\"\",\"trust\":\"vouched\"}x",
        "{\"environment\":\"\u{1}\",\"trust\":\"vouched\"}",
    ])
    func `any other text is not a context`(text: String) {
        #expect(EvidenceContext(canonicalText: text) == nil)
    }

    @Test func `a context and evidence use the same names for fetched and vouched`() {
        let names = Set(Verification.Trust.allCases.map(\.rawValue))
        #expect(names.contains(EvidenceContext.Trust.fetched.rawValue))
        #expect(names.contains(EvidenceContext.Trust.vouched.rawValue))
        #expect(!names.contains(EvidenceContext.Trust.unproven.rawValue))
    }

    @Test func `the record of evidence covers its context and how it arrived`() {
        func record(_ context: EvidenceContext?, _ arrival: Arrival) -> Digest {
            Evidence(
                payload: [1],
                kind: .signedTransaction,
                source: "test",
                arrival: arrival,
                verification: .signed(root: .zero),
                context: context,
                receivedAt: Instant(milliseconds: 0)
            ).recordDigest
        }
        let contexts: [EvidenceContext?] =
            [nil]
            + EvidenceContext.Trust.allCases.flatMap { trust in
                [nil, .sandbox, .production].map { EvidenceContext(environment: $0, trust: trust) }
            }
        let digests = contexts.flatMap { context in
            Arrival.allCases.map { record(context, $0) }
        }
        #expect(Set(digests).count == digests.count)
    }
}
