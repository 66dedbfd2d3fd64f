internal import Events
internal import Projections

/// The answer of an explanation in a few sentences, ready to paste into a ticket.
///
/// The first sentence gives the answer and its reason, from everything that is known. The second
/// gives the time when the ledger learned that: the reason is recomputed for each earlier state of
/// knowledge, and the time after which it no longer changes is when it was learned.
struct ExplanationSummary {
    private let answer: ExplanationAnswer
    private let words: AccessReasonWords

    /// The summary of an answer.
    init(_ answer: ExplanationAnswer) {
        self.answer = answer
        words = AccessReasonWords(answer)
    }

    private var explanation: Explanation { answer.explanation }
    private var answers: [KnownAnswer] { explanation.answers }

    /// All sentences, in one line.
    var text: String {
        (elsewhere + [verdict] + sandboxRule + refundsAfterEnd + knowledge + bound)
            .joined(separator: " ")
    }

    private var verdict: String {
        let date = words.date(explanation.at)
        let at =
            changesThatDay
            ? "at the start of \(date) (\(QuestionZone.shown.words))" : "on \(date)"
        let lead =
            switch explanation.entitled {
            case .access, .owned: "Access"
            case .none(.notKnownYet, _), .none(.neverBought, _), .notOwned(.notJudged, _):
                "No access is known"
            case .none, .notOwned: "No access"
            }
        return "\(lead)\(place) \(at): \(reasonInTheEnd)."
    }

    // Only the first sentence is pasted, and a test purchase is not the customer's.
    private var place: String {
        if answer.sandboxRule != nil { return " by a sandbox purchase" }
        let environment = answer.customer.environment
        return environment == .production ? "" : " in \(environment.placeWords)"
    }

    private var elsewhere: [String] {
        guard answer.isElsewhere else { return [] }
        return [
            "No access in production: nothing was bought there, and purchases in "
                + "\(answer.customer.environment.placeWords) do not count."
        ]
    }

    private var sandboxRule: [String] {
        answer.sandboxRule.map(\.text).map { [$0.prefix(1).uppercased() + $0.dropFirst() + "."] }
            ?? []
    }

    // A date alone reads as the whole day, so the text adds a note if the answer changes within it.
    private var changesThatDay: Bool {
        let (start, day) = (explanation.at, Int64(86_400_000))
        let rows = explanation.rowsNow + explanation.rowsThen
        guard start.clock.hasSuffix(" 00:00:00") else { return false }
        return rows.flatMap { [$0.validFrom, $0.validTo] }.contains { instant in
            let elapsed = instant.milliseconds - start.milliseconds
            return elapsed > 0 && elapsed < day
        }
    }

    private var reasonInTheEnd: String {
        words.reason(answers.last, knownAt: nil)
    }

    private var refundsAfterEnd: [String] {
        explanation.refundsAfterEnd.map { refund in
            let date = refund.refunded.map { " on \(words.date($0))" } ?? ""
            let product = answer.catalogs.words(ofProduct: refund.productId)
            return "\(product) was refunded\(date), after its end; the refund does not change the "
                + "access."
        }
    }

    // When the ledger learned what the first sentence states.
    private var knowledge: [String] {
        if explanation.notAsked == .inFuture {
            return [
                "That time is in the future: this is what is known now, and the answer may change."
            ]
        }
        guard let reasonLearned else { return [] }
        let isConnected = answer.knewItsCustomerThen
        // The verdict compares yes and no, so a wrong answer counts as learned when that changed.
        let learned = answer.learnedAnswer ?? reasonLearned
        guard learned > explanation.at else {
            guard isConnected else { return [notConnected] }
            return answer.isAboutNow || answer.then.isBeforeInstant
                ? [] : ["The ledger knew this at the time."]
        }
        let reason =
            reasonLearned > learned
            ? ["It has known the reason only since \(words.date(reasonLearned))."] : []
        // What was imported later says nothing to the customer; the line SERVED has it.
        guard explanation.notAsked == nil else { return [] }
        return ["The ledger learned of it only on \(words.date(learned)); \(answerThen)."]
            + reason + (isConnected ? [] : [notConnected])
    }

    // The first instant of knowledge after which the reason no longer changes.
    private var reasonLearned: Instant? {
        let reason = reasonInTheEnd
        var learned: Instant?
        for known in answers.reversed() {
            let isSame =
                known.answer.isOfSamePeriod(as: explanation.entitled)
                || words.reason(known, knownAt: known.knownFrom) == reason
            guard isSame else { break }
            learned = known.knownFrom
        }
        return learned
    }

    private var answerThen: String {
        let served = answers.last { $0.knownFrom <= explanation.at }
        guard let served, served.answer.reason != .notKnownYet else {
            return "at the time it knew nothing about this"
        }
        let reason = words.reason(served, knownAt: served.knownFrom)
        guard served.answer.hasAccess == explanation.entitled.hasAccess else {
            let word = served.answer.hasAccess ? "access" : "no access"
            return "at the time it answered \"\(word)\" (\(reason))"
        }
        return "at the time it gave the same answer for another reason (\(reason))"
    }

    private var notConnected: String {
        let stream =
            explanation.entitled.period?.stream ?? explanation.entitled.oneTimePurchase?.stream
        return "The ledger did not know at the time that "
            + (stream.map { "\($0.originalTransactionId) belongs" } ?? "a subscription belongs")
            + " to \(answer.customer.id)."
    }

    // Which knowledge was requested, if it is not the newest.
    private var bound: [String] {
        switch answer.askedKnownAt {
        case .latest: []
        case .time(let instant):
            ["This uses only what the ledger knew on \(words.date(instant))."]
        case .offsets:
            [
                "This uses only what the ledger knew at position "
                    + "\(answer.askedText)."
            ]
        }
    }
}

extension AccessAnswer {
    // Whether both answers give access through the same period, even if its end moved in between.
    fileprivate func isOfSamePeriod(as other: AccessAnswer) -> Bool {
        guard case .access(let mine) = self, case .access(let theirs) = other else { return false }
        return mine.stream == theirs.stream && mine.purchaseDate == theirs.purchaseDate
            && mine.kind == theirs.kind
            && mine.productId.utf8.elementsEqual(theirs.productId.utf8)
    }
}

extension ExplanationAnswer {
    /// The answer in a few sentences, ready to paste into a ticket.
    package var summary: String { ExplanationSummary(self).text }

    /// Whether the subscription that decides the answer was known to be the customer's at the
    /// instant.
    var knewItsCustomerThen: Bool {
        let entitled = explanation.entitled
        guard let stream = entitled.period?.stream ?? entitled.oneTimePurchase?.stream else {
            return true
        }
        return connections[stream] == nil
    }
}
