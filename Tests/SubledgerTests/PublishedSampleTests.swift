import AppStore
import Events
import Projections
import TestSupport
import Testing

/// Published samples of verifyReceipt, as responses that the operator vouches for.
@Suite struct PublishedSampleTests {
    @Test func `both objects of an iOS 6 answer are one period`() throws {
        // The seconds are equal, the milliseconds are not (Apple's data: iOS 6 response, scenario
        // 3). The published sample was edited to have different ids; here they are the same, as in
        // the original.
        func object(_ ms: String) -> String {
            """
            {"original_transaction_id":"450234343485","transaction_id":"450234343485",\
            "product_id":"com.moonit.moonit.premium3","bid":"com.moonit.moonit","quantity":"1",\
            "purchase_date_ms":"1347405305\(ms)","expires_date":"1355271305\(ms)",\
            "web_order_line_item_id":"45002345422477"}
            """
        }
        let told = try timelines(
            "{\"status\":0,\"receipt\":\(object("612")),\"latest_receipt_info\":\(object("000"))}"
        )
        let timeline = try #require(told.first)
        #expect(told.count == 1)
        #expect(rows(timeline) == ["2012-09-11T23:15:05Z..2012-12-12T00:15:05Z"])
        #expect(ActivePeriods(timeline).active.count == 1)
    }

