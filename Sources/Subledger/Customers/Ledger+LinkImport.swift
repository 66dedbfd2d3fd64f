internal import AppStore
public import EventLog
public import Events
internal import Projections

/// The properties shared by all lines of a list of links.
public struct LinkImport: Sendable {
    /// Where the purchases were made; nil for the one environment in which an id is known.
    public var environment: StoreEnvironment?
    /// The person or program that makes the statements.
    public var statedBy: String
    /// The reason; empty if none is given.
    public var reason: String
    /// Whether lines are only checked and nothing is written; memory then grows with their number.
    public var isDryRun: Bool

    /// The most lines that are looked up and appended together.
    public static let batchLinesMax = 512

    /// The number of histories read concurrently.
    static let readersMax = 8

    /// Creates an import.
    public init(
        environment: StoreEnvironment? = nil,
        statedBy: String,
        reason: String = "",
        isDryRun: Bool = false
    ) {
        self.environment = environment
        self.statedBy = statedBy
        self.reason = reason
        self.isDryRun = isDryRun
    }
}

extension Ledger {
    /// Imports a list of customers and their subscriptions, in batches of lines, in bounded memory.
    ///
    /// A refused line does not stop the others. Importing the same list again changes nothing.
    ///
    /// - Parameters:
    ///   - list: The properties shared by all lines.
    ///   - clock: Our clock.
    ///   - next: Returns the next lines; nil after the last.
    ///   - progress: Receives the number of processed lines.
    /// - Returns: The outcomes.
    /// - Throws: `EventLogError`, or what `next` threw; what was appended before stays.
    public func importLinks(
        _ list: LinkImport,
        clock: () -> Instant = { .systemClock() },
        next: () async throws -> [Result<LinkLine, RefusedLine>]?,
        progress: (Int) -> Void = { _ in }
    ) async throws -> LinkImportDocument {
        var document = LinkImportDocument(isDryRun: list.isDryRun)
        var planned: [StreamID: LinkLine] = [:]
        while let found = try await next() {
            var batch: [String: LinkLine] = [:]
            for result in found {
                document.lines += 1
                switch result {
                case .failure(let refusal): document.refuse(refusal)
                case .success(let line):
                    // A batch holds one line per subscription, because each line affects the next
                    // one of the same subscription.
                    if batch[line.originalTransactionId] != nil
                        || batch.count >= LinkImport.batchLinesMax
                    {
                        try await take(&batch, list, clock(), &planned, &document)
                    }
                    batch[line.originalTransactionId] = line
                }
            }
            try await take(&batch, list, clock(), &planned, &document)
            progress(document.lines)
        }
        document.rejections.sort { $0.line < $1.line }
        return document
    }

    private func take(
        _ batch: inout [String: LinkLine],
        _ list: LinkImport,
        _ now: Instant,
        _ planned: inout [StreamID: LinkLine],
        _ document: inout LinkImportDocument
    ) async throws {
        let lines = batch.values.sorted { $0.number < $1.number }
        batch = [:]
        guard !lines.isEmpty else { return }

        let found = try await log.streams(
            withOriginalTransactionIds: lines.map(\.originalTransactionId)
        )
        let named = Dictionary(grouping: found) { Array($0.stream.originalTransactionId.utf8) }
        let claims = try await claims(of: found.filter(\.isLinked).map(\.stream))
        let taken = try await takenNames(lines, Set(found.map(\.stream)))

        var links: [(line: LinkLine, payload: VerifiedPayload)] = []
        for line in lines {
            do {
                let streams = named[Array(line.originalTransactionId.utf8)] ?? []
                let link = try link(of: line, list, streams, now) { claims[$0] }
                if let known = claims[link.stream]?.link(stating: link) {
                    document.known += 1
                    document.note(
                        Position(lane: claims[link.stream]?.lane ?? .only, offset: known.offset)
                    )
                } else if list.isDryRun, let earlier = planned[link.stream] {
                    try line.judge(after: earlier)
                    document.known += 1
                } else {
                    if taken.contains(.text(line.customer)) { throw line.nameIsId }
                    links.append((line, try verify(link, receivedAt: now)))
                    if list.isDryRun { planned[link.stream] = line }
                }
            } catch let refusal as RefusedLine {
                document.refuse(refusal)
            } catch let rejection as Rejection {
                document.refuse(line.refused(rejection.code.rawValue, rejection.message))
            } catch let error as QuestionError {
                document.refuse(line.refused(error.code.rawValue, error.message))
            }
        }

        guard !list.isDryRun else {
            document.appended += links.count
            return
        }
        let ingested = try await appendTogether(links.map(\.payload))
        for ((line, _), ingestion) in zip(links, ingested) {
            document.count(ingestion.outcomes, of: line)
        }
    }

