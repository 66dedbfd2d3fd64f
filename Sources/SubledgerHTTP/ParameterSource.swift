internal import EventLog
internal import Events
internal import Subledger

/// What holds the parameters of a question: the query of a request, a form, or the arguments of an
/// agent's tool.
protocol ParameterSource {
    /// What has the parameters, as errors call it.
    static var owner: String { get }

    /// The names of those that are given.
    var names: [String] { get }

    /// A parameter; nil if it is absent.
    ///
    /// - Throws: `Problem` 400 if it is given more than once.
    func query(_ name: QueryParameter) throws -> String?

    /// All values of a parameter that may be given more than once.
    ///
    /// - Throws: `Problem` 400 for a value that is none.
    func queries(_ name: QueryParameter) throws -> [String]
}

extension ParameterSource {
    static var owner: String { "route" }

    func queries(_ name: QueryParameter) throws -> [String] {
        try query(name).map { [$0] } ?? []
    }

    /// What is asked, with the values of a question's own parameters.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - subject: Who or what is asked about.
    ///   - others: What the route or the tool takes beyond the parameters of questions.
    ///   - now: Our clock.
    ///   - sandbox: The customers for whom sandbox purchases count.
    /// - Returns: The input of the question.
    /// - Throws: `Problem` 400 for a parameter that the question does not have, or that cannot be
    ///   parsed.
    func input<Asked: Question>(
        of question: Asked.Type,
        about subject: SubjectID,
        and others: [QueryParameter],
        now: Instant,
        sandbox: SandboxPolicy
    ) throws -> QuestionInput {
        let values = try values(of: question, and: others)
        let zone = try zone()
        return QuestionInput(
            subject,
            now: now,
            at: try instant(.at, now: now, in: zone),
            knownAt: try knownAt(now: now, in: zone) ?? .latest,
            values: values,
            sandbox: sandbox
        )
    }

    private func values<Asked: Question>(
        of _: Asked.Type,
        and others: [QueryParameter]
    ) throws -> [QuestionParameter: [String]] {
        let own = QuestionParameter.allCases.filter { Asked.parameters[$0] != nil }
            .compactMap { QueryParameter(rawValue: $0.rawValue) }
        try check([.at, .knownAt, .tz, .environment] + others + own)
        var values: [QuestionParameter: [String]] = [:]
        for name in own {
            guard let parameter = QuestionParameter(rawValue: name.rawValue) else { continue }
            let given =
                Asked.repeated.contains(parameter)
                ? try queries(name) : try query(name).map { [$0] } ?? []
            guard !given.isEmpty else { continue }
            values[parameter] = given
            guard let words = parameter.words,
                let wrong = given.first(where: { !words.contains($0) })
            else { continue }
            throw Problem(
                query: "\(name) is \"\(wrong.prefix(64))\"; expected "
                    + words.joined(separator: ", ") + "."
            )
        }
        if let fault = Asked.fault(values) { throw Problem(query: fault + ".") }
        return values
    }

    /// A query parameter, parsed.
    ///
    /// - Throws: `Problem` 400 if it is present but cannot be parsed.
    func query<Value>(
        _ name: QueryParameter,
        expecting form: String,
        _ read: (String) -> Value?
    ) throws -> Value? {
        try query(name).map { text in
            guard let value = read(text) else {
                throw Problem(query: "\(name) is \"\(text.prefix(64))\"; expected \(form).")
            }
            return value
        }
    }

    /// Refuses parameters that are not known: with a misspelt bound, the answer would be taken for
    /// the bounded one.
    func check(_ known: [QueryParameter]) throws {
        for name in names {
            guard !known.contains(where: { $0.rawValue == name }) else { continue }
            throw Problem(
                query: "This \(Self.owner) has no parameter \"\(name.prefix(64))\"; expected "
                    + (known.isEmpty
                        ? "none." : known.map(\.rawValue).joined(separator: ", ") + ".")
            )
        }
    }

    /// The time zone of the question's times, and of the sentences in its answer.
    func zone() throws -> QuestionZone {
        try query(.tz, expecting: "UTC, Europe/Berlin or +05:30", QuestionZone.init) ?? .utc
    }

    /// An instant, parsed as on the command line; nil if the parameter is absent.
    func instant(_ name: QueryParameter, now: Instant, in zone: QuestionZone) throws -> Instant? {
        try query(name, expecting: AskedTime.forms, AskedTime.init)?.instant(now: now, in: zone)
    }

    /// How much of the log may be used; nil if the parameter is absent.
    func knownAt(now: Instant, in zone: QuestionZone) throws -> KnownAt? {
        try query(.knownAt, expecting: AskedKnowledge.forms, AskedKnowledge.init)?
            .knownAt(now: now, in: zone)
    }

    /// Where the purchases were made; nil if not given.
    ///
    /// Any word is accepted, because Apple may introduce another environment.
    func environment() throws -> StoreEnvironment? {
        try query(.environment).map(StoreEnvironment.inAnyCase)
    }
}
