internal import EventLog
internal import Events
internal import Projections
internal import Subledger

/// The page of a customer: both verdicts next to each other, the picture, why, and the tables.
struct CustomerPage {
    private let reading: CustomerReading
    private let search: ConsoleAddress
    private let text: ExplanationText

    /// The most steps of knowledge that are listed, and the most wrong answers; the last ones.
    private static let stepsMax = 30

    init(_ reading: CustomerReading, _ search: ConsoleAddress) {
        self.reading = reading
        self.search = search
        // The page draws its own picture.
        text = ExplanationText(reading.answer, style: .unicode, width: 0)
    }

    private var answer: ExplanationAnswer { reading.answer }
    private var explanation: Explanation { answer.explanation }
    private func link(_ position: Position) -> String { ConsoleAddress.event(position) }

    var html: HTML {
        """
        \(reading.stops.html(at: search, explanation.at, known: answer.now.time))
        <div id="content">
        <h1>\(answer.customer.id) <small>\(subtitle)</small></h1>
        \(others)
        <p class="summary">\(answer.summary)</p>
        <div class="verdicts">
        \(text.entitled.card(more: text.others))
        \(text.served.card())
        </div>
        \(difference)
        \(picture)
        \(why)
        \(steps)
        \(wrongAnswers)
        \(cite)
        <div class="tables">
        \(reading.tables.map { section($0, isOpen: true) })
        \(reading.streams.map(streamSection))
        </div>
        </div>
        """
    }

    private var subtitle: String {
        [answer.customer.environment.description, "at \(explanation.at.zonedClock)"]
            .joined(separator: " · ")
    }

    private var others: [HTML] {
        reading.otherEnvironments.map { environment -> HTML in
            var address = search
            address.environment = environment.word
            return """
                <p class="quiet">The id is known in \(environment.word), too, and environments are \
                never mixed: <a href="\(address.text)">show \(environment.word)</a></p>
                """
        }
    }

    private var difference: HTML {
        let isWrong = explanation.difference != nil && explanation.notAsked == nil
        let refunds = text.refundsAfterEnd.map { line -> HTML in "<p>\(line)</p>" }
        return """
            <p class="difference\(isWrong ? " wrong" : "")">\(text.difference)</p>\(refunds)
            """
    }

    private var picture: [HTML] {
        guard let picture = ExplanationPicture(answer, link: link) else { return [] }
        let omitted = picture.omitted.map { words -> [HTML] in ["<p class=\"quiet\">\(words)</p>"] }
        return [
            """
            <figure><div class="scroll picture" tabindex="0">\(picture.svg)</div>
            <figcaption class="legend"><span class="key full"></span> access \
            <span class="key grace"></span> grace \
            <span class="key denied"></span> wrongly denied \
            <span class="key granted"></span> wrongly granted \
            <span class="key asked"></span> asked \
            <span class="key decisive"></span> an event behind the answer; each line leads from \
            when an event took effect to when it was recorded, dashed where that was more than an \
            hour late</figcaption></figure>
            \(omitted ?? [])
            """
        ]
    }

    private var why: HTML {
        let grounds =
            answer.customer.grounds.lines
            + answer.customer.grounds.linksNotInForce
            .map(\.line) + answer.customer.erasures.compactMap(\.line)
        let lines = [text.changesIf, text.policy] + grounds
        let words = lines.map { line in Block.line(line).html(link: link) }
        return """
            <section><h2>Because</h2>
            \(text.because.html(link: link))
            <div class="quiet">\(words)</div></section>
            """
    }

    // Where the answer changed as the ledger learned more; each step is a page.
    private var steps: [HTML] {
        var changes: [KnownAnswer] = []
        for known in explanation.answers where known.answer.words != changes.last?.answer.words {
            changes.append(known)
        }
        guard !changes.isEmpty else { return [] }
        let items = changes.suffix(Self.stepsMax).map { known -> HTML in
            var address = pinned
            address.knownAt = ConsoleAddress.field(known.knownFrom)
            return """
                <li><a href="\(address.text)">known at \(known.knownFrom.clock)</a> \
                \(known.answer.words)</li>
                """
        }
        return [
            """
            <section class="steps"><h2>The answer for this instant, as the ledger learned</h2>
            <ol>\(items)</ol>\(instants)</section>
            """
        ]
    }

