internal import EventLog
internal import Events
package import Projections

/// Why a customer did or did not have access, and what the ledger answered then.
package enum ExplainQuestion: Question {
    package static let name = "explain"
    package static let abstract =
        "Why a customer did or did not have access, and what the ledger answered then."
    package static let discussion = """
        Starts with a summary that can be pasted into a ticket. ENTITLED is the answer as known \
        now, SERVED the answer that the ledger gave then. If they differ, the next line shows \
        for how long, and what became known too late. Below follow a timeline and the events \
        that decide the answer. The history is evaluated once for each time at which something \
        became known, so a long history takes longer.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [
        .product: "Only access through this product."
    ]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> ExplanationDocument {
        try await ledger.explain(
            asked.subject,
            at: asked.at ?? asked.now,
            product: asked.values[.product]?.first,
            knownAt: asked.knownAt,
            sandbox: asked.sandbox
        )
    }

    package static func notes(_ answer: ExplanationDocument) -> [String] { [] }

    // The command prints more of it, with a picture: ``ExplanationText``.
    package static func text(_ answer: ExplanationDocument, _ asked: QuestionInput) -> [Block] {
        [.line(answer.summary)]
    }
}

/// An explanation as text: the summary, both answers, the picture and the events behind them.
package struct ExplanationText {
    private let answer: ExplanationAnswer
    private let style: TimelinePicture.Style
    private let width: Int

    /// The text of an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - style: The characters of the picture and of marks.
    ///   - width: The columns of the picture.
    package init(_ answer: ExplanationAnswer, style: TimelinePicture.Style, width: Int) {
        self.answer = answer
        self.style = style
        self.width = width
    }

    private var explanation: Explanation { answer.explanation }
    private var arrow: String { style == .unicode ? "→" : "->" }
    private var bound: String { style == .unicode ? "≥" : ">=" }
    private var dot: String { style == .unicode ? "·" : "-" }

    /// Its parts.
    package var blocks: [Block] {
        var lines =
            [answer.summary, "", title, ""] + verdicts + [difference] + refundsAfterEnd + [""]
        if !explanation.rowsNow.isEmpty || !explanation.rowsThen.isEmpty { lines += picture }
        lines += answer.customer.grounds.lines.map { "  " + $0 }
        lines += answer.customer.grounds.linksNotInForce.map { "  " + $0.line }
        lines += answer.customer.erasures.compactMap(\.line).map { "  " + $0 }
        return (lines + ["  because"]).map(Block.line) + [because]
            + [changesIf, policy, next].map(Block.line)
    }

    private var title: String {
        ([answer.customer.id] + [answer.product].compactMap { $0 } + [
            answer.customer.environment.word, explanation.at.zonedClock,
        ]).joined(separator: " \(dot) ")
    }

    /// One of the two answers as text.
    package struct Verdict {
        /// `yes`, `no`, `?` if what was known was erased, or a dash if the ledger was not asked.
        package let word: String
        /// Which knowledge it uses.
        package let knowledge: String
        /// Why.
        package let reason: String
    }

    /// The answer with everything that is known.
    package var entitled: Verdict {
        Verdict(
            word: answer.isErased ? "?" : word(explanation.entitled),
            knowledge: "as known \(used)",
            reason: reason(explanation.entitled)
        )
    }

    /// The answer as known at the instant asked about.
    package var served: Verdict {
        if let notAsked {
            return Verdict(
                word: style == .unicode ? "–" : "-",
                knowledge: "not asked of this ledger:",
                reason: notAsked
            )
        }
        let time = answer.then.time.map { ", " + $0.clock } ?? ""
        let place =
            answer.customer.histories.isEmpty ? "" : "  (position \(answer.then.text)\(time))"
        return Verdict(
            word: answer.isErased ? "?" : word(explanation.served),
            knowledge: "as known then" + place,
            reason: reason(explanation.served)
        )
    }

    private var verdicts: [String] {
        func line(_ name: String, _ verdict: Verdict, _ gap: String) -> String {
            let word = verdict.word + String(repeating: " ", count: max(0, 3 - verdict.word.count))
            return "  \(name)  \(word)  \(verdict.knowledge)\(gap)\(verdict.reason)"
        }
        return [line("ENTITLED", entitled, "  ")] + others
            + [line("SERVED  ", served, notAsked == nil ? "  " : " ")]
    }

    /// What else gives access: `access` lists everything that does, and in each group the period
    /// that counts first.
    package var others: [String] {
        guard case .access(let deciding) = explanation.entitled else { return [] }
        return explanation.rowsNow.filter { row in
            row.validFrom <= explanation.at && explanation.at < row.validTo && row != deciding
        }.map { "            also by \(span($0))\(app(of: $0.stream))" }
    }

    // Which knowledge was used, if not the newest was asked for.
    private var used: String {
        let position = answer.now.text
        let words: String
        switch answer.askedKnownAt {
        case .latest where answer.customer.histories.isEmpty: return "now  "
        case .latest: return "now   (position \(position))"
        case .time(let instant): words = "at \(instant.clock)"
        case .offsets:
            let asked = answer.askedText
            guard asked != position else { return "at position \(position)" }
            words = "at \(asked), counted to the end of its commit"
        }
        return answer.now.commits.isEmpty
            ? "\(words)  (nothing was recorded by then)" : "\(words)  (position \(position))"
    }

    private func word(_ answer: AccessAnswer) -> String { answer.hasAccess ? "yes" : "no" }

    private func reason(_ given: AccessAnswer) -> String {
        switch given {
        case .access(let row): "\(row.kind.rawValue) \(span(row))\(app(of: row.stream))"
        case .owned(let purchase): "owned: \(span(purchase))\(app(of: purchase.stream))"
        case .notOwned(let reason, let purchase): "\(reason.words): \(span(purchase))"
        case .none(_, nil) where answer.customer.erasures.contains(where: \.tookEverything):
            "erased: the facts known then have been removed"
        case .none(.notKnownYet, nil) where answer.customer.histories.isEmpty:
            "the customer had no subscription at that instant"
        case .none(let reason, nil): reason.words
        case .none(.expired, let row?) where row.kind == .grace:
            "grace ended: \(span(row))\(app(of: row.stream))"
        case .none(let reason, let row?): "\(reason.words): \(span(row))\(app(of: row.stream))"
        }
    }

    // As in `access`; empty if nothing names one.
    private func app(of stream: StreamID) -> String {
        answer.customer.grounds.bundleId(of: stream).map { ", app \($0)" } ?? ""
    }

    private func span(_ row: ActivePeriod) -> String {
        "\(row.productId) \(row.validFrom.clock) \(arrow) \(row.validTo.clock)"
    }

    private func span(_ purchase: OneTimePurchase) -> String {
        let revoked = purchase.revocationDate.map { ", revoked \($0.clock)" } ?? ""
        return "\(purchase.productId) (\(purchase.kind.words)), bought "
            + "\(purchase.purchaseDate.clock)\(revoked)"
    }

    // Why this ledger cannot have answered then; nil if it can.
    private var notAsked: String? {
        switch explanation.notAsked {
        case .beforeLedger?:
            "its first commit was at \(answer.firstCommit?.clock ?? "a later time")"
        case .imported?: "its facts about that time were imported later"
        case .inFuture?: "that instant is in the future"
        case nil: nil
        }
    }

    /// How the two answers differ.
    package var difference: String {
        if explanation.notAsked == .inFuture {
            return "  \(arrow) there is no answer yet to compare with"
        }
        if notAsked != nil { return "  \(arrow) there was no answer then to compare with" }
        if answer.customer.histories.isEmpty {
            return "  \(arrow) not compared: the customer had no subscription at that instant"
        }
        if answer.isErased { return "  \(arrow) not compared: what was known was erased" }
        if explanation.answers.isEmpty {
            return "  \(arrow) not compared: nothing was known of the subscription"
        }
        if answer.then.isBeforeInstant {
            return "  \(arrow) not compared: what is used ends before the instant, so nothing was "
                + "answered from it then"
        }
        guard let stretch = explanation.difference else {
            return answer.isAboutNow
                ? "  \(arrow) the question is about now, so both answers are the same"
                : "  \(arrow) the answer given then was right"
        }
        return "  \(arrow) \(stretch.words(arrow: arrow))\(learned(after: stretch))"
    }

    // The same instant as in the summary, unless the end of the wrong answers is that instant.
    private func learned(after stretch: WrongAnswers.Stretch) -> String {
        guard let learned = answer.learnedAnswer, learned != stretch.to else { return "" }
        return ", on \(learned.clock)"
    }

    /// The refunds that do not change the access.
    package var refundsAfterEnd: [String] {
        explanation.refundsAfterEnd.map { refund in
            let date = refund.refunded.map { " " + $0.clock } ?? ""
            let amount = refund.refundedMilliunits.map {
                ", \(Amount.text($0, refund.currency)) refunded"
            }
            return "  refunded after its end: \(refund.productId) of "
                + "\(refund.purchaseDate.clock), on\(date)\(amount ?? ""); the access stays "
                + "(\(refund.positions.marks))"
        }
    }

    private var picture: [String] {
        let picture = TimelinePicture(
            explanation,
            of: answer.customer.histories,
            width: width,
            style: style
        )
        let omitted = picture.omitted.map { "\($0.lane) \($0.count)" }.joined(separator: ", ")
        let note =
            omitted.isEmpty
            ? []
            : [
                "           labels omitted for lack of space: \(omitted); `subledger history` "
                    + "lists all events"
            ]
        return picture.lines + note + [""]
    }

    /// The events that produced the answers.
    package var because: Block {
        guard !explanation.because.isEmpty else {
            let isEmpty = explanation.answers.isEmpty
            return .line("   " + (isEmpty ? NothingKnown.words : "no purchase had begun then"))
        }
        let rows = explanation.because.enumerated().map { index, event in
            let type = [event.notificationType, event.subtype].compactMap { $0 }
                .joined(separator: "/")
            let source = answer.evidence[event.position]?.source ?? "?"
            let said = answer.isUndated(event) ? ", signed \(bound) \(event.signedAt.clock)" : ""
            return [
                " \(index + 1)", event.position.mark + (event.isRepetition ? " repeated" : ""),
                event.occurredAt.clock,
                type.isEmpty ? "(none)" : type, event.role.rawValue,
                event.period.map(span) ?? event.oneTimePurchase.map(span) ?? "",
                "\(event.recordedAt.clock), \(Duration.words(event.lagSeconds)) late, \(source)"
                    + said,
            ]
        }
        let header = ["", "position", "effective", "notification", "effect", "period", "recorded"]
        return .table(header, rows)
    }

    /// The events without which the answer would be the opposite.
    package var changesIf: String {
        let opposite = explanation.entitled.hasAccess ? "no access" : "access"
        guard !explanation.changesIf.isEmpty else {
            return switch explanation.because.count {
            case 0: "  decisive  no event"
            case 1: "  decisive  no event: without this one the answer would be the same"
            default:
                "  decisive  no single event: without any one of these, the others still give the "
                    + "same answer"
            }
        }
        let positions = explanation.changesIf.map(\.mark).joined(separator: ", ")
        let each = explanation.changesIf.count == 1 ? "" : "any one of "
        return "  decisive  \(positions): without \(each)"
            + (each.isEmpty ? "it" : "them") + " the answer would be \(opposite)"
    }

    /// What counted as access.
    package var policy: String {
        "  policy  \(PolicyDocument(explanation.policy).canonicalText)  "
            + (answer.catalogVersion.map { "catalog v\($0)" } ?? "no catalog")
    }

    private var next: String {
        let environment = "--environment \(answer.customer.environment.word)"
        let product = answer.product.map { " --product \($0)" } ?? ""
        // The subscription of the event named next to it.
        let named = explanation.because.last?.stream ?? answer.customer.histories.first?.stream
        var commands = [named].compactMap { $0 }.map {
            "subledger history \($0.originalTransactionId) \(environment)"
        }
        if let last = explanation.because.last {
            commands.append("subledger event \(last.position) --raw")
        }
        // If nothing was known then, asking with that knowledge shows nothing more.
        if !answer.then.commits.isEmpty {
            commands.append(
                "subledger explain \(answer.customer.id) \(environment)\(product) "
                    + "--at \(explanation.at) --known-at \(answer.then.text)"
            )
        }
        return "  next    " + commands.joined(separator: "\n          ")
    }
}

extension WrongAnswers.Stretch {
    /// What was wrong, for how long, and what the ledger learned too late.
    ///
    /// - Parameter arrow: The sign between two times.
    /// - Returns: The text.
    package func words(arrow: String = "→") -> String {
        let kind = kind == .wronglyDenied ? "wrongly denied" : "wrongly granted"
        return "\(kind) for \(Duration.words(seconds)) "
            + "(\(from.clock) \(arrow) \(to.clock)): \(cause.words)"
    }
}
