internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension ConsoleRoutes {
    /// The page of a customer, at two times.
    func customer(_ call: Call) async throws -> HTML {
        let search = try ConsoleAddress(FormFields(call.request.uri.query ?? ""))
        guard !search.id.isEmpty else {
            throw Problem(query: "Enter an id of the customer or of a purchase.")
        }
        try await routes.audit(call, "customer", about: search.id)
        let clocks = try search.clocks(now: routes.clock())
        return try await QuestionZone.$shown.withValue(clocks.zone) {
            try await routes.ledger.log.inOneSnapshot {
                var used = clocks
                used.knownAt = try await fixed(clocks.knownAt)
                let reading = try await reading(search, used, askedAs: clocks.knownAt)
                return ConsolePage.page(
                    search.id,
                    search: search,
                    note: note,
                    CustomerPage(reading, search).html
                )
            }
        }
    }

    // Everything, if that was asked for or is meant: all of a page is read at one moment.
    private func fixed(_ knownAt: KnownAt) async throws -> KnownAt {
        switch knownAt {
        case .offsets: try await routes.ledger.log.wholeCommits(knownAt)
        case .time(let instant) where instant <= routes.clock(): knownAt
        default: .latest
        }
    }

    // The bound of a page, in words that mean the same when more is known.
    private func lasting(
        _ used: KnownAt,
        of histories: [RecordedHistory]
    ) async throws -> String {
        let log = routes.ledger.log
        if case .time = used { return log.text(used) }
        let heads = try await log.heads()
        let lanes = 0..<log.identity.lanes.value
        var offsets = Dictionary(
            uniqueKeysWithValues: lanes.map { ($0, heads[$0]?.offset ?? 0) }
        )
        if case .offsets(let named) = used { offsets.merge(named) { $1 } }
        let positions = KnownAt.offsets(offsets)
        let isCovered = histories.allSatisfy { history in
            history.cut(to: used).repetitions.count == history.cut(to: positions).repetitions.count
        }
        if isCovered { return log.text(positions) }
        // The newest commits only confirm what earlier ones said: no position is theirs alone.
        var newest: [Instant] = []
        for lane in lanes {
            if let mark = try await log.newestCommit(lane: lane, knownAt: used) {
                newest.append(mark.commit.committedAt)
            }
        }
        return newest.max().map(ConsoleAddress.field) ?? log.text(positions)
    }

    private func reading(
        _ search: ConsoleAddress,
        _ clocks: Clocks,
        askedAs asked: KnownAt
    ) async throws -> CustomerReading {
        let ledger = routes.ledger
        let environment = search.environment.map(StoreEnvironment.inAnyCase)
        var subject = try await ledger.recognised(SubjectID(search.id, in: environment))
        let environments = try await environments(of: subject.id)
        // As for other questions, only production counts where several environments are known.
        if subject.environment == nil, environments.count == 1 {
            subject.environment = environments.first
        }
        let answer = try await ledger.explanation(
            of: subject,
            at: clocks.instant,
            product: nil,
            knownAt: clocks.knownAt,
            askedAs: asked,
            sandbox: routes.sandbox
        )
        var reading = CustomerReading(
            answer: answer,
            otherEnvironments: environments.filter { $0 != answer.customer.environment }
        )
        subject.environment = answer.customer.environment
        let known = try await everKnown(of: subject, and: answer.customer.histories)
        reading.stops = TimeStops(known)
        reading.knowledge = try await lasting(clocks.knownAt, of: known)
        reading.tables = [
            try await table(ChargesQuestion.self, "Charges and refunds", subject, clocks),
            try await table(EligibilityQuestion.self, "Offers", subject, clocks),
            try await links(of: subject, clocks),
        ]
        for history in answer.customer.histories.prefix(CustomerReading.streamsMax) {
            let stream = history.stream
            let own = SubjectID(stream.originalTransactionId, in: stream.environment, alone: true)
            reading.streams.append(
                CustomerReading.Stream(
                    stream: stream,
                    tables: [
                        try await table(PeriodsQuestion.self, "Periods", own, clocks),
                        try await table(ChangesQuestion.self, "Changes of product", own, clocks),
                        try await table(RefundsQuestion.self, "Refunds", own, clocks),
                        try await table(StateQuestion.self, "State", own, clocks),
                        try await table(
                            HistoryQuestion.self,
                            "Events",
                            own,
                            clocks,
                            newestMax: history.events.count > CustomerReading.eventsMax
                                ? CustomerReading.eventsMax : nil
                        ),
                    ]
                )
            )
        }
        return reading
    }

    // Of everything known now, also on a page about the past.
    private func everKnown(
        of subject: SubjectID,
        and histories: [RecordedHistory]
    ) async throws -> [RecordedHistory] {
        let customer = try await routes.ledger.found(subject, knownAt: .latest)
        let streams = Set((customer.streams.map(\.stream)) + histories.map(\.stream))
        var known: [RecordedHistory] = []
        for stream in streams.sorted() {
            known.append(try await routes.ledger.log.recordedHistory(of: stream))
        }
        return known
    }

    private func environments(of id: String) async throws -> [StoreEnvironment] {
        let own = try await routes.ledger.log.environments(of: id)
        return own.isEmpty ? try await routes.ledger.environments(ofCustomer: id) : own
    }

    // The same text as that of the command. For everything, the present is the instant asked about,
    // so that an address with both times gives the same page at any later time.
    private func table<Asked: Question>(
        _: Asked.Type,
        _ title: String,
        _ subject: SubjectID,
        _ clocks: Clocks,
        newestMax: Int? = nil
    ) async throws -> CustomerReading.Table {
        var input = QuestionInput(
            subject,
            now: clocks.instant,
            knownAt: clocks.knownAt,
            sandbox: routes.sandbox
        )
        input.newestMax = newestMax
        do {
            let answer = try await Asked.answer(input, from: routes.ledger)
            let own = "\(subject.id) · \(subject.environment?.description ?? "")"
            let blocks = Asked.text(answer, input).filter { block in
                if case .line(let line) = block { !line.hasPrefix(own) } else { true }
            }
            return CustomerReading.Table(title: title, blocks: blocks)
        } catch let error as QuestionError {
            return CustomerReading.Table(title: title, blocks: [.line(error.message)])
        }
    }

    private func links(
        of subject: SubjectID,
        _ clocks: Clocks
    ) async throws -> CustomerReading.Table {
        let found = try await routes.ledger.found(subject, knownAt: clocks.knownAt)
        let document = CustomerDocument(found, at: clocks.instant)
        let names = [
            document.customer.map { "customer \($0)" },
            document.appAccountTokens.isEmpty
                ? nil : "app account token \(document.appAccountTokens.joined(separator: ", "))",
        ].compactMap(\.self)
        let streams = (document.streams + document.related).flatMap { stream -> [Block] in
            let bundles = [stream.bundleId].compactMap(\.self)
            let words = [stream.originalTransactionId] + bundles + stream.productIds
            return [Block.line(words.joined(separator: " · ")), stream.ownersText]
        }
        return CustomerReading.Table(
            title: "Whose it was",
            blocks: names.map(Block.line) + streams
        )
    }
}