    // All times at which the ledger's answer was wrong, whatever instant is asked about: who calls
    // about one often does not know when it was.
    private var wrongAnswers: [HTML] {
        let stretches = explanation.wrongAnswers.asked.stretches
        guard !stretches.isEmpty else { return [] }
        let left = max(0, stretches.count - Self.stepsMax)
        let rest: [HTML] =
            left > 0 ? ["<p class=\"quiet\">The first \(left) are not listed.</p>"] : []
        let items = stretches.suffix(Self.stepsMax).map { stretch -> HTML in
            var address = search
            address.at = ConsoleAddress.field(stretch.from)
            return "<li><a href=\"\(address.text)\">\(stretch.words())</a></li>"
        }
        return [
            """
            <section class="steps"><h2>Every time at which the answer was wrong</h2>
            \(rest)<ol>\(items)</ol></section>
            """
        ]
    }

    // The nearest changes of access before and after the instant.
    private var instants: HTML {
        let edges = Set(explanation.rowsNow.flatMap { [$0.validFrom, $0.validTo] })
        let before = edges.filter { $0 < explanation.at }.max()
        let after = edges.filter { $0 > explanation.at }.min()
        let links = [("Before: ", before), ("After: ", after)].compactMap { word, instant in
            instant.map { instant -> HTML in
                var address = search
                address.at = ConsoleAddress.field(instant)
                return "<a href=\"\(address.text)\">\(word)\(instant.clock)</a> "
            }
        }
        return "<nav class=\"pages\" aria-label=\"Instants\">\(links)</nav>"
    }

    /// The same page for ever: with the instant, and what was known.
    private var pinned: ConsoleAddress {
        var address = search
        address.environment = answer.customer.environment.word
        address.at = ConsoleAddress.field(explanation.at)
        address.knownAt = reading.knowledge
        return address
    }

    private var cite: HTML {
        """
        <p class="cite quiet">To cite this page, also after the ledger has learned more: \
        <a href="\(pinned.text)">\(pinned.text)</a></p>
        """
    }

    private func section(_ table: CustomerReading.Table, isOpen: Bool) -> HTML {
        let blocks = table.blocks.map { $0.html(link: link) }
        return isOpen
            ? "<details open=\"\"><summary>\(table.title)</summary>\(blocks)</details>"
            : "<details><summary>\(table.title)</summary>\(blocks)</details>"
    }

    private func streamSection(_ stream: CustomerReading.Stream) -> HTML {
        """
        <section><h2>Subscription \(stream.stream.originalTransactionId)</h2>
        \(stream.tables.map { section($0, isOpen: true) })</section>
        """
    }
}

extension ExplanationText.Verdict {
    /// The verdict as a card.
    ///
    /// - Parameters:
    ///   - basis: What it is based on; nil for the knowledge that it uses.
    ///   - more: What else there is to say about it.
    /// - Returns: The markup.
    func card(_ basis: String? = nil, more: [String] = []) -> HTML {
        let (kind, sign, words) =
            switch word {
            case "yes": ("yes", "✓", "Access")
            case "no": ("no", "✗", "No access")
            case "?": ("unknown", "?", "Erased")
            default: ("unknown", "–", "Not asked")
            }
        let also = more.map { line -> HTML in "<p>\(line)</p>" }
        return """
            <section class="verdict-card \(kind)"><h2><span aria-hidden="true">\(sign)</span> \
            \(words) <small>\(basis ?? knowledge)</small></h2>
            <p>\(reason)</p>\(also)</section>
            """
    }
}

extension AccessAnswer {
    /// Yes or no, and why not.
    fileprivate var words: String {
        hasAccess ? "access" : "no access" + (reason.map { ": \($0.words)" } ?? "")
    }
}
