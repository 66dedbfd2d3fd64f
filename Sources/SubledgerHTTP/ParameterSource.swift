internal import EventLog
internal import Events
internal import Subledger

/// What holds the parameters of a question: the query of a request, or a form.
protocol ParameterSource {
    /// The names of those that are given.
    var names: [String] { get }

    /// A parameter; nil if it is absent.
    ///
    /// - Throws: `Problem` 400 if it is given more than once.
    func query(_ name: QueryParameter) throws -> String?
}

extension ParameterSource {
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

    /// Refuses parameters that the route does not have: with a misspelt bound, the answer would be
    /// taken for the bounded one.
    func check(_ known: [QueryParameter]) throws {
        for name in names {
            guard !known.contains(where: { $0.rawValue == name }) else { continue }
            throw Problem(
                query: "This route has no parameter \"\(name.prefix(64))\"; expected "
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
