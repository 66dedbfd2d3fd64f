import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct ExportCustomerCommand: AsyncParsableCommand, ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all that is known of a customer into a folder, to hand over.",
        discussion: """
            The folder has every answer twice, as text and as JSON: access, charges and offers of \
            the customer, then periods, states, changes, refunds and events of each subscription \
            and one-time purchase. evidence/ has the payloads as they arrived; a file is named by the digest that \
            history.json cites. README.txt says what is where, and what was erased. The folder must \
            not exist yet; only its owner may read it.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(help: ArgumentHelp("The folder to write.", valueName: "folder"))
    var to: String

    @OptionGroup var zone: ZoneOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var folder = try ExportFolder(to)
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let customer = try await ledger.found(
            try await ledger.subject(question.subject, isQuiet: output.quiet),
            knownAt: .latest
        )
        let now = Instant.systemClock()
        let whole = SubjectID(customer.name, in: customer.environment)

        for question in Questions.served where !isAboutOne(question) {
            try await folder.write(question, QuestionInput(whole, now: now), from: ledger, "")
        }
        for stream in customer.streams.map(\.stream) {
            let subject = SubjectID(
                stream.originalTransactionId,
                in: stream.environment,
                alone: true
            )
            let place = "subscriptions/\(ExportFolder.name(stream.originalTransactionId))/"
            for question in Questions.served where isAboutOne(question) {
                try await folder.write(
                    question,
                    QuestionInput(subject, now: now),
                    from: ledger,
                    place
                )
            }
            try await folder.writeEvidence(of: stream, from: ledger.log)
            folder.orders += try await ledger.log.orders(of: stream).map(\.text)
        }
        folder.report.count(customer.streams)

        await ledger.close()
        try folder.finish(customer, now)
        try output.print(folder.report, [folder.report.text])
    }

    private func isAboutOne<Asked: Question>(_: Asked.Type) -> Bool {
        Asked.Answer.self is any SubscriptionAnswer.Type
    }
}

/// The folder of an export; it gets its name when it is complete.
private struct ExportFolder {
    private let path: String
    private let part: String
    private var seen: Set<String> = []
    var report: Report
    /// The order ids of Apple's invoices, as far as an import has asked about them.
    var orders: [String] = []

    /// What was written.
    struct Report: Encodable {
        let folder: String
        private(set) var subscriptions = 0
        private(set) var oneTimePurchases = 0
        private(set) var bought = ""
        /// Files with payloads.
        var payloads = 0
        /// Events whose payload is not kept, because it was erased or is missing.
        var payloadsNotKept: [String] = []

        var text: String {
            "\(folder): \(bought), \(counted(payloads, "payload"))"
                + (payloadsNotKept.isEmpty
                    ? "" : "; no payload of \(counted(payloadsNotKept.count, "event"))")
        }

        private enum CodingKeys: CodingKey {
            case folder, subscriptions, oneTimePurchases, payloads, payloadsNotKept
        }

        init(folder: String) { self.folder = folder }

        /// Counts what the customer bought.
        mutating func count(_ streams: [CustomerStream]) {
            oneTimePurchases = streams.count { $0.isOneTimePurchase }
            subscriptions = streams.count - oneTimePurchases
            bought = streams.words
        }
    }

    init(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Failure(Exit.badInput, "\(path) exists already; name a folder that does not")
        }
        self.path = path
        part = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
        report = Report(folder: path)
        try make(part)
    }

    /// An id as the name of a file: anything that a file system may read otherwise is left out.
    static func name(_ id: String) -> String {
        let safe = id.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        return safe.utf8.elementsEqual(id.utf8) && !safe.isEmpty
            ? safe : Digest.of(Array(id.utf8)).hex
    }

    mutating func write<Asked: Question>(
        _: Asked.Type,
        _ asked: QuestionInput,
        from ledger: Ledger,
        _ place: String
    ) async throws {
        let answer = try await Asked.answer(asked, from: ledger)
        let lines =
            Asked.text(answer, asked).map(\.text) + Asked.notes(answer).map { "note: \($0)" }
        try write(Array((lines.joined(separator: "\n") + "\n").utf8), "\(place)\(Asked.name).txt")
        try write(Array(try Terminal.text(json: answer).utf8), "\(place)\(Asked.name).json")
    }

    /// Writes the payloads that brought the events of a subscription, each once.
    mutating func writeEvidence(of stream: StreamID, from log: EventLog) async throws {
        for event in try await log.history(of: stream).events {
            guard case .whole(let evidence)? = try await log.event(at: event.position)?.evidence
            else {
                report.payloadsNotKept.append("\(event.position)")
                continue
            }
            guard seen.insert(evidence.digest.hex).inserted else { continue }
            try write(evidence.payload, "evidence/\(evidence.digest.hex)")
            report.payloads += 1
        }
    }

    /// Writes the page about the folder, and gives the folder its name.
    func finish(_ customer: Customer, _ now: Instant) throws {
        var lines = [
            "What \"\(customer.name)\" bought, as known on \(now.zonedClock); purchases in "
                + "\(customer.environment).", "",
            "access, explain, charges, eligibility: answers about the customer.",
            "subscriptions/: periods, state, changes, refunds and history of each subscription and "
                + "one-time purchase: \(report.bought).",
            "evidence/: what Apple and the app sent, byte for byte; the member \"evidence\" of an "
                + "event in history.json is the name of its file.",
            ".txt is for people, .json for programs; instants in JSON are milliseconds since 1970, "
                + "amounts thousandths of the currency's unit.",
        ]
        if !orders.isEmpty {
            let ids = Set(orders).sorted().joined(separator: ", ")
            lines += ["", "Order ids of Apple's invoices that were asked about: \(ids)."]
        }
        if !report.payloadsNotKept.isEmpty {
            let events = report.payloadsNotKept.joined(separator: ", ")
            lines += ["", "Erased, so without a payload: the events \(events)."]
        }
        try write(Array((lines.joined(separator: "\n") + "\n").utf8), "README.txt")
        try failing(path) { try FileManager.default.moveItem(atPath: part, toPath: path) }
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        let file = "\(part)/\(name)"
        try make(URL(fileURLWithPath: file).deletingLastPathComponent().path)
        try failing(file) { try Data(bytes).write(to: URL(fileURLWithPath: file)) }
    }

    private func make(_ folder: String) throws {
        try failing(folder) {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
    }

    private func failing(_ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw Failure(
                Exit.internalError,
                "\(path) cannot be written: \(error.localizedDescription); use another folder"
            )
        }
    }
}
