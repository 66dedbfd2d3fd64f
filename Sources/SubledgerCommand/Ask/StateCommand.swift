import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "The states of a subscription, and whether it was set to renew.",
        discussion: """
            Computed from the log, not read from a table. A row without an end is still valid as \
            far as is known; after the end of the last row, nothing is known.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help("Only the state at this instant."), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let answer = try await database.ask { ledger in
            try await ledger.state(
                of: question.subject,
                at: clocks.at,
                knownAt: clocks.knownAt
            )
        }
        try output.print(answer, answer.text)
    }
}

extension StateDocument {
    /// The answer as text.
    fileprivate var text: [String] {
        let title = "\(originalTransactionId) · \(environment) · UTC"
        guard !states.isEmpty else { return [title, whyNone] }
        var table = TextTable([
            "from", "to", "status", "reason", "charge", "auto-renew", "next product",
            "next charge", "price increase", "because of",
        ])
        for row in states {
            table.add([
                row.validFrom.clock, row.validTo?.clock ?? "until further notice",
                row.status.description, row.expirationReason?.rawValue ?? "", row.charge.rawValue,
                row.isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown",
                row.autoRenewProductId ?? "", row.terms?.words ?? "",
                row.priceConsent?.rawValue ?? "",
                row.positions.marks,
            ])
        }
        return [title, table.text]
    }

    private var whyNone: String {
        if let oneTimePurchase { return oneTimePurchase.sentence(without: "renewal state") }
        guard let noState else { return NothingKnown.words }
        let reason = NoAccessReason(rawValue: noState.reason)?.words ?? noState.reason
        return noState.since.map {
            "\(reason) since \($0.clock), and Apple reported nothing after it"
        }
            ?? reason
    }
}

extension RenewalTerms {
    /// The next charge as a short text.
    fileprivate var words: String {
        var words: [String] = []
        if let seatQuantity {
            words.append(
                counted(seatQuantity, "seat") + " for " + Amount.text(totalMilliunits, currency)
            )
        } else if let priceMilliunits {
            words.append(Amount.text(priceMilliunits, currency))
        }
        if let offer {
            let kind = OfferWords.text(offer.type)
            words.append(
                [kind, "offer", offer.identifier].compactMap { $0 }.joined(separator: " ")
            )
            words += [offer.discountType, offer.period].compactMap { $0 }
        }
        if let billingPlanType { words.append(billingPlanType) }
        if let commitment, let date = commitment.renewalDate {
            let isOff = commitment.isAutoRenewOn == false
            words.append("commitment \(isOff ? "ends" : "renews") \(date.clock)")
        }
        if let bundleProductId {
            words.append("\(willUnbundle ? "leaves" : "in") bundle \(bundleProductId)")
        } else if willUnbundle {
            words.append("leaves the bundle")
        }
        return words.joined(separator: " · ")
    }
}
