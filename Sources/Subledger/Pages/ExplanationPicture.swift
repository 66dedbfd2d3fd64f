internal import EventLog
package import Events
internal import Projections

/// An explanation as a picture: access as known now and as known then, the periods and the setting
/// of auto-renewal of each subscription, money, and each event with a line from when it took effect
/// to when it was recorded.
package struct ExplanationPicture {
    private let answer: ExplanationAnswer
    private let timelines: [(stream: StreamID, timeline: Timeline)]
    private let drawing: TimelineDrawing
    private let link: (Position) -> String
    private let moneyTop: Int

    /// The most subscriptions that are drawn; the tables have all.
    package static let streamsMax = 6
    /// The most events that are drawn, the last ones.
    package static let eventsMax = 80

    private static let left = 134
    private static let nowTop = 24
    private static let thenTop = 56
    private static let streamsTop = 100
    private static let streamHeight = 40
    private static let moneyHeight = 34
    private static let evidenceHeight = 62
    private static let radius = 4

    /// The picture; nil if nothing is known.
    ///
    /// - Parameters:
    ///   - answer: The explanation.
    ///   - link: The address of an event's page.
    package init?(_ answer: ExplanationAnswer, link: @escaping (Position) -> String) {
        let explanation = answer.explanation
        let drawn = answer.customer.histories.prefix(ExplanationPicture.streamsMax)
        timelines = drawn.map { ($0.stream, Timeline($0.latest)) }
        self.answer = answer
        self.link = link
        let rows = explanation.rowsNow + explanation.rowsThen
        guard !rows.isEmpty else { return nil }
        moneyTop =
            ExplanationPicture.streamsTop + timelines.count * ExplanationPicture.streamHeight
        drawing = TimelineDrawing(
            showing: TimelinePicture.shown(rows, asked: explanation.at),
            asked: explanation.at,
            left: ExplanationPicture.left,
            height: moneyTop + ExplanationPicture.moneyHeight + ExplanationPicture.evidenceHeight
        )
    }

    private var explanation: Explanation { answer.explanation }

    /// The picture's markup.
    package var svg: HTML {
        let streams = timelines.enumerated().flatMap { index, stream in
            row(of: stream.stream, stream.timeline, index)
        }
        return drawing.svg(
            "Access of \(answer.customer.id) over time, and the events behind it",
            [drawing.ticks] + access + streams + money + evidence + [
                drawing.asked(explanation.at, "asked: \(explanation.at.zonedClock)")
            ],
            isInteractive: true
        )
    }

    /// What the picture leaves out, as text; nil if it has everything.
    package var omitted: String? {
        let streams = answer.customer.histories.count - timelines.count
        let events = answer.customer.histories.reduce(0) { $0 + $1.events.count } - drawn.count
        let parts = [
            streams > 0 ? counted(streams, "more subscription") : nil,
            events > 0 ? counted(events, "more event") : nil,
        ].compactMap(\.self)
        return parts.isEmpty ? nil : "not drawn: " + parts.joined(separator: ", ")
    }

    private var access: [HTML] {
        func spans(_ rows: [ActivePeriod], _ owned: [OneTimePurchase]) -> [AccessSpan] {
            rows.compactMap(AccessSpan.init)
                + owned.flatMap(\.owned).map { AccessSpan(time: $0, isGrace: false) }
        }
        let wrong = explanation.difference.map { stretch in
            (
                time: stretch.from..<stretch.to,
                kind: stretch.kind == .wronglyDenied ? "denied" : "granted",
                word: stretch.kind == .wronglyDenied ? "wrongly denied" : "wrongly granted"
            )
        }
        return [
            drawing.access(
                answer.askedKnownAt == .latest ? "known now" : "as known",
                spans(explanation.rowsNow, explanation.oneTimeNow),
                top: ExplanationPicture.nowTop,
                marked: [],
                ("full", "")
            ),
            drawing.access(
                "known then",
                spans(explanation.rowsThen, explanation.oneTimeThen),
                top: ExplanationPicture.thenTop,
                marked: wrong.map { [$0.time] } ?? [],
                (wrong?.kind ?? "denied", wrong?.word ?? "")
            ),
        ]
    }

    // The periods of a subscription, and below them its setting of auto-renewal.
    private func row(of stream: StreamID, _ timeline: Timeline, _ index: Int) -> [HTML] {
        let top = ExplanationPicture.streamsTop + index * ExplanationPicture.streamHeight
        let id = stream.originalTransactionId
        let name: HTML = """
            <text class="name" x="0" y="\(top + 14)"><title>\(id)</title>\
            …\(String(id.suffix(ExplanationPicture.idSuffix)))</text>
            <text class="axis" x="0" y="\(top + 29)">auto-renew</text>
            """
        let periods = explanation.rowsNow.filter {
            $0.stream == stream && $0.validFrom < $0.validTo
                && drawing.isVisible($0.validFrom..<$0.validTo)
        }
        return [name] + periods.map { period($0, top) } + renewals(timeline, top + 22)
    }

    /// How much of the id of a subscription is shown: enough to tell those of a customer apart.
    private static let idSuffix = 8

    private func period(_ row: ActivePeriod, _ top: Int) -> HTML {
        let time = row.validFrom..<row.validTo
        let words = row.kind == .trial ? "trial" : row.shortProductId
        let (from, to) = (drawing.x(time.lowerBound), drawing.x(time.upperBound))
        let room = (to - from) / TimelineDrawing.characterWidth
        let label: [HTML] =
            room < words.count || row.kind == .grace
            ? [] : ["<text class=\"inside\" x=\"\(from + 4)\" y=\"\(top + 14)\">\(words)</text>"]
        let title =
            "\(row.kind.rawValue) \(row.productId), ended: \(row.endReason.rawValue): "
            + TimelineDrawing.words(time)
        let box = drawing.box(
            time,
            top: top,
            height: 20,
            kind: "period \(row.kind.rawValue)",
            title: title
        )
        let hatch =
            row.kind == .grace
            ? [drawing.box(time, top: top, height: 20, kind: "hatch", title: title)] : []
        return "\(box)\(hatch)\(label)"
    }

    // Each setting until the next one.
    private func renewals(_ timeline: Timeline, _ top: Int) -> [HTML] {
        let changes = timeline.autoRenewChanges
        return changes.enumerated().compactMap { index, change in
            let next = index + 1 < changes.count ? changes[index + 1].asOf : drawing.axis.end
            guard change.asOf < next, drawing.isVisible(change.asOf..<next) else { return nil }
            let word = change.isOn ? "on" : "off"
            return drawing.box(
                change.asOf..<next,
                top: top,
                height: 7,
                kind: "renew-\(word)",
                title: "auto-renew \(word), stated \(change.asOf.zonedClock)"
            )
        }
    }

    private var money: [HTML] {
        let payments = timelines.flatMap(\.timeline.payments).sorted(by: Payment.areInOrder)
            .filter { drawing.axis.start <= $0.at && $0.at < drawing.axis.end }
        var pieces: [HTML] = [
            "<text class=\"name\" x=\"0\" y=\"\(moneyTop + 16)\">money</text>"
        ]
        // Overlapping labels are left out: the titles and the tables contain them.
        var free = 0
        for payment in payments {
            let (x, kind) = (drawing.x(payment.at), payment.isCharge ? "gained" : "lost")
            let text = payment.text(minus: "−", reversed: "↩")
            let title =
                (payment.isCharge ? "charged " : "refunded ")
                + Amount.text(payment.milliunits, payment.currency) + ", \(payment.at.zonedClock)"
            let label: [HTML] =
                x < free
                ? []
                : [
                    "<text class=\"\(kind)-text\" x=\"\(x + 4)\" y=\"\(moneyTop + 16)\">\(text)</text>"
                ]
            if !label.isEmpty { free = x + (text.count + 1) * TimelineDrawing.characterWidth }
            pieces.append(
                """
                <g><title>\(title)</title><rect class="\(kind)" x="\(x)" y="\(moneyTop + 4)" \
                width="2" height="16"/>\(label)</g>
                """
            )
        }
        return pieces
    }

    // Those behind the answer, and as many of the others as fit, the newest first, of those that
    // took effect or were recorded within the axis; in the order in which they are drawn, so that
    // those behind the answer are on top.
    private var drawn: [Event] {
        let shown = drawing.axis.start..<drawing.axis.end
        let events = answer.customer.histories.flatMap(\.events)
            .filter { shown.contains($0.fact.effective) || shown.contains($0.recordedAt) }
            .sorted { $0.recordedAt < $1.recordedAt }
        let behind = events.filter { decisive.contains($0.position) }
        let others = events.filter { !decisive.contains($0.position) }
        return others.suffix(max(0, ExplanationPicture.eventsMax - behind.count)) + behind
    }

    private var decisive: Set<Position> { Set(explanation.because.map(\.position)) }

    // Above when each event took effect, below when the log recorded it.
    private var evidence: [HTML] {
        let (top, bottom) = (
            moneyTop + ExplanationPicture.moneyHeight + 10,
            moneyTop + ExplanationPicture.moneyHeight + 44
        )
        let names: HTML = """
            <text class="axis" x="0" y="\(top + 4)">effective</text>
            <text class="axis" x="0" y="\(bottom + 4)">recorded</text>
            """
        let marks = drawn.map { event -> HTML in
            let (from, to) = (drawing.x(event.fact.effective), drawing.x(event.recordedAt))
            let late = ExplanationPicture.isLate(event) ? " late" : ""
            let kind = (decisive.contains(event.position) ? "evidence decisive" : "evidence") + late
            let title =
                "\(event.position.mark) \(event.fact.summary): effective "
                + "\(event.fact.effective.clock), recorded \(event.recordedAt.zonedClock)"
            return """
                <a href="\(link(event.position))" class="\(kind)"><title>\(title)</title>\
                <line x1="\(from)" y1="\(top)" x2="\(to)" y2="\(bottom)"/>\
                <circle class="effective" cx="\(from)" cy="\(top)" \
                r="\(ExplanationPicture.radius)"/>\
                <circle cx="\(to)" cy="\(bottom)" r="\(ExplanationPicture.radius)"/></a>
                """
        }
        return [names] + marks
    }

    /// The time from an assertion to its record after which an event is drawn as late: Apple's
    /// first repetition of a notification comes after an hour.
    private static let lateMilliseconds: Int64 = 3_600_000

    private static func isLate(_ event: Event) -> Bool {
        event.recordedAt.milliseconds - event.fact.asOf.milliseconds >= lateMilliseconds
    }
}