    @Test func `rows in reverse order are one run of two periods`() throws {
        // Apple's data: scenario 1.
        let timeline = try #require(
            try timelines(
                answer([
                    row("900200162803342", "4002002162812828", at(8, 19, 17), at(8, 24, 17)),
                    row("4500000152802828", "4002002162812828", at(8, 14, 17), at(8, 19, 17)),
                ])
            ).first
        )
        #expect(
            rows(timeline) == [
                "2015-07-09T08:14:17Z..2015-07-09T08:19:17Z",
                "2015-07-09T08:19:17Z..2015-07-09T08:24:17Z",
            ]
        )
        let entitlement = Entitlement([timeline])
        #expect(entitlement.intervals() == [at(8, 14, 17)..<at(8, 24, 17)])
        let issue = Issue(name: "early", publishedAt: at(8, 20, 0))
        let access = ContentAccess(entitlement, issues: [issue], at: at(9, 0, 0))
        #expect(access.runs == [at(8, 14, 17)..<at(8, 24, 17)])
        #expect(
            access.issues.map(\.unlocked) == [.published(during: at(8, 14, 17)..<at(8, 24, 17))]
        )
    }

    @Test func `one period with two transaction ids is one period`() throws {
        // Apple's data: trap 5
        let timeline = try #require(
            try timelines(
                answer([
                    row("1000000001", "1000000000", at(8, 0, 0), at(9, 0, 0)),
                    row("1000000002", "1000000000", at(8, 0, 0), at(9, 0, 0)),
                ])
            ).first
        )
        #expect(rows(timeline).count == 1)
        #expect(timeline.purchases.first?.transactionIds == ["1000000001", "1000000002"])
    }

    @Test func `a receipt of three periods unlocks five issues, and never May`()
        throws
    {
        func day(_ text: String) throws -> Instant { try #require(Instant("2016-\(text)")) }
        let told = try timelines(
            answer([
                row("3", "1", try day("06-17"), try day("07-17")),
                row("1", "1", try day("02-20"), try day("03-20")),
                row("2", "1", try day("03-20"), try day("04-20")),
            ])
        )
        let issues = try (1...8).map {
            Issue(name: "\($0)", publishedAt: try day("0\($0)-01"))
        }
        let access = ContentAccess(Entitlement(told), issues: issues, at: try day("12-31"))
        let unlocked = access.issues.filter { $0.unlocked != nil }.map(\.issue.name)
        #expect(unlocked == ["2", "3", "4", "6", "7"])
        let runs = [try day("02-20")..<day("04-20"), try day("06-17")..<day("07-17")]
        #expect(access.runs == runs)
        let initial = access.issues.compactMap { verdict -> String? in
            if case .newestAtStart? = verdict.unlocked { verdict.issue.name } else { nil }
        }
        #expect(initial == ["2", "6"])
    }

    @Test(arguments: [("\"true\"", "\"false\""), ("true", "false"), ("\"false\"", "\"true\"")])
    func `a trial or an introductory price in either form ends eligibility`(
        trial: String,
        introductory: String
    ) throws {
        let offer = "\"is_trial_period\":\(trial),\"is_in_intro_offer_period\":\(introductory)"
        let told = try timelines(
            answer([
                row("2", "1", at(9, 0, 0), at(10, 0, 0)),
                row("1", "1", at(8, 0, 0), at(9, 0, 0), offer),
            ])
        )
        let group = try #require(OfferEligibility(told).groups(at: at(12, 0, 0)).first)
        guard case .usedIntroductoryOffer(let used) = group.introductory else {
            Testing.Issue.record("\(group.introductory)")
            return
        }
        #expect(used.transactionIds == ["1"] && used.purchaseDate == at(8, 0, 0))
        #expect(group.promotional.isEligible)
    }

    @Test func `a cancellation date is a refund, an empty one is not`() throws {
        for (date, isEligible) in [("", true), ("1436433300000", false)] {
            let offer = "\"is_trial_period\":\"false\",\"cancellation_date_ms\":\"\(date)\""
            let told = try timelines(answer([row("1", "1", at(8, 0, 0), at(9, 0, 0), offer)]))
            let group = try #require(OfferEligibility(told).groups(at: at(12, 0, 0)).first)
            #expect(group.introductory.isEligible == isEligible, "'\(date)'")
        }
    }

    @Test func `a shorter answer that comes later takes no period away`() throws {
        // Apple's data: trap 42: sandbox receipts are cut, V1 holds a hundred rows at the most.
        let first = row("1", "1", at(8, 0, 0), at(9, 0, 0))
        let second = row("2", "1", at(9, 0, 0), at(10, 0, 0))
        let later = answer([second]).replacing("1483228800000", with: "1483228900000")
        let timeline = try #require(try timelines(answer([first, second]), later).first)
        #expect(rows(timeline).count == 2)
        #expect(timeline.horizon == Instant(milliseconds: 1_483_228_900_000))
    }

    private func at(_ hour: Int64, _ minute: Int64, _ second: Int64) -> Instant {
        let midnight: Int64 = 1_436_400_000_000  // 2015-07-09
        return Instant(milliseconds: midnight + ((hour * 60 + minute) * 60 + second) * 1000)
    }

    private func row(
        _ id: String,
        _ originalId: String,
        _ from: Instant,
        _ to: Instant,
        _ more: String = "\"is_trial_period\":\"false\",\"cancellation_date\":\"\""
    ) -> String {
        """
        {"quantity":"1","product_id":"monthly","transaction_id":"\(id)",\
        "original_transaction_id":"\(originalId)","purchase_date_ms":"\(from.milliseconds)",\
        "expires_date_ms":"\(to.milliseconds)","app_item_id":"",\(more)}
        """
    }

    private func answer(_ rows: [String]) -> String {
        """
        {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",\
        "bundle_id":"com.example","receipt_creation_date_ms":"1483228800000",\
        "request_date_ms":"1483228800000","in_app":[]},\
        "latest_receipt_info":[\(rows.joined(separator: ","))]}
        """
    }

    private func rows(_ timeline: Timeline) -> [String] {
        ActivePeriods(timeline).rows.map { "\($0.validFrom)..\($0.validTo)" }
    }

    private func timelines(_ bodies: String...) throws -> [Timeline] {
        var policy = VerificationPolicy()
        policy.assumedEnvironment = .production
        let verifier = AppStoreVerifier(policy: policy)
        let facts = try bodies.flatMap { body in
            try verifier.verify(
                payload: Array(body.utf8),
                source: "test",
                receivedAt: Instant(milliseconds: 1_483_228_900_000),
                voucher: .operator
            ).facts
        }
        var ledger = MemoryLedger()
        for fact in facts { ledger.append(fact) }
        return Set(facts.map(\.stream)).sorted().map(ledger.timeline(of:))
    }
}
