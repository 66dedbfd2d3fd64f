package import EventLog
package import Events

/// A question about a customer: its name, what it takes, its answer, and the answer as text.
///
/// A question is one file of this folder. Its command, and its routes if the service answers it,
/// follow from ``Questions``.
package protocol Question: Sendable {
    /// The answer, which is the JSON of the command and of the service.
    associatedtype Answer: Codable & Sendable

    /// The command, and the last part of its routes: `charges`.
    static var name: String { get }
    /// One sentence for help.
    static var abstract: String { get }
    /// What help says below it.
    static var discussion: String { get }
    /// What `at` means: one sentence for help.
    static var meaningOfAt: String { get }
    /// What it takes beyond the subject and the two times: for each, a sentence for help.
    static var parameters: [QuestionParameter: String] { get }

    /// The parameters that may be given more than once.
    static var repeated: Set<QuestionParameter> { get }

    /// Whether it is about all subscriptions of a customer unless one alone is asked for.
    static var mayBeAlone: Bool { get }

    /// What is wrong with values that are valid each by itself; nil if nothing is.
    static func fault(_ values: [QuestionParameter: [String]]) -> String?

    /// Answers it.
    ///
    /// - Parameters:
    ///   - asked: The values of its parameters.
    ///   - ledger: The ledger.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` if the subject means nothing or too much; `EventLogError`.
    static func answer(_ asked: QuestionInput, from ledger: Ledger) async throws -> Answer

    /// What the answer leaves out, such as what was erased: lines for stderr.
    static func notes(_ answer: Answer) -> [String]

    /// The answer as text.
    static func text(_ answer: Answer, _ asked: QuestionInput) -> [Block]
}

/// An answer about one subscription.
package protocol SubscriptionAnswer: Codable, Sendable {
    /// The subscription.
    var originalTransactionId: String { get }
    /// Where the purchases were made.
    var environment: StoreEnvironment { get }
    /// What was erased of it.
    var erasures: [ErasureMark] { get }
    /// Other subscriptions of the same customer; nil if they cannot be counted.
    var otherSubscriptions: Int? { get }
}

extension PeriodsDocument: SubscriptionAnswer {}
extension StateDocument: SubscriptionAnswer {}
extension ChangesDocument: SubscriptionAnswer {}
extension RefundsDocument: SubscriptionAnswer {}
extension HistoryDocument: SubscriptionAnswer {}
extension ReplayDocument: SubscriptionAnswer {}

extension SubscriptionAnswer {
    /// The first line of its text.
    package var title: String {
        "\(originalTransactionId) · \(environment) · \(QuestionZone.shown.name)"
    }

    /// What was erased, and whether the subscription is one of several of its customer's.
    package var notes: [String] {
        let lines = erasures.compactMap(\.line)
        guard otherSubscriptions != 0 else { return lines }
        let id = originalTransactionId
        return lines + [
            "this answer is about \(id) alone; other subscriptions and one-time purchases of the "
                + "same customer: "
                + (otherSubscriptions.map(String.init)
                    ?? "not counted (too many, or in lanes that cannot be reached)")
                + ". `subledger customers show \(id)` lists them with the reasons; `access` and "
                + "`explain` answer for all of them"
        ]
    }
}

extension Question {
    package static var repeated: Set<QuestionParameter> { [] }
    package static var mayBeAlone: Bool { false }
    package static func fault(_ values: [QuestionParameter: [String]]) -> String? { nil }
}

extension Question where Answer: SubscriptionAnswer {
    package static func notes(_ answer: Answer) -> [String] { answer.notes }
}

/// A parameter that some questions take; its raw value is its name on the command line and in an
/// address.
package enum QuestionParameter: String, CaseIterable, Sendable {
    /// One product.
    case product
    /// One subscription group.
    case group
    /// A trust of payloads.
    case trust

    /// The words that it accepts; nil for any text.
    package var words: [String]? {
        switch self {
        case .product, .group: nil
        case .trust: Verification.Trust.allCases.map(\.rawValue)
        }
    }
}

/// The values of a question's parameters.
package struct QuestionInput: Sendable {
    /// Who or what is asked about.
    package var subject: SubjectID
    /// When it is asked.
    package var now: Instant
    /// The instant asked about; nil if none was given.
    package var at: Instant?
    /// How much of the log is used.
    package var knownAt: KnownAt
    /// The values of further parameters, as often as each was given.
    package var values: [QuestionParameter: [String]]
    /// The customers for whom sandbox purchases count if production gives no access.
    package var sandbox: SandboxPolicy
    /// The most events of a list, the newest ones, if it has more; nil for all.
    package var newestMax: Int?

    /// The values of a question about a subject.
    package init(
        _ subject: SubjectID,
        now: Instant,
        at: Instant? = nil,
        knownAt: KnownAt = .latest,
        values: [QuestionParameter: [String]] = [:],
        sandbox: SandboxPolicy = .never
    ) {
        self.subject = subject
        self.now = now
        self.at = at
        self.knownAt = knownAt
        self.values = values
        self.sandbox = sandbox
    }
}

/// All questions of this folder, in the order of help.
///
/// Adding a question is adding its file and its name here.
package enum Questions {
    /// Those of the command line and of the service.
    package static let served: [any Question.Type] = [
        AccessQuestion.self, EntitlementsQuestion.self, ExplainQuestion.self,
        PeriodsQuestion.self, StateQuestion.self, ChangesQuestion.self, RefundsQuestion.self,
        ChargesQuestion.self, EligibilityQuestion.self,
        HistoryQuestion.self,
    ]

    /// Those of the command line alone.
    package static let local: [any Question.Type] = [ReplayQuestion.self, BlameQuestion.self]
}