/// What the page of a customer shows.
struct CustomerReading: Sendable {
    /// The explanation of the instant.
    let answer: ExplanationAnswer
    /// How much of the log everything was read from, as an address has it for ever.
    var knowledge = ""
    /// Other environments that know the id.
    let otherEnvironments: [StoreEnvironment]
    /// The times that the page leads to.
    var stops = TimeStops([])
    /// What is about the customer.
    var tables: [Table] = []
    /// What is about each subscription.
    var streams: [Stream] = []

    /// The most subscriptions with tables of their own; each costs some reads.
    static let streamsMax = 20
    /// The most events that are listed of each, the newest ones.
    static let eventsMax = 100

    /// The answer to a question.
    struct Table: Sendable {
        let title: String
        let blocks: [Block]
    }

    /// The tables of a subscription.
    struct Stream: Sendable {
        let stream: StreamID
        let tables: [Table]
    }
}

/// The two times of a page.
struct Clocks: Sendable {
    /// The instant asked about.
    let instant: Instant
    /// How much of the log is used.
    var knownAt: KnownAt
    /// The time zone in which times are given and shown.
    let zone: QuestionZone
}

extension ConsoleAddress {
    /// The two times of the page, parsed as those of other questions.
    func clocks(now: Instant) throws -> Clocks {
        func read<Value>(
            _ name: String,
            _ text: String?,
            _ forms: String,
            _ parse: (String) -> Value?
        ) throws -> Value? {
            try text.map { text in
                guard let value = parse(text) else {
                    throw Problem(query: "\(name) is \"\(text.prefix(64))\"; expected \(forms).")
                }
                return value
            }
        }
        let zone = try read("tz", tz, "UTC, Europe/Berlin or +05:30", QuestionZone.init) ?? .utc
        let asked = try read("at", at, AskedTime.forms, AskedTime.init)
        return Clocks(
            instant: asked?.instant(now: now, in: zone) ?? now,
            knownAt: try read("known-at", knownAt, AskedKnowledge.forms, AskedKnowledge.init)?
                .knownAt(now: now, in: zone) ?? .latest,
            zone: zone
        )
    }
}