    // The customers' ids that are also ids of subscriptions not theirs, by the log and these lines.
    private func takenNames(
        _ lines: [LinkLine],
        _ streams: Set<StreamID>
    ) async throws -> Set<FieldValue> {
        let named = try await namesakes(of: lines.map(\.customer))
        let ids = Set(lines.map { FieldValue.text($0.originalTransactionId) })
        let linked = Dictionary(grouping: lines) { FieldValue.text($0.customer) }
        var taken: Set<FieldValue> = []
        // Usually the customer's id is not an id of Apple's, or belongs to the subscription that
        // its line names.
        let isPlain = named.allSatisfy { streams.contains($0) }
        for (name, own) in linked where !isPlain || ids.contains(name) {
            let theirs = Set(own.map(\.originalTransactionId))
            let besides = streams.filter { theirs.contains($0.originalTransactionId) }
            let others = try await self.streams(calledLike: own[0].customer, besides: besides)
            if !others.isEmpty { taken.insert(name) }
        }
        return taken
    }

    private func claims(of streams: [StreamID]) async throws -> [StreamID: StreamClaims] {
        try await withThrowingTaskGroup(of: StreamClaims.self) { group in
            var found: [StreamID: StreamClaims] = [:]
            var waiting = streams[...]
            for stream in waiting.prefix(LinkImport.readersMax) {
                group.addTask { StreamClaims(Timeline(try await log.history(of: stream))) }
            }
            waiting = waiting.dropFirst(LinkImport.readersMax)
            while let claims = try await group.next() {
                found[claims.stream] = claims
                guard let stream = waiting.popFirst() else { continue }
                group.addTask { StreamClaims(Timeline(try await log.history(of: stream))) }
            }
            return found
        }
    }

    private func link(
        of line: LinkLine,
        _ list: LinkImport,
        _ named: [EventLog.NamedStream],
        _ now: Instant,
        _ claims: (StreamID) -> StreamClaims?
    ) throws -> CustomerLink {
        let known = named.filter(\.isKnownByApple).map(\.stream.environment)
        guard !known.isEmpty else {
            throw line.refused(
                QuestionError.Code.unknownId.rawValue,
                "no subscription has the originalTransactionId \(line.originalTransactionId); a "
                    + "list accepts no other ids, but `subledger customers link` does"
            )
        }

        let subject = SubjectID(line.originalTransactionId, in: list.environment, alone: true)
        let stream = StreamID(
            environment: try subject.environment(among: known.sorted { $0.word < $1.word }),
            originalTransactionId: line.originalTransactionId
        )

        let held = claims(stream)
        let start =
            line.from
            ?? held.map { $0.startWithoutAccount(for: line.customer, now: now) ?? .epoch } ?? .epoch
        if let hold = held?.hold(against: line.customer, from: start) {
            throw line.refused(
                "held",
                "\(line.originalTransactionId) belongs to customer \(hold.customer) "
                    + "\(hold.from.sinceWords); to move it, use `subledger customers "
                    + "link --transfer`"
            )
        }
        return CustomerLink(
            stream: stream,
            customer: line.customer,
            statedBy: list.statedBy,
            reason: list.reason,
            statedAt: start
        )
    }
}

extension LinkLine {
    // What a dry run would have appended for an earlier line of the same subscription.
    fileprivate func judge(after earlier: LinkLine) throws(RefusedLine) {
        guard FieldValue.text(earlier.customer) != .text(customer) else { return }
        throw refused(
            "held",
            "line \(earlier.number) gives \(originalTransactionId) to customer "
                + "\(earlier.customer), and a list cannot move a subscription"
        )
    }

    fileprivate var nameIsId: RefusedLine {
        refused(
            "name-is-id",
            "\(customer) is also the id of a subscription that is not linked to this customer, "
                + "so the name would be ambiguous; add a line before this one that links that "
                + "subscription, or use another name"
        )
    }

    fileprivate func refused(_ reason: String, _ message: String) -> RefusedLine {
        RefusedLine(line: number, reason: reason, message: message)
    }
}

extension LinkImportDocument {
    fileprivate mutating func count(_ outcomes: [AppendOutcome], of line: LinkLine) {
        if outcomes.contains(where: \.isErased) {
            refuse(
                line.refused(
                    "erased",
                    "\(line.originalTransactionId) was erased after that time; use a later time"
                )
            )
            return
        }
        if outcomes.contains(where: \.isNew) { appended += 1 } else { known += 1 }
        for outcome in outcomes { note(outcome.position) }
    }
}

extension StreamClaims {
    /// The link in force when another begins, if it names the same customer; otherwise nil.
    fileprivate func link(stating link: CustomerLink) -> LinkClaim? {
        links.first { held in
            !held.isContested && held.from <= link.statedAt
                && (held.to.map { link.statedAt < $0 } ?? true)
                && link.customer.map { FieldValue.text($0) == .text(held.customer) } ?? false
        }
    }
}
