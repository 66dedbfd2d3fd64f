import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Where a subscription stood, and how it was set to renew.",
        discussion: """
            Folded from the log at once; no table stands between. A row without an end holds until \
            further notice; beyond the last row's end nothing is known.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(help: "Only the state at this instant.", transform: Clock.instant)
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let stream = try await question.stream(in: log)
        let history = try await log.history(of: stream, knownAt: question.knownAt)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        await log.close()
        let timeline = Timeline(history)
        let states = RenewalStates(timeline)
        let rows = at.map { states.state(at: $0).map { [$0] } ?? [] } ?? states.rows
        // Where Apple fell silent there is no state, but it is known how the access ended.
        let answer = rows.isEmpty ? at.map { AccessAnswer(timeline, at: $0) } : nil
        let none =
            OneTimePurchase.sentence(of: timeline, without: "renewal state")
            .flatMap { rows.isEmpty ? StateDocument.NoState(oneTimePurchase: $0) : nil }
            ?? answer.flatMap(StateDocument.NoState.init)
        let document = StateDocument(stream, rows, noState: none, lanes: log.identity.lanes)
        if output.json {
            try Terminal.print(json: document)
        } else {
            document.printTable(rows, lanes: log.identity.lanes)
        }
    }
}

/// The JSON of `state`.
struct StateDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let states: [Row]
    /// Why there is no state, or none at the instant asked about; nil where there is one.
    let noState: NoState?

    struct NoState: Encodable {
        let reason: String
        let since: Int64?
        // For people.
        fileprivate let words: String

        private enum CodingKeys: CodingKey { case reason, since }

        /// A purchase that never renews.
        init(oneTimePurchase words: String) {
            reason = "oneTimePurchase"
            since = nil
            self.words = words
        }

        init?(_ answer: AccessAnswer) {
            guard let reason = answer.reason else { return nil }
            self.reason = reason.rawValue
            since = answer.period?.validTo.milliseconds
            words =
                answer.period.map {
                    "\(reason.words) since \($0.validTo.clock), and nothing was said after it"
                } ?? reason.words
        }
    }

    struct Row: Encodable {
        let validFrom: Int64
        let validTo: Int64?
        let status: String
        let charge: String
        let isAutoRenewOn: Bool?
        let autoRenewProductId: String?
        let priceConsent: String?
        let expirationReason: String?
        let renewalPrice: Int64?
        let currency: String?
        let renewalOffer: Offer?
        let renewalBillingPlanType: String?
        let commitment: Commitment?
        let positions: [PositionValue]
    }

    /// What becomes of the commitment, under Apple's names.
    struct Commitment: Encodable {
        let commitmentRenewalDate: Int64?
        let commitmentRenewalPrice: Int64?
        let isCommitmentAutoRenewOn: Bool?
        let commitmentAutoRenewProductId: String?
        let commitmentRenewalBillingPlanType: String?

        init(_ commitment: RenewalTerms.Commitment) {
            commitmentRenewalDate = commitment.renewalDate?.milliseconds
            commitmentRenewalPrice = commitment.priceMilliunits
            isCommitmentAutoRenewOn = commitment.isAutoRenewOn
            commitmentAutoRenewProductId = commitment.autoRenewProductId
            commitmentRenewalBillingPlanType = commitment.billingPlanType
        }
    }

    /// The offer of the next charge, under Apple's names.
    struct Offer: Encodable {
        let offerType: Int64?
        let offerIdentifier: String?
        let offerDiscountType: String?
        let offerPeriod: String?

        init(_ offer: RenewalTerms.Offer) {
            offerType = offer.type
            offerIdentifier = offer.identifier
            offerDiscountType = offer.discountType
            offerPeriod = offer.period
        }
    }

    init(
        _ stream: StreamID,
        _ rows: [RenewalState],
        noState: NoState?,
        lanes: LaneCount
    ) {
        self.noState = noState
        originalTransactionId = stream.originalTransactionId
        environment = stream.environment.word
        states = rows.map { row in
            Row(
                validFrom: row.validFrom.milliseconds,
                validTo: row.validTo?.milliseconds,
                status: row.status.description,
                charge: row.charge.rawValue,
                isAutoRenewOn: row.isAutoRenewOn,
                autoRenewProductId: row.autoRenewProductId,
                priceConsent: row.priceConsent?.rawValue,
                expirationReason: row.expirationReason?.rawValue,
                renewalPrice: row.terms?.priceMilliunits,
                currency: row.terms?.currency,
                renewalOffer: row.terms?.offer.map(Offer.init),
                renewalBillingPlanType: row.terms?.billingPlanType,
                commitment: row.terms?.commitment.map(Commitment.init),
                positions: row.positions.map { PositionValue($0, lanes: lanes) }
            )
        }
    }

    /// The same for people.
    func printTable(_ rows: [RenewalState], lanes: LaneCount) {
        Terminal.print("\(originalTransactionId) · \(environment) · UTC")
        var table = TextTable([
            "from", "to", "status", "reason", "charge", "auto-renew", "next product",
            "next charge", "price increase", "because of",
        ])
        for row in rows {
            table.add([
                row.validFrom.clock, row.validTo?.clock ?? "until further notice",
                row.status.description, row.expirationReason?.rawValue ?? "", row.charge.rawValue,
                row.isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown",
                row.autoRenewProductId ?? "",
                row.terms?.summary ?? "", row.priceConsent?.rawValue ?? "",
                row.positions.marks(lanes: lanes),
            ])
        }
        let none = noState?.words ?? "nothing is known of that time"
        Terminal.print(rows.isEmpty ? none : table.text)
    }
}

extension RenewalTerms {
    /// The next charge in a few words.
    fileprivate var summary: String {
        var words: [String] = []
        if let priceMilliunits { words.append(Amount.text(priceMilliunits, currency)) }
        if let offer {
            let name = offer.identifier ?? offer.type.map { "of type \($0)" } ?? ""
            words.append("offer \(name)")
            words += [offer.discountType, offer.period].compactMap { $0 }
        }
        if let billingPlanType { words.append(billingPlanType) }
        if let commitment, let date = commitment.renewalDate {
            let isOff = commitment.isAutoRenewOn == false
            words.append("commitment \(isOff ? "ends" : "renews") \(date.clock)")
        }
        return words.joined(separator: " · ")
    }
}
